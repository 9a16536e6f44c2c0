package golden

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/output"
)

// exampled is the case whose program has the examples of the package comments in it, and so compiles and runs them.
const exampled = "agents_typed_skill"

// checkExample holds the example of a package's comment to that program.
func (g *golden) checkExample(t *testing.T, f output.File) {
	t.Helper()
	if g.name != exampled {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	if file.Doc == nil {
		return
	}
	_, example, ok := strings.Cut(file.Doc.Text(), "\n\n")
	program, _ := g.file("run/main.go")
	if !ok || !strings.Contains(program, strings.TrimRight(example, "\n")+"\n") {
		t.Errorf("%s: the package comment has no example, or one that is not compiled:\n%s", f.Path, example)
	}
}
