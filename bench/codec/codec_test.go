package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	peer "github.com/a2aproject/a2a-go/v2/a2a"
	pb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1/pbconv"
	"google.golang.org/protobuf/proto"

	"github.com/a2agen/a2agen/a2a"
)

// codec is one way to write and read a value of type T. encode appends to dst, because that is how servers write: into a
// buffer that they use again.
type codec[T any] struct {
	name   string
	encode func(dst []byte, v T) ([]byte, error)
	decode func(src []byte) (T, error)
}

// std is encoding/json on T, with the methods T may have: that is what the official SDK's server uses, too.
func std[T any](name string) codec[T] {
	return codec[T]{name,
		func(dst []byte, v T) ([]byte, error) {
			buf := bytes.NewBuffer(dst)
			err := json.NewEncoder(buf).Encode(v)
			return buf.Bytes(), err
		},
		func(src []byte) (v T, err error) { return v, json.Unmarshal(src, &v) },
	}
}

// emitted is what the emitted types of a2agen do by themselves, as our server calls them.
func emitted[T any, P interface {
	*T
	AppendJSON(dst []byte) ([]byte, error)
	UnmarshalJSON(src []byte) error
}]() codec[P] {
	return codec[P]{"a2agen",
		func(dst []byte, v P) ([]byte, error) { return v.AppendJSON(dst) },
		func(src []byte) (P, error) { v := P(new(T)); return v, v.UnmarshalJSON(src) },
	}
}

// peerProto is the official SDK's way over gRPC: conversion to generated messages, then protobuf, and back. Its server
// sends messages and tasks as stream responses.
func peerProto[T peer.Event]() codec[T] {
	return codec[T]{"a2a-go-proto",
		func(dst []byte, v T) ([]byte, error) {
			m, err := pbconv.ToProtoStreamResponse(v)
			if err != nil {
				return nil, err
			}
			return proto.MarshalOptions{}.MarshalAppend(dst, m)
		},
		func(src []byte) (v T, err error) {
			m := new(pb.StreamResponse)
			if err := proto.Unmarshal(src, m); err != nil {
				return v, err
			}
			ev, err := pbconv.FromProtoStreamResponse(m)
			if err != nil {
				return v, err
			}
			v, ok := ev.(T)
			if !ok {
				return v, fmt.Errorf("a %T came back", ev)
			}
			return v, nil
		},
	}
}

// source is a payload as JSON.
func source(tb testing.TB, v any) []byte {
	src, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

// value reads a payload as T, which starts from JSON for every codec.
func value[T any](tb testing.TB, src []byte) (v T) {
	if err := json.Unmarshal(src, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// bench measures a codec in both directions, and first shows that nothing of the payload gets lost. JSON is counted in
// bytes of JSON, protobuf in bytes of protobuf.
func bench[T any](b *testing.B, src []byte, c codec[T]) {
	v := value[T](b, src)
	wire, err := c.encode(nil, v)
	if err != nil {
		b.Fatal(err)
	}
	survives(b, src, wire, c)
	measure(b, c, v, wire)
}

// measure measures a codec in both directions, with a value and what it is on the wire.
func measure[T any](b *testing.B, c codec[T], v T, wire []byte) {
	b.Run("encode/"+c.name, func(b *testing.B) {
		b.SetBytes(int64(len(wire)))
		b.ReportAllocs()
		var buf []byte
		var err error
		for b.Loop() {
			if buf, err = c.encode(buf[:0], v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/"+c.name, func(b *testing.B) {
		b.SetBytes(int64(len(wire)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.decode(wire); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// survives checks that wire read back means the same as src.
func survives[T any](tb testing.TB, src, wire []byte, c codec[T]) {
	tb.Helper()
	back, err := c.decode(wire)
	if err != nil {
		tb.Fatal(err)
	}
	want, got := value[any](tb, src), value[any](tb, source(tb, back))
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s loses something (- sent, + came back):\n%.2000s", c.name, diff)
	}
}

func BenchmarkMessage1KB(b *testing.B)      { benchMessages(b, source(b, message())) }
func BenchmarkTask64Artifacts(b *testing.B) { benchTasks(b, source(b, task())) }
func BenchmarkFile5MB(b *testing.B)         { benchMessages(b, source(b, file())) }

func benchMessages(b *testing.B, src []byte) {
	bench(b, src, std[*plainMessage]("encoding-json"))
	bench(b, src, std[*peer.Message]("a2a-go"))
	bench(b, src, peerProto[*peer.Message]())
	bench(b, src, emitted[a2a.Message]())
}

func benchTasks(b *testing.B, src []byte) {
	bench(b, src, std[*plainTask]("encoding-json"))
	bench(b, src, std[*peer.Task]("a2a-go"))
	bench(b, src, peerProto[*peer.Task]())
	bench(b, src, emitted[a2a.Task]())
}

func TestNoCodecLosesAnything(t *testing.T) {
	for payload, src := range map[string][]byte{"message": source(t, message()), "file": source(t, file())} {
		check(t, payload, src, std[*plainMessage]("encoding-json"))
		check(t, payload, src, std[*peer.Message]("a2a-go"))
		check(t, payload, src, peerProto[*peer.Message]())
		check(t, payload, src, emitted[a2a.Message]())
	}
	src := source(t, task())
	check(t, "task", src, std[*plainTask]("encoding-json"))
	check(t, "task", src, std[*peer.Task]("a2a-go"))
	check(t, "task", src, peerProto[*peer.Task]())
	check(t, "task", src, emitted[a2a.Task]())
}

func check[T any](t *testing.T, payload string, src []byte, c codec[T]) {
	t.Run(payload+" by "+c.name, func(t *testing.T) {
		wire, err := c.encode(nil, value[T](t, src))
		if err != nil {
			t.Fatal(err)
		}
		survives(t, src, wire, c)
	})
}

func TestMessageIsOfAbout1KB(t *testing.T) {
	if n := len(source(t, message())); n < 950 || n > 1100 {
		t.Errorf("the message has %d bytes of JSON", n)
	}
}
