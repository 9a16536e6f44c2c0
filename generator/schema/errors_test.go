package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
)

// compileOne compiles one schema as the input of skill Forecast.
func compileOne(text string, files map[string]string) (compiled, diag.List) {
	return compile([]request{{"ForecastInput", "agent.yaml", text}}, openMap(files))
}

func TestMistakesAreReportedWithPositionAndRemedy(t *testing.T) {
	const nest = "type: object\nproperties:\n  p: "
	for _, test := range []struct {
		name, schema string
		files        map[string]string
		want         []string // beginnings of the diagnostics, in order; "…" stands for any text within one
	}{
		{"unknown keyword", "type: string\nminLenght: 3", nil, []string{`agent.yaml:2:1: unknown keyword "minLenght" (did you mean "minLength"? A note of your own begins with x-)`}},
		{"if then else", "type: object\nif: {}\nthen: {}\nelse: {}", nil, []string{`agent.yaml:2:1: "if" cannot be expressed as a Go type (write the alternatives as oneOf`, `agent.yaml:3:1: "then"`, `agent.yaml:4:1: "else"`}},
		{"not", nest + "{not: {type: string}}", nil, []string{`agent.yaml:3:7: "not" cannot be expressed`}},
		{"patternProperties", "type: object\npatternProperties: {}", nil, []string{`agent.yaml:2:1: "patternProperties" cannot be expressed as a Go type (use additionalProperties`}},
		{"dynamicRef", "$dynamicRef: '#x'", nil, []string{`agent.yaml:1:1: "$dynamicRef" cannot be expressed as a Go type (use $ref; or write "x-go: raw" here to take any JSON in its place)`}},
		{"schema dependency", "type: object\ndependencies: {a: {required: [b]}}", nil, []string{`agent.yaml:2:16: a schema as a dependency`}},
		{"unknown type", "type: strin", nil, []string{`agent.yaml:1:7: the text "strin" is no JSON type (did you mean "string"?)`}},
		{"several mistakes at once", "type: object\nproperties:\n  a: {type: int}\n  b: {typ: string}\n  c: 3", nil, []string{`agent.yaml:3:13: the text "int"`, `agent.yaml:4:7: unknown keyword "typ"`, `agent.yaml:5:6: a schema must be a map, true or false, got the number 3`}},
		{"mistakes of reading and of meaning at once", "type: object\ntypo: 1\nrequired: [zz]\nproperties:\n  a: {type: string, minLenght: 1}\n  b: {type: array, items: {type: integer, minimum: 3, maximum: 2}}\n  c: {oneOf: [{type: string}, {type: string}]}", nil,
			[]string{`agent.yaml:2:1: unknown keyword "typo"`, `agent.yaml:5:21: unknown keyword "minLenght"`, `agent.yaml:6:27: no number is at least 3`, `agent.yaml:7:31: these alternatives of oneOf are the same`}},
		{"pattern that is no RE2", "type: string\npattern: '(?=a)'", nil, []string{`agent.yaml:2:10: pattern is not RE2: …(patterns are RE2`}},
		{"required as a flag", nest + "{type: string, required: true}", nil, []string{`agent.yaml:3:31: required must be a list of property names, got true (list the names`}},
		{"required but misspelt", "type: object\nproperties: {city: {type: string}}\nrequired: [citty]", nil, []string{`agent.yaml:3:12: "citty" is demanded but not in properties (did you mean "city"?)`}},
		{"mixed keywords without type", nest + "{minLength: 1, minimum: 2}", nil, []string{`agent.yaml:3:6: without type the keywords speak of string or number: which is it? (add type)`}},
		{"negative length", "type: string\nminLength: -1", nil, []string{`agent.yaml:2:12: minLength must be a whole number from 0 on`}},
		{"bounds that exclude everything", "type: integer\nminimum: 3\nmaximum: 2", nil, []string{`agent.yaml:1:1: no number is at least 3 and at most 2`}},
		{"bounds that meet, the lower one open", "type: number\nexclusiveMinimum: 3\nmaximum: 3", nil, []string{`agent.yaml:1:1: no number is greater than 3 and at most 3`}},
		{"bounds that meet, the upper one open", "type: number\nminimum: 3.0\nexclusiveMaximum: 3", nil, []string{`agent.yaml:1:1: no number is at least 3 and less than 3`}},
		{"bounds that meet, both open", "type: number\nexclusiveMinimum: 3\nexclusiveMaximum: 3e0", nil, []string{`agent.yaml:1:1: no number is greater than 3 and less than 3`}},
		{"bounds that meet, one of them written open too", "type: number\nminimum: 3\nexclusiveMinimum: 3\nmaximum: 3", nil, []string{`agent.yaml:1:1: no number is greater than 3 and at most 3`}},
		{"integers between fractions", "type: integer\nminimum: 1.2\nmaximum: 1.8", nil, []string{`agent.yaml:1:1: no int64 is at least 2 and at most 1`}},
		{"lengths that exclude everything", "type: string\nminLength: 3\nmaxLength: 2", nil, []string{`agent.yaml:1:1: no value is at least 3 and at most 2 long`}},
		{"multiple of zero", "type: integer\nmultipleOf: 0", nil, []string{`agent.yaml:2:13: multipleOf must be greater than 0`}},
		{"exponent bomb", `{"type":"number","minimum":1e999999999}`, nil, []string{`agent.yaml:1:28: minimum is out of range`}},
		{"bound that no float64 holds", `{"type":"number","maximum":1e350}`, nil, []string{`agent.yaml:1:28: maximum is out of range: 1e350`}},
		{"constant that no float64 holds", `{"enum": [1, 1e350]}`, nil, []string{`agent.yaml:1:14: number 1e350 is out of range`}},
		{"conflicting types in allOf", "allOf: [{type: string}, {type: integer}]", nil, []string{`agent.yaml:1:25: no value has all the types`}},
		{"conflicting enumerations", "allOf: [{enum: [a]}, {enum: [b]}]", nil, []string{`agent.yaml:1:22: no value is in all the enumerations`}},
		{"conflicting formats", "type: string\nallOf: [{format: date}, {format: byte}]", nil, []string{`agent.yaml:2:34: format byte conflicts with format date`}},
		{"property that a closed part of allOf forbids", "allOf:\n  - {type: object, properties: {a: {type: string}}, additionalProperties: false}\n  - {type: object, properties: {b: {type: string}}}", nil, []string{`agent.yaml:3:33: property "b" is forbidden by additionalProperties: false at agent.yaml:2:5`}},
		{"enum value of another type", "type: string\nenum: [a, 1]", nil, []string{`agent.yaml:2:11: value 1 is not of type string`}},
		{"enum value twice", "enum: [1, 1.0]", nil, []string{`agent.yaml:1:11: value 1 is listed twice`}},
		{"empty enum", "enum: []", nil, []string{`agent.yaml:1:7: enum is empty: no value is valid`}},
		{"false as a schema", nest + "false", nil, []string{`agent.yaml:3:6: no value is valid here (remove it`}},
		{"default on a property that demands others", "type: object\nproperties: {a: {type: integer, default: 1}, b: {type: integer}}\ndependentRequired: {a: [b]}", nil, []string{`agent.yaml:1:1: property "a" has a default`}},
		{"property name against propertyNames", "type: object\nproperties: {Ab: {type: string}}\npropertyNames: {pattern: '^[a-z]+$'}", nil, []string{`agent.yaml:2:14: property name "Ab" is not valid by propertyNames`}},
		{"equal constants", "oneOf:\n  - {type: object, required: [k], properties: {k: {const: x}}}\n  - {type: object, required: [k], properties: {k: {const: x}}}", nil, []string{"agent.yaml:3:5: these alternatives of oneOf are the same: no value fits only one (remove one, or write anyOf; or write \"x-go: raw\" here"}},
		{"value in two alternatives", "oneOf: [{const: a}, {enum: [a, b]}]", nil, []string{`agent.yaml:1:29: value "a" is in two alternatives of oneOf`}},
		{"alternative without type beside one of another type", "oneOf: [{type: integer}, {minLength: 2}]", nil, []string{"agent.yaml:1:26: without type this alternative takes every value of the other one too (add type; or write"}},
		{"alternatives of which none is valid", "anyOf: [false, false]", nil, []string{"agent.yaml:1:1: no value is valid here"}},
		{"enum of objects beside other keywords", "enum: [{a: 1}]\nminProperties: 2", nil, []string{"agent.yaml:1:1: an enumeration of objects or lists cannot have other keywords beside it"}},
		{"items and prefixItems of two schemas", "allOf: [{type: array, prefixItems: [{type: string}]}, {items: {minLength: 2}}]", nil, []string{"agent.yaml:1:55: items of one schema and prefixItems of another cannot be combined"}},
		{"discriminator alone", "type: object\ndiscriminator: {propertyName: t}", nil, []string{`agent.yaml:2:1: discriminator without oneOf or anyOf`}},
		{"two unions", "oneOf: [{type: string}]\nallOf: [{anyOf: [{type: string}, {type: integer}]}]", nil, []string{`agent.yaml:1:1: two anyOf or oneOf`}},
		{"reference to nowhere", nest + "{$ref: '#/$defs/Loc'}\n$defs: {Location: {type: object}}", nil, []string{`agent.yaml:3:13: nothing at "#/$defs/Loc" in agent.yaml`}},
		{"reference to definitions that are elsewhere", "type: object\nproperties:\n  a: {$ref: '#/components/schemas/Loc'}", nil, []string{`agent.yaml:3:13: nothing at "#/components" in agent.yaml (# is the root of this schema: put $defs beside its type, or name a file)`}},
		{"misspelt definitions", nest + "{$ref: '#/$def/Location'}\n$defs: {Location: {type: object}}", nil, []string{`agent.yaml:3:13: nothing at "#/$def" in agent.yaml (did you mean "$defs"?)`}},
		{"misspelt reference", nest + "{$ref: '#/$defs/Locaton'}\n$defs: {Location: {type: object}}", nil, []string{`agent.yaml:3:13: nothing at "#/$defs/Locaton" in agent.yaml (did you mean "Location"?)`}},
		{"unknown anchor", "$ref: '#nope'", nil, []string{`agent.yaml:1:7: no $anchor "nope"`}},
		{"remote reference", "$ref: https://example.com/s.json", nil, []string{`agent.yaml:1:7: "https://example.com/s.json": schemas are not fetched from the network (save the schema`}},
		{"reference out of the project", "$ref: ../../etc/passwd", nil, []string{`agent.yaml:1:7: "../../etc/passwd" leads out of the project`}},
		{"absolute reference", "$ref: /etc/passwd", nil, []string{`agent.yaml:1:7: "/etc/passwd" leads out of the project`}},
		{"escaped way out of the project", "$ref: '%2e%2e/x.json'", nil, []string{`agent.yaml:1:7: "%2e%2e/x.json" leads out of the project`}},
		{"drive letter", "$ref: 'C:/x.json'", nil, []string{`agent.yaml:1:7: "C:/x.json" leads out of the project`}},
		{"missing file", `"schemas/none.json"`, nil, []string{`agent.yaml:1:1: reading "schemas/none.json": file does not exist`}},
		{"mistake in a file", `"s.json"`, map[string]string{"s.json": "{\n \"type\": \"sting\"}"}, []string{`s.json:2:10: the text "sting" is no JSON type`}},
		{"file that does not parse", `"s.json"`, map[string]string{"s.json": "{"}, []string{`s.json:`}},
		{"text that is no schema", "3", nil, []string{`agent.yaml:1:1: a schema must be a map`}},
		{"endless reference", "$ref: '#/$defs/A'\n$defs: {A: {$ref: '#/$defs/B'}, B: {$ref: '#/$defs/A'}}", nil, []string{`agent.yaml:2:12: the schema refers to itself without end`}},
		{"endless allOf", "allOf: [{$ref: '#'}]\ntype: object", nil, []string{`agent.yaml:1:1: the schema refers to itself without end`}},
		{"endless alternatives", "anyOf: [{$ref: '#'}, {type: 'null'}]", nil, []string{`agent.yaml:1:1: the alternatives refer to themselves`}},
		{"value that needs itself", "type: object\nrequired: [next]\nproperties: {next: {$ref: '#'}}", nil, []string{`agent.yaml:1:1: a value of this schema would have to hold another one without end (take the property out of required`}},
		{"values that need each other", nest + "{$ref: '#/$defs/A'}\n$defs:\n  A: {type: object, required: [b], properties: {b: {$ref: '#/$defs/B'}}}\n  B: {type: object, required: [a], properties: {a: {type: array, minItems: 1, items: {$ref: '#/$defs/A'}}}}", nil, []string{`agent.yaml:5:6: a value of this schema`}},
		{"anchor twice", "$ref: '#a'\n$defs: {x: {$anchor: a}, y: {$anchor: a}}", nil, []string{`agent.yaml:2:39: $anchor "a" is declared twice`}},
		{"mistake in an unused definition", "type: string\n$defs: {X: {typo: 1}}", nil, []string{`agent.yaml:2:13: unknown keyword "typo"`}},
		{"draft 3", "$schema: http://json-schema.org/draft-03/schema#\ntype: string", nil, []string{`agent.yaml:1:10: unknown schema dialect "http://json-schema.org/draft-03/schema" (write https://json-schema.org/draft/2020-12/schema)`}},
		{"misspelt keyword of a file that is not somebody else's", "$ref: mine.yaml", map[string]string{"mine.yaml": "type: string\nminLenght: 3"}, []string{`mine.yaml:2:1: unknown keyword "minLenght"`}},
		{"what a file that is somebody else's cannot have either", "$ref: theirs.yaml", map[string]string{"theirs.yaml": "x-third-party: true\ntype: string\nminLenght: 3\nnot: {type: string}"}, []string{`theirs.yaml:3:1: warning: unknown keyword "minLenght" has no effect`, `theirs.yaml:4:1: "not" cannot be expressed`}},
		{"unknown dialect", "$schema: http://example.com/x\ntype: string", nil, []string{`agent.yaml:1:10: unknown schema dialect`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, list := compileOne(test.schema, test.files)
			if !list.HasErrors() || res.Types != nil || res.Roots[0].Ref != nil {
				t.Fatalf("errors %v, types %v; want errors and no types", list, res.Types)
			}
			if len(list) != len(test.want) {
				t.Errorf("%d diagnostics, want %d:\n%v", len(list), len(test.want), list)
			}
			for i, want := range test.want {
				if i >= len(list) || !matches(list[i].String(), want) {
					t.Errorf("diagnostic %d is\n%v\nwant\n%s", i, list[min(i, len(list)-1)], want)
				}
			}
		})
	}
}

