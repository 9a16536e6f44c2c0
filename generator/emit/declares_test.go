package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

// TestWhatIsDeclaredWhateverIsReadIsReserved holds the lists that lowering avoids to what is printed.
func TestWhatIsDeclaredWhateverIsReadIsReserved(t *testing.T) {
	doc, err := spec.Shipped(spec.Default)
	if err != nil {
		t.Fatal(err)
	}
	p, problems := lower.Protocol([]*spec.Document{doc})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	m := &ir.Model{Protocol: p, Agent: &ir.Agent{Card: []byte("{}"), Skills: []*ir.Skill{{ID: "chat", Go: "Chat"}}}}
	names.Join(p, m.Agent)
	var ofTypes []string
	for _, typ := range p.Types {
		ofTypes = append(ofTypes, typ.Go)
		for _, v := range typ.Values {
			ofTypes = append(ofTypes, v.Go)
		}
		for _, f := range typ.Fields {
			if f.Union == nil {
				continue
			}
			ofTypes = append(ofTypes, f.Union.Go, "Unknown"+f.Union.Go)
			for _, c := range f.Union.Cases {
				ofTypes = append(ofTypes, c.Go)
			}
		}
	}
	for _, tt := range []struct {
		name string
		emit func() ([]output.File, error)
		want []string
	}{
		{"protocol", func() ([]output.File, error) { return ProtocolPackage(p, clientPaths) }, slices.Concat(names.ProtocolDeclares, names.Sentinels)},
		{"agent", func() ([]output.File, error) { return Agent(m, clientPaths) }, names.AgentDeclares},
		{"client", func() ([]output.File, error) { return Client(m, clientPaths) }, names.ClientDeclares},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, err := tt.emit()
			if err != nil {
				t.Fatal(err)
			}
			declared, methods := declaredBy(t, files)
			if tt.name == "protocol" {
				declared = slices.DeleteFunc(declared, func(name string) bool { return slices.Contains(ofTypes, name) })
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.want)), declared); diff != "" {
				t.Errorf("declared (-reserved +printed):\n%s", diff)
			}
			if tt.name != "protocol" {
				return
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(p.ClientMethods)), methods); diff != "" {
				t.Errorf("methods of Client (-named +printed):\n%s", diff)
			}
		})
	}
}

// declaredBy gives the sorted exported names that files declare, and the methods of a type Client.
func declaredBy(t *testing.T, files []output.File) (names, methods []string) {
	t.Helper()
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names = append(names, d.Name.Name)
				} else if star, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok && star.X.(*ast.Ident).Name == "Client" {
					methods = append(methods, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names = append(names, n.Name)
						}
					}
				}
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !ast.IsExported(name) || strings.HasPrefix(name, "_") })
	slices.Sort(names)
	slices.Sort(methods)
	return names, methods
}
