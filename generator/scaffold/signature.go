package scaffold

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// signature is what a method takes and gives, each type spelled with the import path of its package: "*example.com/w/agent.Task".
// unknown stands for a type that the text of one package does not tell.
type signature struct{ in, out []string }

const unknown = "?"

// fits reports whether a method with this signature may be the wanted one. Only a certain difference counts: a type
// of an unknown package may be an alias of the right one.
func (s signature) fits(want signature, known func(pkg string) bool) bool {
	same := func(got, want []string) bool {
		differs := func(t string, wanted string) bool {
			return t != wanted && !strings.HasSuffix(t, unknown) && known(packageOf(t))
		}
		for i := range min(len(got), len(want)) {
			if differs(got[i], want[i]) {
				return false
			}
		}
		return len(got) == len(want)
	}
	return same(s.in, want.in) && same(s.out, want.out)
}

// packageOf returns the import path of a type's package; "" for a predeclared type.
func packageOf(t string) string {
	t = strings.TrimLeft(t, "*")
	return t[:max(0, strings.LastIndexByte(t, '.'))]
}

// String writes the signature as people do: (ctx, *a2a.Message, *agent.Task) (string, error).
func (s signature) String() string {
	return "(" + short(s.in) + ") (" + short(s.out) + ")"
}

func short(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		stars := t[:len(t)-len(strings.TrimLeft(t, "*"))]
		words[i] = stars + path.Base(strings.TrimLeft(t, "*"))
		if t == "context.Context" {
			words[i] = "ctx"
		}
	}
	return strings.Join(words, ", ")
}

// scope resolves the types of one file.
type scope struct {
	self    string            // import path of the package
	imports map[string]string // import paths by the name in the file
	// aliases are the types that the package declares as other names, with the scopes of their files.
	aliases map[string]alias
	// declared are all types that the package declares.
	declared map[string]bool
}

type alias struct {
	is    ast.Expr
	scope *scope
}

func newScope(self string, f *ast.File) *scope {
	s := &scope{self: self, imports: map[string]string{}}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		s.imports[name] = p
	}
	return s
}

// maxAliases limits how many aliases are followed.
const maxAliases = 10

func (s *scope) signature(f *ast.FuncType) signature {
	return signature{s.types(f.Params), s.types(f.Results)}
}

func (s *scope) types(fields *ast.FieldList) (types []string) {
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for range max(1, len(f.Names)) {
			types = append(types, s.spell(f.Type, maxAliases))
		}
	}
	return types
}

func (s *scope) spell(t ast.Expr, depth int) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return "*" + s.spell(t.X, depth)
	case *ast.SelectorExpr:
		if x, ok := t.X.(*ast.Ident); ok && s.imports[x.Name] != "" {
			return s.imports[x.Name] + "." + t.Sel.Name
		}
		return unknown
	case *ast.Ident:
		return s.name(t.Name, depth)
	case *ast.ArrayType:
		return "[]" // no handler takes or gives one
	}
	return unknown
}

func (s *scope) name(name string, depth int) string {
	a, ok := s.aliases[name]
	switch {
	case ok && depth > 0:
		return a.scope.spell(a.is, depth-1)
	case s.declared[name]:
		return s.self + "." + name
	case slices.Contains([]string{"string", "error", "bool", "int", "int64", "float64"}, name):
		return name
	}
	return unknown
}

// Method is a method that the agent's handlers must have.
type Method struct {
	Name  string
	want  signature
	known map[string]bool // packages that declare no type under two names: the one of the interface and those that it imports
}

// Wanted reads the methods of the interface Skills from its generated file. self is the import path of its package.
func Wanted(self string, src []byte) ([]Method, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "skills.gen.go", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := newScope(self, f)
	known := map[string]bool{"": true, self: true}
	for _, p := range s.imports {
		known[p] = true
	}
	var methods []Method
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			t := spec.(*ast.TypeSpec)
			i, ok := t.Type.(*ast.InterfaceType)
			if !ok || t.Name.Name != "Skills" {
				continue
			}
			s.declared = ownTypes(i)
			for _, m := range i.Methods.List {
				if f, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
					methods = append(methods, Method{m.Names[0].Name, s.signature(f), known})
				}
			}
		}
	}
	if methods == nil {
		return nil, fmt.Errorf("it declares no interface Skills")
	}
	return methods, nil
}

// ownTypes returns the names in an interface that its own package declares: the exported ones.
func ownTypes(i *ast.InterfaceType) map[string]bool {
	own := map[string]bool{}
	ast.Inspect(i, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.IsExported() {
			own[id.Name] = true
		}
		return true
	})
	return own
}
