package a2awires

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/internal/test/prototest"
)

// protoJSON03 are the types that travel by themselves as ProtoJSON of 0.3; def is their message in its proto.
var protoJSON03 = []oldCodec{
	codecOf("SendMessageRequest", codecSendMessageRequestV03ProtoJSON.Append, codecSendMessageRequestV03ProtoJSON.Read),
	codecOf("SendMessageResponse", codecSendMessageResponseV03ProtoJSON.Append, codecSendMessageResponseV03ProtoJSON.Read),
	codecOf("StreamResponse", codecStreamResponseV03ProtoJSON.Append, codecStreamResponseV03ProtoJSON.Read),
	codecOf("Task", codecTaskV03ProtoJSON.Append, codecTaskV03ProtoJSON.Read),
	codecOf("Message", codecMessageV03ProtoJSON.Append, codecMessageV03ProtoJSON.Read),
	codecOf("Part", codecPartV03ProtoJSON.Append, codecPartV03ProtoJSON.Read),
	codecOf("Artifact", codecArtifactV03ProtoJSON.Append, codecArtifactV03ProtoJSON.Read),
	codecOf("GetTaskRequest", codecGetTaskRequestV03ProtoJSON.Append, codecGetTaskRequestV03ProtoJSON.Read),
	codecOf("CancelTaskRequest", codecCancelTaskRequestV03ProtoJSON.Append, codecCancelTaskRequestV03ProtoJSON.Read),
	codecOf("TaskSubscriptionRequest", codecSubscribeToTaskRequestV03ProtoJSON.Append, codecSubscribeToTaskRequestV03ProtoJSON.Read),
	codecOf("TaskPushNotificationConfig", codecTaskPushNotificationConfigV03ProtoJSON.Append, codecTaskPushNotificationConfigV03ProtoJSON.Read),
	codecOf("CreateTaskPushNotificationConfigRequest", codecTaskPushNotificationConfigV03ProtoJSONCreateRequest.Append,
		codecTaskPushNotificationConfigV03ProtoJSONCreateRequest.Read),
	codecOf("GetTaskPushNotificationConfigRequest", codecGetTaskPushNotificationConfigRequestV03ProtoJSON.Append, codecGetTaskPushNotificationConfigRequestV03ProtoJSON.Read),
	codecOf("ListTaskPushNotificationConfigRequest", codecListTaskPushNotificationConfigsRequestV03ProtoJSON.Append, codecListTaskPushNotificationConfigsRequestV03ProtoJSON.Read),
	codecOf("ListTaskPushNotificationConfigResponse", codecListTaskPushNotificationConfigsResponseV03ProtoJSON.Append, codecListTaskPushNotificationConfigsResponseV03ProtoJSON.Read),
	codecOf("DeleteTaskPushNotificationConfigRequest", codecDeleteTaskPushNotificationConfigRequestV03ProtoJSON.Append, codecDeleteTaskPushNotificationConfigRequestV03ProtoJSON.Read),
	codecOf("GetAgentCardRequest", codecGetExtendedAgentCardRequestV03ProtoJSON.Append, codecGetExtendedAgentCardRequestV03ProtoJSON.Read),
	codecOf("AgentCard", codecAgentCardV03ProtoJSON.Append, codecAgentCardV03ProtoJSON.Read),
}

// proto03 compiles the shipped proto of 0.3, as it is and with the two fields that the SDKs of 0.3 have beyond it.
var proto03 = sync.OnceValue(func() (files struct {
	tagged, sdk protoreflect.FileDescriptor
	err         error
}) {
	src, err := os.ReadFile(filepath.Join("..", "..", "spec", "v0.3", "a2a.proto"))
	if err != nil {
		files.err = err
		return files
	}
	if files.tagged, files.err = prototest.Compile(string(src)); files.err != nil {
		return files
	}
	more := strings.NewReplacer("  string mime_type = 3;\n", "  string mime_type = 3;\n  string name = 4;\n",
		"message Part {\n", "message Part {\n  google.protobuf.Struct metadata = 4;\n")
	files.sdk, files.err = prototest.Compile(more.Replace(string(src)))
	return files
})

func message03(t testing.TB, name string) protoreflect.MessageDescriptor {
	t.Helper()
	files := proto03()
	if files.err != nil {
		t.Fatal(files.err)
	}
	return files.sdk.Messages().ByName(protoreflect.Name(name))
}

