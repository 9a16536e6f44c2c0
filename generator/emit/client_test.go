package emit

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
)

// module is where the emitted packages of these tests seem to be; nothing is written there.
const module = "github.com/a2agen/a2agen/generator/emit/testdata/project"

// hostile is text that must stay a comment.
const hostile = "first\n*/ func Evil() {} /*\n//go:generate rm\n+build ignore\u2028func Worse() {}\r\n`\"\\"

var clientPaths = Paths{Protocol: "github.com/a2agen/a2agen/a2a", Agent: module + "/agent", Types: module + "/agent/types", Client: module + "/client"}

// agentSource stands for the emitted agent package.
const agentSource = `package types

type ForecastInput struct{}

func (v *ForecastInput) AppendJSON(dst []byte) ([]byte, error) { return dst, nil }
func (v *ForecastInput) UnmarshalJSON(src []byte) error { return nil }

type ForecastOutput struct{}

func (v *ForecastOutput) AppendJSON(dst []byte) ([]byte, error) { return dst, nil }
func (v *ForecastOutput) UnmarshalJSON(src []byte) error { return nil }

type ForecastInputUnit string

const ForecastInputUnitC ForecastInputUnit = "C"

type Client struct{}
`

func clientModel() *ir.Model {
	in, out := &ir.DataRef{Kind: ir.DataNamed, Name: "ForecastInput"}, &ir.DataRef{Kind: ir.DataNamed, Name: "ForecastOutput"}
	m := &ir.Model{
		Protocol: carriedProtocol(),
		Agent: &ir.Agent{
			Name: hostile,
			Skills: []*ir.Skill{
				{ID: "forecast", Go: "Forecast", Description: hostile, Input: in, Output: out},
				{ID: "forecast-stream", Go: "ForecastStream", Input: in},
				{ID: "client", Go: "Client2", Output: out},
				{ID: "Client", Go: "Client"},
				{ID: "../" + hostile, Go: "GetTask"},
				{ID: "rpc", Go: "RPC"},
			},
			Types: []*ir.DataType{
				{Go: "ForecastInput", Kind: ir.DataStruct},
				{Go: "ForecastInputUnit", Kind: ir.DataEnum, Values: []ir.DataValue{{Go: "ForecastInputUnitC"}}},
				{Go: "ForecastOutput", Kind: ir.DataStruct},
			},
		},
	}
	m.Protocol.Bindings.AgentCard = &ir.Type{Go: "AgentCard"}
	names.Join(m.Protocol, m.Agent)
	return m
}

// carriedProtocol is a protocol package that is there already: all that is known of its client are the names of its methods.
func carriedProtocol() *ir.Protocol {
	return &ir.Protocol{ClientMethods: append([]string{"GetTask"}, names.ClientOwn...)}
}

// emitted are all packages that the tests here emit, type-checked together without being written, since loading is slow: by
// their paths below module.
var emitted = sync.OnceValues(func() (map[string]*types.Package, error) {
	files := []output.File{{Path: "agent/types/types.go", Data: []byte(agentSource)}, {Path: "proto/types.go", Data: []byte(protoSource)},
		{Path: "client/weather/card.json", Data: []byte("{}")}, {Path: "client/typed/card.json", Data: []byte("{}")}}
	for _, emit := range []func() ([]output.File, error){
		func() ([]output.File, error) { return Client(clientModel(), clientPaths) },
		func() ([]output.File, error) { return remote(untypedAgent(), "client/weather") },
		func() ([]output.File, error) { return remote(typedAgent(), "client/typed") },
		func() ([]output.File, error) {
			f, err := ProtocolClient(unseenProtocol(), Paths{Protocol: module + "/proto"})
			return []output.File{f}, err
		},
	} {
		more, err := emit()
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return compile(files, "client", "client/weather", "client/typed", "proto/a2aclient")
})

func remote(a *ir.Agent, dir string) ([]output.File, error) {
	p := carriedProtocol()
	names.Join(p, a)
	return RemoteClient(p, a, Paths{Protocol: clientPaths.Protocol, Client: module + "/" + dir, Card: "card.json"}, dir)
}

// compile type-checks the packages among the files.
func compile(files []output.File, pkgs ...string) (map[string]*types.Package, error) {
	root, err := filepath.Abs("testdata/project")
	if err != nil {
		return nil, err
	}
	overlay := map[string][]byte{}
	for _, f := range files {
		overlay[filepath.Join(root, filepath.FromSlash(f.Path))] = f.Data
	}
	patterns := make([]string, len(pkgs))
	for i, p := range pkgs {
		patterns[i] = module + "/" + p
	}
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode, Overlay: overlay}, patterns...)
	if err != nil {
		return nil, err
	}
	var problems []error
	checked := map[string]*types.Package{}
	for _, p := range loaded {
		checked[strings.TrimPrefix(p.PkgPath, module+"/")] = p.Types
		for _, e := range p.Errors {
			problems = append(problems, e)
		}
	}
	return checked, errors.Join(problems...)
}

