package a2awires

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/runtime/wire"
)

// dialect03 is the dialect of 0.3's REST peers word for word (T31, T43, T46, T50).
var dialect03 = []struct {
	name, def, wire string
	hub             any
	sdk             bool // only in the definition that the SDKs have
}{
	{name: "content, role and text", def: "Message", wire: `{"messageId":"m","role":"ROLE_USER","content":[{"text":""}]}`,
		hub: &Message{MessageID: "m", Role: RoleUser, Parts: []*Part{{Content: PartText("")}}}},
	{name: "file by address", def: "Part", wire: `{"file":{"fileWithUri":"https://example.com/a","mimeType":"text/csv"}}`,
		hub: &Part{Content: PartURL("https://example.com/a"), MediaType: "text/csv"}},
	{name: "file by content, with its name", def: "Part", wire: `{"file":{"fileWithBytes":"Ky84PQ==","mimeType":"a/b","name":"n"},"metadata":{"k":1}}`,
		hub: &Part{Content: PartRaw{0xfb, 0xff}, MediaType: "a/b", Filename: "n", Metadata: wire.Object(`{"k":1}`)}, sdk: true},
	{name: "data", def: "Part", wire: `{"data":{"data":{"a":[1]}}}`, hub: &Part{Content: PartData(`{"a":[1]}`)}},
	{name: "data that is no object", def: "Part", wire: `{"data":{"data":{"value":null}},"metadata":{"data_part_compat":true}}`, hub: &Part{Content: PartData("null")}, sdk: true},
	{name: "cancelled with two l", def: "Task", wire: `{"id":"t","status":{"state":"TASK_STATE_CANCELLED"}}`, hub: &Task{ID: "t", Status: &TaskStatus{State: TaskStateCanceled}}},
	{name: "configuration", def: "SendMessageRequest",
		wire: `{"message":{"role":"ROLE_USER","content":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["text/plain"],"pushNotification":{"id":"c","url":"https://example.com/","authentication":{"schemes":["Bearer"]}},"historyLength":2,"blocking":true}}`,
		hub: &SendMessageRequest{Message: &Message{Role: RoleUser, Parts: []*Part{{Content: PartText("x")}}}, Configuration: &SendMessageConfiguration{
			AcceptedOutputModes: []string{"text/plain"}, HistoryLength: new(int32(2)),
			TaskPushNotificationConfig: &TaskPushNotificationConfig{ID: "c", URL: "https://example.com/", Authentication: &AuthenticationInfo{Scheme: "Bearer"}},
		}}},
	{name: "a configuration that does not want to wait", def: "SendMessageRequest", wire: `{"message":{"content":[{"text":"x"}]},"configuration":{}}`,
		hub: &SendMessageRequest{Message: &Message{Parts: []*Part{{Content: PartText("x")}}}, Configuration: &SendMessageConfiguration{ReturnImmediately: true}}},
	{name: "wrapped answer", def: "SendMessageResponse", wire: `{"message":{"role":"ROLE_AGENT","content":[{"text":"x"}]}}`,
		hub: &SendMessageResponse{Payload: &Message{Role: RoleAgent, Parts: []*Part{{Content: PartText("x")}}}}},
	{name: "wrapped event that ends the stream", def: "StreamResponse", wire: `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},"final":true}}`,
		hub: &StreamResponse{Payload: &TaskStatusUpdateEvent{TaskID: "t", ContextID: "c", Status: &TaskStatus{State: TaskStateCompleted}}}},
	{name: "name of a task", def: "GetTaskRequest", wire: `{"name":"tasks/t","historyLength":1}`, hub: &GetTaskRequest{ID: "t", HistoryLength: new(int32(1))}},
	{name: "name of a push config", def: "TaskPushNotificationConfig", wire: `{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://example.com/"}}`,
		hub: &TaskPushNotificationConfig{TaskID: "T", ID: "C", URL: "https://example.com/"}},
	{name: "creation of a push config", def: "CreateTaskPushNotificationConfigRequest",
		wire: `{"parent":"tasks/T","configId":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"u"}}}`,
		hub:  &TaskPushNotificationConfig{TaskID: "T", ID: "C", URL: "u"}},
	{name: "card with wrapped schemes", def: "AgentCard",
		wire: `{"name":"n","url":"https://example.com/","preferredTransport":"JSONRPC","protocolVersion":"0.3.0","version":"1","capabilities":{"streaming":true},"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X"}}},"security":[{"schemes":{"k":{"list":["s"]}}}],"supportsAuthenticatedExtendedCard":true}`,
		hub: &AgentCard{Name: "n", Version: "1", Capabilities: &AgentCapabilities{Streaming: new(true), ExtendedAgentCard: new(true)},
			SupportedInterfaces:  []*AgentInterface{{URL: "https://example.com/", ProtocolBinding: "JSONRPC", ProtocolVersion: "0.3"}},
			SecuritySchemes:      map[string]*SecurityScheme{"k": {Scheme: &APIKeySecurityScheme{Location: "header", Name: "X"}}},
			SecurityRequirements: []*SecurityRequirement{{Schemes: map[string]*StringList{"k": {List: []string{"s"}}}}}}},
}

func TestDialectOfRESTPeersOf03(t *testing.T) {
	for _, tt := range dialect03 {
		t.Run(tt.name, func(t *testing.T) {
			c := protoJSONCodec(t, tt.def)
			got, err := c.append(nil, tt.hub)
			if err != nil || string(got) != tt.wire {
				t.Errorf("wrote %s, want %s (%v)", got, tt.wire, err)
			}
			x, err := c.read([]byte(tt.wire))
			if err != nil || !reflect.DeepEqual(x, tt.hub) {
				t.Errorf("read %+v, want %+v (%v)", x, tt.hub, err)
			}
			if files := proto03(); !tt.sdk { // strict peers of the tagged definition take it
				if err := protojson.Unmarshal([]byte(tt.wire), dynamicpb.NewMessage(files.tagged.Messages().ByName(protoreflect.Name(tt.def)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func protoJSONCodec(t *testing.T, def string) oldCodec {
	t.Helper()
	for _, c := range protoJSON03 {
		if c.def == def {
			return c
		}
	}
	t.Fatalf("no codec of %s", def)
	return oldCodec{}
}

func TestProtoJSONOf03RefusesWhatIsMissingOrTwice(t *testing.T) {
	for _, tt := range []struct{ name, def, wire, want string }{
		{"no content", "Message", `{"role":"ROLE_USER"}`, "content: required, but missing"},
		{"empty content", "Message", `{"content":[]}`, "content: at least 1 needed"},
		{"no message", "SendMessageRequest", `{}`, "message: required, but missing"},
		{"two answers", "SendMessageResponse", `{"task":{"status":{}},"message":{"content":[{"text":"x"}]}}`, ""},
		{"two contents", "Part", `{"text":"x","data":{"data":{}}}`, ""},
		{"empty part", "Part", `{"metadata":{}}`, "a part needs its text, file or data"},
		{"empty file", "Part", `{"file":{"name":"n"}}`, ""},
		{"status of a text", "Task", `{"status":"x"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := protoJSONCodec(t, tt.def).read([]byte(tt.wire))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("read as %+v, %v", x, err)
			}
		})
	}
}
