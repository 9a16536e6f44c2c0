package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// got is an Event that outlives the reader.
type got struct {
	ID, Name, Data string
	Unfinished     bool
}

func readAll(r *Reader) ([]got, error) {
	var all []got
	for {
		e, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, got{string(e.ID), string(e.Name), string(e.Data), e.Unfinished})
	}
}

// framing are the rules of the WHATWG stream interpretation, and our one extension.
var framing = []struct {
	name, in string
	want     []got
	lastID   string
	retry    time.Duration
}{
	{name: "one event", in: "data: a\n\n", want: []got{{Data: "a"}}},
	{name: "line ends are CR", in: "data: a\rdata: b\r\r", want: []got{{Data: "a\nb"}}},
	{name: "line ends are CRLF", in: "data: a\r\ndata: b\r\n\r\n", want: []got{{Data: "a\nb"}}},
	{name: "line ends are mixed", in: "data: a\ndata: b\r\ndata: c\r\ndata: d\r\rdata: e\n\n", want: []got{{Data: "a\nb\nc\nd"}, {Data: "e"}}},
	{name: "LF then CR is two line ends", in: "data: a\n\rdata: b\n\n", want: []got{{Data: "a"}, {Data: "b"}}},
	{name: "leading byte order mark is dropped", in: "\uFEFFdata: a\n\n", want: []got{{Data: "a"}}},
	{name: "second byte order mark is not", in: "\uFEFF\uFEFFdata: a\n\ndata: b\n\n", want: []got{{Data: "b"}}},
	{name: "byte order mark later in the stream is not", in: "data: a\n\n\uFEFFdata: b\n\ndata: c\n\n", want: []got{{Data: "a"}, {Data: "c"}}},
	{name: "byte order mark before a blank line", in: "\uFEFF\ndata: a\n\n", want: []got{{Data: "a"}}},
	{name: "comments are ignored", in: ": x\n:\n:y\ndata: a\n: z\n\n", want: []got{{Data: "a"}}},
	{name: "comments alone are no event", in: ": x\n\n: y\n\n", want: nil},
	{name: "data lines join with LF", in: "data: a\ndata:b\ndata:\ndata: c\n\n", want: []got{{Data: "a\nb\n\nc"}}},
	{name: "only one space after the colon goes", in: "data:  a\n\ndata:a \n\ndata:\ta\n\n", want: []got{{Data: " a"}, {Data: "a "}, {Data: "\ta"}}},
	{name: "field without colon has empty value", in: "data\n\ndata\ndata\n\n", want: []got{{Data: ""}, {Data: "\n"}}},
	{name: "value may hold colons", in: "data: a:b: c\n\n", want: []got{{Data: "a:b: c"}}},
	{name: "unknown fields are ignored", in: "foo: x\n data: y\nData: z\ndata : w\ndata: a\n\n", want: []got{{Data: "a"}}},
	{name: "event name holds for one event", in: "event: x\ndata: a\n\ndata: b\n\n", want: []got{{Name: "x", Data: "a"}, {Data: "b"}}},
	{name: "last event name wins", in: "event: x\nevent: y\ndata: a\n\n", want: []got{{Name: "y", Data: "a"}}},
	{name: "event name without data is forgotten", in: "event: x\n\ndata: a\n\n", want: []got{{Data: "a"}}},
	{name: "event name between long data lines is kept", in: "data: a\nevent: name\ndata: " + strings.Repeat("b", 99) + "\n\n", want: []got{{Name: "name", Data: "a\n" + strings.Repeat("b", 99)}}},
	{name: "id stays until changed", in: "id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n", want: []got{{ID: "1", Data: "a"}, {ID: "1", Data: "b"}, {ID: "2", Data: "c"}}, lastID: "2"},
	{name: "empty id resets", in: "id: 1\ndata: a\n\nid\ndata: b\n\n", want: []got{{ID: "1", Data: "a"}, {Data: "b"}}},
	{name: "id with NUL is ignored", in: "id: 1\ndata: a\n\nid: 2\x003\ndata: b\n\n", want: []got{{ID: "1", Data: "a"}, {ID: "1", Data: "b"}}, lastID: "1"},
	{name: "id without data counts", in: "id: 7\n\n", lastID: "7"},
	{name: "id before the blank line does not count yet", in: "id: 1\ndata: a\n\nid: 2\n", want: []got{{ID: "1", Data: "a"}}, lastID: "1"},
	{name: "retry takes digits only", in: "retry: 1500\nretry: 2x\nretry: -1\nretry: +1\nretry:\nretry: 99999999999999999999\n\n", retry: 1500 * time.Millisecond},
	{name: "missing blank line at the end", in: "data: a\n\nid: 2\ndata: b\n", want: []got{{Data: "a"}, {ID: "2", Data: "b", Unfinished: true}}, lastID: "2"},
	{name: "missing line end at the end", in: "data: a\ndata: b", want: []got{{Data: "a\nb", Unfinished: true}}},
	{name: "missing blank line after CR", in: "data: a\r", want: []got{{Data: "a", Unfinished: true}}},
	{name: "only a byte order mark", in: "\uFEFF"},
	{name: "byte order mark and an unfinished event", in: "\uFEFFdata:a", want: []got{{Data: "a", Unfinished: true}}},
	{name: "empty stream", in: ""},
	{name: "lines longer than any buffer", in: "data: " + strings.Repeat("x", 300_000) + "\ndata: " + strings.Repeat("y", 100_000) + "\n\n", want: []got{{Data: strings.Repeat("x", 300_000) + "\n" + strings.Repeat("y", 100_000)}}},
}

