package generator

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/runtime"
)

// cardOf is a card with interfaces "0.3/GRPC", in the shape of 1.0.
func cardOf(interfaces ...string) string {
	var list []string
	for _, i := range interfaces {
		version, binding, _ := strings.Cut(i, "/")
		list = append(list, fmt.Sprintf(`{"url": "https://x.example", "protocolBinding": %q, "protocolVersion": %q}`, binding, version))
	}
	return strings.Replace(projecttest.RemoteCard, `{"url": "https://x.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}`, strings.Join(list, ", "), 1)
}

// oldCard is a card in the shape of 0.3 and before.
func oldCard(version string) string {
	return `{"name": "N", "description": "d", "version": "1", "url": "https://x.example"` + version + `, "capabilities": {},
		"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}]}`
}

func TestAClientSpeaksWhatTheCardOffers(t *testing.T) {
	const only = `protocol: ["1.0"]` + "\n"
	for _, tt := range []struct {
		name, config, client, card string
		want                       Reach
		files                      string // of the protocol package, that are there for the client
	}{
		{"what the project speaks anyway", only, "", cardOf("0.3/JSONRPC", "1.0/HTTP+JSON"), Reach{Version: "1.0", Binding: "HTTP+JSON"}, ""},
		{"an older version", only, "", cardOf("0.3/JSONRPC"), Reach{Version: "0.3", Binding: "JSONRPC", Added: true}, "v0_3_json"},
		{"an older version that is listed", `protocol: ["1.0", "0.3"]` + "\n", "", cardOf("0.3/JSONRPC"), Reach{Version: "0.3", Binding: "JSONRPC"}, "v0_3_json"},
		{"the newest of the older ones", only, "", cardOf("0.1/JSONRPC", "0.3/JSONRPC", "0.2/JSONRPC"), Reach{Version: "0.3", Binding: "JSONRPC", Added: true}, "v0_3_json"},
		{"HTTP+JSON of an older version", only + "bindings: [JSONRPC]\n", "", cardOf("0.3/HTTP+JSON"), Reach{Version: "0.3", Binding: "HTTP+JSON", Added: true}, "v0_3_protojson"},
		{"gRPC alone", only, "", cardOf("1.0/GRPC"), Reach{Version: "1.0", Binding: "GRPC"}, "v1_0_proto"},
		{"gRPC of a newer version", only, "", cardOf("1.0/GRPC", "0.3/JSONRPC"), Reach{Version: "0.3", Binding: "JSONRPC", Added: true}, "v0_3_json"},
		{"gRPC that is asked for", only, ", bindings: [GRPC]", cardOf("0.3/JSONRPC", "1.0/GRPC"), Reach{Version: "1.0", Binding: "GRPC"}, "v1_0_proto"},
		{"an agent of 0.3 alone calls one of 1.0", `protocol: ["0.3"]` + "\n", "", cardOf("1.0/JSONRPC"), Reach{Version: "1.0", Binding: "JSONRPC", Added: true}, "v1_0_json"},
		{"a card of 0.3", only, "", oldCard(`, "protocolVersion": "0.3.0"`), Reach{Version: "0.3", Binding: "JSONRPC", Added: true}, "v0_3_json"},
		{"a card of 0.2", only, "", oldCard(`, "protocolVersion": "0.2.5"`), Reach{Version: "0.2", Binding: "JSONRPC", Added: true}, "v0_2_json"},
		{"a card of 0.1", only, "", oldCard(`, "authentication": {"schemes": []}`), Reach{Version: "0.1", Binding: "JSONRPC", Added: true}, "v0_1_json"},
		{"an old card that says 1.0", only, "", oldCard(`, "protocolVersion": "1.0.0"`), Reach{Version: "1.0", Binding: "JSONRPC"}, "v0_3_json"},
		{"an old card whose agent has gRPC", only, "", oldCard(`, "protocolVersion": "0.3.0", "preferredTransport": "GRPC"`), Reach{Version: "0.3", Binding: "GRPC", Added: true}, "v0_3_proto"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, list := Generate(t.Context(), inputs(map[string]string{
				"agent.yaml": projecttest.Skills(1), "other.json": tt.card,
				"a2agen.yaml": tt.config + "clients: [{name: other, file: other.json" + tt.client + "}]\n",
			}))
			if list.HasErrors() {
				t.Fatal(list)
			}
			tt.want.Client, tt.want.Field = "other", "Other"
			if diff := cmp.Diff([]Reach{tt.want}, out.Reaches, cmpopts.IgnoreUnexported(Reach{})); diff != "" {
				t.Error(diff)
			}
			if bytes.Contains(file(t, out, "agent/card.gen.go"), []byte("0.3")) != strings.Contains(tt.config, "0.3") {
				t.Error("the project's own agent does not speak what a2agen.yaml says")
			}
			if tt.files != "" {
				file(t, out, "a2a/codec_"+tt.files+".gen.go")
			}
			linked := bytes.Contains(file(t, out, "client/other/client.gen.go"), []byte("grpcclient.Binding()"))
			if linked != (tt.want.Binding == "GRPC") {
				t.Errorf("gRPC is linked: %v", linked)
			}
		})
	}
}

// file is a generated file.
func file(t *testing.T, out Output, name string) []byte {
	t.Helper()
	for _, f := range out.Files {
		if f.Path == name {
			return f.Data
		}
	}
	t.Fatalf("%s is not generated", name)
	return nil
}

func TestAClientThatCannotCallItsAgentIsReported(t *testing.T) {
	for _, tt := range []struct {
		name, config, client, card, want string
		severity                         diag.Severity
	}{
		{"a version nobody knows", "", "", cardOf("2.0/JSONRPC"), `offers JSONRPC in version "2.0"`, diag.Error},
		{"a binding of an older version that has none", "", "", cardOf("0.2/GRPC"), `offers GRPC in version "0.2"`, diag.Error},
		{"bindings that the card lacks", "", ", bindings: [GRPC]", cardOf("1.0/JSONRPC"), `offers JSONRPC in version "1.0"`, diag.Error},
		{"no interface", "", "", cardOf(), "does not say where the agent is", diag.Error},
		{"a binding of somebody's own", "", "", cardOf("1.0/QUIC"), `offers QUIC in version "1.0"`, diag.Warning},
		{"an imported package", "protocol_import: example.com/shared/a2a\n", "", cardOf("0.3/JSONRPC"), `client "other" needs version 0.3 of the protocol`, diag.Error},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, list := Generate(t.Context(), inputs(map[string]string{
				"other.json":  tt.card,
				"a2agen.yaml": "protocol: [\"1.0\"]\n" + tt.config + "clients: [{name: other, file: other.json" + tt.client + "}]\n",
			}))
			for _, d := range list {
				if d.Severity == tt.severity && strings.Contains(d.Message, tt.want) {
					return
				}
			}
			t.Errorf("want a %v with %q: %v", tt.severity, tt.want, list)
		})
	}
}

func TestTheBindingsOfClientsAreKnownBeforeGenerating(t *testing.T) {
	cfg, _ := config.Read("a2agen.yaml", []byte("clients: [{name: other, file: other.json}, {name: gone, file: gone.json}]\n"))
	for card, want := range map[string]bool{cardOf("1.0/GRPC"): true, cardOf("1.0/GRPC", "1.0/JSONRPC"): false} {
		got := slices.Contains(CalledOver(Reaches(cfg, inputs(map[string]string{"other.json": card}).Open)), runtime.BindingGRPC)
		if got != want {
			t.Errorf("%v, want %v for %s", got, want, card)
		}
	}
}