// matches reports whether got begins with want, in which "…" stands for any text.
func matches(got, want string) bool {
	for i, piece := range strings.Split(want, "…") {
		at := strings.Index(got, piece)
		if at < 0 || i == 0 && at != 0 {
			return false
		}
		got = got[at+len(piece):]
	}
	return true
}

func TestMistakesOfAllSkillsAreReportedAtOnce(t *testing.T) {
	_, list := compile([]request{
		{"A", "a.yaml", "type: strng"}, {"B", "b.yaml", "oneOf: [{type: number}, {type: number}]"}, {"C", "c.yaml", "$ref: none.json"},
	}, openMap(nil))
	var files []string
	for _, d := range list {
		files = append(files, d.Pos.File)
	}
	if got := strings.Join(files, " "); got != "a.yaml b.yaml c.yaml" {
		t.Errorf("got %v", list)
	}
}

func TestWarningsDoNotStop(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"keyword of another type", "type: object\nproperties: {a: {type: string, minimum: 3}}", `agent.yaml:2:32: warning: minimum says nothing about a value of type string (remove it, or correct the type)`},
		{"unknown format", "type: string\nformat: dat-time", `agent.yaml:2:9: warning: unknown format "dat-time" is not checked (did you mean "date-time"?)`},
		{"keyword nobody knows", "type: string\nfrobnicate: 3", `agent.yaml:2:1: warning: unknown keyword "frobnicate" has no effect (prefix it with x- if it is a note of your own)`},
		{"default of another type", "type: object\nproperties: {a: {type: integer, default: x}}", `agent.yaml:2:42: warning: the default is not valid and has no effect: must be a whole number, not the text "x"`},
		{"default outside its bounds", "type: object\nproperties: {a: {type: integer, maximum: 3, default: 4}}", `agent.yaml:2:54: warning: the default is not valid and has no effect: must be at most 3`},
		{"default that is not in the enum", "type: object\nproperties: {a: {enum: [a, b], default: c}}", `agent.yaml:2:41: warning: the default is not valid and has no effect: is not one of`},
		{"default that is no address", "type: object\nproperties: {a: {type: string, format: url, default: x y}}", `agent.yaml:2:54: warning: the default is not valid and has no effect: must be a valid uri`},
		{"default that its Go type cannot hold", "type: object\nproperties: {a: {type: integer, default: 1e30}}", `agent.yaml:2:42: warning: the default is not valid and has no effect: must be a whole number from -9223372036854775808 to`},
		{"default that would fill the memory", `{"type":"object","properties":{"a":{"type":"number","default":1e999999999}}}`, `agent.yaml:1:63: warning: the default is not valid and has no effect: is out of range`},
		{"default with a mistake inside", "type: object\nproperties: {a: {type: object, properties: {b: {$ref: '#/$defs/B'}}, default: {b: AB}}}\n$defs: {B: {type: string, pattern: '^\\u0061'}}", `agent.yaml:2:79: warning: the default is not valid and has no effect: "b" must match the pattern`},
		{"default that lacks a property", "type: object\nproperties: {a: {type: object, required: [b], properties: {b: {type: string}}, default: {}}}", `agent.yaml:2:89: warning: the default is not valid and has no effect: lacks the property "b", which is required`},
		{"default that no alternative takes", "type: object\nproperties: {a: {anyOf: [{type: string}, {type: boolean}], default: 1}}", `agent.yaml:2:69: warning: the default is not valid and has no effect: fits none of the alternatives`},
		{"example that is not valid", "type: object\nproperties: {a: {type: integer, examples: [1, x]}}", `agent.yaml:2:47: warning: the example is not valid: must be a whole number, not the text "x" (correct it, or remove it)`},
		{"enumerated value that another keyword excludes", "type: object\nproperties: {a: {enum: [a, ab], minLength: 2}}", `agent.yaml:2:25: warning: value "a" is never valid: must be at least 2 characters long (correct it, or remove it)`},
		{"keyword that somebody else misspelt", "x-third-party: true\ntype: string\nminLenght: 3", `agent.yaml:3:1: warning: unknown keyword "minLenght" has no effect (did its author mean "minLength"?)`},
		{"keyword beside $ref of draft 7", "$schema: http://json-schema.org/draft-07/schema#\n$ref: '#/definitions/A'\nminLength: 3\ndefinitions: {A: {type: string}}", `agent.yaml:3:1: warning: minLength has no effect: in draft-07 nothing beside $ref has (put $ref into an allOf beside it, or name draft 2020-12 in $schema)`},
		{"annotation only", "type: object\nproperties: {a: {description: x}}", "agent.yaml:2:17: warning: without type any value is valid here (add type"},
		{"default of a required property", "type: object\nrequired: [a]\nproperties: {a: {type: integer, default: 1}}", `agent.yaml:3:42: warning: the default of "a" is never used`},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, list := compileOne(test.schema, nil)
			if list.HasErrors() || len(list) != 1 || !strings.HasPrefix(list[0].String(), test.want) {
				t.Errorf("got %v, want %s", list, test.want)
			}
			if res.Roots[0].Ref == nil {
				t.Error("no type")
			}
		})
	}
}

