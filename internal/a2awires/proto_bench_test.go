package a2awires

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/runtime/wire"
)

// prose is ordinary text, as models write it: about 80 bytes a line.
const prose = "The route along the river takes two hours, and the view from the old bridge is fine\n"

// benchMessage is a message of about 1 KB: ids, text and a little data.
func benchMessage() *Message {
	return &Message{
		MessageID: "3f2c8a52-6a3e-4f0b-9a57-0b0c8e2d7f11", ContextID: "b7a1c9de-1111-4222-8333-444455556666",
		TaskID: "0d9f8e7c-aaaa-4bbb-8ccc-ddddeeeeffff", Role: RoleUser,
		Parts: []*Part{
			{Content: PartText(strings.Repeat(prose, 6))},
			{Content: PartData(`{"city":"Porto","days":3,"units":"metric"}`), MediaType: "application/json"},
		},
		Metadata: wire.Object(`{"https://example.com/ext/v1":{"skill":"forecast"}}`),
	}
}

// benchTask is a finished task of 64 artifacts, 1 KB of text each.
func benchTask() *Task {
	t := &Task{
		ID: "0d9f8e7c-aaaa-4bbb-8ccc-ddddeeeeffff", ContextID: "b7a1c9de-1111-4222-8333-444455556666",
		Status: &TaskStatus{State: TaskStateCompleted, Timestamp: time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)},
	}
	for i := range 64 {
		t.Artifacts = append(t.Artifacts, &Artifact{
			ArtifactID: fmt.Sprintf("artifact-%04d", i), Name: "part of the report",
			Parts: []*Part{{Content: PartText(strings.Repeat(prose, 12)), MediaType: "text/plain"}},
		})
	}
	return t
}

// benchFile is an artifact update with a file of 5 MB.
func benchFile() *Artifact {
	content := make([]byte, 5<<20)
	for i := range content {
		content[i] = byte(i * 31 >> 3)
	}
	return &Artifact{ArtifactID: "file-1", Parts: []*Part{{Content: PartRaw(content), Filename: "a.bin", MediaType: "application/octet-stream"}}}
}

// protoCase is one of these documents.
type protoCase struct {
	name    string
	message protoreflect.Name
	value   protoMessage
	empty   func() protoMessage
}

// dynamic is the document as google.golang.org/protobuf has it without generated code.
func (c *protoCase) dynamic(b *testing.B) proto.Message {
	src, err := c.value.AppendProto(nil)
	if err != nil {
		b.Fatal(err)
	}
	m := dynamicpb.NewMessage(descriptor(b, c.message))
	if err := proto.Unmarshal(src, m); err != nil {
		b.Fatal(err)
	}
	return m
}

var protoCases = []protoCase{
	{"Message1KB", "Message", benchMessage(), func() protoMessage { return new(Message) }},
	{"Task64Artifacts", "Task", benchTask(), func() protoMessage { return new(Task) }},
	{"File5MB", "Artifact", benchFile(), func() protoMessage { return new(Artifact) }},
}

func BenchmarkProtoEncode(b *testing.B) {
	for _, c := range protoCases {
		b.Run(c.name, func(b *testing.B) {
			dst, err := c.value.AppendProto(nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(dst)))
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = c.value.AppendProto(dst[:0])
			}
		})
		b.Run(c.name+"/dynamicpb", func(b *testing.B) {
			m := c.dynamic(b)
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = proto.MarshalOptions{}.MarshalAppend(dst[:0], m)
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}

func BenchmarkProtoDecode(b *testing.B) {
	for _, c := range protoCases {
		src, err := c.value.AppendProto(nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.empty().UnmarshalProto(src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/dynamicpb", func(b *testing.B) {
			d := descriptor(b, c.message)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := proto.Unmarshal(src, dynamicpb.NewMessage(d)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