func TestReaderFollowsTheStandard(t *testing.T) {
	for _, tt := range framing {
		for _, chunk := range []int{1, 2, 3, 7, 4096, 1 << 20} {
			if len(tt.in) > 10_000 && chunk < 4096 {
				continue
			}
			t.Run(fmt.Sprintf("%s/read by %d", tt.name, chunk), func(t *testing.T) {
				r := NewReader(&chunked{b: []byte(tt.in), n: chunk}, 0)
				events, err := readAll(r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, events); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if string(r.lastID) != tt.lastID {
					t.Errorf("last id %q, want %q", r.lastID, tt.lastID)
				}
				if r.Retry() != tt.retry {
					t.Errorf("retry %v, want %v", r.Retry(), tt.retry)
				}
			})
		}
	}
}

// chunked returns n bytes a read.
type chunked struct {
	b []byte
	n int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.b)
	c.b = c.b[n:]
	return n, nil
}

func TestReaderDeliversAnEventBeforeReadingOn(t *testing.T) {
	for name, in := range map[string]string{"LF": "data: a\n\n", "CR": "data: a\r\r", "CRLF up to the last CR": "data: a\r\n\r"} {
		t.Run(name, func(t *testing.T) {
			pr, pw := io.Pipe()
			defer pr.Close()
			go func() { _, _ = pw.Write([]byte(in)) }() // and the stream stays open
			e, err := NewReader(pr, 0).Next()
			if err != nil || string(e.Data) != "a" {
				t.Fatalf("got %q, %v", e.Data, err)
			}
		})
	}
}

func TestReaderRefusesTooLongEvents(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, in := range map[string]string{
		"line":           "data: a\n\ndata: " + long + long + "\n\n",
		"sum of lines":   "data: a\n\ndata: " + long + "\ndata: " + long + "\n\n",
		"without an end": "data: a\n\ndata: " + long + long,
		"comment":        "data: a\n\n:" + long + long,
	} {
		for _, chunk := range []int{1, 1 << 20} {
			t.Run(fmt.Sprintf("%s/read by %d", name, chunk), func(t *testing.T) {
				r := NewReader(&chunked{b: []byte(in), n: chunk}, 1500)
				events, err := readAll(r)
				if !errors.Is(err, ErrTooLong) || len(events) != 1 {
					t.Fatalf("got %d events and %v, want 1 and ErrTooLong", len(events), err)
				}
				if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
					t.Errorf("afterwards %v, want ErrTooLong again", err)
				}
			})
		}
	}
	t.Run("not many short ones", func(t *testing.T) {
		in := strings.Repeat(": beat\n\n", 1000) + strings.Repeat("data: a\n\n", 1000)
		if events, err := readAll(NewReader(strings.NewReader(in), 50)); err != nil || len(events) != 1000 {
			t.Fatalf("got %d events and %v", len(events), err)
		}
	})
}

