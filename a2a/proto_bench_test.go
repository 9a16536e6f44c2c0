package a2a_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/a2a"
)

// protoCase is a document of the JSON benchmarks.
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
	{"Message1KB", "Message", benchMessage(), func() protoMessage { return new(a2a.Message) }},
	{"Task64Artifacts", "Task", benchTask(), func() protoMessage { return new(a2a.Task) }},
	{"File5MB", "Artifact", benchFile(), func() protoMessage { return new(a2a.Artifact) }},
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
