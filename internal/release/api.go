package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// apiFile has the public API of the last release: a heading for each package, and a line for each name with its signature.
const apiFile = "docs/internals/api.txt"

// publicAPI returns the lines of apiFile for the packages in a checkout that docs/compatibility.md promises.
func publicAPI(dir string) ([]string, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Module,Name", "./runtime/...", "./testkit/...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	exports := map[string]string{}
	var public []string
	root := ""
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Name string
			Module                   *struct {
				Path string
				Main bool
			}
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			root = p.Module.Path + "/"
			if isPublic(strings.TrimPrefix(p.ImportPath, root)) {
				public = append(public, p.ImportPath)
			}
		}
	}
	slices.Sort(public)
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var lines []string
	for _, path := range public {
		pkg, err := imports.Import(path)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "", "# "+strings.TrimPrefix(path, root))
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				lines = append(lines, describe(obj, root)...)
			}
		}
	}
	if len(lines) > 0 {
		lines = lines[1:]
	}
	return lines, nil
}

// isPublic says whether the package in a folder is promised.
func isPublic(folder string) bool {
	first, _, _ := strings.Cut(folder, "/")
	return (first == "runtime" || first == "testkit") && !slices.ContainsFunc(strings.Split(folder, "/"), func(name string) bool { return name == "internal" || name == "gen" })
}

// describe returns the line of an object and, of a type, those of its exported fields and methods.
func describe(obj types.Object, root string) []string {
	word := func(t types.Type) string {
		return types.TypeString(t, func(p *types.Package) string { return p.Name() })
	}
	name := obj.Name()
	switch o := obj.(type) {
	case *types.Const:
		return []string{fmt.Sprintf("const %s %s = %s", name, word(o.Type()), o.Val().ExactString())}
	case *types.Var:
		return []string{"var " + name + " " + unnamed("var _ "+word(o.Type()), "var _ ")}
	case *types.Func:
		return []string{unnamed("func "+name+strings.TrimPrefix(word(o.Type()), "func"), "")}
	}
	typ := obj.Type()
	if alias, ok := typ.(*types.Alias); ok {
		line := "type " + name + " = " + unnamed("var _ "+word(alias.Rhs()), "var _ ")
		named, ok := types.Unalias(alias).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || isPublic(strings.TrimPrefix(named.Obj().Pkg().Path(), root)) || !strings.HasPrefix(named.Obj().Pkg().Path(), root) {
			return []string{line}
		}
		typ = named // nowhere else
	}
	named, ok := typ.(*types.Named)
	if !ok {
		return []string{"type " + name}
	}
	params := ""
	if list := named.TypeParams(); list.Len() > 0 {
		var words []string
		for i := range list.Len() {
			words = append(words, list.At(i).Obj().Name()+" "+word(list.At(i).Constraint()))
		}
		params = "[" + strings.Join(words, ", ") + "]"
	}
	var lines []string
	switch under := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, "type "+name+params+" struct")
		for f := range under.Fields() {
			if f.Exported() {
				lines = append(lines, "type "+name+" field "+f.Name()+" "+unnamed("var _ "+word(f.Type()), "var _ "))
			}
		}
	case *types.Interface:
		var members []string
		closed := ""
		for m := range under.Methods() {
			if !m.Exported() {
				closed = "methods of its own"
				continue
			}
			members = append(members, m.Name())
			lines = append(lines, "method "+name+" "+unnamed("func "+m.Name()+strings.TrimPrefix(word(m.Type()), "func"), "func "))
		}
		if closed == "" { // one more breaks who implements it
			closed = strings.Join(members, ", ")
		}
		return append([]string{"type " + name + params + " interface { " + closed + " }"}, lines...)
	default:
		lines = append(lines, "type "+name+params+" "+unnamed("var _ "+word(under), "var _ "))
	}
	set := types.NewMethodSet(types.NewPointer(named))
	for m := range set.Methods() {
		if f := m.Obj(); f.Exported() {
			of := name
			if types.NewMethodSet(named).Lookup(f.Pkg(), f.Name()) == nil {
				of = "*" + name
			}
			lines = append(lines, "method "+of+" "+unnamed("func "+f.Name()+strings.TrimPrefix(word(f.Type()), "func"), "func "))
		}
	}
	return lines
}

// unnamed leaves the names of parameters out of a declaration, which nobody depends on, and prefix at its beginning.
func unnamed(decl, prefix string) string {
	const head = "package p\n\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", head+regexp.MustCompile(`#rv\d+ `).ReplaceAllString(decl, ""), parser.SkipObjectResolution)
	if err != nil {
		panic(decl + ": " + err.Error())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			for _, list := range []*ast.FieldList{f.Params, f.Results} {
				if list == nil {
					continue
				}
				for _, field := range list.List {
					field.Names = nil
				}
			}
		}
		return true
	})
	var b bytes.Buffer
	if err := format.Node(&b, fset, file); err != nil {
		panic(err)
	}
	line := strings.Join(strings.FieldsFunc(strings.TrimPrefix(b.String(), head+prefix), func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
	return strings.NewReplacer("{; ", "{ ", "; }", " }").Replace(line)
}

// writeAPI writes apiFile.
func writeAPI(dir string) error {
	lines, err := publicAPI(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(apiFile)), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// subject matches a line of apiFile: its name, or that of the member of a type.
var subject = regexp.MustCompile(`^(?:method \*?\w+|type \w+ field|const|func|type|var) (\w+)`)

// member matches a line of a member, with its type.
var member = regexp.MustCompile(`^(?:method \*?(\w+)|type (\w+) field) `)

// checkAPI wants the notes of a release to name, in backticks, each public name of the last one that is gone or has another type. The members of a type
// that is gone go with it.
func checkAPI(dir string, notes []byte) error {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(apiFile)))
	if err != nil {
		return err
	}
	lines, err := publicAPI(dir)
	if err != nil {
		return err
	}
	now := map[string]bool{}
	each := func(lines iter.Seq[string], do func(folder, line string)) {
		folder := ""
		for line := range lines {
			line = strings.TrimSpace(line)
			if of, ok := strings.CutPrefix(line, "# "); ok {
				folder = of
			} else if line != "" {
				do(folder, line)
			}
		}
	}
	each(slices.Values(lines), func(folder, line string) {
		now[folder+": "+line] = true
		if m := regexp.MustCompile(`^type (\w+)`).FindString(line); m != "" {
			now[folder+": "+m] = true
		}
	})
	var broken []string
	each(strings.Lines(string(text)), func(folder, line string) {
		name := subject.FindStringSubmatch(line)
		of := member.FindStringSubmatch(line)
		switch {
		case name == nil:
			broken = append(broken, "cannot be read: "+line)
		case now[folder+": "+line]:
		case of != nil && !now[folder+": type "+of[1]+of[2]]:
		case !regexp.MustCompile("`[^`\n]*\\b" + name[1] + "\\b[^`\n]*`").Match(notes):
			broken = append(broken, folder+": "+line)
		}
	})
	if len(broken) > 0 {
		return fmt.Errorf("these are gone, or have another type now:\n\t%s\nkeep each, with a line \"Deprecated: …\", for two minor versions, or name it in CHANGELOG.md, in backticks, with what to write instead",
			strings.Join(broken, "\n\t"))
	}
	return nil
}
