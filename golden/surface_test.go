package golden

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// codecs are the methods that every generated type may have. They are also what encoding/json calls, and what gRPC needs.
var codecs = []string{"AppendJSON", "MarshalJSON", "UnmarshalJSON", "AppendProto", "UnmarshalProto", "Validate"}

// own are what single types have beside them, for people.
var own = map[string][]string{
	"Message":  {"Text"},
	"Artifact": {"Text"},
	"Task":     {"Message", "Snapshot"}, // the agent package's
}

// checkSurface refuses exported methods of exported types that are not meant for users: a completion list shows the
// protocol, and nothing of how the runtime works with it. A client and a fake have the methods that the operations and skills name.
func checkSurface(t *testing.T, path string, src []byte) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || !fn.Name.IsExported() {
			continue
		}
		typ := receiver(fn)
		if !ast.IsExported(typ) || typ == "Client" || typ == "Fake" || slices.Contains(codecs, fn.Name.Name) || slices.Contains(own[typ], fn.Name.Name) {
			continue
		}
		t.Errorf("%s: %s.%s is in people's way, or missing in the list of what is meant for them", path, typ, fn.Name.Name)
	}
}

// receiver is the name of a method's type.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	name, _ := typ.(*ast.Ident)
	return name.Name
}

func TestGeneratedTypesShowTheProtocolOnly(t *testing.T) {
	for _, path := range kept(t) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkSurface(t, path, src)
	}
}

// kept are the generated Go files that this repository keeps.
func kept(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"../a2a", "../a2a/a2aclient", "../examples/*/a2a", "../examples/*/agent", "../examples/*/client", "../examples/*/client/*"} {
		found, err := filepath.Glob(pattern + "/*.gen.go")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	return paths
}
