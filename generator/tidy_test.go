package generator

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// everything is a project of all versions in all bindings, with skills of every kind of type.
var everything = map[string]string{
	"a2agen.yaml": "protocol: [\"1.0\", \"0.3\", \"0.2\", \"0.1\"]\nbindings: [JSONRPC, HTTP+JSON, GRPC]\nencodings: [proto, protojson]\n",
	"agent.yaml": `name: a
description: b
version: 0.1.0
skills:
  - {id: text, name: Text, description: Say, tags: [a]}
  - id: typed
    name: Typed
    description: Say
    tags: [a]
    input:
      type: object
      required: [place, size]
      minProperties: 2
      properties:
        place: {oneOf: [{type: string, pattern: "^a"}, {type: object, required: [lat], properties: {lat: {type: number, minimum: -90}}}]}
        size: {enum: [small, large]}
        more: {type: array, items: {type: [string, "null"]}, uniqueItems: true}
        pair: {type: array, prefixItems: [{type: string}, {type: integer}], items: false}
        tree: {$ref: "#/$defs/Tree"}
        note: {type: [string, "null"]}
        days: {type: integer, default: 3}
      $defs: {Tree: {type: object, properties: {children: {type: array, items: {$ref: "#/$defs/Tree"}}, any: {}}, additionalProperties: {type: string}}}
    output: {oneOf: [{type: object, required: [kind], properties: {kind: {const: x}}}, {type: object, required: [kind], properties: {kind: {const: "y"}, at: {type: string, format: date-time}}}]}
`,
}

// declared are the functions and types of a folder's files, and how often each name occurs in them.
func declared(t *testing.T, files map[string][]byte) (decls map[string]*ast.CommentGroup, uses map[string]int) {
	t.Helper()
	decls, uses = map[string]*ast.CommentGroup{}, map[string]int{}
	for name, src := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					decls[d.Name.Name] = d.Doc
				}
			case *ast.GenDecl:
				if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && d.Lparen == 0 {
					decls[spec.Name.Name] = d.Doc
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				uses[id.Name]++
			}
			return true
		})
	}
	return decls, uses
}

func TestEmittedCodeHasNothingThatIsNotUsedAndCommentsThatBeginWithTheName(t *testing.T) {
	open := func(name string) ([]byte, error) {
		if text, ok := everything[name]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	out, list := Generate(context.Background(), Inputs{Open: open, Module: "example.com/a"})
	if list.HasErrors() {
		t.Fatal(list)
	}
	folders := map[string]map[string][]byte{}
	for _, f := range out.Files {
		if dir := path.Dir(f.Path); strings.HasSuffix(f.Path, ".gen.go") {
			if folders[dir] == nil {
				folders[dir] = map[string][]byte{}
			}
			folders[dir][f.Path] = f.Data
		}
	}
	for dir, files := range folders {
		decls, uses := declared(t, files)
		for name, doc := range decls {
			switch {
			case !ast.IsExported(name) && uses[name] < 2 && name != "init":
				t.Errorf("%s: nobody calls %s", dir, name)
			case ast.IsExported(name) && !strings.HasPrefix(doc.Text(), name+" "):
				t.Errorf("%s: the comment of %s begins otherwise: %.60s", dir, name, doc.Text())
			}
		}
	}
	if len(folders) < 3 {
		t.Errorf("only %d folders", len(folders))
	}
}
