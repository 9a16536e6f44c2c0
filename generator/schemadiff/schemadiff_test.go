package schemadiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

// lines renders reasons for comparing: "days: maximum 7 -> 5", with a question mark where it is not sure, and a tilde for what is
// undeclared.
func lines(rs []Reason) string {
	var b strings.Builder
	for _, r := range rs {
		mark := ""
		if !r.Sure {
			mark = "?"
		}
		if r.Undeclared {
			mark = "~"
		}
		fmt.Fprintf(&b, "%s%s: %s %s -> %s\n", mark, r.Path, r.Keyword, r.From, r.To)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestReasonsNamePathAndKeyword(t *testing.T) {
	const circle, square = `{"type":"object","required":["kind","r"],"properties":{"kind":{"const":"circle"},"r":{"type":"number"}}}`,
		`{"type":"object","required":["kind"],"properties":{"kind":{"const":"square"},"a":{"type":"number"}}}`
	for _, tt := range []struct{ name, from, to, want string }{
		{"a lower maximum", `{"properties":{"days":{"type":"integer","maximum":7}}}`, `{"properties":{"days":{"type":"integer","maximum":5}}}`, "days: maximum 7 -> 5"},
		{"a higher maximum", `{"type":"integer","maximum":5}`, `{"type":"integer","maximum":7}`, ""},
		{"an exclusive bound that is the same for integers", `{"type":"integer","minimum":1}`, `{"type":"integer","exclusiveMinimum":0}`, ""},
		{"an exclusive bound of draft 4", `{"type":"number","minimum":0}`, `{"type":"number","minimum":0,"exclusiveMinimum":true}`, ": exclusiveMinimum 0 -> 0"},
		{"another type", `{"type":"string"}`, `{"type":"integer"}`, ": type string -> integer"},
		{"a type less", `{"type":["string","null"]}`, `{"type":"string"}`, ": type null or string -> string"},
		{"a number that must be whole", `{"type":"number"}`, `{"type":"integer"}`, ": type number -> integer"},
		{"null of OpenAPI", `{"type":"string","nullable":true}`, `{"type":"string"}`, ": type null or string -> string"},
		{"smaller integers", `{"type":"integer"}`, `{"type":"integer","format":"int32"}`, ": format int64 -> int32"},
		{"a choice less", `{"enum":["a","b"]}`, `{"enum":["a"]}`, `: enum "b" -> "a"`},
		{"a choice of what was open", `{"type":"string"}`, `{"enum":["a"]}`, `: enum string -> "a"`},
		{"choices that fit the open type", `{"enum":["a","b"]}`, `{"type":"string","minLength":1}`, ""},
		{"a constant that does not match", `{"const":"ab"}`, `{"type":"string","pattern":"^b"}`, `: enum "ab" -> string`},
		{"a property that must be there", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"required":["a"]}`, "a: required optional -> required"},
		{"a new property that may be there", `{"type":"object","properties":{}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "~a: properties  -> string"},
		{"a new property that must be there", `{"type":"object","properties":{}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, "a: required  -> required"},
		{"no other properties", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, ": additionalProperties any -> false"},
		{"a property that is not taken any more", `{"properties":{"a":{"type":"string"}},"additionalProperties":false,"type":"object"}`, `{"type":"object","additionalProperties":false}`, "a: additionalProperties string -> false"},
		{"values of a map", `{"type":"object","additionalProperties":{"type":"number"}}`, `{"type":"object","additionalProperties":{"type":"number","minimum":0}}`, "*: minimum  -> 0"},
		{"names of properties", `{"type":"object"}`, `{"type":"object","propertyNames":{"maxLength":3}}`, ": propertyNames  -> 3"},
		{"elements of a list", `{"properties":{"stops":{"type":"array","items":{"type":"object","properties":{"city":{"type":"string"}}}}}}`,
			`{"properties":{"stops":{"type":"array","items":{"type":"object","properties":{"city":{"type":"string","minLength":2}}}}}}`, "stops[].city: minLength 0 -> 2"},
		{"elements of a tuple in two drafts", `{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`, `{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":false}`, "[1]: type integer -> string"},
		{"a shorter tuple", `{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":false}`, `{"type":"array","maxItems":1}`, ": maxItems 2 -> 1"},
		{"a definition under another name", `{"properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{"type":"string"}}}`, `{"properties":{"a":{"$ref":"#/$defs/B"}},"$defs":{"B":{"type":"string"}}}`, ""},
		{"a definition that changed", `{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}`, `{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","maxLength":3}}}`, "a: maxLength  -> 3"},
		{"beside $ref, which draft 7 does not see", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/A","definitions":{"A":{"type":"string"}}}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/A","maxLength":3,"definitions":{"A":{"type":"string"}}}`, ""},
		{"a tree", `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"of":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`,
			`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"of":{"type":"array","items":{"$ref":"#/$defs/T"},"maxItems":9}}}}}`, "of: maxItems  -> 9"},
		{"parts of allOf in one object", `{"allOf":[{"type":"object","required":["a"]},{"properties":{"a":{"type":"string"}}}]}`, `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, ""},
		{"an alternative less", `{"oneOf":[` + circle + `,` + square + `]}`, `{"oneOf":[` + circle + `]}`, `: oneOf object with kind "square" -> none of the alternatives`},
		{"an alternative more", `{"oneOf":[` + circle + `]}`, `{"oneOf":[` + circle + `,` + square + `]}`, ""},
		{"an alternative that changed", `{"oneOf":[` + circle + `,` + square + `]}`, `{"oneOf":[` + strings.Replace(circle, `"number"`, `"integer"`, 1) + `,` + square + `]}`, "r: type number -> integer"},
		{"alternatives in another order", `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, ""},
		{"types as alternatives", `{"type":["string","integer"]}`, `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, ""},
		{"alternatives that may overlap", `{"type":"object"}`, `{"oneOf":[{"type":"object"},{"type":"object","required":["a"]}]}`, "?: oneOf object -> none of the alternatives as a whole"},
		{"a type that no alternative has", `{"type":["string","null"]}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, ": anyOf null -> string or integer"},
		{"a pattern more", `{"type":"string"}`, `{"type":"string","pattern":"^a"}`, ": pattern  -> ^a"},
		{"a pattern that does not match what the other one does", `{"type":"string","pattern":"^a"}`, `{"type":"string","pattern":"^b"}`, ": pattern ^a -> ^b"},
		{"a pattern of which that is not known", `{"type":"string","pattern":"^a$"}`, `{"type":"string","pattern":"^[ab]$"}`, "?: pattern ^a$ -> ^[ab]$"},
		{"a format", `{"type":"string"}`, `{"type":"string","format":"date"}`, ": format  -> date"},
		{"a format that nobody checks", `{"type":"string"}`, `{"type":"string","format":"password"}`, ""},
		{"a wider format", `{"type":"string","format":"uri"}`, `{"type":"string","format":"uri-reference"}`, ""},
		{"base64 and byte", `{"type":"string","contentEncoding":"base64"}`, `{"type":"string","format":"byte"}`, ""},
		{"what cannot be decided", `{"type":"string"}`, `{"type":"string","not":{"const":"a"}}`, "?: not  -> not"},
		{"what cannot be decided and is the same", `{"type":"string","not":{"const":"a"}}`, `{"type":"string","not":{"const":"a"},"maxLength":9}`, ": maxLength  -> 9"},
		{"a reference that leads elsewhere", `{"$ref":"https://other.example/a.json"}`, `{"$ref":"https://other.example/a.json"}`, "?: $ref another $ref -> $ref"},
		{"titles and examples", `{"type":"string","title":"A","examples":["a"]}`, `{"type":"string","description":"B","default":"b"}`, ""},
		{"names that could not be shown", `{"properties":{"a\u001b[31m":{"type":"string"}}}`, `{"properties":{"a\u001b[31m":{"type":"null"}}}`, `["a\x1b[31m"]: type string -> null`},
		{"everything", `true`, `false`, ": false any -> nothing"},
		{"nothing", `false`, `{"type":"string"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rs, err := Narrowed([]byte(tt.from), []byte(tt.to))
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(rs); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestWhatIsNoSchemaIsAnError(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", `{`, "unexpected EOF"},
		{"two values", `{} {}`, "more than one value"},
		{"a list", `[]`, "no schema at #"},
		{"a property", `{"properties":{"a":1}}`, "no schema at #/properties/a"},
		{"deep", strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), "nested deeper than 200"},
		{"many", `{"allOf":[{}` + strings.Repeat(`,{}`, 30_000) + `]}`, "more than 20000 schemas"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, pair := range [][2]string{{tt.text, `{}`}, {`{}`, tt.text}} {
				if _, err := Narrowed([]byte(pair[0]), []byte(pair[1])); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			}
		})
	}
}

// Comparing takes time linear in the size of what is compared, or ends at the limit and says so.
func TestComparingTakesLinearTime(t *testing.T) {
	list := func(n int, piece string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(",", min(i, 1)) + strings.ReplaceAll(piece, "@", fmt.Sprint(i)))
		}
		return b.String()
	}
	for _, tt := range []struct {
		name     string
		n        int
		from, to func(n int) string
	}{
		{"properties", 300, func(n int) string {
			return `{"type":"object","properties":{` + list(n, `"p@":{"type":"string"}`) + `}}`
		},
			func(n int) string {
				return `{"type":"object","required":[` + list(n, `"p@"`) + `],"properties":{` + list(n, `"p@":{"type":"string","minLength":1}`) + `}}`
			}},
		{"choices", 1000, func(n int) string { return `{"enum":[` + list(n, `"v@"`) + `]}` }, func(n int) string { return `{"type":"string","enum":[` + list(n, `"w@"`) + `]}` }},
		{"tagged alternatives", 200, func(n int) string {
			return `{"oneOf":[` + list(n, `{"type":"object","required":["k"],"properties":{"k":{"const":"@"}}}`) + `]}`
		},
			func(n int) string {
				return `{"oneOf":[` + list(n, `{"type":"object","required":["k"],"properties":{"k":{"const":"@"},"a":{"type":"string"}}}`) + `]}`
			}},
		{"alternatives", 200, func(n int) string { return `{"anyOf":[` + list(n, `{"type":"string","minLength":@}`) + `]}` },
			func(n int) string { return `{"anyOf":[` + list(n, `{"type":"string","maxLength":@}`) + `]}` }},
		{"definitions", 200, func(n int) string {
			return `{"type":"object","properties":{` + list(n, `"p@":{"$ref":"#/$defs/D@"}`) + `},"$defs":{` + list(n, `"D@":{"type":"object","properties":{"a":{"type":"string"}}}`) + `}}`
		},
			func(n int) string {
				return `{"type":"object","properties":{` + list(n, `"p@":{"$ref":"#/$defs/D@"}`) + `},"$defs":{` + list(n, `"D@":{"type":"object","properties":{"a":{"type":"integer"}}}`) + `}}`
			}},
		{"parts of allOf", 500, func(n int) string {
			return `{"allOf":[` + list(n, `{"type":"object","properties":{"p@":{"type":"string"}}}`) + `]}`
		}, func(n int) string {
			return `{"allOf":[` + list(n, `{"type":"object","properties":{"p@":{"type":"integer"}}}`) + `]}`
		}},
		{"definitions that use the next one twice", 40, func(n int) string {
			return `{"$ref":"#/$defs/D0","$defs":{` + doubling(n, `"type":"string"`) + `}}`
		}, func(n int) string { return `{"$ref":"#/$defs/D0","$defs":{` + doubling(n, `"type":"integer"`) + `}}` }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				from, to := []byte(tt.from(n)), []byte(tt.to(n))
				return func() {
					if rs, err := Narrowed(from, to); err != nil || len(rs) == 0 {
						t.Errorf("%v, %v", rs, err)
					}
				}
			})
		})
	}
}

