package project_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
)

// unseenEdits turn the definition of 1.0 into one that nobody has seen, in the words of its text.
var unseenEdits = []struct{ what, old, new string }{
	{"a package and imports of its own", "package lf.a2a.v1;\n", "package example.a2a.v9;\n\nimport \"parts/budget.proto\";\n"},
	{"another go_package", `option go_package = "github.com/a2agen/a2agen/a2a";`, `option go_package = "example.com/elsewhere;elsewhere";`},
	{"new fields of Task", "message Task {\n", "message Task {\n  int64 generation = 43;\n  string priority = 40;\n  Budget budget = 41;\n  repeated string watchers = 42;\n"},
	{"a new field of a status event", "message TaskStatusUpdateEvent {\n", "message TaskStatusUpdateEvent {\n  int64 generation = 40;\n"},
	{"a new field of an artifact event", "message TaskArtifactUpdateEvent {\n", "message TaskArtifactUpdateEvent {\n  int64 generation = 40;\n"},
	{"a new field of a request", "message GetTaskRequest {\n", "message GetTaskRequest {\n  int64 if_generation = 40;\n"},
	{"a new field of a list", "message ListTasksRequest {\n", "message ListTasksRequest {\n  string priority = 40;\n"},
	{"a new field of a cancel", "message CancelTaskRequest {\n", "message CancelTaskRequest {\n  int64 if_generation = 40;\n"},
	{"new fields of Message", "message Message {\n", "message Message {\n  string language = 40;\n  Budget budget = 41;\n  repeated string tones = 42;\n"},
	{"new fields of AgentCard", "message AgentCard {\n", "message AgentCard {\n  string motto = 40;\n  Budget budget = 41;\n  repeated string regions = 42;\n"},
	{"a new enum value", "  TASK_STATE_AUTH_REQUIRED = 8;\n", "  TASK_STATE_AUTH_REQUIRED = 8;\n  // On hold.\n  TASK_STATE_PAUSED = 9;\n"},
	{"a new member of a oneof", "    google.protobuf.Value data = 4;\n", "    google.protobuf.Value data = 4;\n    // In TeX.\n    string formula = 40;\n"},
	{"a new operation", "  // GetExtendedAgentCard returns", "  // PauseTask holds a task.\n  rpc PauseTask(PauseTaskRequest) returns (PauseTaskResponse) {\n    option (google.api.http) = {\n      post: \"/tasks/{id=*}:pause\"\n      body: \"*\"\n    };\n  }\n  // GetExtendedAgentCard returns"},
	{"an operation that takes a stream", "  // PauseTask holds", "  rpc UploadParts(stream PauseTaskRequest) returns (PauseTaskResponse);\n  // PauseTask holds"},
	{"its messages", "// Role tells who speaks", "message PauseTaskRequest {\n  string id = 1;\n  string reason = 2;\n}\n\nmessage PauseTaskResponse {\n  Task task = 1;\n  Budget left = 2;\n}\n\n// Role tells who speaks"},
	{"a renamed field", "  repeated string reference_task_ids = 8;\n", "  repeated string related_tasks = 8;\n"},
	{"a removed field", "  // What the artifact is.\n  string description = 3;\n", ""},
}

const unseenBudget = `// What may be spent.
syntax = "proto3";

package example.a2a.v9;

message Budget {
  int64 tokens = 1;
}
`