// emittedPackage returns one of the emitted packages.
func emittedPackage(t *testing.T, path string) *types.Package {
	t.Helper()
	pkgs, err := emitted()
	if err != nil {
		t.Fatal(err)
	}
	return pkgs[path]
}

// methodsOf lists the methods that the emitted Client declares itself, with their signatures.
func methodsOf(pkg *types.Package) map[string]string {
	named := pkg.Scope().Lookup("Client").Type().(*types.Named)
	short := func(p *types.Package) string {
		if p.Path() == clientPath {
			return "rpc"
		}
		return p.Name()
	}
	list := map[string]string{}
	for m := range named.Methods() {
		list[m.Name()] = strings.TrimPrefix(types.TypeString(m.Type(), short), "func")
	}
	return list
}

func TestClientHasFourMethodsASkill(t *testing.T) {
	files, err := Client(clientModel(), clientPaths)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Path != "client/client.gen.go" || files[0].Kind != output.Owned {
		t.Fatalf("files %v", files)
	}
	pkg := emittedPackage(t, "client")
	got := methodsOf(pkg)
	want := map[string]string{
		"Forecast":             "(ctx context.Context, in *client.ForecastInput, opts ...rpc.CallOption) (*client.ForecastOutput, error)",
		"ForecastAnswer":       "(ctx context.Context, ask *rpc.InputRequiredError, parts ...runtime.Part) (*client.ForecastOutput, error)",
		"ForecastAnswerStream": "(ctx context.Context, ask *rpc.InputRequiredError, parts ...runtime.Part) iter.Seq2[rpc.Event[*client.ForecastOutput], error]",
		// The second skill has the name ForecastStream, so that the first one's stream yields.
		"ForecastStream":  "(ctx context.Context, in *client.ForecastInput, opts ...rpc.CallOption) (*rpc.Result, error)",
		"ForecastStream2": "(ctx context.Context, in *client.ForecastInput, opts ...rpc.CallOption) iter.Seq2[rpc.Event[*client.ForecastOutput], error]",
		"Client2":         "(ctx context.Context, text string, opts ...rpc.CallOption) (*client.ForecastOutput, error)",
		"Client3":         "(ctx context.Context, text string, opts ...rpc.CallOption) (*rpc.Result, error)",
	}
	for name, signature := range want {
		if got[name] != signature {
			t.Errorf("method %s is %q, want %q", name, got[name], signature)
		}
	}
	if len(got) != 4*len(clientModel().Agent.Skills) {
		t.Errorf("%d methods: %v", len(got), got)
	}
	for _, name := range []string{"ForecastInput", "ForecastInputUnit", "ForecastInputUnitC", "ForecastOutput", "New", "FromCard"} {
		if pkg.Scope().Lookup(name) == nil {
			t.Errorf("%s is not declared", name)
		}
	}
}

// T: text of a card is data. Nothing of it may become a declaration, a directive or a build constraint.
func TestClientKeepsHostileTextInComments(t *testing.T) {
	files, err := Client(clientModel(), clientPaths)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "client.gen.go", files[0].Data, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && (fn.Name.Name == "Evil" || fn.Name.Name == "Worse") {
			t.Errorf("text became the function %s", fn.Name.Name)
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "//") || strings.HasPrefix(c.Text, "//go:") || strings.HasPrefix(c.Text, "// +build") {
				t.Errorf("comment %q", c.Text)
			}
		}
	}
}

// untypedAgent is a remote agent whose card publishes no schemas.
func untypedAgent() *ir.Agent {
	a := clientModel().Agent
	a.Types = nil
	for _, s := range a.Skills {
		s.Input, s.Output = nil, nil
	}
	return a
}

func TestRemoteClientIsSelfContained(t *testing.T) {
	files, err := remote(untypedAgent(), "client/weather")
	if err != nil || len(files) != 1 || files[0].Path != "client/weather/client.gen.go" {
		t.Fatalf("%d files, %v", len(files), err)
	}
	pkg := emittedPackage(t, "client/weather")
	if got, want := methodsOf(pkg)["Forecast"], "(ctx context.Context, text string, opts ...rpc.CallOption) (*rpc.Result, error)"; got != want || pkg.Name() != "weather" {
		t.Errorf("package %s: Forecast is %s", pkg.Name(), got)
	}
}

