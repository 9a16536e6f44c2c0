package schema_test

// allCases are the schemas that are compiled, emitted and executed, one keyword or combination each.
func allCases() []conformance {
	var all []conformance
	for _, list := range [][]conformance{scalarCases(), formatCases(), objectCases(), arrayCases(), combinationCases(), referenceCases(), hostileCases(), takenCases()} {
		all = append(all, list...)
	}
	return all
}

const leap = "time.Time has no leap seconds"

func scalarCases() []conformance {
	return []conformance{
		{name: "type string", schema: `{"type":"string"}`, tests: []instance{
			ok(`"foo"`), ok(`""`), ok(`"\u0000\ud83d\ude00"`), bad(`1`, ""), bad(`null`, ""), bad(`{}`, ""), bad(`[]`, ""), bad(`true`, ""),
		}},
		{name: "type integer", schema: `type: integer`, tests: []instance{
			ok(`1`), ok(`-0`), becomes(`1.0`, `1`), becomes(`1e3`, `1000`), bad(`1.1`, ""), bad(`"1"`, ""), bad(`null`, ""),
			ok(`9223372036854775807`), ok(`-9223372036854775808`),
			strict(`9223372036854775808`, "", "an integer without format is an int64"), strict(`1e400`, "", "an integer without format is an int64"),
		}},
		{name: "type number", schema: `type: number`, tests: []instance{
			ok(`1`), ok(`1.5`), ok(`-1.5e-7`), ok(`1e300`), bad(`"1"`, ""), bad(`{}`, ""), bad(`true`, ""),
		}},
		{name: "type boolean", schema: `type: boolean`, tests: []instance{ok(`true`), ok(`false`), bad(`0`, ""), bad(`"true"`, ""), bad(`null`, "")}},
		{name: "int32 format", schema: `{"type":"integer","format":"int32"}`, tests: []instance{
			ok(`2147483647`), ok(`-2147483648`), strict(`2147483648`, "", "format int32 is checked"), strict(`-2147483649`, "", "format int32 is checked"),
		}},
		{name: "uint64 format", schema: `{"type":"integer","format":"uint64"}`, tests: []instance{
			ok(`0`), becomes(`1.8446744073709551615e19`, `18446744073709551615`), strict(`-1`, "", "format uint64 is checked"), strict(`18446744073709551616`, "", "format uint64 is checked"),
		}},
		{name: "uint32 format", schema: `{"type":"integer","format":"uint32"}`, tests: []instance{
			ok(`4294967295`), strict(`-1`, "", "format uint32 is checked"), strict(`4294967296`, "", "format uint32 is checked"), bad(`0.5`, ""),
		}},
		{name: "minimum", schema: `{"type":"number","minimum":1.1}`, tests: []instance{ok(`2.6`), ok(`1.1`), bad(`0.6`, "")}},
		{name: "minimum of an integer", schema: `{"type":"integer","minimum":-2.5,"exclusiveMaximum":3}`, tests: []instance{ok(`-2`), bad(`-3`, ""), ok(`2`), bad(`3`, "")}},
		{name: "maximum", schema: `{"type":"number","maximum":3.0}`, tests: []instance{ok(`2.6`), ok(`3`), bad(`3.5`, "")}},
		{name: "exclusiveMinimum", schema: `{"type":"number","exclusiveMinimum":1.1}`, tests: []instance{ok(`1.2`), bad(`1.1`, ""), bad(`0.6`, "")}},
		{name: "exclusiveMaximum", schema: `{"type":"number","exclusiveMaximum":3}`, tests: []instance{ok(`2.2`), bad(`3`, ""), bad(`3.5`, "")}},
		{name: "exclusive bounds as OpenAPI flags", schema: `{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, tests: []instance{
			bad(`1`, ""), ok(`1.5`), ok(`9`), bad(`9.5`, ""),
		}},
		{name: "multipleOf integer", schema: `{"type":"integer","multipleOf":2}`, tests: []instance{ok(`10`), ok(`0`), ok(`-4`), bad(`7`, "")}},
		{name: "multipleOf fraction", schema: `{"type":"number","multipleOf":0.01}`, tests: []instance{ok(`4.02`), ok(`0.07`), bad(`4.025`, ""), ok(`0.0`), ok(`1e20`)}},
		{name: "multipleOf fraction on integers", schema: `{"type":"integer","multipleOf":1.5}`, tests: []instance{ok(`3`), bad(`4`, "")}},
		{name: "minLength counts code points", schema: `{"type":"string","minLength":2}`, tests: []instance{ok(`"foo"`), ok(`"fo"`), bad(`"f"`, ""), bad(`"💩"`, ""), ok(`"💩💩"`)}},
		{name: "maxLength counts code points", schema: `{"type":"string","maxLength":2}`, tests: []instance{ok(`"f"`), ok(`"fo"`), bad(`"foo"`, ""), ok(`"💩💩"`)}},
		{name: "maxLength 0", schema: `{"type":"string","maxLength":0}`, tests: []instance{ok(`""`), bad(`"a"`, "")}},
		{name: "pattern", schema: `{"type":"string","pattern":"^a*$"}`, tests: []instance{ok(`"aaa"`), ok(`""`), bad(`"abc"`, "")}},
		{name: "pattern is not anchored", schema: `{"type":"string","pattern":"a+"}`, tests: []instance{ok(`"xxaayy"`), bad(`"xyz"`, "")}},
		{name: "pattern with escapes of ECMAScript", ecma: true, schema: `{"type":"string","pattern":"^\\u0061\\/\\d$"}`, tests: []instance{ok(`"a/1"`), bad(`"b/1"`, "")}},
		{name: "enum of strings", schema: `enum: [red, "", "a b"]`, tests: []instance{ok(`"red"`), ok(`""`), ok(`"a b"`), bad(`"blue"`, ""), bad(`1`, "")}},
		{name: "enum of integers", schema: `enum: [1, 2.0, -3]`, tests: []instance{ok(`1`), ok(`2`), ok(`-3`), bad(`4`, ""), bad(`"1"`, ""), bad(`true`, "")}},
		{name: "enum of numbers", schema: `enum: [0.5, 1, 1e21]`, tests: []instance{ok(`0.5`), ok(`1`), ok(`1e21`), bad(`0.6`, "")}},
		{name: "enum of booleans", schema: `enum: [true]`, tests: []instance{ok(`true`), bad(`false`, ""), bad(`1`, "")}},
		{name: "enum with null", schema: `enum: [a, null]`, tests: []instance{ok(`"a"`), ok(`null`), bad(`"b"`, "")}},
		{name: "enum narrowed by pattern", schema: `{"type":"string","enum":["ab","cd"],"pattern":"^a"}`, tests: []instance{ok(`"ab"`), bad(`"cd"`, "")}},
		{name: "const string", schema: `const: fixed`, tests: []instance{ok(`"fixed"`), bad(`"other"`, ""), bad(`null`, "")}},
		{name: "const integer", schema: `const: 2`, tests: []instance{ok(`2`), becomes(`2.0`, `2`), bad(`5`, ""), bad(`"2"`, "")}},
		{name: "const false is not 0", schema: `const: false`, tests: []instance{ok(`false`), bad(`0`, ""), bad(`true`, "")}},
		{name: "any value", schema: `{}`, tests: []instance{ok(`1`), ok(`null`), ok(`{"a":[1,{"b":null}]}`), ok(`"x"`), ok(`123456789012345678901234567890`)}},
		{name: "true as a schema", schema: `true`, tests: []instance{ok(`[]`), ok(`null`)}},
		{name: "nullable by type list", schema: `type: [string, "null"]`, tests: []instance{ok(`"a"`), ok(`null`), bad(`1`, "")}},
		{name: "nullable by OpenAPI keyword", schema: `{type: integer, nullable: true, minimum: 1}`, tests: []instance{ok(`1`), ok(`null`), bad(`0`, ""), bad(`"a"`, "")}},
		{name: "nullable enum by OpenAPI keyword", schema: `{type: string, nullable: true, enum: [a]}`, tests: []instance{ok(`"a"`), ok(`null`), bad(`"b"`, "")}},
		{name: "nullable by anyOf", schema: `anyOf: [{type: boolean}, {type: "null"}]`, tests: []instance{ok(`true`), ok(`null`), bad(`1`, "")}},
		{name: "several types", schema: `type: [string, integer, "null", array]`, tests: []instance{ok(`"a"`), ok(`1`), ok(`null`), ok(`[1,"x"]`), bad(`true`, ""), bad(`1.5`, ""), bad(`{}`, "")}},
		{name: "several types with their keywords", schema: `{type: [string, number], minLength: 2, minimum: 5}`, tests: []instance{ok(`"ab"`), ok(`5`), bad(`"a"`, ""), bad(`4`, "")}},
	}
}

func formatCases() []conformance {
	format := func(name string, tests ...instance) conformance {
		return conformance{name: "format " + name, schema: `{"type":"string","format":"` + name + `"}`, tests: tests}
	}
	return []conformance{
		format("date-time", ok(`"1963-06-19T08:30:06.283185Z"`), ok(`"1963-06-19T08:30:06Z"`), ok(`"1937-01-01T12:00:27.87+00:20"`), ok(`"1990-12-31T15:59:50.123-08:00"`),
			strict(`"1998-12-31T23:59:60Z"`, "", leap), bad(`"1998-12-31T23:58:60Z"`, ""), bad(`"1990-02-31T15:59:59.123-08:00"`, ""), bad(`"06/19/1963 08:30:06 PST"`, ""),
			becomes(`"1963-06-19t08:30:06.283185z"`, `"1963-06-19T08:30:06.283185Z"`), bad(`"2013-350T01:01:01"`, ""), bad(`"1990-12-31T15:59:50+10:60"`, ""), bad(`"1990-12-31T15:59:50-24:00"`, ""), ok(`"1990-12-31T15:59:50-23:59"`), bad(`"1963-6-19T08:30:06Z"`, ""), bad(`"1963-06-1৪T00:00:00Z"`, ""), bad(`12`, "")),
		format("date", ok(`"1963-06-19"`), bad(`"2020-02-30"`, ""), ok(`"2020-02-29"`), bad(`"2021-02-29"`, ""), bad(`"06/19/1963"`, ""), bad(`"1998-1-20"`, ""), bad(`"1963-06-1৪"`, ""), bad(`"20230328"`, "")),
		format("time", ok(`"08:30:06Z"`), ok(`"23:59:60Z"`), bad(`"22:59:60Z"`, ""), ok(`"08:30:06.283185Z"`), bad(`"008:030:006Z"`, ""), bad(`"08:30:06+10:60"`, ""), bad(`"08:30:06-24:00"`, ""), bad(`"24:00:00Z"`, ""), bad(`"12:00:00"`, ""), ok(`"08:30:06z"`), bad(`"08:30:06 PST"`, "")),
		format("duration", ok(`"P4DT12H30M5S"`), bad(`"PT1D"`, ""), bad(`"4DT12H30M5S"`, ""), bad(`"P"`, ""), bad(`"P1YT"`, ""), bad(`"P2D1Y"`, ""), ok(`"PT0S"`), ok(`"P4Y"`), ok(`"P2W"`), bad(`"P1Y2W"`, ""), ok(`"PT36H"`)),
		format("uuid", ok(`"2EB8AA08-AA98-11EA-B4AA-73B441D16380"`), ok(`"2eb8aa08-aa98-11ea-b4aa-73b441d16380"`), bad(`"2eb8aa08-aa98-11ea-b4aa-73b441d1638"`, ""), bad(`"2eb8aa08aa9811eab4aa73b441d16380"`, ""), bad(`"2eb8aa08-aa98-11ea-b4ga-73b441d16380"`, "")),
		format("uri", ok(`"http://foo.bar/?baz=qux#quux"`), ok(`"urn:oasis:names:x"`), ok(`"mailto:John.Doe@example.com"`), bad(`"//foo.bar/?baz=qux#quux"`, ""), bad(`"/abc"`, ""), bad(`"foo"`, ""), strict(`"http:// shouldfail.com"`, "", "the oracle is looser")),
		format("uri-reference", ok(`"http://foo.bar/?baz=qux#quux"`), ok(`"/abc"`), ok(`"abc"`), ok(`"#fragment"`), bad(`"\\\\WINDOWS\\fileshare"`, ""), strict(`"//a@b@x/"`, "", "the oracle is looser"), ok(`"//a@x/@b@"`), ok(`"mailto:a@b"`)),
		format("email", ok(`"joe.bloggs@example.com"`), bad(`"2962"`, ""), ok(`"te~st@example.com"`), bad(`".test@example.com"`, ""), bad(`"test.@example.com"`, ""), bad(`"te..st@example.com"`, ""), ok(`"joe.bloggs@[127.0.0.1]"`)),
		format("hostname", ok(`"www.example.com"`), bad(`"-a-host-name-that-starts-with--"`, ""), bad(`"not_a_valid_host_name"`, ""), ok(`"hostname"`), bad(`"host-"`, ""), ok(`"xn--4gbwdl.xn--wgbh1c"`), ok(`"xn--mnchen-3ya.de"`), strict(`"xn--X"`, "", "the oracle takes any punycode"), strict(`"xn--abc-"`, "", "the oracle takes any punycode"), strict(`"a.XN--99999999"`, "", "the oracle takes any punycode")),
		format("ipv4", ok(`"192.168.0.1"`), bad(`"127.0.0.0.1"`, ""), bad(`"256.256.256.256"`, ""), bad(`"127.0"`, ""), strict(`"087.10.0.1"`, "", "leading zeros are ambiguous")),
		format("ipv6", ok(`"::1"`), bad(`"12345::"`, ""), bad(`"1:1:1:1:1:1:1:1:1"`, ""), ok(`"::ffff:192.168.0.1"`), bad(`"fe80::a%eth1"`, "")),
		format("json-pointer", ok(`"/foo/bar~0/baz~1/%a"`), bad(`"/foo/bar~"`, ""), ok(`""`), bad(`"#"`, ""), ok(`"/"`)),
		format("regex", ok(`"([abc])+\\s+$"`), bad(`"^(abc]"`, "")),
		{name: "format byte is base64", schema: `{"type":"string","format":"byte"}`, tests: []instance{
			ok(`"aGVsbG8="`), ok(`""`), becomes(`"_-8"`, `"/+8="`), strict(`"a"`, "", "format byte is checked"), bad(`1`, ""),
		}},
		{name: "contentEncoding base64", schema: `{"type":"string","contentEncoding":"base64"}`, tests: []instance{ok(`"aGVsbG8="`), bad(`"#"`, "")}},
		{name: "formats that are annotations", schema: `{"type":"object","properties":{"p":{"type":"string","format":"password"},"d":{"type":"number","format":"double"},"i":{"format":"int64"}}}`, tests: []instance{
			ok(`{"p":"x","d":1.5,"i":3}`), bad(`{"p":1}`, "/p"),
		}},
	}
}
