package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// declared counts what the packages of the runtime declare.
type declared struct {
	methods  map[string]int // by type
	exported map[string]int // names outside internal packages, by package: functions, types, methods of theirs, values
}

func newDeclared() declared {
	return declared{map[string]int{}, map[string]int{}}
}

// forGenerated is the folder of the packages that belong to generated code: users read none of them.
const forGenerated = "runtime/gen"

// isForGenerated reports whether a package of this module is in that folder.
func isForGenerated(folder string) bool { return strings.HasPrefix(folder+"/", forGenerated+"/") }

// printDeclared prints the types with the most methods, and the numbers of exported names outside internal packages:
// those that users meet, and those of packages for generated code.
func printDeclared(list bool) error {
	d := newDeclared()
	err := filepath.WalkDir("runtime", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			d.add(filepath.ToSlash(filepath.Dir(path)), file)
		}
		return err
	})
	if err != nil {
		return err
	}
	users, generated := d.sorted()
	fmt.Println("methods of the largest types of runtime")
	printCounts(d.methods, 8)
	fmt.Println("exported names of runtime, without internal packages")
	fmt.Printf("\t%5d  that users meet\n\t%5d  of packages for generated code\n", sum(users), sum(generated))
	if list {
		printCounts(users, len(users))
		fmt.Println("for generated code")
		printCounts(generated, len(generated))
	}
	return nil
}

// sorted are the numbers of exported names by package: of those that users meet, and of those for generated code.
func (d *declared) sorted() (users, generated map[string]int) {
	users, generated = map[string]int{}, map[string]int{}
	for folder, n := range d.exported {
		switch {
		case strings.Contains(folder+"/", "/internal/"):
		case isForGenerated(folder):
			generated[folder] = n
		default:
			users[folder] = n
		}
	}
	return users, generated
}

func (d *declared) add(folder string, file *ast.File) {
	for _, decl := range file.Decls {
		switch x := decl.(type) {
		case *ast.FuncDecl:
			d.addFunc(folder, x)
		case *ast.GenDecl:
			for _, spec := range x.Specs {
				for _, name := range namesOf(spec) {
					d.addName(folder, name.Name)
				}
			}
		}
	}
}

func (d *declared) addFunc(folder string, f *ast.FuncDecl) {
	if f.Recv != nil {
		of := receiver(f.Recv.List[0].Type)
		d.methods[folder+"."+of]++
		if !ast.IsExported(of) {
			return
		}
	}
	d.addName(folder, f.Name.Name)
}

func (d *declared) addName(folder, name string) {
	if ast.IsExported(name) {
		d.exported[folder]++
	}
}

func namesOf(spec ast.Spec) []*ast.Ident {
	switch x := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{x.Name}
	case *ast.ValueSpec:
		return x.Names
	}
	return nil
}

// receiver is the name of a receiver's type.
func receiver(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
