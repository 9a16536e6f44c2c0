package conform

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/internal/test/prototest"
	"github.com/a2agen/a2agen/spec"
)

// TestMessagesAreReadAndWrittenAsProtobufDoes compares with protobuf's own library, for random messages of every type.
func TestMessagesAreReadAndWrittenAsProtobufDoes(t *testing.T) {
	for _, version := range []string{"1.0", "0.3"} {
		types, def := protoMessages(t, version), definitionOf(version, true)
		for _, name := range []string{"SendMessageRequest", "StreamResponse", "AgentCard", "TaskPushNotificationConfig"} {
			d := types.ByName(protoreflect.Name(name))
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { holdsAgainst(t, def, prototest.Random(t, d)) })
			})
		}
	}
}

func holdsAgainst(t *rapid.T, def *definition, want *dynamicpb.Message) {
	name := string(want.Descriptor().Name())
	raw, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	read, err := def.decode(name, raw)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	got := dynamicpb.NewMessage(want.Descriptor())
	if err := protojson.Unmarshal(doc, got); err != nil || !proto.Equal(got, want) {
		t.Fatalf("read as %s: %v", doc, err)
	}
	written, err := def.encode(name, doc)
	if err != nil {
		t.Fatal(err)
	}
	again := dynamicpb.NewMessage(want.Descriptor())
	if err := proto.Unmarshal(written, again); err != nil || !proto.Equal(again, want) {
		t.Fatalf("%s was written as %x: %v", doc, written, err)
	}
}

func protoMessages(t *testing.T, version string) protoreflect.MessageDescriptors {
	doc, err := spec.ShippedProto(version)
	if err != nil {
		t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(doc.Descriptor, set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.FindFileByPath(set.File[len(set.File)-1].GetName())
	if err != nil {
		t.Fatal(err)
	}
	return f.Messages()
}

// TestNoMessageBreaksTheReader: whatever an agent sends is read or refused.
func TestNoMessageBreaksTheReader(t *testing.T) {
	def := definitionOf("1.0", true)
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		_, _ = def.decode("StreamResponse", raw)
	})
	deep := []byte{}
	for range 200 { // a value of structs in structs
		deep = appendBytes(nil, 5, appendBytes(nil, 1, appendBytes(appendBytes(nil, 1, []byte("a")), 2, deep)))
	}
	if _, err := def.decode("Part", appendBytes(nil, 4, deep)); err == nil {
		t.Error("a value nested 200 deep was read")
	}
}

func TestMessagesAreReadInLinearTime(t *testing.T) {
	def := definitionOf("1.0", true)
	growth.Linear(t, 2000, func(n int) func() {
		var raw []byte
		for range n {
			raw = appendBytes(raw, 5, appendBytes(nil, 1, []byte("m")))
		}
		return func() {
			if _, err := def.decode("Task", raw); err != nil {
				t.Error(err)
			}
		}
	})
}
