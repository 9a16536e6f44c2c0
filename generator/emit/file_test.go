package emit

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
)

// commented renders a file whose only declaration has the text as its comment, and returns the comment.
func commented(t *testing.T, text string) string {
	t.Helper()
	f := newFile("example.com/x", "x")
	f.Add(doc(text)).Type().Id("T").Struct()
	out, err := render(f, "x/x.gen.go")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if pretty, err := format.Source(out.Data); err != nil || string(pretty) != string(out.Data) {
		t.Fatalf("%q: gofmt would change the file: %v", text, err)
	}
	src, err := parser.ParseFile(token.NewFileSet(), "x.go", out.Data, parser.ParseComments)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if len(src.Decls) != 1 || src.Name.Name != "x" {
		t.Fatalf("%q became code:\n%s", text, out.Data)
	}
	for _, line := range strings.Split(string(out.Data), "\n") {
		for _, directive := range []string{"//go:", "// +build", "//+build", "//line ", "//export ", "/*"} {
			if strings.HasPrefix(strings.TrimSpace(line), directive) {
				t.Fatalf("%q became the directive %s", text, line)
			}
		}
	}
	group := src.Decls[0].(*ast.GenDecl).Doc
	if group == nil {
		return ""
	}
	return group.Text()
}

func TestCommentsKeepTheTextAndNeverBecomeCode(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain":                 {"one\ntwo", "one\ntwo\n"},
		"nothing":               {" \n\t", ""},
		"line ends of all kind": {"a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh", "a\nb\nc\nd\ne\nf\ng\nh\n"},
		"the end of a comment":  {"*/ func init() {} /*", "*/ func init() {} /*\n"},
		"a directive":           {"//go:generate rm\ngo:embed x\n+build ignore\nline x:1", "“//go:generate rm”\n“go:embed x”\n“+build ignore”\n“line x:1”\n"},
		"control characters":    {"a\x00b\x1bc\ufeffd\u202ee", "abcde\n"},
		"broken UTF-8":          {"a\xffb", "a\uFFFDb\n"},
		"many blank lines":      {"a\n\n \n\u2028\nb", "a\n\nb\n"},
		"quotes":                {"`\"'\\", "`\"'\\\n"},
	} {
		if got := commented(t, test.text); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestLongCommentsAreCutAtACharacter(t *testing.T) {
	got := commented(t, strings.Repeat("é", maxDoc))
	if len(got) > maxDoc+10 || !strings.HasSuffix(got, "é…\n") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-10:])
	}
}

func TestSourceThatDoesNotParseIsShownWithLineNumbers(t *testing.T) {
	f := jen.NewFile("x")
	f.Add(jen.Op("func {"))
	_, err := render(f, "x/x.gen.go")
	if err == nil || !strings.Contains(err.Error(), "emit x/x.gen.go") || !strings.Contains(err.Error(), "    1  ") {
		t.Errorf("error %v", err)
	}
}

func TestTheStandardLibraryIsImportedApart(t *testing.T) {
	for want, paths := range map[string][]string{
		"":                                       {},
		`import "strings"`:                       {"strings"},
		"import (\n\t\"strings\"\n\t\"time\"\n)": {"time", "strings"},
		"import (\n\t\"strings\"\n\n\t\"" + checkPath + "\"\n\t\"" + wirePath + "\"\n)": {wirePath, "strings", checkPath},
	} {
		f := newFile("example.com/x", "x")
		for _, path := range paths {
			f.Var().Id("_").Qual(path, "X")
		}
		out, err := render(f, "x/x.gen.go")
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(string(out.Data), "package x\n")
		if got, _, _ = strings.Cut(got, "var"); strings.TrimSpace(got) != want {
			t.Errorf("imports of %s:\n%s", paths, got)
		}
	}
}

func TestPackagesAreCalledAfterTheirFolderIfTheyCanBe(t *testing.T) {
	for importPath, want := range map[string]string{"example.com/weather/a2a": "a2a", "a2a": "a2a", "example.com/my-a2a": "mya2a", "example.com/x/func": "funcpkg"} {
		if got := pkgName(importPath); got != want {
			t.Errorf("%s is package %s, want %s", importPath, got, want)
		}
	}
}

func FuzzCommentsNeverBecomeCode(f *testing.F) {
	for _, s := range []string{"a", "//go:build x", "\n+build x", "/*\n*/", "# h\n\n  - x\n1. y", "\t\tcode", "a\u2028go:x", "[x]: y", "Deprecated: x", "/\t/go:build x", "\u200b//go:x", "+\x00build x", "g\ufeffo:build"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { commented(t, s) })
}
