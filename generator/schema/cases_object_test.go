package schema_test

const (
	typed   = "a schema without type is of the type that its keywords speak of"
	dropped = "unknown properties are ignored"
)

func objectCases() []conformance {
	return []conformance{
		{name: "properties", schema: `
type: object
properties: {foo: {type: integer}, bar: {type: string}, sub: {type: object, properties: {deep: {type: boolean}}}}
`, tests: []instance{
			ok(`{"foo":1,"bar":"baz"}`), bad(`{"foo":1,"bar":{}}`, "/bar"), bad(`{"foo":[],"bar":{}}`, "/foo"), ok(`{}`), becomes(`{"quux":[]}`, `{}`),
			ok(`{"sub":{"deep":true}}`), bad(`{"sub":{"deep":1}}`, "/sub/deep"), bad(`[]`, ""), bad(`{"foo":null}`, "/foo"),
		}},
		{name: "properties without type", schema: `{"properties":{"foo":{"type":"integer"}}}`, tests: []instance{
			ok(`{"foo":1}`), bad(`{"foo":"a"}`, "/foo"), strict(`[]`, "", typed),
		}},
		{name: "required", schema: `{"type":"object","properties":{"foo":{"type":"string"},"bar":{"type":"integer"}},"required":["foo"]}`, tests: []instance{
			ok(`{"foo":""}`), bad(`{"bar":1}`, "/foo"), bad(`{}`, "/foo"), ok(`{"foo":"x","bar":0}`),
		}},
		{name: "required with names that need escapes", schema: `{"type":"object","required":["foo\nbar","foo\"bar","foo/~bar","foo\\bar",""],"additionalProperties":{"type":"number"}}`, tests: []instance{
			ok(`{"foo\nbar":1,"foo\"bar":1,"foo/~bar":1,"foo\\bar":1,"":2}`), bad(`{"foo\nbar":1,"":1}`, "/foo~1~0bar"), bad(`{}`, "/"),
		}},
		{name: "additionalProperties false", schema: `{"type":"object","properties":{"foo":{},"bar":{}},"additionalProperties":false}`, tests: []instance{
			ok(`{"foo":1}`), bad(`{"foo":1,"bar":2,"quux":"boom"}`, "/quux"), ok(`{"foo":null}`), bad(`{"fooo":1}`, "/fooo"),
		}},
		{name: "additionalProperties schema beside properties", schema: `{"type":"object","properties":{"foo":{"type":"string"}},"additionalProperties":{"type":"boolean"}}`, tests: []instance{
			ok(`{"foo":"x","quux":true,"a":false}`), bad(`{"foo":"x","quux":12}`, "/quux"),
		}},
		{name: "additionalProperties true beside properties keeps them", schema: `{"type":"object","properties":{"foo":{"type":"string"}},"additionalProperties":true}`, tests: []instance{
			ok(`{"foo":"x","quux":{"a":[1]}}`), ok(`{"n":null}`), bad(`{"foo":1}`, "/foo"),
		}},
		{name: "map of any", schema: `type: object`, tests: []instance{ok(`{"a":1,"b":{"c":null}}`), ok(`{}`), bad(`[]`, ""), bad(`null`, "")}},
		{name: "map of integers", schema: `{type: object, additionalProperties: {type: integer, minimum: 0}}`, tests: []instance{ok(`{"a":1}`), bad(`{"a":-1}`, "/a"), bad(`{"a/b":"x"}`, "/a~1b")}},
		{name: "map of maps of lists", schema: `{type: object, additionalProperties: {type: object, additionalProperties: {type: array, items: {type: [integer, "null"]}}}}`, tests: []instance{
			ok(`{"a":{"b":[1,null,2]},"c":{}}`), bad(`{"a":{"b":[1,"x"]}}`, "/a/b/1"), bad(`{"a":{"b":null}}`, "/a/b"),
		}},
		{name: "empty object that takes nothing", schema: `{"type":"object","additionalProperties":false}`, tests: []instance{ok(`{}`), bad(`{"a":1}`, "/a")}},
		{name: "minProperties of a map", schema: `{"type":"object","minProperties":1}`, tests: []instance{ok(`{"foo":1,"bar":2}`), ok(`{"foo":1}`), bad(`{}`, "")}},
		{name: "maxProperties of a map", schema: `{"type":"object","maxProperties":1}`, tests: []instance{ok(`{"foo":1}`), bad(`{"foo":1,"bar":2}`, "")}},
		{name: "maxProperties 0", schema: `{"type":"object","maxProperties":0}`, tests: []instance{ok(`{}`), bad(`{"foo":1}`, "")}},
		{name: "property counts of a struct", schema: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"minProperties":1,"maxProperties":2}`, tests: []instance{
			bad(`{}`, ""), ok(`{"a":""}`), ok(`{"a":"","c":""}`), bad(`{"a":"","b":"","c":""}`, ""), bad(`{"a":"","b":"","x":""}`, ""),
		}},
		{name: "propertyNames of a map", schema: `{"type":"object","propertyNames":{"maxLength":3,"pattern":"^[a-z]"}}`, tests: []instance{ok(`{"f":{},"foo":{}}`), bad(`{"foo":{},"foobar":{}}`, "/foobar"), bad(`{"1":0}`, "/1"), ok(`{}`)}},
		{name: "propertyNames enum", schema: `{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"integer"}}`, tests: []instance{ok(`{"a":1,"b":2}`), bad(`{"c":1}`, "/c")}},
		{name: "propertyNames of a struct", schema: `{"type":"object","properties":{"ab":{"type":"string"}},"propertyNames":{"minLength":2}}`, tests: []instance{ok(`{"ab":"x"}`), bad(`{"x":1}`, "/x")}},
		{name: "dependentRequired", schema: `{"type":"object","properties":{"foo":{"type":"string"},"bar":{"type":"string"},"quux":{"type":"string"}},"dependentRequired":{"quux":["foo","bar"]}}`, tests: []instance{
			ok(`{}`), ok(`{"foo":"","bar":""}`), ok(`{"foo":"","bar":"","quux":""}`), bad(`{"foo":"","quux":""}`, "/bar"), bad(`{"quux":""}`, "/foo"),
		}},
		{name: "dependencies of draft 7", schema: `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"bar":["foo"]}}`, tests: []instance{ok(`{"foo":1}`), ok(`{"foo":1,"bar":2}`), bad(`{"bar":2}`, "/foo")}},
		{name: "defaults", schema: `
