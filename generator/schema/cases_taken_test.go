package schema_test

// Patterns that schemas of others have: those of tools that publish MCP servers, of function calls, of Python models, of
// OpenAPI files.
func takenCases() []conformance {
	return []conformance{
		{name: "alternatives told apart by what they require", schema: `{"type":"object","required":["parent"],"properties":{"parent":{"anyOf":[
			{"type":"object","properties":{"page_id":{"type":"string"}},"required":["page_id"]},
			{"type":"object","properties":{"database_id":{"type":"string"},"note":{"type":"string"}},"required":["database_id"]}]}}}`, tests: []instance{
			ok(`{"parent":{"page_id":"a"}}`), ok(`{"parent":{"database_id":"b","note":"n"}}`), bad(`{"parent":{}}`, "/parent"), bad(`{"parent":{"page_id":1}}`, "/parent/page_id"), bad(`{"parent":"x"}`, "/parent"),
			becomes(`{"parent":{"page_id":"a","database_id":"b","note":"n"}}`, `{"parent":{"database_id":"b","note":"n"}}`),
		}},
		{name: "exactly one of what they require", schema: `{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}`, tests: []instance{
			ok(`{"a":"x"}`), ok(`{"b":"x"}`), bad(`{"a":"x","b":"y"}`, ""), becomes(`{"a":"x","b":1}`, `{"a":"x"}`), bad(`{}`, ""),
		}},
		{name: "constants that are not required", schema: `{"anyOf":[{"type":"object","properties":{"kind":{"const":"cat"},"lives":{"type":"integer"}}},{"type":"object","properties":{"kind":{"const":"dog"},"bark":{"type":"string"}}}]}`, tests: []instance{
			ok(`{"kind":"cat","lives":9}`), ok(`{"kind":"dog","bark":"w"}`), ok(`{"bark":"w"}`), ok(`{}`), bad(`{"kind":"bird"}`, "/kind"),
		}},
		{name: "suggested values beside any text", schema: `{"type":"object","required":["model"],"properties":{"model":{"anyOf":[{"type":"string","enum":["small","large"]},{"type":"string"}]},"size":{"anyOf":[{"enum":[1,2]},{"type":"integer"}]}}}`, tests: []instance{
			ok(`{"model":"small","size":1}`), ok(`{"model":"other","size":7}`), ok(`{"model":""}`), bad(`{"model":1}`, "/model"), bad(`{"model":"x","size":1.5}`, "/size"),
		}},
		{name: "a format beside any text", schema: `{"anyOf":[{"type":"string","format":"uri"},{"type":"string"},{"type":"null"}]}`, tests: []instance{ok(`"https://example.com"`), ok(`"x y"`), ok(`null`), bad(`1`, "")}},
		{name: "duplicate types", schema: `{"anyOf":[{"type":"string"},{"type":"string"},{"type":"string","description":"again"}]}`, tests: []instance{ok(`"x"`), bad(`1`, "")}},
		{name: "integer beside number", schema: `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, tests: []instance{ok(`1`), ok(`1.5`), bad(`"1"`, "")}},
		{name: "strings of two formats", schema: `{"anyOf":[{"type":"string","format":"uuid"},{"type":"string","format":"email"}]}`, tests: []instance{ok(`"a@example.com"`), ok(`"2eb8aa08-aa98-11ea-b4aa-73b441d16380"`), bad(`"x"`, "")}},
		{name: "an object or a list of them", schema: `{"anyOf":[{"$ref":"#/$defs/A"},{"type":"array","items":{"$ref":"#/$defs/A"}},{"type":"object","additionalProperties":true}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`, tests: []instance{
			ok(`{"a":"x"}`), ok(`[{"a":"x"}]`), ok(`{"a":1,"b":{}}`), ok(`{"a":"x","b":1}`), bad(`[{}]`, "/0/a"),
		}},
		{name: "anything as an alternative", schema: `{"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{}]}}}`, tests: []instance{ok(`{"v":"x"}`), ok(`{"v":[1]}`), ok(`{"v":null}`)}},
		{name: "exactly one, nested", schema: `{"oneOf":[{"type":"integer","multipleOf":2},{"oneOf":[{"type":"integer","multipleOf":3},{"type":"integer","multipleOf":5}]},{"type":"string"}]}`, tests: []instance{ok(`4`), ok(`3`), ok(`5`), bad(`6`, ""), bad(`15`, ""), bad(`7`, ""), ok(`"x"`)}},
		{name: "trees of alternatives that are tried", schema: `{"$ref":"#/$defs/E","$defs":{"E":{"anyOf":[{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#/$defs/E"}}},"required":["and"]},{"type":"object","properties":{"or":{"type":"array","items":{"$ref":"#/$defs/E"}}},"required":["or"]},{"type":"object","properties":{"field":{"type":"string"}},"required":["field"]}]}}}`, tests: []instance{
			ok(`{"and":[{"or":[{"field":"a"},{"and":[]}]},{"field":"b"}]}`), bad(`{"and":[{"or":[{"field":1}]}]}`, "/and/0/or/0"),
		}},
		{name: "null where a union in a union forbids it", schema: `{"type":"object","required":["v"],"properties":{"v":{"anyOf":[{"type":["string","integer","null"],"anyOf":[{"type":"string","minLength":2},{"type":"integer"}]},{"type":"boolean"}]}}}`, tests: []instance{ok(`{"v":"ab"}`), ok(`{"v":true}`), ok(`{"v":1}`), bad(`{"v":null}`, "/v")}},
		{name: "null that is nullable in an alternative but not beside it", schema: `{"type":"object","required":["v"],"properties":{"v":{"type":"string","anyOf":[{"type":["string","null"],"minLength":2},{"type":["string","null"],"pattern":"^a"}]}}}`, tests: []instance{ok(`{"v":"ab"}`), bad(`{"v":null}`, "/v")}},
		{name: "null in two alternatives of oneOf", schema: `{"type":"object","required":["v"],"properties":{"v":{"oneOf":[{"type":["string","null"]},{"type":["integer","null"]}]}}}`, tests: []instance{ok(`{"v":"a"}`), ok(`{"v":1}`), bad(`{"v":null}`, "/v")}},
		{name: "only null", schema: `{"type":"object","required":["l"],"properties":{"l":{"type":"array","items":{"type":"null"}},"m":{"type":"object","additionalProperties":{"const":null}}}}`, tests: []instance{ok(`{"l":[null,null],"m":{"a":null}}`), bad(`{"l":[1]}`, "/l/0"), bad(`{"l":[],"m":{"a":0}}`, "/m/a")}},
		{name: "enumerations of several types", schema: `{"type":"object","properties":{"v":{"enum":["auto",1,2.5,true,null]},"on":{"enum":[true,"auto"]}}}`, tests: []instance{
			ok(`{"v":"auto"}`), ok(`{"v":1}`), ok(`{"v":2.5,"on":true}`), ok(`{"on":"auto"}`), becomes(`{"v":null}`, `{}`), bad(`{"v":false}`, "/v"), bad(`{"v":"x"}`, "/v"), bad(`{"on":false}`, "/on"),
		}},
		{name: "enumerations of objects and lists", schema: `{"type":"object","properties":{"v":{"enum":[{"a":1},[1,2],"x"]},"c":{"const":{"b":[true]}}}}`, tests: []instance{
			ok(`{"v":{"a":1},"c":{"b":[true]}}`), becomes(`{"v":{"a":1.0}}`, `{"v":{"a":1.0}}`), ok(`{"v":[1,2]}`), ok(`{"v":"x"}`), bad(`{"v":[2,1]}`, "/v"), bad(`{"v":{}}`, "/v"), bad(`{"c":{"b":[1]}}`, "/c"),
		}},
		{name: "notes of other tools", schema: `{"type":"object","markdownDescription":"**x**","x-order":1,"components":{"schemas":{"P":{"type":"integer"}}},"properties":{"a":{"type":"string","enum":["x"],"enumDescriptions":["X"],"enumNames":["X"],"tsType":"T","default":null},"b":{"$ref":"#/components/schemas/P"}}}`, tests: []instance{ok(`{"a":"x","b":1}`), bad(`{"b":"1"}`, "/b")}},
		{name: "default null and defaults that are not valid", schema: `{"type":"object","properties":{"a":{"type":"string","default":null},"b":{"type":"integer","default":"many"},"c":{"type":"array","items":{"type":"string"},"default":null}}}`, tests: []instance{ok(`{}`), ok(`{"a":"x","b":0,"c":[]}`), bad(`{"a":null}`, "/a")}},
		{name: "lengths of dates", schema: `{"type":"object","properties":{"t":{"type":"string","format":"date-time","minLength":1},"u":{"type":"string","format":"date-time","maxLength":20},"d":{"type":"string","format":"date","pattern":"^20"},"b":{"type":"string","format":"byte","maxLength":4}}}`, tests: []instance{
			ok(`{"t":"2024-01-01T00:00:00Z","u":"2024-01-01T00:00:00Z","d":"2024-01-01","b":"AQI="}`), bad(`{"u":"2024-01-01T00:00:00.5Z"}`, "/u"), bad(`{"d":"1999-01-01"}`, "/d"), bad(`{"u":"x"}`, "/u"), bad(`{"b":"AQIDBA=="}`, "/b"),
		}},
		{name: "tuples", schema: `{"type":"object","properties":{
			"point":{"type":"array","minItems":2,"maxItems":2,"prefixItems":[{"type":"number"},{"type":"number"}]},
			"pair":{"type":"array","minItems":2,"maxItems":2,"prefixItems":[{"type":"integer","minimum":0},{"type":["string","null"]}]},
			"row":{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}, "open":{"type":"array","prefixItems":[{"type":"string"}]}, "shut":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false}}}`, tests: []instance{
			ok(`{"point":[1,2.5],"pair":[1,"a"],"row":["a",1,2],"open":["a",{}],"shut":["a",true]}`), ok(`{"pair":[1,null],"row":[],"shut":["a"]}`), bad(`{"point":[1]}`, "/point"), bad(`{"pair":["a",1]}`, "/pair/0"),
			bad(`{"pair":[-1,"a"]}`, "/pair/0"), bad(`{"row":["a","b"]}`, "/row/1"), bad(`{"row":[1]}`, "/row/0"), bad(`{"open":[1]}`, "/open/0"), bad(`{"shut":["a",true,1]}`, "/shut"),
		}},
		{name: "places of a tuple are no alternatives", schema: `{"type":"object","properties":{
			"open":{"type":"array","prefixItems":[{"type":"number","exclusiveMaximum":1},{"oneOf":[{"type":"number"},{"type":"null"}]}]},
			"shut":{"type":"array","prefixItems":[{"type":"number","exclusiveMaximum":1},{"oneOf":[{"type":"number"},{"type":"null"}]}],"items":false},
			"one":{"type":"array","prefixItems":[{"oneOf":[{"type":"integer","multipleOf":2},{"type":"integer","multipleOf":3}]},{"type":"integer"}],"items":false},
			"same":{"type":"array","prefixItems":[{"oneOf":[{"type":"string","minLength":2},{"type":"string","pattern":"^a"}]},{"type":"string","minLength":2}],"items":{"type":"string","pattern":"^a"}},
			"null":{"type":"array","prefixItems":[{"oneOf":[{"type":["string","null"]},{"type":["integer","null"]}]},{"type":["boolean","null"]}],"items":false}}}`, tests: []instance{
			ok(`{"open":[0.1]}`), ok(`{"open":[0.1,0.1,"x"]}`), ok(`{"open":[0.1,null]}`), bad(`{"open":[1]}`, "/open/0"), bad(`{"open":[0,"x"]}`, "/open/1"),
			ok(`{"shut":[0.1]}`), ok(`{"shut":[0.1,7]}`), ok(`{"shut":[0.1,null]}`), bad(`{"shut":[1]}`, "/shut/0"), bad(`{"shut":[0,0,0]}`, "/shut"), bad(`{"shut":[null]}`, "/shut/0"),
			ok(`{"one":[2,6]}`), ok(`{"one":[3,7]}`), bad(`{"one":[6,6]}`, "/one/0"), bad(`{"one":[7]}`, "/one/0"),
			ok(`{"same":["bc","ab","a"]}`), ok(`{"same":["a"]}`), bad(`{"same":["ab"]}`, "/same/0"), bad(`{"same":["bc","b"]}`, "/same/1"), bad(`{"same":["a","ab","b"]}`, "/same/2"),
			ok(`{"null":["x",null]}`), bad(`{"null":[null]}`, "/null/0"), bad(`{"null":["x",1]}`, "/null/1"),
		}},
		{name: "tagged alternatives in a tuple", schema: `{"type":"object","properties":{
			"open":{"type":"array","prefixItems":[{"$ref":"#/$defs/T"}]}, "shut":{"type":"array","prefixItems":[{"$ref":"#/$defs/T"},{"type":"object","properties":{"kind":{"const":"x"},"n":{"type":"integer"}},"required":["kind","n"]}],"items":false},
			"rest":{"type":"array","prefixItems":[{"type":"string"}],"items":{"$ref":"#/$defs/T"}}},
			"$defs":{"T":{"oneOf":[{"type":"object","required":["kind"],"properties":{"kind":{"const":"x"},"v":{"type":"string"}}},{"type":"object","required":["kind"],"properties":{"kind":{"const":"y"},"w":{"type":"string"}}}]}}}`, tests: []instance{
			ok(`{"open":[{"kind":"x","v":"a"},1]}`), bad(`{"open":[{"kind":"z"}]}`, "/open/0/kind"), bad(`{"open":[{"kind":"y","w":1}]}`, "/open/0/w"),
			ok(`{"shut":[{"kind":"x","v":"a"},{"kind":"x","n":1}]}`), ok(`{"shut":[{"kind":"y"}]}`), bad(`{"shut":[{"kind":"y"},{"kind":"x"}]}`, "/shut/1/n"),
			ok(`{"rest":["a",{"kind":"x"},{"kind":"y","w":"b"}]}`), bad(`{"rest":["a","b"]}`, "/rest/1"), bad(`{"rest":[{"kind":"x"}]}`, "/rest/0"),
		}},
		{name: "a tagged alternative of oneOf beside one that takes anything", schema: `{"oneOf":[{"oneOf":[{"type":"object","required":["kind"],"properties":{"kind":{"const":"x"}}},{"type":"object","required":["kind"],"properties":{"kind":{"const":"y"}}}]},{}]}`, tests: []instance{
			ok(`1`), ok(`{"kind":"z"}`), bad(`{"kind":"x"}`, ""), bad(`{"kind":"y"}`, ""),
		}},
		{name: "draft 7: nothing beside $ref counts", schema: `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/Root","required":["z"],"definitions":{
			"Root":{"type":"object","properties":{"list":{"$ref":"#/definitions/List","maxItems":2,"description":"d","default":[]},"id":{"$ref":"#/definitions/S","$id":"https://example.com/elsewhere/","if":{},"enum":["x"]}}},
			"List":{"type":"array","items":{"type":"integer"}},"S":{"type":"string"}}}`, tests: []instance{
			ok(`{"list":[1,2,3]}`), bad(`{"list":["x"]}`, "/list/0"), becomes(`{"id":"a"}`, `{"list":[],"id":"a"}`), bad(`{"id":1}`, "/id"),
		}},
		{name: "draft 4", schema: `{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://example.com/root.json","type":"object","required":["id"],"properties":{
			"id":{"type":"string"},"n":{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":10,"exclusiveMaximum":false},"a":{"$ref":"#spot"},"b":{"$ref":"http://example.com/item.json"},"c":{"$ref":"#/definitions/C","maxLength":1},
			"t":{"type":"array","items":[{"type":"string"}],"additionalItems":false}},
			"definitions":{"A":{"id":"#spot","type":"integer"},"B":{"id":"item.json","type":"object","properties":{"up":{"$ref":"root.json#/definitions/A"}}},"C":{"type":"string"}}}`, tests: []instance{
			ok(`{"id":"x","n":0.1,"a":1,"b":{"up":2},"c":"long","t":["a"]}`), ok(`{"id":"x","n":10}`), bad(`{"id":"x","n":0}`, "/n"), bad(`{"id":"x","n":11}`, "/n"), bad(`{}`, "/id"),
			bad(`{"id":"x","a":"1"}`, "/a"), bad(`{"id":"x","b":{"up":"2"}}`, "/b/up"), bad(`{"id":"x","t":["a",1]}`, "/t"),
		}},
		{name: "raw by choice", schema: `{"type":"object","properties":{"v":{"x-go":"raw","not":{"type":"string"},"description":"d","items":{"$ref":"#/$defs/A"}},"w":{"$ref":"#/$defs/B"}},"$defs":{"A":{"type":"integer"},"B":{"x-go":"raw","if":{},"then":{}}}}`, tests: []instance{ok(`{"v":[1,2]}`), ok(`{"v":{"a":null},"w":1}`), strict(`{"v":"x"}`, "ok", "raw JSON is not checked")}},
		{name: "references by $id", schema: `{"$id":"https://example.com/schemas/root","type":"object","properties":{"a":{"$ref":"https://example.com/schemas/root#/$defs/A"},"b":{"$ref":"item"},"c":{"$ref":"https://example.com/schemas/item#spot"},"d":{"$ref":"root"}},
			"$defs":{"A":{"type":"integer"},"B":{"$id":"item","$anchor":"spot","type":"object","properties":{"x":{"$ref":"#/$defs/X"},"up":{"$ref":"#/$defs/A"}},"$defs":{"X":{"type":"boolean"}}}}}`, tests: []instance{
			ok(`{"a":1,"b":{"x":true,"up":1},"c":{"x":false},"d":{"a":2}}`), bad(`{"a":"x"}`, "/a"), bad(`{"b":{"x":1}}`, "/b/x"), bad(`{"d":{"c":1}}`, "/d/c"),
		}, rootless: true},
	}
}
