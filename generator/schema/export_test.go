package schema

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
)

// Limits are the keywords that set a limit.
func Limits() []string {
	var names []string
	for _, row := range inOrder() {
		if row.Limit != nil {
			names = append(names, row.Name)
		}
	}
	return names
}

// Keywords are all keywords; refused are those that Go types cannot express.
func Keywords() (taken, refused []string) {
	for _, row := range inOrder() {
		if row.Remedy != "" {
			refused = append(refused, row.Name)
		} else {
			taken = append(taken, row.Name)
		}
	}
	return taken, refused
}

// Formats are the known formats; checked are those with a check in runtime/gen/check/format.
func Formats() (checked, others []string) {
	for name, info := range formats {
		switch {
		case info.sample != "":
			checked = append(checked, name)
		case info.kind == "":
			others = append(others, name)
		}
	}
	return checked, others
}

// AddEven adds a keyword for the time of a test that no standard has: with "even: true" a number is a multiple of two.
// It is one row.
func AddEven(t *testing.T) {
	row := Keyword{
		Name: "even", On: jsontype.Number,
		publish: func(w *bundler, _ *schema, _ string, _ *yaml.Node) { w.key("multipleOf"); w.b = append(w.b, '2') },
		Limit: &Limit{check: "MultipleOf", form: ir.ArgText, move: multipleOf,
			arg: func(c *compiler, s *schema, k, v *yaml.Node) string {
				if flag(c, s, k, v) == "" {
					return ""
				}
				return "2"
			}},
		order: len(table),
	}
	table[row.Name] = &row
	t.Cleanup(func() { delete(table, row.Name) })
}
