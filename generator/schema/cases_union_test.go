package schema_test

func combinationCases() []conformance {
	return []conformance{
		{name: "allOf merges objects", schema: `{"allOf":[{"type":"object","properties":{"bar":{"type":"integer"}},"required":["bar"]},{"type":"object","properties":{"foo":{"type":"string"}},"required":["foo"]}]}`, tests: []instance{
			ok(`{"foo":"baz","bar":2}`), bad(`{"foo":"baz"}`, "/bar"), bad(`{"bar":2}`, "/foo"), bad(`{"foo":"baz","bar":"quux"}`, "/bar"),
		}},
		{name: "allOf with a base", schema: `{"type":"object","properties":{"bar":{"type":"integer"}},"required":["bar"],"allOf":[{"properties":{"foo":{"type":"string"}},"required":["foo"]},{"properties":{"baz":{"type":"boolean"}}}]}`, tests: []instance{
			ok(`{"foo":"quux","bar":2,"baz":true}`), bad(`{"foo":"quux","baz":true}`, "/bar"), bad(`{"bar":2}`, "/foo"),
		}},
		{name: "allOf tightens bounds", schema: `{"type":"number","maximum":50,"allOf":[{"maximum":30},{"minimum":20}]}`, tests: []instance{ok(`25`), bad(`35`, ""), bad(`15`, "")}},
		{name: "allOf merges one property", schema: `{"type":"object","allOf":[{"properties":{"a":{"type":"string","minLength":2}}},{"properties":{"a":{"maxLength":3,"pattern":"^x"}}}]}`, tests: []instance{
			ok(`{"a":"xy"}`), bad(`{"a":"x"}`, "/a"), bad(`{"a":"xyzz"}`, "/a"), bad(`{"a":"yy"}`, "/a"),
		}},
		{name: "allOf intersects enumerations", schema: `{"allOf":[{"enum":["a","b"]},{"enum":["b","c"]}]}`, tests: []instance{ok(`"b"`), bad(`"a"`, ""), bad(`"c"`, "")}},
		{name: "allOf of integer and number", schema: `{"allOf":[{"type":"number"},{"type":"integer"}]}`, tests: []instance{ok(`1`), bad(`1.5`, "")}},
		{name: "allOf multiples", schema: `{"type":"integer","allOf":[{"multipleOf":2},{"multipleOf":3}]}`, tests: []instance{ok(`6`), bad(`4`, ""), bad(`3`, "")}},
		{name: "oneOf by JSON type", schema: `{"oneOf":[{"type":"string","minLength":2},{"type":"integer"},{"type":"array","items":{"type":"string"}},{"type":"object","properties":{"a":{"type":"string"}}},{"type":"boolean"}]}`, tests: []instance{
			ok(`"ab"`), bad(`"a"`, ""), ok(`1`), bad(`1.5`, ""), ok(`["x"]`), bad(`[1]`, "/0"), ok(`{"a":"x"}`), bad(`{"a":1}`, "/a"), ok(`true`), bad(`null`, ""),
		}},
		{name: "anyOf by JSON type with null", schema: `{"anyOf":[{"type":"number"},{"type":"string"},{"type":"null"}]}`, tests: []instance{ok(`1.5`), ok(`"x"`), ok(`null`), bad(`true`, ""), bad(`{}`, "")}},
		{name: "oneOf by const property", schema: `
oneOf:
  - {type: object, required: [kind, r], properties: {kind: {const: circle}, r: {type: number}}}
  - {type: object, required: [kind, w], properties: {kind: {enum: [square, box]}, w: {type: number, minimum: 1}}}
`, tests: []instance{
			ok(`{"kind":"circle","r":1}`), ok(`{"kind":"box","w":1}`), ok(`{"w":2,"kind":"square"}`), bad(`{"kind":"circle"}`, "/r"), bad(`{"kind":"box","w":0}`, "/w"), bad(`{"kind":"x"}`, "/kind"), bad(`{}`, "/kind"), bad(`1`, ""), bad(`{"kind":{}}`, "/kind"),
		}},
		{name: "oneOf by integer constant", schema: `
oneOf:
  - {type: object, required: [v], properties: {v: {const: 1}, a: {type: string}}}
  - {type: object, required: [v], properties: {v: {const: 2}, b: {type: string}}}
`, tests: []instance{ok(`{"v":1,"a":"x"}`), becomes(`{"v":2.0,"b":"x"}`, `{"v":2,"b":"x"}`), bad(`{"v":3}`, "/v"), bad(`{"v":1,"a":1}`, "/a")}},
		{name: "union as a property, in lists and maps", schema: `
type: object
required: [one]
properties:
  one: {$ref: '#/$defs/Shape'}
  opt: {$ref: '#/$defs/Shape'}
  nul: {anyOf: [{$ref: '#/$defs/Shape'}, {type: "null"}]}
  many: {type: array, items: {$ref: '#/$defs/Shape'}}
  named: {type: object, additionalProperties: {$ref: '#/$defs/Shape'}}
$defs:
  Shape:
    oneOf:
      - $ref: '#/$defs/Circle'
      - $ref: '#/$defs/Group'
      - type: string
  Circle: {type: object, required: [kind], properties: {kind: {const: circle}, r: {type: number}}}
  Group: {type: object, required: [kind, of], properties: {kind: {const: group}, of: {type: array, items: {$ref: '#/$defs/Shape'}}}}
`, tests: []instance{
			ok(`{"one":"x"}`), ok(`{"one":{"kind":"circle","r":1},"opt":"y","nul":"z","many":["a",{"kind":"circle"}],"named":{"n":{"kind":"group","of":["q",{"kind":"group","of":[]}]}}}`),
			becomes(`{"one":"x","nul":null}`, `{"one":"x"}`), bad(`{}`, "/one"), bad(`{"one":null}`, "/one"), bad(`{"one":"x","many":["a",1]}`, "/many/1"),
			bad(`{"one":{"kind":"group","of":[{"kind":"circle","r":"x"}]}}`, "/one/of/0/r"), bad(`{"one":{"kind":"nope"}}`, "/one/kind"),
		}},
		{name: "discriminator with implied names", schema: `
type: object
required: [pet]
properties:
  pet:
    oneOf: [{$ref: '#/$defs/cat'}, {$ref: '#/$defs/Dog'}]
    discriminator: {propertyName: petType}
$defs:
  cat: {type: object, required: [petType], properties: {petType: {type: string}, lives: {type: integer}}}
  Dog: {type: object, required: [petType], properties: {petType: {type: string}, bark: {type: string}}}
`, tests: []instance{
			strict(`{"pet":{"petType":"cat","lives":"x"}}`, "/pet/lives", "the oracle does not know discriminators"), strict(`{"pet":{"petType":"Cat"}}`, "/pet/petType", "the oracle does not know discriminators"),
			{json: `{"pet":{"petType":"Dog","bark":"w"}}`, at: "ok", stricter: "the oracle does not know discriminators"},
		}},
		{name: "discriminator with a mapping", schema: `
oneOf: [{$ref: '#/definitions/A'}, {$ref: '#/definitions/B'}]
discriminator: {propertyName: t, mapping: {one: '#/definitions/A', uno: A, two: '#/definitions/B'}}
definitions:
  A: {type: object, properties: {t: {type: string}, a: {type: integer}}}
  B: {type: object, properties: {t: {type: string}, b: {type: integer}}, required: [b]}
`, tests: []instance{
			{json: `{"t":"uno","a":1}`, at: "ok", stricter: "the oracle does not know discriminators"}, {json: `{"t":"two","b":1}`, at: "ok", stricter: "the oracle does not know discriminators"},
			strict(`{"t":"two"}`, "/b", "discriminator"), strict(`{"t":"A"}`, "/t", "discriminator"), strict(`{"a":1}`, "/t", "discriminator"),
		}},
		{name: "discriminator over constants", schema: `
oneOf: [{$ref: '#/$defs/A'}, {$ref: '#/$defs/B'}]
discriminator: {propertyName: t}
$defs:
  A: {type: object, properties: {t: {const: a}}, required: [t]}
  B: {type: object, properties: {t: {const: b}}, required: [t]}
`, tests: []instance{ok(`{"t":"a"}`), ok(`{"t":"b"}`), bad(`{"t":"A"}`, "/t"), bad(`{}`, "/t")}},
		{name: "enumeration written as oneOf", schema: `{"oneOf":[{"const":"a","title":"the first"},{"const":"b","description":"the second"},{"enum":["c"]}]}`, tests: []instance{ok(`"a"`), ok(`"c"`), bad(`"d"`, ""), bad(`1`, "")}},
		{name: "enumeration written as anyOf with null", schema: `{"type":"object","properties":{"e":{"anyOf":[{"enum":["a","b"]},{"const":"c"},{"type":"null"}]}}}`, tests: []instance{ok(`{"e":"c"}`), becomes(`{"e":null}`, `{}`), bad(`{"e":"d"}`, "/e")}},
		{name: "oneOf beside properties", schema: `
type: object
required: [id, kind]
properties: {id: {type: string}, kind: {type: string}}
oneOf:
  - {properties: {kind: {const: a}, x: {type: integer}}}
  - {properties: {kind: {const: b}, y: {type: integer}}, required: [y]}
`, tests: []instance{ok(`{"id":"1","kind":"a","x":1}`), ok(`{"id":"1","kind":"b","y":1}`), bad(`{"id":"1","kind":"b"}`, "/y"), bad(`{"kind":"a"}`, "/id"), bad(`{"id":"1","kind":"c"}`, "/kind")}},
		{name: "type object beside oneOf of references", schema: `
type: object
oneOf: [{$ref: '#/$defs/UpA'}, {$ref: '#/$defs/UpB'}]
$defs:
  UpA: {type: object, properties: {t: {const: a}}, required: [t]}
  UpB: {type: object, properties: {t: {const: b}}, required: [t]}
`, tests: []instance{ok(`{"t":"a"}`), bad(`{"t":"c"}`, "/t"), bad(`"a"`, "")}},
		{name: "nested unions", schema: `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":["integer","array"],"items":{"type":"integer"}}]}`, tests: []instance{ok(`"a"`), ok(`null`), ok(`1`), ok(`[1]`), bad(`["x"]`, "/0"), bad(`true`, "")}},
		{name: "single alternative", schema: `{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"}}}]}`, tests: []instance{ok(`{"a":1}`), bad(`{"a":"x"}`, "/a")}},
		{name: "nullable reference by OpenAPI keyword", schema: `
type: object
properties: {p: {$ref: '#/$defs/Place', nullable: true}}
required: [p]
$defs: {Place: {type: object, properties: {x: {type: integer}}}}
`, tests: []instance{ok(`{"p":null}`), ok(`{"p":{"x":1}}`), bad(`{"p":1}`, "/p"), bad(`{}`, "/p")}},
		{name: "nullable root object", schema: `{"type":["object","null"],"properties":{"a":{"type":"integer"}}}`, tests: []instance{ok(`null`), ok(`{"a":1}`), bad(`[]`, ""), bad(`{"a":"x"}`, "/a")}},
	}
}

