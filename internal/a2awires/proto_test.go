package a2awires

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/internal/test/prototest"
	"github.com/a2agen/a2agen/runtime/wire"
)

// protoMessage is a message with all of its wires.
type protoMessage interface {
	AppendJSON([]byte) ([]byte, error)
	json.Unmarshaler
	AppendProto([]byte) ([]byte, error)
	UnmarshalProto([]byte) error
}

// newMessages make the messages that travel by themselves, and those with every kind of field.
var newMessages = map[protoreflect.Name]func() protoMessage{
	"Task": func() protoMessage { return new(Task) }, "Message": func() protoMessage { return new(Message) },
	"AgentCard": func() protoMessage { return new(AgentCard) }, "StreamResponse": func() protoMessage { return new(StreamResponse) },
	"SendMessageRequest": func() protoMessage { return new(SendMessageRequest) }, "SendMessageResponse": func() protoMessage { return new(SendMessageResponse) },
	"ListTasksRequest": func() protoMessage { return new(ListTasksRequest) }, "ListTasksResponse": func() protoMessage { return new(ListTasksResponse) },
	"TaskPushNotificationConfig": func() protoMessage { return new(TaskPushNotificationConfig) }, "SecurityScheme": func() protoMessage { return new(SecurityScheme) },
	"GetTaskRequest": func() protoMessage { return new(GetTaskRequest) }, "CancelTaskRequest": func() protoMessage { return new(CancelTaskRequest) },
	"ListTaskPushNotificationConfigsRequest": func() protoMessage { return new(ListTaskPushNotificationConfigsRequest) },
}

// shipped compiles the definition once.
var shipped = sync.OnceValues(func() (protoreflect.FileDescriptor, error) {
	src, err := os.ReadFile(filepath.Join("..", "..", "spec", "v1.0", "a2a.proto"))
	if err != nil {
		return nil, err
	}
	return prototest.Compile(string(src))
})

func descriptor(t testing.TB, name protoreflect.Name) protoreflect.MessageDescriptor {
	t.Helper()
	file, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().ByName(name)
}

// canonical is what google.golang.org/protobuf writes for m.
func canonical(t rapid.TB, m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func eachMessage(t *testing.T, check func(t *rapid.T, d protoreflect.MessageDescriptor, x protoMessage)) {
	for name, create := range newMessages {
		d := descriptor(t, name)
		t.Run(string(name), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { check(t, d, create()) })
		})
	}
}

func TestProtoIsReadAndWrittenByteForByteAsByGoogle(t *testing.T) {
	eachMessage(t, func(t *rapid.T, d protoreflect.MessageDescriptor, x protoMessage) {
		want := canonical(t, prototest.Random(t, d))
		if err := x.UnmarshalProto(want); err != nil {
			t.Fatal(err)
		}
		got, err := x.AppendProto([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Fatalf("got  %x\nwant %x", got[len("before"):], want)
		}
	})
}

func TestProtoAndJSONSayTheSame(t *testing.T) {
	eachMessage(t, func(t *rapid.T, d protoreflect.MessageDescriptor, x protoMessage) {
		theirs := prototest.Random(t, d)
		want := canonical(t, theirs)
		text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(theirs) // we ask for what is required
		if err != nil {
			t.Fatal(err)
		}
		if err := x.UnmarshalJSON(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := x.AppendProto(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("their JSON, our protobuf: got %x\nwant %x", got, want)
		}
		if err := x.UnmarshalProto(want); err != nil {
			t.Fatal(err)
		}
		ours, err := x.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		back := dynamicpb.NewMessage(d)
		if err := protojson.Unmarshal(ours, back); err != nil {
			t.Fatalf("%s: %v", ours, err)
		}
		if got := canonical(t, back); !bytes.Equal(got, want) {
			t.Fatalf("our JSON %s: got %x\nwant %x", ours, got, want)
		}
	})
}

// travels makes of what no other protobuf peer could have sent something that one could: enum values by number, and an
// alternative that is a field of a number.
func travels(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			travels(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				travels(v.Index(i))
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			travels(v.MapIndex(key))
		}
	case reflect.String:
		if strings.HasSuffix(v.String(), "_NEW") && v.CanSet() {
			v.SetString("42")
		}
	case reflect.Struct:
		if strings.HasPrefix(v.Type().Name(), "Unknown") {
			v.Field(0).SetString("99")
			v.Field(1).SetBytes([]byte(`"mAYB"`)) // field 99, varint 1
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				travels(v.Field(i))
			}
		}
	}
}

func TestWhatWeHaveTravelsThroughProtobuf(t *testing.T) {
	old = newest
	eachMessage(t, func(t *rapid.T, d protoreflect.MessageDescriptor, x protoMessage) {
		v := reflect.ValueOf(x).Elem()
		v.Set(random(t, v.Type(), ""))
		travels(v)
		first, err := x.AppendProto(nil)
		if err != nil {
			t.Fatal(err)
		}
		theirs := dynamicpb.NewMessage(d)
		if err := proto.Unmarshal(first, theirs); err != nil {
			t.Fatal(err)
		}
		if want := canonical(t, theirs); !bytes.Equal(first, want) {
			t.Fatalf("got  %x\nwant %x", first, want)
		}
		y := newMessages[d.Name()]()
		if err := y.UnmarshalProto(first); err != nil {
			t.Fatal(err)
		}
		second, err := y.AppendProto(nil)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v: got %x\nwant %x", err, second, first)
		}
	})
}

func wireError(t *testing.T, err error) *wire.Error {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *wire.Error", err)
	}
	return e
}
