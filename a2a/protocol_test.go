package a2a

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

var v10 = Protocol().Versions[0]

func operation(t *testing.T, rpc string) *runtime.Operation {
	t.Helper()
	for _, op := range v10.Operations {
		if op.RPC == rpc {
			return op
		}
	}
	t.Fatalf("no operation %s", rpc)
	return nil
}

func TestTheRouteTableIsThatOfTheProtocol(t *testing.T) { // §5.3
	want := []runtime.Operation{
		{Role: runtime.RoleSend, RPC: "SendMessage", HTTP: routes("POST", "/message:send", "*")},
		{Role: runtime.RoleStream, RPC: "SendStreamingMessage", HTTP: routes("POST", "/message:stream", "*"), Stream: true},
		{Role: runtime.RoleGet, RPC: "GetTask", HTTP: routes("GET", "/tasks/{id=*}", "")},
		{
			Role: runtime.RoleList, RPC: "ListTasks", HTTP: routes("GET", "/tasks", ""),
			Query: []runtime.QueryField{{Name: "includeArtifacts", JSON: true}},
		},
		{Role: runtime.RoleCancel, RPC: "CancelTask", HTTP: routes("POST", "/tasks/{id=*}:cancel", "*")},
		{Role: runtime.RoleSubscribe, RPC: "SubscribeToTask", HTTP: routes("GET", "/tasks/{id=*}:subscribe", ""), Stream: true},
		{Role: runtime.RolePushCreate, RPC: "CreateTaskPushNotificationConfig", HTTP: routes("POST", "/tasks/{task_id=*}/pushNotificationConfigs", "*")},
		{Role: runtime.RolePushGet, RPC: "GetTaskPushNotificationConfig", HTTP: routes("GET", "/tasks/{task_id=*}/pushNotificationConfigs/{id=*}", "")},
		{Role: runtime.RolePushList, RPC: "ListTaskPushNotificationConfigs", HTTP: routes("GET", "/tasks/{task_id=*}/pushNotificationConfigs", "")},
		{Role: runtime.RoleExtendedCard, RPC: "GetExtendedAgentCard", HTTP: routes("GET", "/extendedAgentCard", "")},
		{Role: runtime.RolePushDelete, RPC: "DeleteTaskPushNotificationConfig", HTTP: routes("DELETE", "/tasks/{task_id=*}/pushNotificationConfigs/{id=*}", "")},
	}
	var got []runtime.Operation
	for _, op := range v10.Operations {
		row := *op
		row.Decode, row.Append, row.AppendRequest, row.Read = nil, nil, nil, nil
		got = append(got, row)
	}
	for i := range want {
		want[i].GRPC = "/lf.a2a.v1.A2AService/" + want[i].RPC
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table differs (-want +got):\n%s", diff)
	}
	if v10.Name != "1.0" {
		t.Errorf("version %q", v10.Name)
	}
}

// routes are a route and its twin with a tenant.
func routes(verb, path, body string) []runtime.Route {
	return []runtime.Route{{Verb: verb, Path: path, Body: body}, {Verb: verb, Path: "/{tenant}" + path, Body: body}}
}