// What would take too long ends, and is not called compatible.
func TestComparingEndsAtItsLimit(t *testing.T) {
	var unions []string
	for i := range 64 {
		unions = append(unions, fmt.Sprintf(`{"anyOf":[{"minLength":%d},{"pattern":"%d"}]}`, i, i))
	}
	rs, err := Narrowed([]byte(`{"allOf":[`+strings.Join(unions, ",")+`]}`), []byte(`{"not":{"type":"string"}}`))
	if want := "?: $schema too much is to be compared -> "; err != nil || !strings.Contains(lines(rs), want) {
		t.Errorf("%v, %v", rs, err)
	}
}

// Many comparisons together end, too.
func TestABudgetIsForAllComparisons(t *testing.T) {
	var b Budget
	from, to := []byte(`{"type":"object","properties":{`+members("p%d", `{"type":"string"}`, 2000)+`}}`), []byte(`{"type":"object","properties":{`+members("p%d", `{"type":"integer"}`, 2000)+`}}`)
	for range 1000 {
		rs, err := b.Narrowed(from, to)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(lines(rs), "too much is to be compared") {
			return
		}
	}
	t.Error("it never ends")
}

func members(key, value string, n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("%q:%s", fmt.Sprintf(key, i), value))
	}
	return strings.Join(parts, ",")
}

// doubling are definitions of which each has the next one in two properties.
func doubling(n int, last string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"D%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/D%d"},"b":{"$ref":"#/$defs/D%d"}}},`, i, i+1, i+1)
	}
	return b.String() + fmt.Sprintf(`"D%d":{%s}`, n, last)
}
