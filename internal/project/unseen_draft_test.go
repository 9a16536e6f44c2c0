package project_test

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/spec"
)

// draftEdits turn the schema of 0.3 into one that nobody has seen, in the words of its text.
var draftEdits = []struct{ what, old, new string }{
	{"new fields of Task", members("Task is a unit of work with a life cycle."), `"priority": {"enum": ["low", "high"], "type": "string"}, "budget": {"$ref": "#/definitions/Budget"}, "watchers": {"type": "array", "items": {"type": "string"}},`},
	{"new fields of Message", members("Message is one turn of a conversation."), `"language": {"type": "string"}, "budget": {"$ref": "#/definitions/Budget"}, "tones": {"type": "array", "items": {"type": "string"}}, "mood": {"anyOf": [{"type": "string"}, {"type": "integer"}]},`},
	{"new fields of AgentCard", members("AgentCard describes an agent: who it is, where and how it is called, what it can do."), `"motto": {"type": "string"}, "budget": {"$ref": "#/definitions/Budget"}, "regions": {"type": "array", "items": {"type": "string"}},`},
	{"a new enum value", "        \"auth-required\",\n        \"unknown\"\n", "        \"auth-required\", \"paused\",\n        \"unknown\"\n"},
	{"a new kind of part", "          \"$ref\": \"#/definitions/DataPart\"\n        }\n      ]", "          \"$ref\": \"#/definitions/DataPart\"\n        }, {\"$ref\": \"#/definitions/FormulaPart\"}\n      ]"},
	{"a removed field", "        \"stateTransitionHistory\": {", "        \"formerly\": {"},
	{"new definitions", "    \"CancelTaskRequest\": {", `    "Budget": {"description": "Budget is what may be spent.", "type": "object", "properties": {"tokens": {"type": "integer"}, "owner": {"$ref": "#/definitions/AgentProvider"}}},
    "FormulaPart": {"type": "object", "required": ["kind", "tex"], "properties": {"kind": {"type": "string", "const": "formula"}, "tex": {"type": "string"}, "metadata": {"type": "object", "additionalProperties": {}}}},
    "PauseTaskParams": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "reason": {"type": "string"}}},
    "PauseTaskResult": {"type": "object", "properties": {"task": {"$ref": "#/definitions/Task"}, "left": {"$ref": "#/definitions/Budget"}}},
    "PauseTaskRequest": {"description": "PauseTask holds a task.", "type": "object", "properties": {"jsonrpc": {"const": "2.0"}, "method": {"const": "tasks/pause"}, "params": {"$ref": "#/definitions/PauseTaskParams"}}},
    "PauseTaskSuccessResponse": {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}, "result": {"$ref": "#/definitions/PauseTaskResult"}}},
    "PauseTaskResponse": {"anyOf": [{"$ref": "#/definitions/JSONRPCErrorResponse"}, {"$ref": "#/definitions/PauseTaskSuccessResponse"}]},
    "CancelTaskRequest": {`},
}

// members is where the members of a definition with the description begin.
func members(description string) string {
	return "      \"description\": \"" + description + "\",\n      \"properties\": {"
}

