package scaffold

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// Handlers is what package skills of a project says about handlers. It is read to report and to decide which stubs
// are missing; user files are never changed.
type Handlers struct {
	hasAgent bool
	methods  map[string]handler // exported methods of any type by name
}

type handler struct {
	file string
	task bool // takes an *agent.Task: it is a handler, or was one
}

// ReadHandlers reads the Go files of package skills by path. A file that does not parse counts as far as it does.
func ReadHandlers(files map[string][]byte) Handlers {
	h := Handlers{methods: map[string]handler{}}
	fset := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, _ := parser.ParseFile(fset, path.Base(name), files[name], parser.SkipObjectResolution)
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			h.declaration(name, d)
		}
	}
	return h
}

func (h *Handlers) declaration(file string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && d.Name.IsExported() {
			h.methods[d.Name.Name] = handler{file, takesTask(d.Type)}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok && t.Name.Name == "Agent" {
				h.hasAgent = true
			}
		}
	}
}

// takesTask reports whether a parameter is a *agent.Task, whatever the package is called where it is imported.
func takesTask(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "Task" {
			return true
		}
	}
	return false
}

// HasAgent reports whether the package declares the type Agent that stubs are methods of. Without it the handlers live in
// a way of the user's own.
func (h Handlers) HasAgent() bool { return h.hasAgent }

// Missing are the Go names of the skills that have no method yet, in the card's order.
func (h Handlers) Missing(skills []*ir.Skill) []string {
	var names []string
	for _, s := range skills {
		if _, ok := h.methods[s.Go]; !ok {
			names = append(names, s.Go)
		}
	}
	return names
}

// Orphan is a handler whose skill is gone from the card.
type Orphan struct {
	Method string `json:"method"`
	File   string `json:"file"` // slash-separated, relative to the project
}

// Orphans are the handlers that belong to no skill, sorted by method.
func (h Handlers) Orphans(skills []*ir.Skill) []Orphan {
	known := map[string]bool{}
	for _, s := range skills {
		known[s.Go] = true
	}
	var orphans []Orphan
	for _, name := range slices.Sorted(maps.Keys(h.methods)) {
		if m := h.methods[name]; m.task && !known[name] {
			orphans = append(orphans, Orphan{name, m.file})
		}
	}
	return orphans
}