func TestRequestsDecodeToTheirNeutralForm(t *testing.T) {
	three, zero := 3, 0
	for name, test := range map[string]struct {
		rpc, src string
		want     any
	}{
		"a full send": {
			"SendMessage",
			`{"tenant":"x","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},"metadata":{"a":1},"configuration":` +
				`{"acceptedOutputModes":["text/plain"],"historyLength":0,"returnImmediately":true,"taskPushNotificationConfig":{"id":"p","url":"https://x","token":"k","authentication":{"scheme":"Bearer","credentials":"c"}}}}`,
			&runtime.SendRequest{
				Tenant: "x", AcceptedOutputModes: []string{"text/plain"}, HistoryLength: &zero, ReturnImmediately: true, Metadata: wire.Object(`{"a":1}`),
				Push: &runtime.PushConfig{ID: "p", URL: "https://x", Token: "k", Scheme: "Bearer", Credentials: "c"},
			},
		},
		"a bare stream": {"SendStreamingMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`, &runtime.SendRequest{}},
		"get":           {"GetTask", `{"id":"t","historyLength":3,"tenant":"x"}`, &runtime.TaskRequest{ID: "t", Tenant: "x", HistoryLength: &three}},
		"cancel":        {"CancelTask", `{"id":"t","metadata":{}}`, &runtime.TaskRequest{ID: "t", Metadata: wire.Object(`{}`)}},
		"subscribe":     {"SubscribeToTask", `{"id":"t"}`, &runtime.TaskRequest{ID: "t"}},
		"a full list": {
			"ListTasks",
			`{"tenant":"x","contextId":"c","status":"TASK_STATE_WORKING","pageSize":3,"pageToken":"p","historyLength":0,"statusTimestampAfter":"2026-01-02T12:00:00Z","includeArtifacts":true}`,
			&runtime.ListRequest{
				Tenant: "x", ContextID: "c", State: runtime.StateWorking, PageSize: &three, PageToken: "p", HistoryLength: &zero,
				After: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), IncludeArtifacts: true,
			},
		},
		"a list without parameters": {"ListTasks", "", &runtime.ListRequest{}},
		"a list of any state":       {"ListTasks", `{"status":"TASK_STATE_UNSPECIFIED"}`, &runtime.ListRequest{}}, // no filter
		"create a push configuration": {
			"CreateTaskPushNotificationConfig", `{"tenant":"x","taskId":"t","id":"p","url":"https://x"}`,
			&runtime.PushRequest{Tenant: "x", TaskID: "t", Config: runtime.PushConfig{ID: "p", URL: "https://x", Tenant: "x", TaskID: "t"}},
		},
		"get a push configuration": {
			"GetTaskPushNotificationConfig", `{"tenant":"x","taskId":"t","id":"p"}`,
			&runtime.PushRequest{Tenant: "x", TaskID: "t", Config: runtime.PushConfig{ID: "p"}},
		},
		"list push configurations": {
			"ListTaskPushNotificationConfigs", `{"tenant":"x","taskId":"t","pageSize":3,"pageToken":"p"}`,
			&runtime.PushRequest{Tenant: "x", TaskID: "t", PageSize: &three, PageToken: "p"},
		},
		"delete a push configuration": {
			"DeleteTaskPushNotificationConfig", `{"tenant":"x","taskId":"t","id":"p"}`,
			&runtime.PushRequest{Tenant: "x", TaskID: "t", Config: runtime.PushConfig{ID: "p"}},
		},
	} {
		got, err := operation(t, test.rpc).Decode([]byte(test.src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		switch req := got.(type) {
		case *runtime.SendRequest:
			if req.Message.MessageInfo().ID != "m" || req.Source.(*SendMessageRequest).Message != req.Message.Generated() {
				t.Errorf("%s: message %v, source %v", name, req.Message, req.Source)
			}
			req.Message, req.Source = nil, nil
		case *runtime.TaskRequest:
			req.Source = nil
		case *runtime.ListRequest:
			if _, ok := req.Source.(*ListTasksRequest); !ok {
				t.Errorf("%s: source %T", name, req.Source)
			}
			req.Source = nil
		case *runtime.PushRequest:
			if req.Source == nil {
				t.Errorf("%s: no source", name)
			}
			req.Source = nil
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestOtherRequestsDecodeToThemselves(t *testing.T) {
	for rpc, src := range map[string]string{
		"GetExtendedAgentCard": `{"tenant":"t"}`,
	} {
		op := operation(t, rpc)
		req, err := op.Decode([]byte(src))
		if err != nil {
			t.Errorf("%s: %v", rpc, err)
			continue
		}
		if got, err := op.AppendRequest(nil, req); err != nil || string(got) != src {
			t.Errorf("%s: %s, %v", rpc, got, err)
		}
	}
	if req, err := operation(t, "GetExtendedAgentCard").Decode(nil); err != nil || *req.(*GetExtendedAgentCardRequest) != (GetExtendedAgentCardRequest{}) { // its parameters may be absent
		t.Errorf("without parameters: %v, %v", req, err)
	}
}

func TestBadRequestsSayWhere(t *testing.T) {
	for name, test := range map[string]struct{ rpc, src, pointer string }{
		"no message":                  {"SendMessage", `{}`, "/message"},
		"a message without parts":     {"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`, "/message/parts"}, // T20
		"no task id":                  {"GetTask", ``, "/id"},
		"a state that is not known":   {"ListTasks", `{"status":"TASK_STATE_DREAMING"}`, "/status"},
		"a state's number beyond all": {"ListTasks", `{"status":99}`, "/status"},
	} {
		var problem *wire.Error
		if _, err := operation(t, test.rpc).Decode([]byte(test.src)); !errors.As(err, &problem) || problem.Pointer != test.pointer {
			t.Errorf("%s: %v, want one at %s", name, err, test.pointer)
		}
	}
}

func TestResultsGoOutAndComeBack(t *testing.T) {
	p := Protocol()
	task := p.NewTask("t", "c", time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	message := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m"}, Parts: []runtime.Part{runtime.Text("hi")}})
	const taskJSON = `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-02T12:00:00Z"}}`
	const messageJSON = `{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}`
	for name, test := range map[string]struct {
		rpc    string
		result any
		want   string
	}{
		"a send's task":    {"SendMessage", task, `{"task":` + taskJSON + `}`},
		"a send's message": {"SendMessage", message, `{"message":` + messageJSON + `}`},
		"a stream's task":  {"SendStreamingMessage", task, `{"task":` + taskJSON + `}`},
		"a status update": {
			"SubscribeToTask", p.NewStatus("t", "c", runtime.StateFailed, nil, time.Time{}), `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_FAILED"}}}`,
		},
		"an artifact update": {
			"SubscribeToTask", p.NewArtifact("t", "c", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}, LastChunk: true}),
			`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"lastChunk":true}}`,
		},
		"a task":        {"GetTask", task, taskJSON},
		"an empty page": {"ListTasks", p.NewTaskPage(nil, "", 50, 0), `{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`}, // R13, T20
		"a page":        {"ListTasks", p.NewTaskPage([]runtime.Task{task}, "n", 1, 2), `{"tasks":[` + taskJSON + `],"nextPageToken":"n","pageSize":1,"totalSize":2}`},
		"a deletion":    {"DeleteTaskPushNotificationConfig", nil, `{}`},
	} {
		op := operation(t, test.rpc)
		out, err := op.Append([]byte("x"), test.result)
		got := strings.TrimPrefix(string(out), "x")
		if err != nil || got != test.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, test.want)
			continue
		}
		back, err := op.Read([]byte(got))
		if diff := cmp.Diff(test.result, back, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s comes back as %v, %v", name, diff, err)
		}
	}
}

func TestADeletionsResultMayBeAnything(t *testing.T) { // T61
	for _, src := range []string{"", "null", "{}"} {
		if got, err := operation(t, "DeleteTaskPushNotificationConfig").Read([]byte(src)); got != nil || err != nil {
			t.Errorf("%q: %v, %v", src, got, err)
		}
	}
}

func TestResultsOfAnotherTypeAreErrorsNotPanics(t *testing.T) {
	for _, op := range v10.Operations {
		if _, err := op.AppendRequest(nil, 1); err == nil {
			t.Errorf("%s takes 1 as a request", op.RPC)
		}
		if op.Role == runtime.RolePushDelete {
			continue
		}
		if _, err := op.Append(nil, 1); err == nil {
			t.Errorf("%s takes 1 as a result", op.RPC)
		}
	}
	if _, err := v10.AppendEvent(nil, nil); err == nil {
		t.Error("nil is an event")
	}
	if _, err := v10.AppendCard(nil, nil); err == nil {
		t.Error("nil is a card")
	}
	for _, src := range []string{`{"future":{}}`, `{}`, `[]`} {
		if e, err := v10.ReadEvent([]byte(src)); err == nil {
			t.Errorf("%s is the event %v", src, e)
		}
		if r, err := operation(t, "SendMessage").Read([]byte(src)); err == nil {
			t.Errorf("%s is the result %v", src, r)
		}
	}
}

func TestClientRequestsHoldWhatIsSetAndNoMore(t *testing.T) {
	p, two := Protocol(), 2
	m := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("hi")}})
	const message = `"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`
	all := runtime.TaskRequest{Tenant: "x", ID: "t", HistoryLength: &two, Metadata: wire.Object(`{"a":1}`)}
	for name, test := range map[string]struct {
		rpc     string
		request any
		want    string
	}{
		"a bare send": {"SendMessage", p.NewSend(runtime.SendRequest{Message: m}), `{` + message + `}`},
		"a full send": {
			"SendMessage", p.NewSend(runtime.SendRequest{Tenant: "x", Message: m, AcceptedOutputModes: []string{"a/b"}, HistoryLength: &two, ReturnImmediately: true, Metadata: wire.Object(`{}`)}),
			`{"tenant":"x",` + message + `,"configuration":{"acceptedOutputModes":["a/b"],"historyLength":2,"returnImmediately":true},"metadata":{}}`,
		},
		"get":       {"GetTask", p.NewTaskRequest(runtime.RoleGet, all), `{"tenant":"x","id":"t","historyLength":2}`},
		"cancel":    {"CancelTask", p.NewTaskRequest(runtime.RoleCancel, all), `{"tenant":"x","id":"t","metadata":{"a":1}}`},
		"subscribe": {"SubscribeToTask", p.NewTaskRequest(runtime.RoleSubscribe, all), `{"tenant":"x","id":"t"}`},
	} {
		got, err := operation(t, test.rpc).AppendRequest(nil, test.request)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, test.want)
		}
	}
	if got := p.NewTaskRequest(runtime.RoleList, all); got != nil {
		t.Errorf("a list is a request for one task: %v", got)
	}
}

