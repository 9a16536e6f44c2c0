package emit

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
)

// agentModel is an agent with a typed skill and a chat skill whose texts try to get out of their quotes.
func agentModel() *ir.Model {
	return &ir.Model{
		Protocol: &ir.Protocol{Bindings: ir.Bindings{Task: &ir.Type{Go: "Task"}, Message: &ir.Type{Go: "Message"}, AgentCard: &ir.Type{Go: "AgentCard"}}},
		Agent: &ir.Agent{
			Name: "Weather", Card: json.RawMessage(`{"name":"Wea` + "`" + `ther"}`),
			Skills: []*ir.Skill{
				{
					ID: "forecast", Name: "Forecast", Go: "Forecast", Description: "*/ }\n//go:generate rm -rf /\n+build evil", Tags: []string{"weather"},
					Input: &ir.DataRef{Kind: ir.DataNamed, Name: "ForecastInput"}, Output: &ir.DataRef{Kind: ir.DataNamed, Name: "ForecastOutput"},
					InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object","description":"\u0060"}`),
					TextField: "city", Timeout: 1500 * time.Millisecond, MaxConcurrent: 4, Retry: true,
				},
				{ID: "chat", Name: "Chat \"quoted\" `back`", Go: "Chat"},
			},
		},
	}
}

func emitAgent(t *testing.T, m *ir.Model) map[string]string {
	t.Helper()
	if m.Agent != nil {
		names.ClientMethods(m.Protocol)
		names.Join(m.Protocol, m.Agent)
	}
	files, err := Agent(m, Paths{Protocol: "example.com/weather/a2a", Agent: "example.com/weather/agent", Types: "example.com/weather/agent/types"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.ParseComments); err != nil {
			t.Errorf("%s does not parse: %v", f.Path, err)
		}
		out[f.Path] = string(f.Data)
	}
	return out
}

func TestAgentPackageHasOneMethodASkillTypedByItsSchemas(t *testing.T) {
	src := emitAgent(t, agentModel())["agent/skills.gen.go"]
	for _, want := range []string{
		"Forecast(ctx context.Context, in *ForecastInput, t *Task) (*ForecastOutput, error)",
		"Chat(ctx context.Context, in *a2a.Message, t *Task) (string, error)",
		"func (t *Task) Message() *a2a.Message {",
		"func (t *Task) Snapshot() *a2a.Task {",
	} {
		if !strings.Contains(src, want) {
			t.Errorf("skills.gen.go lacks %q:\n%s", want, src)
		}
	}
}

func TestAgentPackageGlueHandsTheRuntimeInputHandlerAndOutput(t *testing.T) {
	src := emitAgent(t, agentModel())["agent/server.gen.go"]
	spaced := strings.Join(strings.Fields(src), " ")
	for _, want := range []string{"MaxConcurrent: 4,", "OnCrash: server.CrashRetry,", "Timeout: 1500 * time.Millisecond,", `TextField: "city",`, "const _ = runtime.SupportsGen1",
		"Decode: handler.Decode[ForecastInput],",
		"handler.JSON(func(ctx context.Context, t *server.Task, in *ForecastInput) (*ForecastOutput, error) { return s.Forecast(ctx, in, &Task{t}) })"} {
		if !strings.Contains(spaced, want) {
			t.Errorf("server.gen.go lacks %q:\n%s", want, src)
		}
	}
	if chat := src[strings.Index(src, "func skillChat"):]; !strings.Contains(chat, "handler.Text(") {
		t.Error("a skill without output schema answers text")
	}
}

// What the card does not offer is not in the program: the linker keeps what generated code names.
func TestAServerNamesWhatItsCardOffers(t *testing.T) {
	for name, test := range map[string]struct {
		bindings []string
		pushes   bool
		want     []string
	}{
		"JSON-RPC alone":     {[]string{"JSONRPC"}, false, []string{"a2a.ServerProtocol()", "server.NewWithoutREST("}},
		"HTTP+JSON":          {[]string{"JSONRPC", "HTTP+JSON"}, false, []string{"a2a.ServerProtocol()", "server.New("}},
		"push notifications": {[]string{"JSONRPC"}, true, []string{"a2a.Protocol()", "server.NewWithoutREST(", "webhooks.Send()"}},
	} {
		m := agentModel()
		m.Agent.Bindings, m.Agent.Pushes = test.bindings, test.pushes
		src := emitAgent(t, m)["agent/server.gen.go"]
		for _, want := range test.want {
			if !strings.Contains(src, want) {
				t.Errorf("%s: server.gen.go lacks %q:\n%s", name, want, src)
			}
		}
	}
}

func TestAgentPackageKeepsTheCardByteForByte(t *testing.T) {
	m := agentModel()
	f, err := parser.ParseFile(token.NewFileSet(), "card.gen.go", emitAgent(t, m)["agent/card.gen.go"], 0)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "CardJSON" {
			got, _ = strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	if got != string(m.Agent.Card) {
		t.Errorf("CardJSON is %q, want %q", got, m.Agent.Card)
	}
}

func TestAgentPackageTextsNeverBecomeCode(t *testing.T) {
	for path, src := range emitAgent(t, agentModel()) {
		for line := range strings.Lines(src) {
			if l := strings.TrimSpace(line); strings.HasPrefix(l, "//go:") || strings.HasPrefix(l, "// +build") || strings.HasPrefix(l, "//+build") {
				t.Errorf("%s holds a directive: %s", path, l)
			}
		}
	}
}

func TestAgentPackageIsAbsentWithoutAnAgent(t *testing.T) {
	m := agentModel()
	m.Agent = nil
	if files := emitAgent(t, m); len(files) != 0 {
		t.Errorf("got %d files, want none", len(files))
	}
}

// A blank line between a comment and its declaration would detach the documentation.
func TestAgentPackageCommentsBelongToDeclarations(t *testing.T) {
	m := agentModel()
	m.Agent.Secured = true
	for path, src := range emitAgent(t, m) {
		_, body, _ := strings.Cut(src, "\npackage ")
		lines := strings.Split(body, "\n")
		for i := 1; i < len(lines); i++ {
			if strings.HasPrefix(lines[i-1], "// ") && lines[i] == "" {
				t.Errorf("%s: comment without declaration: %s", path, lines[i-1])
			}
		}
	}
}
