package a2a_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/wire"
)

// prose is ordinary text, as models write it: about 80 bytes a line.
const prose = "The route along the river takes two hours, and the view from the old bridge is fine\n"

// benchMessage is a message of about 1 KB: ids, text and a little data.
func benchMessage() *a2a.Message {
	return &a2a.Message{
		MessageID: "3f2c8a52-6a3e-4f0b-9a57-0b0c8e2d7f11", ContextID: "b7a1c9de-1111-4222-8333-444455556666",
		TaskID: "0d9f8e7c-aaaa-4bbb-8ccc-ddddeeeeffff", Role: a2a.RoleUser,
		Parts: []*a2a.Part{
			{Content: a2a.PartText(strings.Repeat(prose, 6))},
			{Content: a2a.PartData(`{"city":"Porto","days":3,"units":"metric"}`), MediaType: "application/json"},
		},
		Metadata: wire.Object(`{"https://example.com/ext/v1":{"skill":"forecast"}}`),
	}
}

// benchTask is a finished task of 64 artifacts, 1 KB of text each.
func benchTask() *a2a.Task {
	t := &a2a.Task{
		ID: "0d9f8e7c-aaaa-4bbb-8ccc-ddddeeeeffff", ContextID: "b7a1c9de-1111-4222-8333-444455556666",
		Status: &a2a.TaskStatus{State: a2a.TaskStateCompleted, Timestamp: time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)},
	}
	for i := range 64 {
		t.Artifacts = append(t.Artifacts, &a2a.Artifact{
			ArtifactID: fmt.Sprintf("artifact-%04d", i), Name: "part of the report",
			Parts: []*a2a.Part{{Content: a2a.PartText(strings.Repeat(prose, 12)), MediaType: "text/plain"}},
		})
	}
	return t
}

// benchFile is an artifact update with a file of 5 MB.
func benchFile() *a2a.Artifact {
	content := make([]byte, 5<<20)
	for i := range content {
		content[i] = byte(i * 31 >> 3)
	}
	return &a2a.Artifact{ArtifactID: "file-1", Parts: []*a2a.Part{{Content: a2a.PartRaw(content), Filename: "a.bin", MediaType: "application/octet-stream"}}}
}

type encoder interface{ AppendJSON([]byte) ([]byte, error) }

func benchEncode(b *testing.B, x encoder) {
	dst, err := x.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = x.AppendJSON(dst[:0])
	}
}

func benchDecode[T any, P interface {
	*T
	encoder
	UnmarshalJSON([]byte) error
}](b *testing.B, x P) {
	src, err := x.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := P(new(T)).UnmarshalJSON(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeMessage1KB(b *testing.B)      { benchEncode(b, benchMessage()) }
func BenchmarkDecodeMessage1KB(b *testing.B)      { benchDecode(b, benchMessage()) }
func BenchmarkEncodeTask64Artifacts(b *testing.B) { benchEncode(b, benchTask()) }
func BenchmarkDecodeTask64Artifacts(b *testing.B) { benchDecode(b, benchTask()) }
func BenchmarkEncodeFile5MB(b *testing.B)         { benchEncode(b, benchFile()) }
func BenchmarkDecodeFile5MB(b *testing.B)         { benchDecode(b, benchFile()) }