const cardJSON = `{"name":"n","description":"d","supportedInterfaces":[{"url":"http://localhost/a2a","protocolBinding":"JSONRPC","tenant":"x","protocolVersion":"1.0"}],"version":"2",` +
	`"capabilities":{"streaming":true,"extensions":[{"uri":"u","required":true,"params":{"a":1}}],"extendedAgentCard":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["a/b"],"skills":[]}`

func TestCardInfoHoldsWhatTheRuntimeNeeds(t *testing.T) {
	card, err := Protocol().DecodeCard([]byte(cardJSON))
	if err != nil {
		t.Fatal(err)
	}
	want := runtime.CardInfo{
		Name: "n", Version: "2", Streaming: true, DefaultInput: []string{"text/plain"}, DefaultOutput: []string{"a/b"},
		Interfaces: []runtime.Interface{{URL: "http://localhost/a2a", Binding: "JSONRPC", Tenant: "x", Version: "1.0"}},
		Extensions: []runtime.Extension{{URI: "u", Required: true, Params: wire.Object(`{"a":1}`)}},
	}
	if diff := cmp.Diff(want, card.CardInfo()); diff != "" {
		t.Errorf("info differs (-want +got):\n%s", diff)
	}
	if got, err := v10.AppendCard(nil, card); err != nil || string(got) != cardJSON {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, cardJSON)
	}
	if got := (&engineAgentCard{}).CardInfo(); !cmp.Equal(got, runtime.CardInfo{}) {
		t.Errorf("an empty card has %+v", got)
	}
}