type: object
properties:
  s: {type: string, default: bar, minLength: 1}
  days: {type: integer, default: 3, minimum: 1}
  retries: {type: integer, default: 3}
  zero: {type: integer, default: 0}
  on: {type: boolean, default: true}
  off: {type: boolean, default: false}
  unit: {enum: [c, f], default: c}
  list: {type: array, items: {type: integer}, default: [1, 2]}
  sub: {type: object, properties: {x: {type: integer, default: 7, minimum: 1}}, default: {}}
  maybe: {type: [string, "null"], default: x}
`, tests: []instance{
			becomes(`{}`, `{"s":"bar","days":3,"retries":3,"on":true,"unit":"c","list":[1,2],"sub":{"x":7},"maybe":"x"}`),
			becomes(`{"s":"q","days":1,"retries":0,"zero":1,"on":false,"off":true,"unit":"f","list":[],"sub":{"x":1},"maybe":null}`,
				`{"s":"q","days":1,"retries":0,"zero":1,"on":false,"off":true,"unit":"f","list":[],"sub":{"x":1},"maybe":null}`),
			bad(`{"days":0}`, "/days"), bad(`{"s":""}`, "/s"), bad(`{"unit":""}`, "/unit"), bad(`{"sub":{"x":0}}`, "/sub/x"),
		}},
		{name: "required constant has no field", schema: `{"type":"object","properties":{"kind":{"const":"a"},"v":{"const":1},"n":{"type":"null"},"on":{"const":true}},"required":["kind","v","on"]}`, tests: []instance{
			ok(`{"kind":"a","v":1,"on":true}`), bad(`{"kind":"b","v":1,"on":true}`, "/kind"), bad(`{"v":1,"on":true}`, "/kind"), bad(`{"kind":"a","v":"1","on":true}`, "/v"),
			becomes(`{"kind":"a","v":1.0,"on":true,"n":null}`, `{"kind":"a","v":1,"on":true}`), bad(`{"kind":"a","v":1,"on":true,"n":0}`, "/n"),
		}},
		{name: "optional constant", schema: `{"type":"object","properties":{"kind":{"const":"a"}}}`, tests: []instance{ok(`{}`), ok(`{"kind":"a"}`), bad(`{"kind":"b"}`, "/kind")}},
		{name: "nullable properties", schema: `
type: object
required: [r]
properties:
  r: {type: [integer, "null"]}
  o: {type: [string, "null"]}
  l: {type: [array, "null"], items: {type: [boolean, "null"]}}
  t: {type: [string, "null"], format: date-time}
  s: {anyOf: [{type: object, properties: {a: {type: integer}}}, {type: "null"}]}