// TestModelThroughTheProtoJSONOf03 draws values of the hub: peers take what is written and would write it the same, and it
// reads as the value minus the declared losses.
func TestModelThroughTheProtoJSONOf03(t *testing.T) {
	old = "0.3"
	for _, c := range protoJSON03 {
		d := message03(t, c.def)
		t.Run(c.def, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				x := random(t, c.typ, "").Addr().Interface()
				each(reflect.ValueOf(x), numberedOnly)
				src, err := c.append(nil, x)
				if err != nil {
					t.Fatalf("encode %+v: %v", x, err)
				}
				m := dynamicpb.NewMessage(d)
				if err := protojson.Unmarshal(src, m); err != nil {
					t.Fatalf("%s is refused: %v", src, err)
				}
				theirs, err := protojson.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(loosely(t, theirs), loosely(t, src)); diff != "" {
					t.Fatalf("peers would write it differently:\n%s", diff)
				}
				y, err := c.read(src)
				if err != nil {
					t.Fatalf("decode %s: %v", src, err)
				}
				each(reflect.ValueOf(x), lose03Proto)
				if c.def == "Part" {
					losePart(x.(*Part))
				}
				if !reflect.DeepEqual(x, y) {
					t.Fatalf("%s came back different:\n%s", src, cmp.Diff(x, y))
				}
			})
		})
	}
}

// TestPeersProtoJSONOf03ThroughTheModel draws messages of the proto: read and written again they mean the same to peers.
func TestPeersProtoJSONOf03ThroughTheModel(t *testing.T) {
	for _, c := range protoJSON03 {
		d := message03(t, c.def)
		t.Run(c.def, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := prototest.Random(t, d)
				proper(m)
				filesAsText(m)
				if f := d.Fields().ByName("configuration"); f != nil {
					m.Mutable(f) // what is not there is written, so that peers wait
				}
				src, err := protojson.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				x, err := c.read(src)
				if err != nil {
					t.Fatalf("decode %s: %v", src, err)
				}
				ours, err := c.append(nil, x)
				if err != nil {
					t.Fatalf("encode %+v: %v", x, err)
				}
				back := dynamicpb.NewMessage(d)
				if err := protojson.Unmarshal(ours, back); err != nil {
					t.Fatalf("%s is refused: %v", ours, err)
				}
				if !proto.Equal(m, back) {
					t.Fatalf("got  %s\nwant %s", ours, src)
				}
			})
		})
	}
}

// loosely is src with all numbers as doubles, as protobuf has those in a Struct.
func loosely(t rapid.TB, src []byte) (v any) {
	if err := json.Unmarshal(src, &v); err != nil {
		t.Fatalf("%v: %s", err, src)
	}
	return v
}

// each calls f with all pointers to structs in v, outer ones first.
func each(v reflect.Value, f func(any)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
			f(v.Interface())
		}
		each(v.Elem(), f)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				each(v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			each(v.MapIndex(k), f)
		}
	}
}

// numberedOnly makes of an enum value that is known by name only, which no peer has sent, one that is known by number only.
func numberedOnly(x any) {
	switch x := x.(type) {
	case *TaskStatus:
		if strings.HasSuffix(string(x.State), "_NEW") {
			x.State = "43"
		}
	case *Message:
		if strings.HasSuffix(string(x.Role), "_NEW") {
			x.Role = "43"
		}
	}
}

// unlessZero is p, or nil where it points to a zero value, which the wire does not tell from nothing.
func unlessZero[T comparable](p *T) *T {
	var zero T
	if p != nil && *p == zero {
		return nil
	}
	return p
}

// lose03Proto takes out of x what the wire is declared to lose on writing.
func lose03Proto(x any) {
	switch x := x.(type) {
	case *Message:
		x.ReferenceTaskIDs = nil
	case *Part:
		losePart(x)
	case *SendMessageRequest:
		if x.Configuration == nil {
			x.Configuration = &SendMessageConfiguration{}
		}
		if push := x.Configuration.TaskPushNotificationConfig; push != nil {
			push.TaskID = ""
		}
	case *SendMessageConfiguration:
		x.HistoryLength = unlessZero(x.HistoryLength)
	case *GetTaskRequest:
		x.HistoryLength = unlessZero(x.HistoryLength)
	case *CancelTaskRequest:
		x.Metadata = nil
	case *AuthorizationCodeOAuthFlow:
		x.PKCERequired = false
	case *OAuthFlows:
		switch x.Flow.(type) {
		case *DeviceCodeOAuthFlow, *UnknownOAuthFlow:
			x.Flow = nil
		}
	case *SecurityScheme:
		if _, unknown := x.Scheme.(*UnknownSecuritySchemeKind); unknown {
			x.Scheme = nil
		}
	case *AgentCapabilities:
		x.Streaming, x.PushNotifications, x.ExtendedAgentCard = unlessZero(x.Streaming), unlessZero(x.PushNotifications), unlessZero(x.ExtendedAgentCard)
	case *AgentCard:
		x.DocumentationURL, x.IconURL = unlessZero(x.DocumentationURL), nil
		schemes, signatures := x.SecuritySchemes, x.Signatures
		x.SecuritySchemes = nil
		loseCard("0.3", x) // interfaces
		x.SecuritySchemes, x.Signatures = schemes, signatures
	}
	if f := reflect.ValueOf(x).Elem().FieldByName("Tenant"); f.IsValid() {
		f.SetString("")
	}
}