func referenceCases() []conformance {
	return []conformance{
		{name: "recursive object", schema: `{"type":"object","properties":{"foo":{"$ref":"#"}},"additionalProperties":false}`, tests: []instance{ok(`{"foo":{"foo":{}}}`), bad(`{"bar":false}`, "/bar"), bad(`{"foo":{"bar":false}}`, "/foo/bar")}},
		{name: "recursive list", schema: `{"type":"array","items":{"$ref":"#"}}`, tests: []instance{ok(`[[],[[]]]`), bad(`[[1]]`, "/0/0")}},
		{name: "recursive list as a definition", schema: `{"type":"object","properties":{"t":{"$ref":"#/$defs/Trunk"}},"$defs":{"Trunk":{"type":"array","items":{"$ref":"#/$defs/Trunk"},"maxItems":2}}}`, tests: []instance{ok(`{"t":[[],[[]]]}`), bad(`{"t":[[[],[],[]]]}`, "/t/0"), bad(`{"t":[[1]]}`, "/t/0/0")}},
		{name: "recursive map", schema: `{"type":"object","additionalProperties":{"$ref":"#"}}`, tests: []instance{ok(`{"a":{"b":{}}}`), bad(`{"a":{"b":1}}`, "/a/b")}},
		{name: "mutual recursion", schema: `
$ref: '#/$defs/Folder'
$defs:
  Folder: {type: object, required: [name], properties: {name: {type: string}, entries: {type: array, items: {$ref: '#/$defs/Entry'}}}}
  Entry: {oneOf: [{$ref: '#/$defs/Folder'}, {type: string}]}
`, tests: []instance{ok(`{"name":"a","entries":["x",{"name":"b"}]}`), bad(`{"name":"a","entries":[{"entries":[]}]}`, "/entries/0/name"), bad(`{"name":"a","entries":[1]}`, "/entries/0")}},
		{name: "recursive nullable list", schema: `{"$ref":"#/$defs/N","$defs":{"N":{"type":["array","null"],"items":{"$ref":"#/$defs/N"}}}}`, tests: []instance{ok(`[null,[null]]`), ok(`null`), bad(`[1]`, "/0")}},
		{name: "recursion that null ends", schema: `{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}}}}}`, tests: []instance{ok(`{"next":{"next":null}}`), bad(`{"next":{}}`, "/next/next"), bad(`{"next":1}`, "/next")}},
		{name: "recursion that a type with null ends", schema: `{"type":["object","null"],"required":["next","all"],"properties":{"next":{"$ref":"#"},"all":{"type":"array","minItems":1,"items":{"$ref":"#"}}}}`, tests: []instance{ok(`null`), ok(`{"next":null,"all":[{"next":null,"all":[null]}]}`), bad(`{"next":null,"all":[]}`, "/all")}},
		{name: "bounds that meet", schema: `{"type":"number","minimum":3,"maximum":3.0}`, tests: []instance{ok(`3`), bad(`3.1`, "")}},
		{name: "definitions of draft 7", schema: `{"definitions":{"pos":{"type":"integer","minimum":0}},"type":"object","properties":{"a":{"$ref":"#/definitions/pos"},"b":{"$ref":"#/definitions/pos"}}}`, tests: []instance{ok(`{"a":1,"b":0}`), bad(`{"a":-1}`, "/a")}},
		{name: "anchor", schema: `{"type":"object","properties":{"a":{"$ref":"#spot"}},"$defs":{"A":{"$anchor":"spot","type":"integer"}}}`, tests: []instance{ok(`{"a":1}`), bad(`{"a":"x"}`, "/a")}},
		{name: "pointer into properties", schema: `{"type":"object","properties":{"home":{"type":"object","properties":{"z":{"type":"integer"}}},"work":{"$ref":"#/properties/home"}}}`, tests: []instance{ok(`{"home":{"z":1},"work":{"z":2}}`), bad(`{"work":{"z":"x"}}`, "/work/z")}},
		{name: "reference with siblings", schema: `{"type":"object","properties":{"a":{"$ref":"#/$defs/Small","maximum":5,"description":"small"}},"$defs":{"Small":{"type":"integer","minimum":1}}}`, tests: []instance{ok(`{"a":5}`), bad(`{"a":6}`, "/a"), bad(`{"a":0}`, "/a")}},
		{name: "escaped pointer", schema: `{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y%25"}},"$defs":{"x/y%":{"type":"integer"}}}`, tests: []instance{ok(`{"a":1}`), bad(`{"a":""}`, "/a")}},
		{name: "inheritance by allOf", schema: `
type: object
required: [dog]
properties: {dog: {$ref: '#/$defs/Hound'}, also: {$ref: '#/$defs/Animal'}}
$defs:
  Animal: {type: object, required: [name], properties: {name: {type: string}, parent: {$ref: '#/$defs/Animal'}}}
  Hound: {allOf: [{$ref: '#/$defs/Animal'}, {type: object, properties: {bark: {type: string}}}]}
`, tests: []instance{ok(`{"dog":{"name":"a","bark":"b","parent":{"name":"c"}},"also":{"name":"d"}}`), bad(`{"dog":{"bark":"b"}}`, "/dog/name"), bad(`{"dog":{"name":"a","parent":{}}}`, "/dog/parent/name")}},
		{name: "files", schema: `"schemas/order.yaml#/$defs/Order"`, files: map[string]string{
			"schemas/order.yaml":       "$defs:\n  Order:\n    type: object\n    required: [to]\n    properties:\n      to: {$ref: 'common/geo.json#/$defs/Spot'}\n      via: {type: array, items: {$ref: 'common/geo.json#/$defs/Spot'}}\n      note: {$ref: common/note.json}\n",
			"schemas/common/geo.json":  `{"$defs":{"Spot":{"type":"object","required":["lat"],"properties":{"lat":{"type":"number"},"note":{"$ref":"note.json"},"again":{"$ref":"#/$defs/Spot"}}}}}`,
			"schemas/common/note.json": `{"type":"object","properties":{"text":{"type":"string"},"reply":{"$ref":"#"}}}`,
		}, tests: []instance{ok(`{"to":{"lat":1,"note":{"text":"x","reply":{}},"again":{"lat":2}},"via":[]}`), bad(`{"to":{}}`, "/to/lat"), bad(`{"to":{"lat":1},"note":{"reply":{"text":1}}}`, "/note/reply/text")}},
		{name: "one name in two files", schema: `{type: object, properties: {a: {$ref: 'a.json#/$defs/Thing'}, b: {$ref: 'b.json#/$defs/Thing'}}}`, files: map[string]string{
			"a.json": `{"$defs":{"Thing":{"type":"object","properties":{"x":{"type":"integer"}}}}}`, "b.json": `{"$defs":{"Thing":{"type":"object","properties":{"x":{"type":"string"}}}}}`,
		}, tests: []instance{ok(`{"a":{"x":1},"b":{"x":"1"}}`), bad(`{"a":{"x":"1"}}`, "/a/x"), bad(`{"b":{"x":1}}`, "/b/x")}},
		{name: "aliases of YAML", schema: "type: object\nproperties:\n  a: &loc {type: object, properties: {x: {type: integer}}}\n  b: *loc\n", tests: []instance{ok(`{"a":{"x":1},"b":{"x":2}}`), bad(`{"b":{"x":""}}`, "/b/x")}},
	}
}

