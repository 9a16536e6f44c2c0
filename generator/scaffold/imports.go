package scaffold

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// goFile formats a rendered Go file and removes unused imports: a template lists all that it may need, each on a line. A file that
// does not parse is an error, and is never written.
func goFile(src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, i := range slices.Backward(f.Imports) {
		if used[importedAs(i)] {
			continue
		}
		start, end := fset.Position(i.Pos()).Offset, fset.Position(i.End()).Offset
		start = bytes.LastIndexByte(src[:start], '\n') + 1
		if line := bytes.IndexByte(src[end:], '\n'); line >= 0 {
			end += line + 1
		}
		src = slices.Concat(src[:start], src[end:])
	}
	return format.Source(src)
}

// importedAs returns the name of an imported package in a file.
func importedAs(i *ast.ImportSpec) string {
	if i.Name != nil {
		return i.Name.Name
	}
	p, _ := strconv.Unquote(i.Path.Value) // it was parsed
	return path.Base(p)
}
