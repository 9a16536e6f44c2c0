package schema_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/growth"
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
	compile := func(src string) {
		compile([]request{{"InInput", "agent.yaml", src}}, func(string) ([]byte, error) { return nil, os.ErrNotExist })
	}
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
