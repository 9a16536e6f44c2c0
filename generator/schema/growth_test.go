package schema_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/test/growth"
)

// Files from elsewhere take time linear in their size to read: schemas, cards, and whatever is YAML.
func TestFilesTakeLinearTime(t *testing.T) {
	list := func(n int, piece string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(",", min(i, 1)) + strings.ReplaceAll(piece, "@", fmt.Sprint(i)))
		}
		return b.String()
	}
	closed := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	build := func(src string) {
		res, list := compile([]request{{"InInput", "agent.yaml", src}}, closed)
		if list.HasErrors() {
			t.Fatal(list)
		}
		if _, err := emit.Data(res.Types, "agent", "agent/types.gen.go"); err != nil {
			t.Fatal(err)
		}
	}
	compile := func(src string) { compile([]request{{"InInput", "agent.yaml", src}}, closed) }
	parse := func(src string) { yamlx.Parse("a.yaml", []byte(src)) }
	imported := func(src string) { card.Import("card.json", []byte(src)) }
	for _, tt := range []struct {
		name string
		n    int
		read func(string)
		src  func(n int) string
	}{
		{"JSON keys in one line", 3000, parse, func(n int) string { return "{" + list(n, `"k@":@`) + "}" }},
		{"YAML keys", 3000, parse, func(n int) string { return strings.ReplaceAll(list(n, "k@: @"), ",", "\n") }},
		{"a YAML list", 3000, parse, func(n int) string { return strings.ReplaceAll(list(n, "- @"), ",", "\n") }},
		{"aliases", 200, parse, func(n int) string { return "a: &a [1]\nb: [" + list(n, "*a") + "]\n" }},
		{"properties", 400, compile, func(n int) string {
			return `{"type":"object","required":[` + list(n, `"p@"`) + `],"properties":{` + list(n, `"p@":{"type":"string"}`) + `}}`
		}},
		{"definitions", 300, compile, func(n int) string {
			return `{"type":"object","properties":{` + list(n, `"p@":{"$ref":"#/$defs/D@"}`) + `},"$defs":{` + list(n, `"D@":{"type":"object","properties":{"a":{"type":"string"}}}`) + `}}`
		}},
		{"defaults and examples", 300, compile, func(n int) string {
			return `{"type":"object","properties":{` + list(n, `"p@":{"type":"string","minLength":2,"default":"p@","examples":["p@"]}`) + `}}`
		}},
		{"choices that another keyword limits", 300, compile, func(n int) string { return `{"enum":[` + list(n, `"v@"`) + `],"minLength":1}` }},
		{"choices", 1000, compile, func(n int) string { return `{"enum":[` + list(n, `"v@"`) + `]}` }},
		{"code of choices", 2000, build, func(n int) string { return `{"enum":[` + list(n, `"v@"`) + `]}` }},
		{"code of choices in other scripts", 500, build, func(n int) string { return `{"type":"array","items":{"enum":[` + list(n, `"ü@"`) + `]}}` }},
		{"code of choices that are described", 500, build, func(n int) string { return `{"oneOf":[` + list(n, `{"const":"v@","description":"d"}`) + `]}` }},
		{"code of properties", 200, build, func(n int) string {
			return `{"type":"object","additionalProperties":false,"required":[` + list(n, `"p@"`) + `],"properties":{` + list(n, `"p@":{"type":"string"}`) + `}}`
		}},
		{"code of properties of several schemas", 200, build, func(n int) string {
			return `{"allOf":[` + list(n, `{"type":"object","properties":{"p@":{"type":"string"}},"required":["p@"]}`) + `]}`
		}},
		{"code of alternatives", 100, build, func(n int) string {
			return `{"oneOf":[` + list(n, `{"type":"object","required":["k@"],"properties":{"k@":{"type":"string"}}}`) + `]}`
		}},
		{"code of alternatives of one type", 100, build, func(n int) string { return `{"anyOf":[` + list(n, `{"type":"string","minLength":1@}`) + `]}` }},
		{"code of places", 100, build, func(n int) string {
			return `{"type":"array","items":false,"prefixItems":[` + list(n, `{"type":"string","minLength":1@}`) + `]}`
		}},
		{"tags of a card", 2000, imported, func(n int) string {
			return `{"name":"a","description":"a","version":"1","skills":[{"id":"a","name":"a","description":"a","tags":[` + list(n, `"t@"`) + `]}]}`
		}},
		{"skills of a card", 400, imported, func(n int) string {
			return `{"name":"a","description":"a","version":"1","skills":[` + list(n, `{"id":"s@","name":"a","description":"a","tags":["t"]}`) + `]}`
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				src := tt.src(n)
				return func() { tt.read(src) }
			})
		})
	}
}
