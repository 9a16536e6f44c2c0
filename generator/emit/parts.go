package emit

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/output"
)

// partSize is how many declarations of a large file are formatted together: enough to make the head of a part cheap, few
// enough to keep all processors busy to the end.
const partSize = 40

// renderLarge renders a file of many declarations like [render], in parts at the same time: formatting takes most of the
// time of emission. head starts a file; every part gets one, so that names are imported alike in all of them.
func renderLarge(head func() *jen.File, file string, declarations []jen.Code) (output.File, error) {
	parts := slices.Collect(slices.Chunk(declarations, partSize))
	if len(parts) == 0 {
		parts = append(parts, nil)
	}
	texts, errs := make([][]byte, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		f := head()
		addAll(f, part...)
		wg.Go(func() {
			rendered, err := render(f, file)
			texts[i], errs[i] = rendered.Data, err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return output.File{}, err
	}
	data, err := join(texts)
	if err != nil {
		return output.File{}, fmt.Errorf("emit %s: %w", file, err)
	}
	return output.File{Path: file, Kind: output.Owned, Data: data}, nil
}

// join makes one formatted file of formatted files of one package: the head of the first, all imports, all declarations.
func join(texts [][]byte) ([]byte, error) {
	var head []byte
	var bodies bytes.Buffer
	imports := map[string]string{} // spec by quoted path
	for i, text := range texts {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "", text, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		offset := func(p token.Pos) int { return fset.Position(p).Offset }
		end := offset(f.Name.End())
		if i == 0 {
			head = text[:end]
		}
		for _, d := range f.Decls {
			end = offset(d.End())
		}
		for _, spec := range f.Imports {
			code := string(text[offset(spec.Pos()):offset(spec.End())])
			if other, ok := imports[spec.Path.Value]; ok && other != code {
				return nil, fmt.Errorf("two parts import %s under two names", spec.Path.Value)
			}
			imports[spec.Path.Value] = code
		}
		if body := bytes.TrimLeft(text[end:], "\n"); len(body) > 0 {
			bodies.WriteByte('\n')
			bodies.Write(body)
		}
	}
	return slices.Concat(head, importBlock(imports), bodies.Bytes()), nil
}

// importBlock is the import declaration between the package clause and the first declaration: the standard library, then the others.
func importBlock(imports map[string]string) []byte {
	var b strings.Builder
	b.WriteString("\n")
	var own, others []string
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
			others = append(others, imports[p])
		} else {
			own = append(own, imports[p])
		}
	}
	switch {
	case len(imports) == 0:
	case len(imports) == 1:
		b.WriteString("\nimport " + slices.Concat(own, others)[0] + "\n")
	default:
		b.WriteString("\nimport (\n")
		for _, spec := range own {
			b.WriteString("\t" + spec + "\n")
		}
		if len(own) > 0 && len(others) > 0 {
			b.WriteByte('\n')
		}
		for _, spec := range others {
			b.WriteString("\t" + spec + "\n")
		}
		b.WriteString(")\n")
	}
	return []byte(b.String())
}
