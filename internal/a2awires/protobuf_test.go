package a2awires

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/internal/test/prototest"
	"github.com/a2agen/a2agen/runtime/wire"
)

func protoCodecOf[T any](def string, write func([]byte, *T) ([]byte, error), decode func([]byte, *T) error) oldCodec {
	return oldCodec{
		typ: reflect.TypeFor[T](), def: def,
		append: func(b []byte, x any) ([]byte, error) { return write(b, x.(*T)) },
		read: func(src []byte) (any, error) {
			x := new(T)
			return x, decode(src, x)
		},
	}
}

// protobuf03 are the types that travel by themselves as protobuf of 0.3.
var protobuf03 = []oldCodec{
	protoCodecOf("SendMessageRequest", codecSendMessageRequestV03Proto.Append, codecSendMessageRequestV03Proto.Unmarshal),
	protoCodecOf("SendMessageResponse", codecSendMessageResponseV03Proto.Append, codecSendMessageResponseV03Proto.Unmarshal),
	protoCodecOf("StreamResponse", codecStreamResponseV03Proto.Append, codecStreamResponseV03Proto.Unmarshal),
	protoCodecOf("Task", codecTaskV03Proto.Append, codecTaskV03Proto.Unmarshal),
	protoCodecOf("Message", codecMessageV03Proto.Append, codecMessageV03Proto.Unmarshal),
	protoCodecOf("GetTaskRequest", codecGetTaskRequestV03Proto.Append, codecGetTaskRequestV03Proto.Unmarshal),
	protoCodecOf("CancelTaskRequest", codecCancelTaskRequestV03Proto.Append, codecCancelTaskRequestV03Proto.Unmarshal),
	protoCodecOf("TaskSubscriptionRequest", codecSubscribeToTaskRequestV03Proto.Append, codecSubscribeToTaskRequestV03Proto.Unmarshal),
	protoCodecOf("TaskPushNotificationConfig", codecTaskPushNotificationConfigV03Proto.Append, codecTaskPushNotificationConfigV03Proto.Unmarshal),
	protoCodecOf("CreateTaskPushNotificationConfigRequest", codecTaskPushNotificationConfigV03ProtoCreateRequest.Append,
		codecTaskPushNotificationConfigV03ProtoCreateRequest.Unmarshal),
	protoCodecOf("GetTaskPushNotificationConfigRequest", codecGetTaskPushNotificationConfigRequestV03Proto.Append, codecGetTaskPushNotificationConfigRequestV03Proto.Unmarshal),
	protoCodecOf("ListTaskPushNotificationConfigRequest", codecListTaskPushNotificationConfigsRequestV03Proto.Append, codecListTaskPushNotificationConfigsRequestV03Proto.Unmarshal),
	protoCodecOf("ListTaskPushNotificationConfigResponse", codecListTaskPushNotificationConfigsResponseV03Proto.Append, codecListTaskPushNotificationConfigsResponseV03Proto.Unmarshal),
	protoCodecOf("DeleteTaskPushNotificationConfigRequest", codecDeleteTaskPushNotificationConfigRequestV03Proto.Append, codecDeleteTaskPushNotificationConfigRequestV03Proto.Unmarshal),
	protoCodecOf("AgentCard", codecAgentCardV03Proto.Append, codecAgentCardV03Proto.Unmarshal),
}

// TestModelThroughTheProtobufOf03 draws values of the hub: what is written is what peers would write byte for byte, and reads
// as the value minus the declared losses.
func TestModelThroughTheProtobufOf03(t *testing.T) {
	old = "0.3"
	for _, c := range protobuf03 {
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
				if err := proto.Unmarshal(src, m); err != nil {
					t.Fatalf("%x is refused: %v", src, err)
				}
				if theirs := deterministic(t, m); !bytes.Equal(theirs, src) {
					t.Fatalf("got  %x\nwant %x\n%v", src, theirs, m)
				}
				y, err := c.read(src)
				if err != nil {
					t.Fatalf("decode %x: %v", src, err)
				}
				each(reflect.ValueOf(x), lose03Proto)
				each(reflect.ValueOf(x), doubles)
				each(reflect.ValueOf(y), doubles)
				if diff := cmp.Diff(x, y, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("came back different:\n%s", diff)
				}
			})
		})
	}
}

// TestPeersProtobufOf03ThroughTheModel draws messages of the proto: read and written again they are the same bytes.
func TestPeersProtobufOf03ThroughTheModel(t *testing.T) {
	for _, c := range protobuf03 {
		d := message03(t, c.def)
		t.Run(c.def, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := prototest.Random(t, d)
				proper(m)
				filesAsText(m)
				if f := d.Fields().ByName("configuration"); f != nil {
					m.Mutable(f) // what is not there is written empty
				}
				src := deterministic(t, m)
				x, err := c.read(src)
				if err != nil {
					t.Fatalf("decode %v: %v", m, err)
				}
				if ours, err := c.append(nil, x); err != nil || !bytes.Equal(ours, src) {
					t.Fatalf("got  %x\nwant %x (%v)", ours, src, err)
				}
			})
		})
	}
}

// filesAsText makes the content of files base64, as most peers have it in protobuf.
func filesAsText(m protoreflect.Message) {
	if f := m.Descriptor().Fields().ByName("file_with_bytes"); f != nil && m.Has(f) {
		m.Set(f, protoreflect.ValueOfBytes([]byte(base64.StdEncoding.EncodeToString(m.Get(f).Bytes()))))
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				filesAsText(v.List().Get(i).Message())
			}
		default:
			filesAsText(v.Message())
		}
		return true
	})
}

// deterministic is what google.golang.org/protobuf writes for m.
func deterministic(t rapid.TB, m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// doubles brings raw JSON in x to the form that protobuf leaves it in.
func doubles(x any) {
	v := reflect.ValueOf(x).Elem()
	for i := range v.NumField() {
		if raw, ok := v.Field(i).Interface().(wire.Object); ok && len(raw) > 0 {
			v.Field(i).SetBytes(canonicalJSON(raw))
		}
	}
	if p, ok := x.(*Part); ok {
		if data, ok := p.Content.(PartData); ok {
			p.Content = PartData(canonicalJSON(data))
		}
	}
}

func canonicalJSON(raw []byte) []byte {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// FuzzProtobufOf03: reading never panics, and what is read and can be written is then written the same for ever.
func FuzzProtobufOf03(f *testing.F) {
	for _, tt := range dialect03 { // the same values in protobuf
		for _, c := range protobuf03 {
			if c.def == tt.def {
				b, err := c.append(nil, tt.hub)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(b)
			}
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, c := range protobuf03 {
			x, err := c.read(src)
			if err != nil {
				continue
			}
			once, err := c.append(nil, x)
			if err != nil {
				continue // such as a list that lacks elements
			}
			y, err := c.read(once)
			if err != nil {
				t.Fatalf("%s: %x was written as %x, which is refused: %v", c.def, src, once, err)
			}
			twice, err := c.append(nil, y)
			if err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%s: %x was written as %x and then as %x (%v)", c.def, src, once, twice, err)
			}
		}
	})
}
