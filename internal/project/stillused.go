package project

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
)

// stillUsed returns a file beside the tests that all skills share, f, which uses a function that they declare as they are and
// not as they will be, and that function; "" if there is none. Such a file is the user's, or one that an older tool wrote.
func (p *project) stillUsed(f output.File) (file, function string, err error) {
	if path.Base(f.Path) != scaffold.SharedTest {
		return "", "", nil
	}
	files, err := p.Files(path.Dir(f.Path))
	if err != nil {
		return "", "", err
	}
	gone := functions(files[f.Path])
	for name := range functions(f.Data) {
		delete(gone, name)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if file == f.Path || len(gone) == 0 {
			continue
		}
		if name := firstUsed(files[file], gone); name != "" {
			return file, name, nil
		}
	}
	return "", "", nil
}

// functions are the names of the functions that a Go file declares. A file that does not parse declares none.
func functions(src []byte) map[string]bool {
	names := map[string]bool{}
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return names
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			names[fn.Name.Name] = true
		}
	}
	return names
}

// firstUsed returns the first of some names that stands in a Go file; "" if none does.
func firstUsed(src []byte, names map[string]bool) (used string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && used == "" && names[id.Name] {
			used = id.Name
		}
		return used == ""
	})
	return used
}
