package emit

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
)

func TestCommentsAreWrapped(t *testing.T) {
	very := func(n int) string { return strings.TrimSpace(strings.Repeat("very ", n)) }
	for name, tt := range map[string]struct{ text, want string }{
		"a long line":                        {"x is " + very(40) + " long.", "x is " + very(22) + "\n" + very(18) + " long."},
		"two lines":                          {"one\n\ntwo", "one\n\ntwo"},
		"one long word":                      {strings.Repeat("x", 200) + " y", strings.Repeat("x", 200) + "\ny"},
		"what would be a directive in front": {strings.Repeat("x", 110) + " go:generate rm", strings.Repeat("x", 110) + " go:generate\nrm"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wrapped(tt.text); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// FuzzStringLiterals holds literals, of several parts where they are long, to what they say.
func FuzzStringLiterals(f *testing.F) {
	f.Add(`{"a":"` + strings.Repeat(`b c,`, 80) + `"}`)
	f.Add(strings.Repeat("\x00\"\\`é\u2028😀", 60))
	f.Add(strings.Repeat("x", 500))
	f.Add(strings.Repeat("\x80", 300))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		file := jen.NewFile("p")
		file.Const().Id("x").Op("=").Add(stringLiteral(text))
		got, err := render(file, "p.go")
		if err != nil {
			t.Fatal(err)
		}
		if value := constantIn(t, got.Data, "x"); value != text {
			t.Errorf("%q became %q", text, value)
		}
	})
}

// constantIn is the value of a string constant of a file that imports nothing.
func constantIn(t *testing.T, src []byte, name string) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(types.Config).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return constant.StringVal(p.Scope().Lookup(name).(*types.Const).Val())
}