// unseenDefinition is the text of 1.0 with the edits.
func unseenDefinition(t *testing.T) string {
	t.Helper()
	src, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for _, e := range unseenEdits {
		if strings.Count(text, e.old) != 1 {
			t.Fatalf("%s: %q is there %d times", e.what, e.old, strings.Count(text, e.old))
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return text
}

// unseenAsk asks for what is new.
const unseenAsk = `package main

import (
	"context"
	"fmt"
	"net/http/httptest"

	"example.com/both/unseen/a2a"
	"example.com/both/unseen/agent"
	"example.com/both/unseen/client"
	"example.com/both/unseen/skills"
	rtclient "github.com/a2agen/a2agen/runtime/client"
)

// pausing is the agent with the new operation.
type pausing struct{ *skills.Agent }

var _ agent.PauseTaskOperation = pausing{}

func (pausing) PauseTask(ctx context.Context, req *a2a.PauseTaskRequest) (*a2a.PauseTaskResponse, error) {
	if req.Reason == "" {
		return nil, a2a.ErrTaskNotFound
	}
	return &a2a.PauseTaskResponse{
		Task: &a2a.Task{ID: req.ID, Status: &a2a.TaskStatus{State: a2a.TaskStatePaused}, Priority: req.Reason, Budget: &a2a.Budget{Tokens: 9}, Watchers: []string{"w"}},
		Left: &a2a.Budget{Tokens: 7},
	}, nil
}

func ask(unseen *agentUnderTest) {
	const preview = "1.1-preview"
	unseen.call("NEW", preview, "SendMessage", "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"talk\"},{\"formula\":\"E=mc2\"}],\"language\":\"nl\",\"budget\":{\"tokens\":\"3\"},\"tones\":[\"kind\"]}}")
	unseen.call("RENAMED", preview, "SendMessage", "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"talk\"}],\"relatedTasks\":[\"x\"]}}")
	unseen.call("UNSUPPORTED", preview, "PauseTask", "{\"id\":\"t\"}")
	unseen.call("UPLOAD", preview, "UploadParts", "{\"id\":\"t\"}")
	able := &agentUnderTest{must(agent.NewServer(pausing{}, options...)), map[string]string{}}
	able.call("PAUSED", preview, "PauseTask", "{\"id\":\"t\",\"reason\":\"lunch\"}")
	fmt.Println("ELSEWHERE", able.ask("POST", "/", "1.0", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"PauseTask\",\"params\":{}}"))
	fmt.Println("CARD", able.ask("GET", "/.well-known/agent-card.json", preview, ""))

	askHooked()

	web := httptest.NewServer(able.h)
	defer web.Close()
	c := must(client.New(context.Background(), web.URL, rtclient.HTTPClient(web.Client())))
	fmt.Println("CLIENT", c.RPC().Interface().Version)
	r := must(c.PauseTask(context.Background(), &a2a.PauseTaskRequest{ID: "t", Reason: "tea"}))
	fmt.Println("TYPED", r.Task.Priority, r.Task.Status.State, r.Task.Budget.Tokens, r.Task.Watchers, r.Left.Tokens)
	out := must(c.Forecast(context.Background(), &agent.ForecastInput{City: "Bonn"}))
	fmt.Println("FORECAST", out.High)

	card := new(a2a.AgentCard)
	err := card.UnmarshalJSON([]byte("{\"name\":\"n\",\"description\":\"d\",\"version\":\"1\",\"supportedInterfaces\":[{\"url\":\"https://a.example\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.1-preview\"}],\"capabilities\":{},\"defaultInputModes\":[],\"defaultOutputModes\":[],\"skills\":[],\"motto\":\"more\",\"budget\":{\"tokens\":\"1\"},\"regions\":[\"eu\"]}"))
	fmt.Println("MOTTO", card.Motto, card.Budget, card.Regions, err)
	fmt.Println("WRITTEN", string(must(card.MarshalJSON())))
	for _, v := range a2a.Protocol().Versions {
		fmt.Println("VERSION", v.Name, len(v.Operations))
	}
}
`

// unseenHooks sets and acts on what the runtime does not know.
const unseenHooks = `package main

import (
	"context"
	"strings"
	"sync/atomic"

	"example.com/both/unseen/a2a"
	"example.com/both/unseen/agent"
	"example.com/both/unseen/skills"
	"github.com/a2agen/a2agen/runtime/server"
)

// counting gives tasks and events a generation.
func counting() []server.Option {
	var last atomic.Int64
	return append([]server.Option{
		server.OnMade(func(ctx context.Context, t *a2a.Task) {
			t.Generation = last.Add(1)
			if send, ok := server.RequestFrom[*a2a.SendMessageRequest](ctx); ok {
				t.Priority = send.Message.Language
			}
		}),
		server.OnMade(func(_ context.Context, e *a2a.TaskStatusUpdateEvent) { e.Generation = last.Add(1) }),
		server.OnMade(func(_ context.Context, e *a2a.TaskArtifactUpdateEvent) { e.Generation = last.Add(1) }),
		server.OnMade(func(_ context.Context, m *a2a.Message) { m.Language = "en" }),
		server.OnRequest(func(_ context.Context, req *a2a.CancelTaskRequest) error {
			if req.IfGeneration != 0 && req.IfGeneration != last.Load() {
				return a2a.ErrTaskNotCancelable
			}
			return nil
		}),
		server.OnAnswer(func(ctx context.Context, t *a2a.Task) {
			t.Generation = last.Load()
			if req, ok := server.RequestFrom[*a2a.GetTaskRequest](ctx); ok && req.IfGeneration == t.Generation {
				t.History, t.Artifacts = nil, nil
			}
			if req, ok := server.RequestFrom[*a2a.ListTasksRequest](ctx); ok {
				t.Watchers = []string{req.Priority}
			}
		}),
	}, options...)
}

func askHooked() {
	const preview = "1.1-preview"
	hooked := &agentUnderTest{must(agent.NewServer(&skills.Agent{}, counting()...)), map[string]string{}}
	const message = "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"talk\"}],\"language\":\"nl\"}}"
	hooked.call("HOOKED-STREAM", preview, "SendStreamingMessage", message)
	hooked.call("HOOKED-SEND", preview, "SendMessage", strings.Replace(message, "{\"text\":\"talk\"}", "{\"data\":{\"city\":\"\"}}", 1))
	hooked.call("HOOKED-GET", preview, "GetTask", "{\"id\":\"<id 1>\"}")
	hooked.call("HOOKED-EQUAL", preview, "GetTask", "{\"id\":\"<id 1>\",\"ifGeneration\":\"7\"}")
	hooked.call("HOOKED-LIST", preview, "ListTasks", "{\"priority\":\"high\"}")
	hooked.call("HOOKED-CANCEL", preview, "CancelTask", "{\"id\":\"<id 1>\",\"ifGeneration\":\"77\"}")
	hooked.call("HOOKED-OLD", "1.0", "GetTask", "{\"id\":\"<id 1>\"}")
}
`

// unseenAnswers are the answers to [unseenAsk].
var unseenAnswers = []string{
	`NEW 200 .*"language":"nl","budget":\{"tokens":"3"\},"tones":\["kind"\]`,
	`NEW 200 .*"parts":\[\{"text":"talk"\},\{"formula":"E=mc2"\}\]`,
	`RENAMED 200 .*"TASK_STATE_REJECTED".*"relatedTasks":\["x"\]`,
	`UNSUPPORTED 200 .*"code":-32004`,
	`data: .*"task":\{"generation":"\d+","priority":"nl"`, `data: .*"artifactUpdate":\{"generation":"\d+"`, `data: .*"statusUpdate":\{"generation":"\d+"`,
	`HOOKED-SEND 200 .*"task":\{"generation":"7","priority":"nl".*"message":\{"language":"en".*"Which city`,
	`HOOKED-GET 200 .*"generation":"7".*"artifacts":`,
	`HOOKED-EQUAL 200 \{"jsonrpc":"2.0","id":1,"result":\{"generation":"7","priority":"nl","id":"<id 1>","contextId":"<id 2>","status":\{[^{}]*\}\}\}`,
	`HOOKED-LIST 200 .*"tasks":\[\{"generation":"7","priority":"nl","watchers":\["high"\]`,
	`HOOKED-CANCEL 200 .*"code":-32002`,
	`HOOKED-OLD 200 \{"jsonrpc":"2.0","id":1,"result":\{"id":"<id 1>"`,
	`UPLOAD 200 .*"code":-32004`,
	`PAUSED 200 \{"jsonrpc":"2.0","id":1,"result":\{"task":\{"priority":"lunch","budget":\{"tokens":"9"\},"watchers":\["w"\],"id":"t","status":\{"state":"TASK_STATE_PAUSED"\}\},"left":\{"tokens":"7"\}\}\}`,
	`ELSEWHERE 200 .*"code":-32601`,
	`CARD 200 .*"protocolVersion":"1.1-preview"\}.*"protocolVersion":"1.0"\}.*"protocolVersion":"0.3"\}`,
	`CLIENT 1.1-preview`,
	`TYPED tea TASK_STATE_PAUSED 9 \[w\] 7`,
	`FORECAST 20`,
	`MOTTO more \S+ \[eu\] <nil>`,
	`WRITTEN .*"motto":"more","budget":\{"tokens":"1"\},"regions":\["eu"\]`,
	`VERSION 1.1-preview 13`, `VERSION 1.0 11`, `VERSION 0.3 \d+`,
}

// TestAnUnseenDefinitionIsServedAndLeavesTheOlderVersionsAlone takes a proto with everything that a next version may
// bring.
func TestAnUnseenDefinitionIsServedAndLeavesTheOlderVersionsAlone(t *testing.T) {
	dir := unseen{
		version: "1.1-preview", file: "protocol/a2a.proto", ask: unseenAsk,
		files:   map[string]string{"../hooks.go": unseenHooks, "protocol/a2a.proto": unseenDefinition(t), "protocol/parts/budget.proto": unseenBudget},
		answers: unseenAnswers,
	}.run(t)
	checkUnseenDrift(t, dir)
}

// checkUnseenDrift changes the imported file: the lock notices.
func checkUnseenDrift(t *testing.T, dir string) {
	t.Helper()
	o := project.Options{Tool: project.Tool{Version: "v1.0.0"}, Dir: dir}
	if c, err := project.Check(t.Context(), o); err != nil || len(c.Drift) > 0 {
		t.Errorf("drift %v, error %v", c.Drift, err)
	}
	projecttest.WriteFile(t, filepath.Join(dir, "protocol/parts/budget.proto"), strings.Replace(unseenBudget, "tokens", "coins", 1))
	c, err := project.Check(t.Context(), o)
	if err != nil || len(c.Drift) == 0 || c.Drift[0].String() != "protocol/parts/budget.proto: inputs changed" {
		t.Errorf("drift %v, error %v", c.Drift, err)
	}
}
