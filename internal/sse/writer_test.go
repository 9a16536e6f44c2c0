package sse

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendFrames(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"event", AppendEvent(nil, "7", []byte(`{"a":1}`)), "id: 7\ndata: {\"a\":1}\n\n"},
		{"event without id", AppendEvent(nil, "", []byte("x")), "data: x\n\n"},
		{"empty data", AppendEvent(nil, "", nil), "data: \n\n"},
		{"data with line breaks", AppendEvent(nil, "", []byte("a\nb\rc\r\nd\n")), "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"},
		{"id that cannot be carried", AppendEvent(nil, "1\ndata: forged", []byte("x")), "data: x\n\n"},
		{"id with NUL", AppendEvent(nil, "1\x00", []byte("x")), "data: x\n\n"},
		{"sequence number", End(append(BeginSeq(nil, 18446744073709551615), "x"...)), "id: 18446744073709551615\ndata: x\n\n"},
		{"in place", End(append(BeginSeq(nil, 3), "{}"...)), "id: 3\ndata: {}\n\n"},
		{"in place without id", End(append(Begin(nil), "{}"...)), "data: {}\n\n"},
		{"heartbeat", AppendComment(nil, ""), ":\n\n"},
		{"comment", AppendComment(nil, "a\ndata: forged"), ": a\n: data: forged\n\n"},
		{"appends", AppendEvent([]byte("x"), "", nil), "xdata: \n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if string(tt.got) != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func FuzzWriterToReader(f *testing.F) {
	f.Add("1", []byte("a\nb"), "beat", []byte("\r\n x"))
	f.Add("", []byte(""), "", []byte("\uFEFF"))
	f.Add("9\x00", []byte("data: x"), "a\rb", []byte(":"))
	f.Fuzz(func(t *testing.T, id string, first []byte, comment string, second []byte) {
		var b []byte
		b = AppendEvent(b, id, first)
		b = AppendComment(b, comment)
		b = AppendEvent(b, "42", second)
		got2, err := readAll(NewReader(bytes.NewReader(b), 0))
		if err != nil {
			t.Fatal(err)
		}
		if !carries(id) {
			id = ""
		}
		lf := strings.NewReplacer("\r\n", "\n", "\r", "\n")
		want := []got{{ID: id, Data: lf.Replace(string(first))}, {ID: "42", Data: lf.Replace(string(second))}}
		if diff := cmp.Diff(want, got2); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func FuzzReaderIgnoresChunking(f *testing.F) {
	for _, tt := range framing {
		if len(tt.in) < 10_000 {
			f.Add([]byte(tt.in), uint8(1), uint16(0))
			f.Add([]byte(tt.in), uint8(5), uint16(12))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8, limit uint16) {
		whole, err1 := readAll(NewReader(bytes.NewReader(in), int(limit)))
		parts, err2 := readAll(NewReader(&chunked{b: bytes.Clone(in), n: int(chunk) + 1}, int(limit)))
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Errorf("reading by %d (-whole +parts):\n%s", chunk+1, diff)
		}
		if (err1 == nil) != (err2 == nil) {
			t.Errorf("reading by %d: %v, whole: %v", chunk+1, err2, err1)
		}
	})
}
