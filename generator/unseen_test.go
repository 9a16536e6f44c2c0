package generator_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/spec"
)

// unseenEdits turn the definition of 1.0 into one that nobody has seen, in the words of its text.
var unseenEdits = []struct{ what, old, new string }{
	{"a package and imports of its own", "package lf.a2a.v1;\n", "package example.a2a.v9;\n\nimport \"parts/budget.proto\";\n"},
	{"another go_package", `option go_package = "github.com/a2agen/a2agen/a2a";`, `option go_package = "example.com/elsewhere;elsewhere";`},
	{"new fields of Task", "message Task {\n", "message Task {\n  string priority = 40;\n  Budget budget = 41;\n  repeated string watchers = 42;\n"},
	{"new fields of Message", "message Message {\n", "message Message {\n  string language = 40;\n  Budget budget = 41;\n  repeated string tones = 42;\n"},
	{"new fields of AgentCard", "message AgentCard {\n", "message AgentCard {\n  string motto = 40;\n  Budget budget = 41;\n  repeated string regions = 42;\n"},
	{"a new enum value", "  TASK_STATE_AUTH_REQUIRED = 8;\n", "  TASK_STATE_AUTH_REQUIRED = 8;\n  // On hold.\n  TASK_STATE_PAUSED = 9;\n"},
	{"a new member of a oneof", "    google.protobuf.Value data = 4;\n", "    google.protobuf.Value data = 4;\n    // In TeX.\n    string formula = 40;\n"},
	{"a new operation", "  // GetExtendedAgentCard returns", "  // PauseTask holds a task.\n  rpc PauseTask(PauseTaskRequest) returns (PauseTaskResponse) {\n    option (google.api.http) = {\n      post: \"/tasks/{id=*}:pause\"\n      body: \"*\"\n    };\n  }\n  // GetExtendedAgentCard returns"},
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

const unseenAgent = `name: weather
description: Weather.
version: "0.1.0"
skills:
  - id: forecast
    name: Forecast
    description: Tomorrow.
    tags: [weather]
    input: {type: object, required: [city], properties: {city: {type: string}}}
    output: {type: object, required: [high], properties: {high: {type: number}}}
  - id: chat
    name: Chat
    description: Talks.
    tags: [talk]
`

// unseenSkills are written for the types of 1.0, and stay as they are.
const unseenSkills = `package skills

import (
	"context"
	"strings"

	"example.com/both/FOLDER/a2a"
	"example.com/both/FOLDER/agent"
	"github.com/a2agen/a2agen/runtime"
)

type Agent struct{}

func (a *Agent) Forecast(ctx context.Context, in *agent.ForecastInput, t *agent.Task) (*agent.ForecastOutput, error) {
	if in.City == "" {
		return nil, t.Ask("Which city?")
	}
	if err := t.Progress("Looking at %s", in.City); err != nil {
		return nil, err
	}
	return &agent.ForecastOutput{High: 20}, nil
}

func (a *Agent) Chat(ctx context.Context, in *a2a.Message, t *agent.Task) (string, error) {
	if in.Role != a2a.RoleUser || len(in.ReferenceTaskIDs) > 0 {
		return "", t.Reject("not so")
	}
	if err := t.Artifact("map", runtime.Text("a map"), runtime.Data(map[string]any{"a": 1})); err != nil {
		return "", err
	}
	return strings.ToUpper(t.Text()), nil
}
`

// unseenMain asks the plain agent and the one with the unseen definition the same, and the latter what is new.
const unseenMain = `package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"example.com/both/unseen/a2a"
	"example.com/both/unseen/agent"
	"example.com/both/unseen/client"
	"example.com/both/unseen/skills"
	plain "example.com/both/plain/agent"
	plainskills "example.com/both/plain/skills"
	rtclient "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var options = []server.Option{
	server.WithLogger(slog.New(slog.DiscardHandler)),
	server.WithClock(func() time.Time { return time.Unix(now.Load(), 0) }),
}

// now goes on from one request to the next, so that lists have one order.
var now atomic.Int64

var ids = regexp.MustCompile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

// agentUnderTest has a memory for the last id of a task that it answered.
type agentUnderTest struct {
	h    http.Handler
	seen map[string]string
}

// ask sends a request; ids in it and in the answer are named by when they came up.
func (a *agentUnderTest) ask(verb, path, version, body string) string {
	for id, name := range a.seen {
		body = strings.ReplaceAll(body, name, id)
	}
	r := httptest.NewRequest(verb, path, strings.NewReader(body))
	if version != "0.3" && version != "none" {
		r.Header.Set("A2A-Version", version)
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ") + ids.ReplaceAllStringFunc(w.Body.String(), func(id string) string {
		if a.seen[id] == "" {
			a.seen[id] = fmt.Sprintf("<id %d>", len(a.seen)+1)
		}
		return a.seen[id]
	})
}

func same(old, unseen *agentUnderTest, verb, path, version, body string) {
	now.Add(1)
	want, got := old.ask(verb, path, version, body), unseen.ask(verb, path, version, body)
	// The card lists one interface more, before the others.
	got = strings.Replace(got, "{\"url\":\"http://example.com/\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.1-preview\"},", "", 1)
	if got != want {
		fmt.Printf("DIFFERENT %s %s %s\n got %s\nwant %s\n", version, path, body, got, want)
		return
	}
	fmt.Println("SAME", version, want)
}

func main() {
	now.Store(1700000000)
	old := &agentUnderTest{must(plain.NewServer(&plainskills.Agent{}, options...)), map[string]string{}}
	unseen := &agentUnderTest{must(agent.NewServer(&skills.Agent{}, options...)), map[string]string{}}
	for line := range strings.Lines(string(must(io.ReadAll(os.Stdin)))) {
		version, body, _ := strings.Cut(strings.TrimSpace(line), " ")
		same(old, unseen, "POST", "/", version, body)
	}
	for _, version := range []string{"1.0", "0.3"} {
		same(old, unseen, "GET", "/.well-known/agent-card.json", version, "")
	}

	const preview = "1.1-preview"
	call := func(a *agentUnderTest, method, params string) string {
		return a.ask("POST", "/", preview, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""+method+"\",\"params\":"+params+"}")
	}
	fmt.Println("NEW", call(unseen, "SendMessage", "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"talk\"},{\"formula\":\"E=mc2\"}],\"language\":\"nl\",\"budget\":{\"tokens\":\"3\"},\"tones\":[\"kind\"]}}"))
	fmt.Println("RENAMED", call(unseen, "SendMessage", "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"talk\"}],\"relatedTasks\":[\"x\"]}}"))
	fmt.Println("UNSUPPORTED", call(unseen, "PauseTask", "{\"id\":\"t\"}"))
	able := &agentUnderTest{must(agent.NewServer(pausing{}, options...)), map[string]string{}}
	fmt.Println("PAUSED", call(able, "PauseTask", "{\"id\":\"t\",\"reason\":\"lunch\"}"))
	fmt.Println("ELSEWHERE", able.ask("POST", "/", "1.0", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"PauseTask\",\"params\":{}}"))
	fmt.Println("CARD", able.ask("GET", "/.well-known/agent-card.json", preview, ""))

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

// unseenRequests are sent to both agents in the versions that both speak.
const unseenRequests = `1.0 {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"city":"Bonn"}}],"metadata":{"https://a2agen.dev/extensions/skills/v1":{"skill":"forecast"}}}}}
1.0 {"jsonrpc":"2.0","id":2,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"metadata":{"a":1}}}}
1.0 {"jsonrpc":"2.0","id":3,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"referenceTaskIds":["x"]}}}
1.0 {"jsonrpc":"2.0","id":3,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"relatedTasks":["x"],"language":"nl"}}}
1.0 {"jsonrpc":"2.0","id":4,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"formula":"E=mc2"}]}}}
1.0 {"jsonrpc":"2.0","id":5,"method":"GetTask","params":{"id":"<id 1>"}}
1.0 {"jsonrpc":"2.0","id":6,"method":"ListTasks","params":{"includeArtifacts":true}}
1.0 {"jsonrpc":"2.0","id":7,"method":"CancelTask","params":{"id":"<id 1>"}}
1.0 {"jsonrpc":"2.0","id":8,"method":"GetTask","params":{"id":"unknown"}}
1.0 {"jsonrpc":"2.0","id":9,"method":"PauseTask","params":{"id":"x"}}
1.0 {"jsonrpc":"2.0","id":10,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}]}}}
none {"jsonrpc":"2.0","id":11,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"referenceTaskIds":["x"]}}}
none {"jsonrpc":"2.0","id":12,"method":"nonsense","params":{}}
0.3 {"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"data","data":{"city":"Bonn"}}],"metadata":{"https://a2agen.dev/extensions/skills/v1":{"skill":"forecast"}}}}}
0.3 {"jsonrpc":"2.0","id":2,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"talk"}],"referenceTaskIds":["x"]}}}
0.3 {"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"id":"<id 1>"}}
0.3 {"jsonrpc":"2.0","id":4,"method":"tasks/cancel","params":{"id":"<id 1>"}}
0.3 {"jsonrpc":"2.0","id":5,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"talk"}]}}}
`

// TestAnUnseenDefinitionIsServedAndLeavesTheOlderVersionsAlone generates two projects in one module, a plain one and one with an
// unseen definition before the same versions, and compares what they answer.
func TestAnUnseenDefinitionIsServedAndLeavesTheOlderVersionsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module example.com/both\n\ngo 1.26\n\nrequire github.com/a2agen/a2agen v0.0.0\n\nreplace github.com/a2agen/a2agen => " + root + "\n", "main.go": unseenMain}
	for folder, versions := range map[string]string{"plain": `["1.0", "0.3"]`, "unseen": `[{version: "1.1-preview", file: protocol/a2a.proto}, "1.0", "0.3"]`} {
		files[folder+"/agent.yaml"] = unseenAgent
		files[folder+"/a2agen.yaml"] = "protocol: " + versions + "\n"
		files[folder+"/skills/agent.go"] = strings.ReplaceAll(unseenSkills, "FOLDER", folder)
	}
	files["unseen/protocol/a2a.proto"] = unseenDefinition(t)
	files["unseen/protocol/parts/budget.proto"] = unseenBudget
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	for _, folder := range []string{"plain", "unseen"} {
		if _, err := generator.Run(t.Context(), generator.Options{Tool: generator.Tool{Version: "v1.0.0"}, Dir: filepath.Join(dir, folder)}); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
	}
	cmd := exec.Command("go", "run", "-mod=mod", ".")
	cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(unseenRequests), append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	t.Log(out.String())
	checkUnseenAnswers(t, out.String())
	checkUnseenDrift(t, filepath.Join(dir, "unseen"))
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func checkUnseenAnswers(t *testing.T, out string) {
	t.Helper()
	if strings.Contains(out, "DIFFERENT") {
		t.Error("an older version answers otherwise")
	}
	if n, want := strings.Count(out, "SAME"), strings.Count(unseenRequests, "\n")+2; n != want {
		t.Errorf("%d answers are the same, want %d", n, want)
	}
	for _, want := range []string{
		`NEW 200 .*"language":"nl","budget":\{"tokens":"3"\},"tones":\["kind"\]`,
		`NEW 200 .*"parts":\[\{"text":"talk"\},\{"formula":"E=mc2"\}\]`,
		`RENAMED 200 .*"TASK_STATE_REJECTED".*"relatedTasks":\["x"\]`,
		`UNSUPPORTED 200 .*"code":-32004`,
		`PAUSED 200 \{"jsonrpc":"2.0","id":1,"result":\{"task":\{"priority":"lunch","budget":\{"tokens":"9"\},"watchers":\["w"\],"id":"t","status":\{"state":"TASK_STATE_PAUSED"\}\},"left":\{"tokens":"7"\}\}\}`,
		`ELSEWHERE 200 .*"code":-32601`,
		`CARD 200 .*"protocolVersion":"1.1-preview"\}.*"protocolVersion":"1.0"\}.*"protocolVersion":"0.3"\}`,
		`CLIENT 1.1-preview`,
		`TYPED tea TASK_STATE_PAUSED 9 \[w\] 7`,
		`FORECAST 20`,
		`MOTTO more \S+ \[eu\] <nil>`,
		`WRITTEN .*"motto":"more","budget":\{"tokens":"1"\},"regions":\["eu"\]`,
		`VERSION 1.1-preview 12`, `VERSION 1.0 11`, `VERSION 0.3 \d+`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(out) {
			t.Errorf("no answer matches %s", want)
		}
	}
}

// checkUnseenDrift changes the imported file: the lock notices.
func checkUnseenDrift(t *testing.T, dir string) {
	t.Helper()
	o := generator.Options{Tool: generator.Tool{Version: "v1.0.0"}, Dir: dir}
	if drift, _, err := generator.Check(t.Context(), o); err != nil || len(drift) > 0 {
		t.Errorf("drift %v, error %v", drift, err)
	}
	writeFile(t, filepath.Join(dir, "protocol/parts/budget.proto"), strings.Replace(unseenBudget, "tokens", "coins", 1))
	drift, _, err := generator.Check(t.Context(), o)
	if err != nil || len(drift) == 0 || drift[0].String() != "protocol/parts/budget.proto: inputs changed" {
		t.Errorf("drift %v, error %v", drift, err)
	}
}