// draftDefinition is the schema of 0.3 with the edits.
func draftDefinition(t *testing.T) string {
	t.Helper()
	src, err := spec.Source("0.3")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(src), "\nsyntax = ") // the proto follows
	text = text[:strings.LastIndexByte(text, '}')+1]
	for _, e := range draftEdits {
		if strings.Count(text, e.old) != 1 {
			t.Fatalf("%s: %q is there %d times", e.what, e.old, strings.Count(text, e.old))
		}
		if strings.HasSuffix(e.old, "\"properties\": {") {
			e.new = e.old + e.new
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return text
}

// draftRequests are sent in older versions with what only the draft knows.
const draftRequests = `1.0 {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"language":"nl","budget":{"tokens":3}}}}
0.3 {"jsonrpc":"2.0","id":2,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"talk"},{"kind":"formula","tex":"x"}],"language":"nl"}}}
0.3 {"jsonrpc":"2.0","id":3,"method":"tasks/nonsense","params":{}}
`

// draftAsk asks for what is new.
const draftAsk = `package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"example.com/both/unseen/a2a"
	"example.com/both/unseen/agent"
	"example.com/both/unseen/client"
	"example.com/both/unseen/skills"
	rtclient "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// pausing is the agent with the new operation.
type pausing struct{ *skills.Agent }

var _ agent.PauseTaskOperation = pausing{}

func (pausing) PauseTask(ctx context.Context, req *a2a.PauseTaskParams) (*a2a.PauseTaskResult, error) {
	if req.Reason == nil {
		return nil, a2a.ErrTaskNotFound
	}
	high, tokens := a2a.TaskPriorityHigh, int64(9007199254740993)
	return &a2a.PauseTaskResult{
		Task: &a2a.Task{
			ID: req.ID, Status: &a2a.TaskStatus{State: a2a.TaskStatePaused}, Priority: &high, Budget: &a2a.Budget{Tokens: &tokens, Owner: &a2a.AgentProvider{Organization: *req.Reason}}, Watchers: []string{"w"},
			History: []*a2a.Message{{MessageID: "m", Role: a2a.RoleUser, Parts: []*a2a.Part{{Content: &a2a.FormulaPart{Tex: "x"}}}}},
		},
		Left: &a2a.Budget{},
	}, nil
}

func ask(unseen *agentUnderTest) {
	const draft = "0.4-mine"
	unseen.call("NEW", draft, "message/send", "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"talk\"}],\"language\":\"nl\",\"budget\":{\"tokens\":3},\"tones\":[\"kind\"],\"mood\":[1,{\"a\":null}]}}")
	unseen.call("OLD", draft, "message/send", "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"talk\"},{\"kind\":\"formula\",\"tex\":\"E=mc2\",\"metadata\":{\"a\":1}}],\"referenceTaskIds\":[\"x\"]}}")
	unseen.call("STREAM", draft, "message/stream", "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"talk\"}],\"language\":\"nl\"}}")
	unseen.call("UNSUPPORTED", draft, "tasks/pause", "{\"id\":\"t\"}")
	able := &agentUnderTest{must(agent.NewServer(pausing{}, options...)), map[string]string{}}
	able.call("SENT", draft, "message/send", "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"talk\"}],\"language\":\"nl\"}}")
	able.call("SEEN", "1.0", "GetTask", "{\"id\":\"<id 1>\"}")
	other := &agentUnderTest{able.h, map[string]string{}}
	other.call("SENT", draft, "message/send", "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"talk\"},{\"kind\":\"formula\",\"tex\":\"x\"}]}}")
	other.call("SPEECHLESS", "1.0", "GetTask", "{\"id\":\"<id 1>\"}")
	other.call("SPEECHLESS", "0.3", "tasks/get", "{\"id\":\"<id 1>\"}")
	kept := &agentUnderTest{nil, map[string]string{}}
	file := filepath.Join(must(os.MkdirTemp("", "")), "tasks.db")
	for _, now := range []struct{ what, method, params string }{
		{"SENT", "message/send", "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"talk\"},{\"kind\":\"formula\",\"tex\":\"a^2\"}],\"language\":\"fy\",\"mood\":[2]}}"},
		{"KEPT", "tasks/get", "{\"id\":\"<id 1>\"}"},
	} {
		st := must(sqlite.Open(file, a2a.Protocol(), sqlite.Options{}))
		srv := must(agent.NewServer(pausing{}, append(options, server.WithStore(st))...))
		kept.h = srv
		kept.call(now.what, draft, now.method, now.params)
		if err := errors.Join(srv.Close(), st.Close()); err != nil {
			panic(err)
		}
	}
	able.call("PAUSED", draft, "tasks/pause", "{\"id\":\"t\",\"reason\":\"lunch\"}")
	able.call("MISSING", draft, "tasks/pause", "{}")
	able.call("ELSEWHERE", "1.0", "tasks/pause", "{}")
	able.call("NOTFOUND", draft, "tasks/get", "{\"id\":\"t\"}")
	fmt.Println("CARD", able.ask("GET", "/.well-known/agent-card.json", draft, ""))

	web := httptest.NewServer(able.h)
	defer web.Close()
	c := must(client.New(context.Background(), web.URL, rtclient.HTTPClient(web.Client())))
	fmt.Println("CLIENT", c.RPC().Interface().Version)
	reason := "tea"
	r := must(c.PauseTask(context.Background(), &a2a.PauseTaskParams{ID: "t", Reason: &reason}))
	fmt.Println("TYPED", *r.Task.Priority, r.Task.Status.State, *r.Task.Budget.Tokens, r.Task.Budget.Owner.Organization, r.Task.Watchers, r.Task.History[0].Parts[0].Content.(*a2a.FormulaPart).Tex)
	out := must(c.Forecast(context.Background(), &agent.ForecastInput{City: "Bonn"}))
	fmt.Println("FORECAST", out.High)

	for _, v := range a2a.Protocol().Versions {
		fmt.Println("VERSION", v.Name, len(v.Operations))
		card := must(v.ReadCard([]byte("{\"name\":\"n\",\"description\":\"d\",\"version\":\"1\",\"protocolVersion\":\"0.4-mine\",\"url\":\"https://a.example\",\"supportedInterfaces\":[{\"url\":\"https://a.example\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"0.4-mine\"}],\"capabilities\":{},\"defaultInputModes\":[],\"defaultOutputModes\":[],\"skills\":[],\"motto\":\"more\",\"budget\":{\"tokens\":1},\"regions\":[\"eu\"]}")))
		fmt.Println("WRITTEN", v.Name, string(must(v.AppendCard(nil, card))))
	}
}
`

// TestADraftOfAnOlderVersionIsServedAndLeavesTheOthersAlone takes a schema in the shape of 0.3 with more in it.
func TestADraftOfAnOlderVersionIsServedAndLeavesTheOthersAlone(t *testing.T) {
	gotool.Long(t)
	unseen{
		version: "0.4-mine", file: "protocol/a2a.json", ask: draftAsk, requests: draftRequests,
		files: map[string]string{"protocol/a2a.json": draftDefinition(t)},
		answers: []string{
			`NEW 200 .*"kind":"task".*"state":"completed".*"parts":\[\{"kind":"text","text":"talk"\}\],.*"language":"nl","budget":\{"tokens":3\},"tones":\["kind"\],"mood":\[1,\{"a":null\}\]`,
			`OLD 200 .*"state":"rejected".*\{"kind":"formula","tex":"E=mc2","metadata":\{"a":1\}\}\],.*"referenceTaskIds":\["x"\]`,
			`STREAM 200 id: 1\ndata: .*"language":"nl"(.*\n)*data: .*"final":true`,
			`UNSUPPORTED 200 .*"error":\{"code":-32004,"message":"[^"]*"\}\}`,
			`SENT 200 .*"language":"nl"`,
			`SEEN 200 .*"parts":\[\{"text":"talk"\}\]\}\]\}\}`,
			`SPEECHLESS 200 \{"jsonrpc":"2.0","id":1,"error":(.*\n)SPEECHLESS 200 \{"jsonrpc":"2.0","id":1,"error":`,
			`KEPT 200 .*"parts":\[\{"kind":"text","text":"talk"\},\{"kind":"formula","tex":"a\^2"\}\],.*"language":"fy","mood":\[2\]`,
			`PAUSED 200 \{"jsonrpc":"2.0","id":1,"result":\{"task":\{"kind":"task","id":"t","contextId":"","status":\{"state":"paused"\},"history":\[\{"kind":"message","messageId":"m","role":"user","parts":\[\{"kind":"formula","tex":"x"\}\]\}\],"priority":"high","budget":\{"tokens":9007199254740993,"owner":\{.*\}\},"watchers":\["w"\]\},"left":\{\}\}\}`,
			`MISSING 200 .*"code":-32602`,
			`ELSEWHERE 200 .*"code":-32601`,
			`NOTFOUND 200 .*"error":\{"code":-32001,"message":"[^"]*"\}\}`,
			`CARD 200 .*"url":"http://example.com/","preferredTransport":"JSONRPC".*"protocolVersion":"0.4-mine"`,
			`CLIENT 0.4-mine`,
			`TYPED TASK_PRIORITY_HIGH TASK_STATE_PAUSED 9007199254740993 tea \[w\] x`,
			`FORECAST 20`,
			`WRITTEN 0.4-mine .*"motto":"more","budget":\{"tokens":1\},"regions":\["eu"\]`,
			`WRITTEN 1.0 .*"skills":\[\]\}$`,
			`VERSION 1.0 11`, `VERSION 0.3 10`, `VERSION 0.4-mine 11`,
		},
	}.run(t)
}
