package a2a_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/a2a"
)

// message is what every generated message does.
type message interface {
	AppendJSON([]byte) ([]byte, error)
	UnmarshalJSON([]byte) error
}

// roots are the messages that between them hold all others.
var roots = map[string]message{
	"SendMessageRequest": &a2a.SendMessageRequest{}, "SendMessageResponse": &a2a.SendMessageResponse{}, "StreamResponse": &a2a.StreamResponse{},
	"Task": &a2a.Task{}, "Message": &a2a.Message{}, "Part": &a2a.Part{}, "Artifact": &a2a.Artifact{}, "AgentCard": &a2a.AgentCard{},
	"GetTaskRequest": &a2a.GetTaskRequest{}, "ListTasksRequest": &a2a.ListTasksRequest{}, "ListTasksResponse": &a2a.ListTasksResponse{},
	"CancelTaskRequest": &a2a.CancelTaskRequest{}, "SubscribeToTaskRequest": &a2a.SubscribeToTaskRequest{},
	"TaskPushNotificationConfig":              &a2a.TaskPushNotificationConfig{},
	"GetTaskPushNotificationConfigRequest":    &a2a.GetTaskPushNotificationConfigRequest{},
	"ListTaskPushNotificationConfigsRequest":  &a2a.ListTaskPushNotificationConfigsRequest{},
	"ListTaskPushNotificationConfigsResponse": &a2a.ListTaskPushNotificationConfigsResponse{},
	"DeleteTaskPushNotificationConfigRequest": &a2a.DeleteTaskPushNotificationConfigRequest{},
	"GetExtendedAgentCardRequest":             &a2a.GetExtendedAgentCardRequest{},
	"AgentCardSignature":                      &a2a.AgentCardSignature{},
	"AgentCapabilities":                       &a2a.AgentCapabilities{},
	"TaskStatus":                              &a2a.TaskStatus{},
}

// fresh returns an empty message of the type of root.
func fresh(root message) message {
	return reflect.New(reflect.TypeOf(root).Elem()).Interface().(message)
}

func TestDecodeAfterEncodeIsIdentity(t *testing.T) {
	for name, root := range roots {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				x := random(t, reflect.TypeOf(root).Elem(), "").Addr().Interface().(message)
				src, err := x.AppendJSON(nil)
				if err != nil {
					t.Fatalf("encode %+v: %v", x, err)
				}
				if !json.Valid(src) {
					t.Fatalf("not JSON: %s", src)
				}
				y := fresh(root)
				if err := y.UnmarshalJSON(src); err != nil {
					t.Fatalf("decode %s: %v", src, err)
				}
				if !reflect.DeepEqual(x, y) {
					t.Fatalf("%s came back different:\n%s", src, cmp.Diff(x, y))
				}
			})
		})
	}
}

// checkStable checks what holds for any source: reading never panics, and what is read can be written and is then read
// as the same again.
func checkStable(t *testing.T, root message, src []byte) {
	x := fresh(root)
	if x.UnmarshalJSON(src) != nil {
		return
	}
	written, err := x.AppendJSON(nil)
	if err != nil {
		t.Fatalf("%T %s was read but cannot be written: %v", root, src, err)
	}
	y := fresh(root)
	if err := y.UnmarshalJSON(written); err != nil {
		t.Fatalf("%T %s was written as %s, which is refused: %v", root, src, written, err)
	}
	if !reflect.DeepEqual(x, y) {
		t.Fatalf("%T %s came back different as %s:\n%s", root, src, written, cmp.Diff(x, y))
	}
}

// seeds reach every kind of member of the larger types.
var seeds = []string{
	`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":""},{"raw":"_-8"},{"url":"u"},{"data":null}],"reference_task_ids":["a"]},"configuration":{"historyLength":"1e1"}}`,
	`{"task":{"id":"t","status":{"state":3,"timestamp":"2026-01-01T00:00:00.5+02:00"},"artifacts":[{"artifactId":"a","parts":[{"future":{"x":1}}]}]}}`,
	`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_NEW"},"metadata":{"n":9007199254740993}}}`,
	`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":false}}`,
	`{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":"7"}`,
	`{"name":"n","description":"","version":"1","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":false},` +
		`"defaultInputModes":[],"defaultOutputModes":[],"skills":[],"securitySchemes":{"s":{"oauth2SecurityScheme":{"flows":{"implicit":{"scopes":{"a":"b"}}}}}}}`,
	`{"text":"x","mediaType":"text/plain","unknown":[{"a":1,"a":2}]}`, `{"text":"x","url":"y"}`, `{"id":"a","id":"b"}`, `{}`, `[]`, `null`, `{"a":`,
}

func FuzzDecode(f *testing.F) {
	for _, src := range seeds {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, root := range roots {
			checkStable(t, root, src)
		}
	})
}
