package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// number is the number of a requirement of 1.0 (R) or 0.3 (Q), or of a trap (T).
var number = regexp.MustCompile(`\b[RQT][1-9][0-9]{0,2}\b`)

// citations are the places that cite each number.
type citations map[string]*places

// places are files that cite a number, and the tests among them.
type places struct {
	files map[string]bool // slash-separated paths below the root
	tests map[string]bool // package.Test, or the path of a test file for what stands outside its tests
}

func (c citations) add(n, file, test string) {
	p := c[n]
	if p == nil {
		p = &places{map[string]bool{}, map[string]bool{}}
		c[n] = p
	}
	p.files[file] = true
	if test != "" {
		p.tests[test] = true
	}
}

// scan reads what the repository's sources, documents and test scripts cite.
func scan(root string) (citations, error) {
	cited := citations{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || name == "bin"):
			return fs.SkipDir
		case d.IsDir() || name == page || strings.HasPrefix(name, "internal/requirements/"):
			return nil
		case strings.HasSuffix(name, ".gen.go"):
			return nil
		case strings.HasSuffix(name, ".go"):
			return scanGo(cited, path, name)
		case slices.Contains([]string{".md", ".txtar", ".tmpl"}, filepath.Ext(name)):
			src, err := os.ReadFile(path)
			for _, n := range number.FindAllString(string(src), -1) {
				cited.add(n, name, "")
			}
			return err
		}
		return nil
	})
	return cited, err
}

// scanGo reads the comments of a Go file, and in a test file also the names of its cases.
func scanGo(cited citations, path, name string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	// What is broken on purpose holds the conformance suite to a requirement, and nothing of ours.
	isTest := strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "internal/test/broken/")
	at := func(pos token.Pos, text string) {
		for _, n := range number.FindAllString(text, -1) {
			test := ""
			if isTest {
				test = testAt(f, name, pos)
			}
			cited.add(n, name, test)
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			at(c.Pos(), c.Text)
		}
	}
	if isTest {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				at(s.Pos(), s.Value)
			}
			return true
		})
	}
	return nil
}

// testAt names the test that pos is in or documents, else the file.
func testAt(f *ast.File, name string, pos token.Pos) string {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !isTestName(fn.Name.Name) {
			continue
		}
		from := fn.Pos()
		if fn.Doc != nil {
			from = fn.Doc.Pos()
		}
		if from <= pos && pos < fn.End() {
			return strings.TrimSuffix(f.Name.Name, "_test") + "." + fn.Name.Name
		}
	}
	return name
}

func isTestName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example")
}

// sorted returns the keys of a set in order.
func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