`, tests: []instance{
			ok(`{"r":null}`), ok(`{"r":1,"o":"x","l":[null,true],"t":"2024-01-01T00:00:00Z","s":{"a":1}}`), becomes(`{"r":1,"o":null,"l":null,"t":null,"s":null}`, `{"r":1}`),
			bad(`{}`, "/r"), bad(`{"r":1,"l":[1]}`, "/l/0"), bad(`{"r":1,"s":{"a":null}}`, "/s/a"),
		}},
		{name: "property without a type", schema: `{"type":"object","properties":{"any":{},"no":true},"required":["any"]}`, tests: []instance{ok(`{"any":null}`), ok(`{"any":[1],"no":{"a":1}}`), bad(`{}`, "/any")}},
		{name: "choice of required properties", schema: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b","c"]}]}`, tests: []instance{
			ok(`{"a":""}`), ok(`{"b":"","c":""}`), ok(`{"a":"","b":"","c":""}`), bad(`{"b":""}`, ""), bad(`{}`, ""),
		}},
		{name: "exactly one of required properties", schema: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, tests: []instance{
			ok(`{"a":""}`), ok(`{"b":""}`), bad(`{"a":"","b":""}`, ""), bad(`{}`, ""),
		}},
		{name: "formats in properties", schema: `{"type":"object","properties":{"at":{"type":"string","format":"date-time"},"on":{"type":"string","format":"date"},"data":{"type":"string","format":"byte"}},"required":["on"]}`, tests: []instance{
			ok(`{"on":"2024-02-29"}`), ok(`{"at":"2024-02-29T10:00:00+02:00","on":"2024-02-29","data":"AQI="}`), bad(`{"at":"x","on":"y","data":"!"}`, "/data"), bad(`{"at":"x","on":"y"}`, "/at"),
		}},
	}
}

func arrayCases() []conformance {
	return []conformance{
		{name: "items", schema: `{"type":"array","items":{"type":"integer"}}`, tests: []instance{ok(`[1,2,3]`), bad(`[1,"x"]`, "/1"), bad(`{"foo":"bar"}`, ""), ok(`[]`)}},
		{name: "list of any", schema: `{"type":"array"}`, tests: []instance{ok(`[1,"x",null,{}]`), ok(`[]`), bad(`1`, "")}},
		{name: "nested lists", schema: `{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"number","maximum":9}}}}`, tests: []instance{
			ok(`[[[1],[2.5]],[]]`), bad(`[[["1"],[2]]]`, "/0/0/0"), bad(`[[[1],[2,10]]]`, "/0/1/1"),
		}},
		{name: "list of objects", schema: `{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`, tests: []instance{ok(`[{"a":"x"}]`), bad(`[{"a":"x"},{}]`, "/1/a"), bad(`[null]`, "/0")}},
		{name: "minItems", schema: `{"type":"array","minItems":1}`, tests: []instance{ok(`[1,2]`), ok(`[1]`), bad(`[]`, "")}},
		{name: "maxItems", schema: `{"type":"array","maxItems":2}`, tests: []instance{ok(`[1]`), ok(`[1,2]`), bad(`[1,2,3]`, "")}},
		{name: "item counts of a required list", schema: `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2}},"required":["l"]}`, tests: []instance{ok(`{"l":["a"]}`), bad(`{"l":[]}`, "/l"), bad(`{}`, "/l")}},
		{name: "uniqueItems of any", schema: `{"type":"array","uniqueItems":true}`, tests: []instance{
			ok(`[1,2]`), bad(`[1,1]`, ""), bad(`[1.0,1.00,1]`, ""), ok(`[0,false]`), ok(`[1,true]`), bad(`["foo","bar","foo"]`, ""), ok(`[{"foo":"bar"},{"foo":"baz"}]`),
			bad(`[{"foo":"bar"},{"foo":"bar"}]`, ""), bad(`[{"a":1,"b":2},{"b":2,"a":1}]`, ""), ok(`[[1],[true]]`), bad(`[{},[1],true,null,{},1]`, ""), ok(`[{"a":false},{"a":0}]`), bad(`["a","\u0061"]`, ""),
		}},
		{name: "uniqueItems of strings", schema: `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, tests: []instance{ok(`["a","b"]`), bad(`["a","b","a"]`, "")}},
		{name: "uniqueItems of numbers", schema: `{"type":"array","items":{"type":"number"},"uniqueItems":true}`, tests: []instance{ok(`[1,2.5]`), bad(`[1,1.0]`, ""), bad(`[100,1e2]`, "")}},
		{name: "uniqueItems of objects", schema: `{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}},"uniqueItems":true}`, tests: []instance{ok(`[{"a":1},{"a":2}]`), bad(`[{"a":1},{"a":1}]`, ""),
			strict(`[{"a":1,"x":1},{"a":1,"x":2}]`, "", dropped)}},
		{name: "enum items", schema: `{"type":"array","items":{"enum":["a","b"]}}`, tests: []instance{ok(`["a","b","a"]`), bad(`["c"]`, "/0")}},
		{name: "nullable items", schema: `{"type":"array","items":{"type":["object","null"],"properties":{"a":{"type":"integer"}}}}`, tests: []instance{ok(`[null,{"a":1}]`), bad(`[{"a":"x"}]`, "/0/a")}},
	}
}