func hostileCases() []conformance {
	return []conformance{
		{name: "hostile names", schema: `{"type":"object","properties":{"a\"b":{"type":"integer"},"` + "`" + `":{"type":"integer"},"*/":{"type":"integer"},"\n//go:generate x":{"type":"integer"},"":{"type":"integer"},"func":{"type":"integer"},"Validate":{"type":"integer"},"validate":{"type":"integer"},"\u2028":{"type":"integer"},"日本":{"type":"integer"},"x-y":{"type":"integer"},"x_y":{"type":"integer"},"MarshalJSON":{"type":"integer"},"AdditionalProperties":{"type":"integer"},"1":{"type":"integer"}},"additionalProperties":{"type":"string"}}`,
			tests: []instance{ok(`{"a\"b":1,"` + "`" + `":2,"*/":3,"\n//go:generate x":4,"":5,"func":6,"Validate":7,"validate":8,"\u2028":9,"日本":10,"x-y":11,"x_y":12,"MarshalJSON":13,"AdditionalProperties":14,"1":15,"z":"z"}`), bad(`{"":"x"}`, "/"), bad(`{"a\"b":"x"}`, "/a\"b")}},
		{name: "hostile texts", schema: `{"type":"object","title":"*/ }","description":"a */ b\n//go:generate rm -rf\n+build x\n\u2028package evil\u0000","properties":{"p":{"type":"string","description":"` + "`" + `*/\n} func init() {","pattern":"\"` + "`" + `\\\\","default":"\"` + "`" + `\\"},"e":{"enum":["*/","\n","` + "`" + `","","a b","A B","a-b"]}}}`,
			tests: []instance{ok(`{"p":"\"` + "`" + `\\","e":"*/"}`), ok(`{"p":"\"` + "`" + `\\","e":"a-b"}`), bad(`{"p":"x"}`, "/p"), bad(`{"e":"x"}`, "/e")}},
		{name: "enum values with one Go name", schema: `enum: [a_b, a-b, a.b, "1", "01", "-1"]`, tests: []instance{ok(`"a_b"`), ok(`"a-b"`), ok(`"-1"`), bad(`"ab"`, "")}},
		{name: "duplicate keys are refused", schema: `{"type":"object","properties":{"a":{"type":"integer"}}}`, tests: []instance{strict(`{"a":1,"a":2}`, "/a", "malformed"), strict(`{"x":1,"x":2}`, "/x", "malformed"), strict(`{"x":{"y":1,"y":2}}`, "/x/y", "malformed")}},
		{name: "duplicate keys of maps are refused", schema: `{"type":"object","additionalProperties":{"type":"integer"}}`, tests: []instance{strict(`{"a":1,"a":2}`, "/a", "malformed")}},
		{name: "many fields", schema: manyFields(), tests: []instance{ok(`{"f0":0,"f70":1,"f99":2}`), bad(`{"f99":"x"}`, "/f99"), strict(`{"f99":1,"f99":1}`, "/f99", "malformed")}},
	}
}

func manyFields() string {
	s := `{"type":"object","properties":{`
	for i := range 100 {
		if i > 0 {
			s += ","
		}
		s += `"f` + itoa(i) + `":{"type":"integer"}`
	}
	return s + "}}"
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}
