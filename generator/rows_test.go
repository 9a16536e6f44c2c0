package generator

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/runtime"
)

// add appends a row to a table until the test ends.
func add[T any](t *testing.T, table *[]T, row T) {
	t.Helper()
	before := *table
	*table = append(before[:len(before):len(before)], row)
	t.Cleanup(func() { *table = before })
}

// choose says that a package of the runtime needs a module, until the test ends.
func choose(t *testing.T, pkg, module string) {
	t.Helper()
	a2agen.Chosen[pkg] = module
	t.Cleanup(func() { delete(a2agen.Chosen, pkg) })
}

// contains checks what a generated file says.
func contains(t *testing.T, out Output, name string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !bytes.Contains(file(t, out, name), []byte(text)) {
			t.Errorf("%s lacks %s:\n%s", name, text, file(t, out, name))
		}
	}
}

// needs checks that a project of a configuration needs a module.
func needs(t *testing.T, c *config.Config, module string) {
	t.Helper()
	for _, m := range scaffold.ModulesOf(c, scaffold.Links{}) {
		if m.Path == module {
			return
		}
	}
	t.Errorf("go.mod of a project lacks %s", module)
}

// TestABindingIsARow: a row in the table of bindings, the packages that it names, and their module are all that a binding
// needs in the generator.
func TestABindingIsARow(t *testing.T) {
	add(t, &runtime.Bindings, &runtime.Binding{
		Name: "STOMP", Title: "STOMP 1.2", Aliases: []string{"QUEUE"}, Encoding: runtime.EncodingProto, Definitions: "in .proto files",
		HostPort: true, Keys: []string{"header"}, Server: "runtime/server/stompserver", Client: "runtime/client/stompclient",
		BuildTag: "nodebug", BuildNote: "The tag makes it small.",
	})
	choose(t, "runtime/server/stompserver", "google.golang.org/protobuf")
	choose(t, "runtime/client/stompclient", "google.golang.org/protobuf")

	in := inputs(map[string]string{
		"agent.yaml":  projecttest.Skills(1) + "securitySchemes: {k: {apiKeySecurityScheme: {location: header, name: K}}}\nsecurityRequirements: [{schemes: {k: {}}}]\n",
		"a2agen.yaml": "protocol: [\"1.0\"]\nbindings: [JSONRPC, STOMP]\nclients: [{name: other, file: other.json}]\n",
		"other.json":  cardOf("1.0/STOMP"),
	})
	out, list := Generate(t.Context(), in)
	if list.HasErrors() {
		t.Fatal(list)
	}
	contains(t, out, "agent/card.gen.go", `"protocolBinding":"STOMP"`)
	contains(t, out, "agent/server.gen.go", "runtime/server/stompserver\"", "stompserver.Serve()")
	contains(t, out, "agent/credentials.gen_test.go", "stompclient.Binding(stompclient.TLS(c))")
	contains(t, out, "client/client.gen.go", "runtime/client/stompclient\"", "Use(stompclient.Binding())")
	contains(t, out, "client/other/client.gen.go", "stompclient.Binding()", "over STOMP, in version 1.0")
	contains(t, out, "a2a/codec_v1_0_proto.gen.go", "package a2a")
	needs(t, out.Config, "google.golang.org/protobuf")

	scaffolded := string(config.Scaffold("", []string{"STOMP"}, nil))
	if !strings.Contains(scaffolded, "JSONRPC, HTTP+JSON, GRPC, STOMP.\nbindings: [STOMP]") {
		t.Error(scaffolded)
	}
	if editor := string(config.JSONSchema()); !strings.Contains(editor, `"STOMP"`) {
		t.Error("editors do not complete it")
	}
	files, err := scaffold.Files(scaffold.Project{
		Protocol: out.Model.Protocol, Agent: out.Model.Agent, Module: "example.com/x", Packages: out.Config.Packages,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		switch f.Path {
		case "Dockerfile":
			if !bytes.Contains(f.Data, []byte("# The tag makes it small.\n")) || !bytes.Contains(f.Data, []byte("-tags nodebug")) {
				t.Errorf("%s", f.Data)
			}
		case "README.md":
			if !bytes.Contains(f.Data, []byte("JSON-RPC and STOMP 1.2")) {
				t.Errorf("%s", f.Data)
			}
		}
	}
	imported, _ := card.Import("card.json", []byte(cardOf("1.0/queue")))
	if got := imported.Interfaces[0].Binding; got != "STOMP" {
		t.Errorf("a card's alias is read as %s", got)
	}
	if got := runtime.Rebase("https://agent.example.com/x", runtime.Interface{URL: "/", Binding: "STOMP"}); got != "agent.example.com:443" {
		t.Error(got)
	}
}

// TestADemandIsReportedForEachBindingThatCannotMeetIt: a binding says in its row where it has room for API keys.
func TestADemandIsReportedForEachBindingThatCannotMeetIt(t *testing.T) {
	add(t, &runtime.Bindings, &runtime.Binding{Name: "STOMP", Title: "STOMP 1.2", JSON: true})
	_, list := Generate(t.Context(), inputs(map[string]string{
		"agent.yaml":  projecttest.Skills(1) + "securitySchemes: {k: {apiKeySecurityScheme: {location: query, name: K}}}\nsecurityRequirements: [{schemes: {k: {}}}]\n",
		"a2agen.yaml": "bindings: [STOMP, GRPC]\n",
	}))
	for _, want := range []string{"nobody can meet this over gRPC", "nobody can meet this over STOMP 1.2"} {
		if !strings.Contains(fmt.Sprint(list), want) {
			t.Errorf("%v lacks %s", list, want)
		}
	}
}

// TestAStoreIsARow: a row in the table of stores, the package that it names, and its module are all that a store needs in
// the generator.
func TestAStoreIsARow(t *testing.T) {
	add(t, &config.Stores, config.Store{Word: "shed", Says: "a shed at the end of the garden", Package: "runtime/store/shed", File: ".box"})
	choose(t, "runtime/store/shed", "modernc.org/sqlite")
	out, list := Generate(t.Context(), inputs(map[string]string{"agent.yaml": projecttest.Skills(1), "a2agen.yaml": "store: shed\n"}))
	if list.HasErrors() {
		t.Fatal(list)
	}
	contains(t, out, "agent/server.gen.go", "runtime/store/shed\"", "OpenStore: shed.OpenStore", ".box\"")
	needs(t, out.Config, "modernc.org/sqlite")
	if fresh := string(config.Scaffold("shed", nil, nil)); !strings.Contains(fresh, "or \"shed\", a shed at the end of the garden.\nstore: shed") {
		t.Error(fresh)
	}
	if editor := string(config.JSONSchema()); !strings.Contains(editor, `"shed"`) {
		t.Error("editors do not complete it")
	}
}

// TestAStoreThatIsAServerIsARow: generated code has no address of it, and README and init say where the address is from.
func TestAStoreThatIsAServerIsARow(t *testing.T) {
	add(t, &config.Stores, config.Store{Word: "barn", Says: "a barn for everybody", Package: "runtime/store/barn", Server: &config.StoreServer{
		Title: "the barn", Address: "barn://HOST", Otherwise: "what BARNHOST says",
	}})
	out, list := Generate(t.Context(), inputs(map[string]string{"agent.yaml": projecttest.Skills(1), "a2agen.yaml": "store: barn\n"}))
	if list.HasErrors() {
		t.Fatal(list)
	}
	contains(t, out, "agent/server.gen.go", "OpenStore: barn.OpenStore")
	if bytes.Contains(file(t, out, "agent/server.gen.go"), []byte("StorePath")) {
		t.Error("it has an address of a server")
	}
	files, err := scaffold.Files(scaffold.Project{
		Protocol: out.Model.Protocol, Agent: out.Model.Agent, Module: "example.com/x", Packages: out.Config.Packages,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path == "README.md" && !bytes.Contains(f.Data, []byte("Tasks are kept in the barn, which all replicas of the agent share. `A2A_STORE` says where, or what BARNHOST says; ")) {
			t.Errorf("%s", f.Data)
		}
	}
}

// TestAnOperationIsARow: a row in the table of roles is all that an operation needs in the generator whose request is of
// one task.
func TestAnOperationIsARow(t *testing.T) {
	add(t, &runtime.Roles, runtime.RoleInfo{Name: "pause", RPC: "PauseTask", Request: (*runtime.TaskRequest)(nil)})
	definition, err := os.ReadFile("../spec/v1.0/a2a.proto")
	if err != nil {
		t.Fatal(err)
	}
	pausing := strings.Replace(string(definition), "  rpc CancelTask(", "  rpc PauseTask(CancelTaskRequest) returns (Task) {}\n  rpc CancelTask(", 1)
	out, list := Generate(t.Context(), inputs(map[string]string{
		"agent.yaml":  projecttest.Skills(1),
		"a2agen.yaml": "protocol: [{version: \"1.1-mine\", file: a2a.proto}]\nbindings: [JSONRPC]\n",
		"a2a.proto":   pausing,
	}))
	if list.HasErrors() {
		t.Fatal(list)
	}
	protocol := string(file(t, out, "a2a/protocol.gen.go"))
	if !strings.Contains(protocol, "runtime.RolePause,") {
		t.Errorf("the operation has another role:\n%s", protocol)
	}
	makes := func(f output.File) bool { return bytes.Contains(f.Data, []byte("case runtime.RolePause:\n")) }
	if !slices.ContainsFunc(out.Files, makes) {
		t.Error("no client can make its request")
	}
}
