package a2awires

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// BenchmarkEvents writes and reads a task of 64 artifacts of 1 KB in every version.
func BenchmarkEvents(b *testing.B) {
	p := Protocol()
	task := p.NewTask("t", "c", at)
	for i := range 64 {
		err := task.Apply(p.NewArtifact("t", "c", runtime.ArtifactData{ID: fmt.Sprint(i), Parts: []runtime.Part{{Kind: runtime.PartText, Text: strings.Repeat("text ", 200)}}}))
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []oldCodec{taskCodec("0.3-protojson", protoJSON03), taskCodec("0.3-proto", protobuf03)} {
		benchDocument(b, c, task.Generated())
	}
	for _, v := range p.Versions {
		get := operationOf(v, runtime.RoleGet)
		src, err := get.Append(nil, task)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode/"+v.Name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := get.Append(src[:0], task); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode/"+v.Name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := get.Read(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// taskCodec is the codec of tasks among those of a wire, under the wire's name.
func taskCodec(wire string, codecs []oldCodec) oldCodec {
	i := slices.IndexFunc(codecs, func(c oldCodec) bool { return c.def == "Task" })
	c := codecs[i]
	c.def = wire
	return c
}

func benchDocument(b *testing.B, c oldCodec, x any) {
	src, err := c.append(nil, x)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode/"+c.def, func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		dst := slices.Clone(src)
		for b.Loop() {
			if _, err := c.append(dst[:0], x); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/"+c.def, func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.read(src); err != nil {
				b.Fatal(err)
			}
		}
	})
}