// proper makes of a random message of the proto one that means something, and that holds nothing that is declared to be lost.
func proper(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { proper(v.Message()); return true })
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				proper(v.List().Get(i).Message())
			}
		case f.Message() != nil && !f.IsMap():
			proper(v.Message())
		}
		return true
	})
	field := m.Descriptor().Fields().ByName
	text := func(name protoreflect.Name, value string) { m.Set(field(name), protoreflect.ValueOfString(value)) }
	const config = "tasks/t-1/pushNotificationConfigs/c-1"
	switch m.Descriptor().Name() {
	case "GetTaskRequest", "CancelTaskRequest", "TaskSubscriptionRequest":
		text("name", "tasks/t-1")
	case "ListTaskPushNotificationConfigRequest":
		text("parent", "tasks/t-1")
	case "GetTaskPushNotificationConfigRequest", "DeleteTaskPushNotificationConfigRequest":
		text("name", config)
	case "TaskPushNotificationConfig":
		text("name", config)
		inner := m.Mutable(field("push_notification_config")).Message()
		inner.Set(inner.Descriptor().Fields().ByName("id"), protoreflect.ValueOfString("c-1"))
	case "CreateTaskPushNotificationConfigRequest":
		text("parent", "tasks/t-1")
		text("config_id", "c-1")
	case "DataPart":
		m.Mutable(field("data"))
	case "AuthenticationInfo":
		if list := m.Mutable(field("schemes")).List(); list.Len() > 0 {
			list.Truncate(1)
			list.Set(0, protoreflect.ValueOfString("Bearer"))
		}
	case "SendMessageRequest":
		if f := field("configuration"); m.Has(f) && proto.Size(m.Get(f).Message().Interface()) == 0 {
			m.Clear(f)
		}
	case "TaskStatusUpdateEvent":
		status := m.Get(field("status")).Message()
		state := status.Get(status.Descriptor().Fields().ByName("state")).Enum()
		m.Set(field("final"), protoreflect.ValueOfBool(state >= 3 && state <= 8))
	case "AgentCard":
		text("url", "https://example.com/")
		text("preferred_transport", "JSONRPC")
		text("protocol_version", "0.3.0")
		if list := m.Mutable(field("additional_interfaces")).List(); list.Len() > 0 {
			list.Truncate(0)
			for _, i := range [][2]string{{"https://example.com/", "JSONRPC"}, {"https://example.com/grpc", "GRPC"}} {
				one := list.AppendMutable().Message()
				one.Set(one.Descriptor().Fields().ByName("url"), protoreflect.ValueOfString(i[0]))
				one.Set(one.Descriptor().Fields().ByName("transport"), protoreflect.ValueOfString(i[1]))
			}
		}
		if m.Get(field("supports_authenticated_extended_card")).Bool() {
			m.Mutable(field("capabilities"))
		}
	}
}

// FuzzProtoJSONOf03: reading never panics, and what is read and can be written is then written the same for ever.
func FuzzProtoJSONOf03(f *testing.F) {
	for _, tt := range dialect03 {
		f.Add([]byte(tt.wire))
	}
	for _, seed := range []string{`{}`, `[`, `null`, `"x"`, `{"video":{"uri":"x"}}`, `{"file":{"file_with_uri":"u","name":"n"},"metadata":{"a":1}}`, `{"name":"t"}`, `{"name":"/pushNotificationConfigs","pushNotificationConfig":{}}`,
		`{"task":{"status":{"state":5}}}`, `{"request":{"content":[{"text":"x"}],"role":2},"configuration":{"blocking":false,"historyLength":0}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, c := range protoJSON03 {
			x, err := c.read(src)
			if err != nil {
				continue
			}
			once, err := c.append(nil, x)
			if err != nil {
				continue // such as a status update without a status
			}
			y, err := c.read(once)
			if err != nil {
				t.Fatalf("%s: %s was written as %s, which is refused: %v", c.def, src, once, err)
			}
			twice, err := c.append(nil, y)
			if err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%s: %s was written as %s and then as %s (%v)", c.def, src, once, twice, err)
			}
		}
	})
}