func TestHugeSchemasEndWithAnErrorSoon(t *testing.T) {
	wide := strings.Builder{}
	wide.WriteString(`{"type":"object","properties":{`)
	for i := range 30_000 {
		fmt.Fprintf(&wide, `"p%d":{"type":"object","properties":{}},`, i)
	}
	wide.WriteString(`"last":{"type":"string"}}}`)
	// Each definition uses the next one twice: two to the power of sixty paths, but only sixty types.
	deep := strings.Builder{}
	deep.WriteString(`{"$ref":"#/$defs/D0","$defs":{`)
	for i := range 60 {
		fmt.Fprintf(&deep, `"D%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/D%d"},"b":{"$ref":"#/$defs/D%d"}}},`, i, i+1, i+1)
	}
	deep.WriteString(`"D60":{"type":"string"}}}`)
	// The same with alternatives, all of which a reader would have to tell apart.
	alternatives := strings.Builder{}
	alternatives.WriteString(`{"$ref":"#/$defs/D0","$defs":{`)
	for i := range 60 {
		fmt.Fprintf(&alternatives, `"D%d":{"oneOf":[{"$ref":"#/$defs/D%d"},{"$ref":"#/$defs/D%d","title":"again"}]},`, i, i+1, i+1)
	}
	alternatives.WriteString(`"D60":{"type":"string"}}}`)
	if _, list := compileOne(alternatives.String(), nil); !list.HasErrors() || list[0].Code != "too-large" {
		t.Errorf("alternatives that double at each step: %v", list)
	}
	if _, list := compileOne(wide.String(), nil); !list.HasErrors() || list[0].Code != "too-large" {
		t.Errorf("30,000 types: %v", list)
	}
	res, list := compileOne(deep.String(), nil)
	if list.HasErrors() || len(res.Types) != 60 {
		t.Errorf("shared definitions: %d types, %v", len(res.Types), list)
	}
}
