package frames

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// split feeds a stream in pieces of n bytes, and returns its events.
func split(t *testing.T, s *Splitter, stream string, n int) (list []string) {
	t.Helper()
	for len(stream) > 0 {
		n = min(n, len(stream))
		if err := s.Feed([]byte(stream[:n])); err != nil {
			t.Fatal(err)
		}
		stream = stream[n:]
		for e := s.Next(); e != nil; e = s.Next() {
			list = append(list, string(e))
		}
	}
	return list
}

// TestEventsAreCutWhereverPiecesEnd, the pieces end, and however lines do.
func TestEventsAreCutWhereverPiecesEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		grpc bool
		want []string
		rest string
	}{
		"LF":       {want: []string{"id: 1\ndata: a\n\n", ": note\n\n", "data: b\ndata: c\n\n"}, rest: "data: d\n"},
		"CR LF":    {want: []string{"data: a\r\n\r\n", "data: b\r\n\r\n"}, rest: "x"},
		"CR":       {want: []string{"data: a\r\r", "data: b\r\r"}, rest: "data"},
		"messages": {grpc: true, want: []string{"\x00\x00\x00\x00\x03abc", "\x00\x00\x00\x00\x00", "\x01\x00\x00\x00\x01z"}, rest: "\x00\x00\x00\x00\x09ab"},
	} {
		stream := strings.Join(tt.want, "") + tt.rest
		for n := 1; n <= len(stream); n++ {
			s := &Splitter{GRPC: tt.grpc}
			if got := split(t, s, stream, n); !slices.Equal(got, tt.want) || string(s.Rest()) != tt.rest {
				t.Errorf("%s in pieces of %d: %q and %q", name, n, got, s.Rest())
			}
		}
	}
}

func TestAnEventWithoutAnEndIsRefused(t *testing.T) {
	s := &Splitter{}
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range MaxEvent >> 20 {
		if err := s.Feed(piece); err != nil || s.Next() != nil {
			t.Fatal(err)
		}
	}
	if err := s.Feed(piece); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
}
