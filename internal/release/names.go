package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// namesFile has the public names of the last release, a package a line. What of them is gone the changelog has to name.
const namesFile = "docs/internals/public-names.txt"

// publicNames returns the exported names of the packages that docs/compatibility.md promises: "runtime/server.Server.Handle".
func publicNames(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, top := range []string{"runtime", "testkit"} {
		err := filepath.WalkDir(filepath.Join(dir, top), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				if name := d.Name(); name == "internal" || name == "testdata" || name == "gen" {
					return fs.SkipDir
				}
				return nil
			case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(dir, filepath.Dir(file))
			for _, name := range exported(parsed) {
				names[filepath.ToSlash(folder)+"."+name] = true
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return names, nil
}

// exported returns the exported names of a file, those of methods behind their types.
func exported(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch x := decl.(type) {
		case *ast.FuncDecl:
			name := x.Name.Name
			if x.Recv != nil {
				of := x.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if index, ok := of.(*ast.IndexExpr); ok {
					of = index.X
				}
				typ, ok := of.(*ast.Ident)
				if !ok || !typ.IsExported() {
					continue
				}
				name = typ.Name + "." + name
			}
			if x.Name.IsExported() {
				names = append(names, name)
			}
		case *ast.GenDecl:
			for _, spec := range x.Specs {
				var declared []*ast.Ident
				switch s := spec.(type) {
				case *ast.TypeSpec:
					declared = []*ast.Ident{s.Name}
				case *ast.ValueSpec:
					declared = s.Names
				}
				for _, name := range declared {
					if name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// writeNames writes the public names.
func writeNames(dir string) error {
	names, err := publicNames(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	last := ""
	for _, name := range slices.Sorted(maps.Keys(names)) {
		folder, name, _ := strings.Cut(name, ".")
		if folder != last {
			fmt.Fprintf(&b, "%s%s:", strings.Repeat("\n", min(b.Len(), 1)), folder)
			last = folder
		}
		b.WriteString(" " + name)
	}
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(namesFile)), append(b.Bytes(), '\n'), 0o644)
}

// checkNames wants the notes of a release to say the name of everything public that is gone since the last one.
func checkNames(dir string, notes []byte) error {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(namesFile)))
	if err != nil {
		return err
	}
	now, err := publicNames(dir)
	if err != nil {
		return err
	}
	var gone []string
	for line := range strings.Lines(string(text)) {
		folder, names, _ := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			if !now[folder+"."+name] && !bytes.Contains(notes, []byte(name[strings.LastIndex(name, ".")+1:])) {
				gone = append(gone, folder+"."+name)
			}
		}
	}
	if len(gone) > 0 {
		return fmt.Errorf("CHANGELOG.md does not say what became of %s", strings.Join(gone, ", "))
	}
	return nil
}