// TestReaderEndsARowWithoutEvents: what is no event has a limit, too, which begins anew with every event.
func TestReaderEndsARowWithoutEvents(t *testing.T) {
	for name, noise := range map[string]string{"comments": ": x\n", "blank lines": "\n", "names": "event: x\n\n", "unknown fields": "x: y\n", "ids": "id: x\n"} {
		t.Run(name, func(t *testing.T) {
			const event, limit = "data: a\n\n", 2 << 20
			row := strings.Repeat(noise, (limit-100)/len(noise))
			r := NewReader(io.MultiReader(strings.NewReader(event+row+event+row+event), &endless{text: noise}), limit)
			events, err := readAll(r)
			if !errors.Is(err, ErrNoEvent) || len(events) != 3 {
				t.Fatalf("got %d events and %v, want 3 and ErrNoEvent", len(events), err)
			}
			if _, err := r.Next(); !errors.Is(err, ErrNoEvent) {
				t.Errorf("afterwards %v, want ErrNoEvent again", err)
			}
		})
	}
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}

func TestAnEventHasTheSizeOfWhatWasReadForIt(t *testing.T) {
	r := NewReader(strings.NewReader(": beat\n\nid: 1\r\ndata: a\r\n\r\ndata: b\n\n"), 0)
	for _, want := range []int{8 + 7 + 9 + 1, 1 + 7 + 2} { // whether the LF after a CR follows is known with the next line
		if e, err := r.Next(); err != nil || e.Size < want-1 || e.Size > want+1 {
			t.Errorf("%q has the size %d, %v, want about %d", e.Data, e.Size, err, want)
		}
	}
}

// TestReaderForgetsHugeIDs: an id is kept with every event after it, and goes into a header.
func TestReaderForgetsHugeIDs(t *testing.T) {
	r := NewReader(strings.NewReader("id: 1\ndata: a\n\nid: "+strings.Repeat("x", 1025)+"\ndata: b\n\ndata: c\n\nid: 2\ndata: d\n\n"), 0)
	for _, want := range []string{"a1", "b", "c", "d2"} {
		if e, err := r.Next(); err != nil || string(e.Data)+string(e.ID) != want {
			t.Errorf("got %s%s, %v, want %s", e.Data, e.ID, err, want)
		}
	}
}

func TestReaderPassesSourceErrors(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 0)
	events, err := readAll(r)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want the source's", err)
	}
	if diff := cmp.Diff([]got{{Data: "a"}}, events); diff != "" {
		t.Errorf("a cut event must not be delivered (-want +got):\n%s", diff)
	}
	if _, err := NewReader(stuck{}, 0).Next(); err != io.ErrNoProgress {
		t.Errorf("a source that reads nothing gives %v", err)
	}
	if events, err := readAll(NewReader(iotest.DataErrReader(strings.NewReader("data: a\n\n")), 0)); err != nil || len(events) != 1 {
		t.Errorf("data that comes with EOF: %v, %v", events, err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestReaderDoesNotAllocatePerEvent(t *testing.T) {
	in := bytes.Repeat([]byte("id: 12\ndata: {\"jsonrpc\":\"2.0\"}\n\n"), 2000)
	r := NewReader(bytes.NewReader(in), 0)
	_, _ = r.Next()
	if n := testing.AllocsPerRun(1000, func() { _, _ = r.Next() }); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkReader(b *testing.B) {
	in := bytes.Repeat(End(append(BeginSeq(nil, 1234), bytes.Repeat([]byte("x"), 300)...)), 1000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(bytes.NewReader(in), 0)
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
