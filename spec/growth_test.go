package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/spec"
)

// A definition takes time linear in its size to read, whoever wrote it.
func TestDefinitionsTakeLinearTime(t *testing.T) {
	many := func(n int, piece string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(piece, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	list := func(n int, piece string) string { return strings.TrimSuffix(many(n, piece+","), ",") }
	for _, tt := range []struct {
		name, file string
		n          int
		src        func(n int) string
	}{
		{"messages", "a2a.proto", 300, func(n int) string {
			return "syntax = \"proto3\";\npackage a;\n" + many(n, "// M# is one.\nmessage M# { string a = 1; M# b = 2; }\n")
		}},
		{"fields", "a2a.proto", 300, func(n int) string {
			return "syntax = \"proto3\";\npackage a;\nmessage M {\n" + many(n, "string f# = 1#;\n") + "}\n"
		}},
		{"values", "a2a.proto", 300, func(n int) string {
			return "syntax = \"proto3\";\npackage a;\nenum E { A = 0;\n" + many(n, "A# = 1#;\n") + "}\n"
		}},
		{"rpcs", "a2a.proto", 300, func(n int) string {
			return "syntax = \"proto3\";\npackage a;\nmessage M {}\nservice S {\n" + many(n, "rpc R#(M) returns (M);\n") + "}\n"
		}},
		{"edition 2024", "a2a.proto", 300, func(n int) string {
			return "edition = \"2024\";\npackage a;\n" + many(n, "export message M# { string a = 1 [features.enforce_naming_style = STYLE2024]; local enum E { Z = 0; } }\n")
		}},
		{"comments", "a2a.proto", 3000, func(n int) string { return "syntax = \"proto3\";\npackage a;\n" + many(n, "// c\n") + "message M {}\n" }},
		{"definitions", "a2a.json", 300, func(n int) string {
			return `{"definitions":{` + list(n, `"M#":{"type":"object","properties":{"a":{"$ref":"\u0023/definitions/M#"}}}`) + `}}`
		}},
		{"properties", "a2a.json", 300, func(n int) string {
			return `{"definitions":{"M":{"type":"object","required":[` + list(n, `"p#"`) + `],"properties":{` + list(n, `"p#":{"type":"string"}`) + `}}}}`
		}},
		{"enumerations", "a2a.json", 300, func(n int) string { return `{"definitions":{"E":{"type":"string","enum":[` + list(n, `"v#"`) + `]}}}` }},
		{"alternatives", "a2a.json", 300, func(n int) string {
			return `{"definitions":{"M":{"type":"object"},"U":{"anyOf":[` + list(n, `{"$ref":"\u0023/definitions/M"}`) + `]}}}`
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				src := []byte(tt.src(n))
				return func() { spec.Read(tt.file, src) }
			})
		})
	}
}
