package emit

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
)

func TestOperationsThatTheRuntimeDoesNotKnowAreOptionalInterfaces(t *testing.T) {
	m := agentModel()
	message := func(name string) ir.TypeRef { return ir.TypeRef{Kind: ir.KindMessage, Type: &ir.Type{Go: name}} }
	nothing := ir.TypeRef{Kind: ir.KindEmpty}
	m.Agent.Types = []*ir.DataType{{Go: "PingOperation", Kind: ir.DataStruct}}
	m.Protocol.Versions = []*ir.Version{{Operations: []*ir.Operation{
		{Role: ir.RoleSend, Go: "Send", RPC: "Send", Request: message("A"), Response: message("B")},
		{Role: ir.RoleOther, Go: "Watch", RPC: "Watch", Request: message("A"), Response: message("B"), Stream: true},
		{Role: ir.RoleOther, Go: "Tail", RPC: "Tail", Request: nothing, Response: message("B"), Stream: true},
		{Role: ir.RoleOther, Go: "Void", RPC: "Void", Request: message("A"), Response: nothing, Stream: true},
		{Role: ir.RoleOther, Go: "Pause", RPC: "Pause", Request: message("A"), Response: message("B"), Doc: "Pause */ holds."},
		{Role: ir.RoleOther, Go: "Ping", RPC: "Ping", Request: nothing, Response: nothing},
		{Role: ir.RoleOther, Go: "Chat", RPC: "Chat", Request: message("A"), Response: nothing},
		{Role: ir.RoleOther, Go: "Time", RPC: "Time", Request: nothing, Response: message("B")},
	}}}
	files := emitAgent(t, m)
	src := files["agent/operations.gen.go"]
	for _, want := range []string{
		"type PauseOperation interface {", "\tPause(ctx context.Context, req *a2a.A) (*a2a.B, error)",
		"type PingOperation2 interface {", "\tPing(ctx context.Context) error", // the name is one of the user's types
		"type ChatOperation interface {", "\tChat2(ctx context.Context, req *a2a.A) error", // the name is one of a skill
		"\tTime(ctx context.Context) (*a2a.B, error)",
		"\tWatch(ctx context.Context, req *a2a.A) iter.Seq2[*a2a.B, error]", `ops["Watch"] = server.NewStreamOperation(x.Watch)`,
		"\tTail(ctx context.Context) iter.Seq2[*a2a.B, error]", "func(ctx context.Context, _ *struct{}) iter.Seq2[*a2a.B, error] {", "return x.Tail(ctx)",
		`ops["Pause"] = server.NewOperation(x.Pause)`,
		"return new(struct{}), x.Ping(ctx)", "return new(struct{}), x.Chat2(ctx, req)", "return x.Time(ctx)",
	} {
		if !strings.Contains(src, want) {
			t.Errorf("operations.gen.go lacks %q:\n%s", want, src)
		}
	}
	for _, unwanted := range []string{"Send", "Void"} {
		if strings.Contains(src, unwanted) {
			t.Errorf("operations.gen.go has %q", unwanted)
		}
	}
	if !strings.Contains(files["agent/server.gen.go"], "operations(s)") {
		t.Error("the server does not get the operations")
	}
	if files := emitAgent(t, agentModel()); files["agent/operations.gen.go"] != "" || strings.Contains(files["agent/server.gen.go"], "perations") {
		t.Error("operations are emitted where there are none")
	}
}
