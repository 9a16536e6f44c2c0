package a2awires

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

func TestVersionsAreInOrderWithTheirRules(t *testing.T) {
	want := map[string]runtime.Rules{
		"1.0": {},
		"0.3": {Final: true, PushTask: true, PlainErrors: true},
		"0.2": {
			Final: true, PushTask: true, PlainErrors: true, NoHistory: true, CardPath: "/.well-known/agent.json",
			ExtendedPath: "/agent/authenticatedExtendedCard",
		},
		"0.1": {Final: true, PushTask: true, PlainErrors: true, NoHistory: true, ClientIDs: true, UpdatesOnly: true, PublicCard: true, Places: true, CardPath: "/.well-known/agent.json"},
	}
	var names []string
	for _, v := range Protocol().Versions {
		names = append(names, v.Name)
	}
	for name, rules := range want {
		if v := versionOf(name); v == nil || v.Rules != rules {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if !slices.Equal(names, spec.Versions()) {
		t.Errorf("versions %v", names)
	}
}

// Q13, T34: 0.3 has methods of the form category/action, and no tasks/list.
func TestMethodNamesByVersion(t *testing.T) {
	want := map[string]map[string]runtime.Role{
		"0.3": {
			"message/send": runtime.RoleSend, "message/stream": runtime.RoleStream, "tasks/get": runtime.RoleGet, "tasks/cancel": runtime.RoleCancel, "tasks/resubscribe": runtime.RoleSubscribe,
			"tasks/pushNotificationConfig/set": runtime.RolePushCreate, "tasks/pushNotificationConfig/get": runtime.RolePushGet,
			"tasks/pushNotificationConfig/list": runtime.RolePushList, "tasks/pushNotificationConfig/delete": runtime.RolePushDelete, "agent/getAuthenticatedExtendedCard": runtime.RoleExtendedCard,
		},
		"0.1": {
			"tasks/send": runtime.RoleSend, "tasks/sendSubscribe": runtime.RoleStream, "tasks/get": runtime.RoleGet, "tasks/cancel": runtime.RoleCancel, "tasks/resubscribe": runtime.RoleSubscribe,
			"tasks/pushNotification/set": runtime.RolePushCreate, "tasks/pushNotification/get": runtime.RolePushGet,
			"agent/getCard": runtime.RoleExtendedCard, "sendTask": runtime.RoleSend, "sendTaskSubscribe": runtime.RoleStream,
		},
	}
	want["0.2"] = map[string]runtime.Role{}
	for rpc, role := range want["0.3"] {
		if role != runtime.RoleExtendedCard {
			want["0.2"][rpc] = role
		}
	}
	for version, methods := range want {
		got := map[string]runtime.Role{}
		for _, op := range versionOf(version).Operations {
			got[op.RPC] = op.Role
			if op.Stream != (op.Role == runtime.RoleStream || op.Role == runtime.RoleSubscribe) {
				t.Errorf("%s %s: stream %v", version, op.RPC, op.Stream)
			}
		}
		if !reflect.DeepEqual(got, methods) {
			t.Errorf("%s: %v", version, got)
		}
	}
}

// at is a time for statuses.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestResultsInTheShapesOfTheVersion(t *testing.T) {
	p := Protocol()
	task := p.NewTask("t", "c", at)
	answer := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", ContextID: "c", TaskID: "t"}, Parts: []runtime.Part{{Kind: runtime.PartText, Text: "x"}}})
	waits := p.NewStatus("t", "c", runtime.StateAuthRequired, nil, at)
	chunk := p.NewArtifact("t", "c", runtime.ArtifactData{ID: "4", Append: true, Parts: []runtime.Part{{Kind: runtime.PartURL, URL: "u", MediaType: "a/b", Filename: "f"}}})
	push := &TaskPushNotificationConfig{ID: "p", TaskID: "t", URL: "u"}
	const (
		status  = `"status":{"state":"submitted","timestamp":"2026-01-02T03:04:05Z"}`
		message = `{"kind":"message","messageId":"m","contextId":"c","taskId":"t","role":"agent","parts":[{"kind":"text","text":"x"}]}`
	)
	tests := []struct {
		name, version string
		role          runtime.Role // none: a stream item
		value         any
		want          string
	}{
		{"task sent", "0.3", runtime.RoleSend, task, `{"kind":"task","id":"t","contextId":"c",` + status + `}`},
		{"message sent", "0.3", runtime.RoleSend, answer, message},
		{"task got", "0.2", runtime.RoleGet, task, `{"kind":"task","id":"t","contextId":"c",` + status + `}`},
		{"task streamed", "0.3", 0, task, `{"kind":"task","id":"t","contextId":"c",` + status + `}`},
		{"message streamed", "0.3", 0, answer, message},
		{"status that ends the stream", "0.3", 0, waits, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"auth-required","timestamp":"2026-01-02T03:04:05Z"},"final":true}`},
		{"status that does not", "0.3", 0, p.NewStatus("t", "c", runtime.StateWorking, nil, time.Time{}), `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}`},
		{"artifact streamed", "0.3", 0, chunk, `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"4","parts":[{"kind":"file","file":{"uri":"u","mimeType":"a/b","name":"f"}}]},"append":true}`},
		{"push configuration", "0.3", runtime.RolePushCreate, push, `{"taskId":"t","pushNotificationConfig":{"id":"p","url":"u"}}`},
		{"push configurations are a bare list", "0.3", runtime.RolePushList, &ListTaskPushNotificationConfigsResponse{Configs: []*TaskPushNotificationConfig{push}}, `[{"taskId":"t","pushNotificationConfig":{"id":"p","url":"u"}}]`},
		{"no push configurations", "0.2", runtime.RolePushList, &ListTaskPushNotificationConfigsResponse{}, `[]`},
		{"deleting gives null", "0.3", runtime.RolePushDelete, nil, `null`},

		{"0.1: task sent", "0.1", runtime.RoleSend, task, `{"id":"t","sessionId":"c",` + status + `}`},
		{"0.1: message sent is a completed task", "0.1", runtime.RoleSend, answer, `{"id":"t","sessionId":"c","status":{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"x"}]}}}`},
		{"0.1: task streamed is its status", "0.1", 0, task, `{"id":"t",` + status + `,"final":false}`},
		{"0.1: message streamed is a last status", "0.1", 0, answer, `{"final":true,"id":"t","status":{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"x"}]}}}`},
		{"0.1: waiting for credentials is waiting for input", "0.1", 0, waits, `{"id":"t","status":{"state":"input-required","timestamp":"2026-01-02T03:04:05Z"},"final":true}`},
		{"0.1: artifact streamed", "0.1", 0, chunk, `{"id":"t","artifact":{"parts":[{"type":"file","file":{"uri":"u","mimeType":"a/b","name":"f"}}],"index":4,"append":true}}`},
		{"0.1: push configuration", "0.1", runtime.RolePushCreate, push, `{"id":"t","pushNotificationConfig":{"url":"u"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := versionOf(tt.version)
			var got []byte
			var err error
			if tt.role == 0 {
				got, err = v.AppendEvent(nil, tt.value.(runtime.Event))
			} else {
				got, err = operationOf(v, tt.role).Append(nil, tt.value)
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

func TestRequestsOfAClient(t *testing.T) {
	p := Protocol()
	message := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", TaskID: "t", User: true}, Parts: []runtime.Part{{Kind: runtime.PartText, Text: "x"}}})
	send := func(at bool) any { return p.NewSend(runtime.SendRequest{Message: message, ReturnImmediately: at}) }
	tests := []struct {
		name, version string
		role          runtime.Role
		request       any
		want          string
	}{
		{"blocking is written", "0.3", runtime.RoleSend, send(false), `{"message":{"kind":"message","messageId":"m","taskId":"t","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":true}}`},
		{"not blocking is written, for servers wait without a word", "0.3", runtime.RoleSend, send(true), `{"message":{"kind":"message","messageId":"m","taskId":"t","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":false}}`},
		{"get", "0.2", runtime.RoleGet, p.NewTaskRequest(runtime.RoleGet, runtime.TaskRequest{ID: "t"}), `{"id":"t"}`},
		{"get push configuration", "0.3", runtime.RolePushGet, &GetTaskPushNotificationConfigRequest{TaskID: "t", ID: "p"}, `{"id":"t","pushNotificationConfigId":"p"}`},
		{"0.1: send", "0.1", runtime.RoleSend, send(false), `{"id":"t","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := operationOf(versionOf(tt.version), tt.role).AppendRequest(nil, tt.request)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

func TestDecodedRequestsAreTheSameNeutralOnes(t *testing.T) {
	req, err := operationOf(versionOf("0.3"), runtime.RoleSend).Decode([]byte(`{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"acceptedOutputModes":["a/b"],"historyLength":0,"pushNotificationConfig":{"url":"u"}},"metadata":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	send := req.(*runtime.SendRequest)
	if !send.ReturnImmediately || send.Push == nil || send.Push.URL != "u" || *send.HistoryLength != 0 || send.AcceptedOutputModes[0] != "a/b" || string(send.Metadata) != `{"a":1}` || !send.Message.MessageInfo().User {
		t.Errorf("%+v", send)
	}
	req, err = operationOf(versionOf("0.1"), runtime.RoleSend).Decode([]byte(`{"id":"t","sessionId":"s","message":{"role":"user","parts":[{"type":"text","text":"x"}]},"historyLength":3,"pushNotification":{"url":"u"}}`))
	if err != nil {
		t.Fatal(err)
	}
	send = req.(*runtime.SendRequest)
	if info := send.Message.MessageInfo(); info.TaskID != "t" || info.ContextID != "s" || send.ReturnImmediately || send.Push == nil || send.Push.URL != "u" || *send.HistoryLength != 3 {
		t.Errorf("%+v %+v", send, info)
	}
	for _, version := range []string{"0.3", "0.2", "0.1"} {
		req, err := operationOf(versionOf(version), runtime.RoleGet).Decode([]byte(`{"id":"t","historyLength":2}`))
		if err != nil {
			t.Fatal(err)
		}
		if get := req.(*runtime.TaskRequest); get.ID != "t" || *get.HistoryLength != 2 {
			t.Errorf("%+v", get)
		}
	}
}
