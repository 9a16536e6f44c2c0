package scaffold

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen"
)

// moved are packages of this module that projects import, by the folders that they had in older tools.
var moved = map[string]string{
	"runtime/a2atest":          "testkit/a2atest",
	"runtime/auth/authtest":    "testkit/authtest",
	"runtime/conform":          "testkit/conform",
	"runtime/fault":            "testkit/fault",
	"runtime/mcptools/mcptest": "testkit/mcptest",
	"runtime/record":           "testkit/record",
	"runtime/store/storetest":  "testkit/storetest",
}

// OldImport is an import of a package of this module by a path that it no longer has.
type OldImport struct {
	Line     int
	Old, New string // "github.com/a2agen/a2agen/runtime/fault"
	from, to int    // where it stands, with its quotes
}

// OldImports returns those of a Go file. One that does not parse has those in front of the mistake.
func OldImports(src []byte) (list []OldImport) {
	set := token.NewFileSet()
	f, _ := parser.ParseFile(set, "", src, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	for _, spec := range f.Imports {
		old, _ := strconv.Unquote(spec.Path.Value)
		folder, ours := strings.CutPrefix(old, a2agen.Module+"/")
		if to, gone := moved[folder]; ours && gone {
			at := set.Position(spec.Path.Pos())
			list = append(list, OldImport{at.Line, old, a2agen.Module + "/" + to, at.Offset, at.Offset + len(spec.Path.Value)})
		}
	}
	return list
}

// WithNewImports returns a Go file with the paths that the packages have now, in their order if gofmt had put them in order.
func WithNewImports(src []byte) []byte {
	var out []byte
	at := 0
	for _, i := range OldImports(src) {
		out = append(append(out, src[at:i.from]...), strconv.Quote(i.New)...)
		at = i.to
	}
	if at == 0 {
		return src
	}
	out = append(out, src[at:]...)
	if before, err := format.Source(src); err == nil && bytes.Equal(before, src) {
		if sorted, err := format.Source(out); err == nil {
			return sorted
		}
	}
	return out
}
