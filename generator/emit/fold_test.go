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
	"github.com/google/go-cmp/cmp"
)

func TestLongLinesAreFolded(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s, 40) }
	for _, tt := range []struct{ name, src, want string }{
		{"a signature",
			"func (c *Client) Forecast(ctx context.Context, in *ForecastInput, opts ...rpc.CallOption) (*ForecastOutput, *SomethingElse, error) {\n\treturn nil, nil, nil\n}",
			"func (c *Client) Forecast(\n\tctx context.Context, in *ForecastInput, opts ...rpc.CallOption,\n) (*ForecastOutput, *SomethingElse, error) {\n\treturn nil, nil, nil\n}"},
		{"a call",
			"var x = first(second(ctx, rpc.Method{Role: runtime.RolePushCreate, RPC: \"CreateConfig\"}, func(r *Request) *string { return &r.Tenant }, opts))",
			"var x = first(second(ctx, rpc.Method{Role: runtime.RolePushCreate, RPC: \"CreateConfig\"},\n\tfunc(r *Request) *string { return &r.Tenant }, opts))"},
		{"a row of a table",
			"var x = []T{\n\t{Name: \"contextId\", Aliases: []string{\"context_id\"}, Required: true, Read: func(r *wire.Reader, x *Request) { x.ContextID = r.String() }},\n}",
			"var x = []T{\n\t{Name: \"contextId\", Aliases: []string{\"context_id\"}, Required: true,\n\t\tRead: func(r *wire.Reader, x *Request) { x.ContextID = r.String() }},\n}"},
		{"a struct",
			"var x = &runtime.CardInfo{Name: card.Name, Version: card.Version, DefaultInput: card.DefaultInputModes, Output: card.DefaultOutputModes}",
			"var x = &runtime.CardInfo{\n\tName:         card.Name,\n\tVersion:      card.Version,\n\tDefaultInput: card.DefaultInputModes,\n\tOutput:       card.DefaultOutputModes,\n}"},
		{"a function's body",
			"var x = T{Read: func() { " + long("a") + long("b") + long("c") + " = 1 }}",
			"var x = T{Read: func() {\n\t" + long("a") + long("b") + long("c") + " = 1\n}}"},
		{"a condition",
			"func f() bool {\n\treturn " + long("a") + " != nil && " + long("b") + " != nil && " + long("c") + " != nil\n}",
			"func f() bool {\n\treturn " + long("a") + " != nil && " + long("b") + " != nil &&\n\t\t" + long("c") + " != nil\n}"},
		{"a comment",
			"// x is " + long("very ") + "long.\nvar x int",
			"// x is " + strings.Repeat("very ", 21) + "very\n// " + strings.Repeat("very ", 18) + "long.\nvar x int"},
		{"a comment of code", "//\t" + long("code ") + "\nvar x int", "//\t" + long("code ") + "\nvar x int"},
		{"a comment that would become a directive",
			"// " + strings.Repeat("x", 100) + " and then go:generate rm\nvar x int",
			"// " + strings.Repeat("x", 100) + " and then go:generate\n// rm\nvar x int"},
		{"a tag", "type T struct {\n\tX int `json:\"" + long("abc") + "\"`\n}", "type T struct {\n\tX int `json:\"" + long("abc") + "\"`\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := folded([]byte("package p\n\n" + tt.src + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("package p\n\n"+tt.want+"\n", string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzFoldingStrings holds folded strings to what they were, and folding to an end.
func FuzzFoldingStrings(f *testing.F) {
	f.Add(`{"a":"` + strings.Repeat(`b c,`, 80) + `"}`)
	f.Add(strings.Repeat("\x00\"\\`é\u2028😀", 60))
	f.Add(strings.Repeat("x", 500))
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
		if anyWide(got.Data) {
			t.Errorf("still too wide: %s", got.Data)
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
