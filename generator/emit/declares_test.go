package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
	"github.com/a2agen/a2agen/testkit/a2atest"
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
		{"protocol", func() ([]output.File, error) { return ProtocolPackage(p, clientPaths) }, slices.Concat(names.ProtocolDeclares, names.Sentinels, names.ClientDeclares)},
		{"agent", func() ([]output.File, error) { return Agent(m, clientPaths) }, names.AgentDeclares},
		{"client", func() ([]output.File, error) { return Client(m, clientPaths) }, slices.Concat(names.ClientDeclares, names.SkillClientDeclares)},
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

// TestNoFieldHasTheNameOfAMethod gives messages and objects fields that are called like each of their methods.
func TestNoFieldHasTheNameOfAMethod(t *testing.T) {
	doc, err := spec.Shipped(spec.Default)
	if err != nil {
		t.Fatal(err)
	}
	protocol := func() []output.File {
		p, problems := lower.Protocol([]*spec.Document{doc})
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		lower.AddWires(p, ir.Proto)
		files, err := ProtocolPackage(p, clientPaths)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	methods, _ := membersOf(t, protocol())
	for _, m := range doc.Messages {
		for i, name := range methods[names.Go(m.Name)] {
			m.Fields = append(m.Fields, &spec.Field{Name: name, JSON: name, Number: int32(5000 + i), Type: spec.Type{Kind: spec.String}})
		}
	}
	object := func(properties ...string) []output.File {
		typ := &ir.DataType{Kind: ir.DataStruct}
		for _, name := range properties {
			typ.Fields = append(typ.Fields, &ir.DataField{Name: name, Type: ir.DataRef{Kind: ir.DataString}})
		}
		types := names.Contracts(names.OfSkills(), []names.Contract{{Go: "In", Root: &ir.DataRef{Type: typ}, Types: []*ir.DataType{typ}}})
		file, err := Data(types, clientPaths.Agent, "agent/types.gen.go")
		if err != nil {
			t.Fatal(err)
		}
		return []output.File{file}
	}
	of, _ := membersOf(t, object())
	for what, files := range map[string][]output.File{"protocol": protocol(), "skills": object(of["In"]...)} {
		methods, fields := membersOf(t, files)
		if len(methods) == 0 {
			t.Errorf("%s: there are no methods", what)
		}
		for typ, list := range methods {
			for _, name := range list {
				if slices.Contains(fields[typ], name) {
					t.Errorf("%s: %s.%s is a field and a method", what, typ, name)
				}
			}
		}
	}
}

// membersOf are the exported methods and the fields of the types that files declare.
func membersOf(t *testing.T, files []output.File) (methods, fields map[string][]string) {
	t.Helper()
	methods, fields = map[string][]string{}, map[string][]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil || !n.Name.IsExported() {
					return false
				}
				recv := n.Recv.List[0].Type
				if star, ok := recv.(*ast.StarExpr); ok {
					recv = star.X
				}
				typ := recv.(*ast.Ident).Name
				methods[typ] = append(methods[typ], n.Name.Name)
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							fields[n.Name.Name] = append(fields[n.Name.Name], name.Name)
						}
					}
				}
			}
			return true
		})
	}
	return methods, fields
}

// TestNoSkillHasTheNameOfWhatAFakeHas holds the list that skills avoid to what every fake has from the kit.
func TestNoSkillHasTheNameOfWhatAFakeHas(t *testing.T) {
	fake := reflect.TypeFor[struct{ *a2atest.Fake }]()
	for m := range fake.Methods() {
		if !slices.Contains(names.FakeOwn, m.Name) {
			t.Errorf("names.FakeOwn lacks the method %s", m.Name)
		}
	}
	for _, f := range reflect.VisibleFields(fake) {
		if f.IsExported() && !slices.Contains(names.FakeOwn, f.Name) {
			t.Errorf("names.FakeOwn lacks the field %s", f.Name)
		}
	}
}