// typedAgent is a remote agent whose card publishes a schema.
func typedAgent() *ir.Agent {
	city := &ir.DataField{Name: "city", Go: "City", Type: ir.DataRef{Kind: ir.DataString}, Required: true}
	in := &ir.DataType{Go: "ForecastInput", Kind: ir.DataStruct, Fields: []*ir.DataField{city}}
	return &ir.Agent{Name: "weather", Types: []*ir.DataType{in}, Skills: []*ir.Skill{
		{ID: "forecast", Go: "Forecast", Input: &ir.DataRef{Kind: ir.DataNamed, Name: in.Go, Type: in}},
	}}
}

func TestRemoteClientHasTheTypesOfPublishedSchemas(t *testing.T) {
	files, err := remote(typedAgent(), "client/typed")
	if err != nil || len(files) != 2 || files[1].Path != "client/typed/types.gen.go" {
		t.Fatalf("%d files, %v", len(files), err)
	}
	pkg := emittedPackage(t, "client/typed")
	if got, want := methodsOf(pkg)["Forecast"], "(ctx context.Context, in *typed.ForecastInput, opts ...rpc.CallOption) (*rpc.Result, error)"; got != want {
		t.Errorf("Forecast is %s, want %s", got, want)
	}
}

func TestClientWithoutAgentIsNone(t *testing.T) {
	if files, err := Client(&ir.Model{Protocol: &ir.Protocol{}}, clientPaths); err != nil || len(files) != 0 {
		t.Errorf("got %v, %v", files, err)
	}
}

// protoSource stands for the other files of the protocol package.
const protoSource = `package proto

import "github.com/a2agen/a2agen/runtime"

type Ping struct{ Tenant string }
type Pong struct{}
type ItemPayload interface{ isItemPayload() }

func Protocol() *runtime.Protocol { return nil }

func ClientProtocol() *runtime.Protocol { return nil }
`

// unseenProtocol is a definition with an operation of its own, one that streams, and one without request or result whose name the client
// uses itself.
func unseenProtocol() *ir.Protocol {
	tenant := &ir.Field{Name: "tenant", Go: "Tenant", Type: ir.TypeRef{Kind: ir.KindString}, Presence: ir.Implicit}
	request := &ir.Type{Name: "Ping", Go: "Ping", Kind: ir.Message, Fields: []*ir.Field{tenant}}
	answer := &ir.Type{Name: "Pong", Go: "Pong", Kind: ir.Message}
	union := &ir.Union{Go: "ItemPayload"}
	item := &ir.Type{Name: "Item", Go: "Item", Kind: ir.Message, Fields: []*ir.Field{{Name: "payload", Go: "Payload", Union: union}}}
	message := func(t *ir.Type) ir.TypeRef { return ir.TypeRef{Kind: ir.KindMessage, Name: t.Name, Type: t} }
	none := ir.TypeRef{Kind: ir.KindEmpty}
	p := &ir.Protocol{
		Bindings: ir.Bindings{StreamItem: item},
		Versions: []*ir.Version{{Name: "9.9", Operations: []*ir.Operation{
			{Role: ir.RoleOther, Go: "Ping", RPC: "Ping", Request: message(request), Response: message(answer)},
			{Role: ir.RoleOther, Go: "Watch", RPC: "Watch", Request: message(answer), Response: message(item), Stream: true},
			{Role: ir.RoleOther, Go: "Close", RPC: "Close", Request: none, Response: none},
		}}},
	}
	names.ClientMethods(p)
	return p
}

func TestProtocolClientHasAMethodForEveryOperation(t *testing.T) {
	got := methodsOf(emittedPackage(t, "proto/a2aclient"))
	want := map[string]string{
		"Ping":   "(ctx context.Context, req *proto.Ping, opts ...rpc.CallOption) (*proto.Pong, error)",
		"Watch":  "(ctx context.Context, req *proto.Pong, opts ...rpc.CallOption) iter.Seq2[proto.ItemPayload, error]",
		"Close2": "(ctx context.Context, opts ...rpc.CallOption) error",
		"Close":  "()",
		"RPC":    "() *rpc.Client",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}

func TestEmittingIsDeterministic(t *testing.T) {
	first, err1 := Client(clientModel(), clientPaths)
	second, err2 := Client(clientModel(), clientPaths)
	if err1 != nil || err2 != nil || !slices.Equal(first[0].Data, second[0].Data) {
		t.Errorf("two runs differ: %v, %v", err1, err2)
	}
}