func TestACardMovesWithoutChangingTheOriginal(t *testing.T) {
	card, err := Protocol().DecodeCard([]byte(cardJSON))
	if err != nil {
		t.Fatal(err)
	}
	if got := card.At(func(i runtime.Interface) string { return runtime.Rebase("https://example.com/x", i) }).CardInfo().Interfaces[0].URL; got != "https://example.com/x/a2a" {
		t.Errorf("moved to %s", got)
	}
	if got := card.CardInfo().Interfaces[0].URL; got != "http://localhost/a2a" {
		t.Errorf("the original is at %s", got)
	}
	if c, err := Protocol().DecodeCard([]byte(`{}`)); err == nil || c != nil {
		t.Errorf("an empty object is the card %v", c)
	}
}

func TestHelpersMakeAndReadMessages(t *testing.T) {
	data, err := Data(map[string]int{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMessage(RoleUser, Text("one"), data, Text("two"))
	if len(m.MessageID) < 16 || m.MessageID == NewMessage(RoleUser).MessageID || m.Role != RoleUser {
		t.Errorf("message %+v", m)
	}
	if got := m.Text(); got != "one\ntwo" {
		t.Errorf("text %q", got)
	}
	if got := (&Artifact{Parts: m.Parts[:1]}).Text(); got != "one" {
		t.Errorf("text %q", got)
	}
	if string(data.Content.(PartData)) != `{"n":1}` || data.MediaType != "application/json" {
		t.Errorf("data %+v", data)
	}
	if _, err := Data(func() {}); err == nil {
		t.Error("a function is data")
	}
}

func TestErrorsAreThoseOfTheRuntime(t *testing.T) {
	if !errors.Is(runtime.ErrTaskNotFound.With("no task %q", "t"), ErrTaskNotFound) || errors.Is(ErrInternal, ErrTaskNotFound) {
		t.Error("errors do not match by code")
	}
}
