// Package frames finds where the events of a stream end: server-sent events, and messages of gRPC. It changes no byte: what
// a server-sent event says is read by package sse.
package frames

import (
	"encoding/binary"
	"errors"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/internal/sse"
)

// IsServerSent reports whether an answer is a stream of server-sent events.
func IsServerSent(h http.Header) bool { return sse.IsContentType(h.Get("Content-Type")) }

// IsGRPC reports whether a request or an answer is one of gRPC.
func IsGRPC(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "application/grpc") }

// End is what ends at a byte of a stream.
type End uint8

// What ends.
const (
	Nothing End = iota
	Comment     // a blank line of server-sent events without data before it
	Event
)

// Scanner finds the ends of events as their bytes come, and keeps none of them. The zero value is for server-sent events.
type Scanner struct {
	GRPC bool

	line       int  // bytes of the line so far
	data       bool // the event has a line of data
	begunAs    bool // the line so far begins as one of data
	cr         bool // the last byte ended a line, and an LF may belong to it
	head       [headerSize]byte
	have       int    // bytes of head
	left       uint32 // bytes of the message
	unfinished bool   // the head is complete and the message is not
}

// headerSize is that of a message of gRPC: a flag, and the length.
const headerSize = 5

// Scan returns how many bytes of b belong to the event or comment that they begin or continue, and what ends with them. It
// takes at least one byte.
func (s *Scanner) Scan(b []byte) (n int, end End) {
	if s.GRPC {
		return s.message(b)
	}
	const name = "data"
	for i, c := range b {
		if c == '\n' && s.cr {
			s.cr = false
			continue
		}
		s.cr = c == '\r'
		if c != '\n' && c != '\r' {
			switch {
			case s.line < len(name):
				s.begunAs = (s.begunAs || s.line == 0) && c == name[s.line]
			case s.line == len(name):
				s.begunAs = s.begunAs && c == ':'
			}
			s.line++
			continue
		}
		blank := s.line == 0
		s.data = s.data || s.begunAs && s.line >= len(name)
		s.line, s.begunAs = 0, false
		if !blank {
			continue
		}
		if end = Comment; s.data {
			end = Event
		}
		s.data = false
		if s.cr && i+1 < len(b) && b[i+1] == '\n' {
			s.cr = false
			i++
		}
		return i + 1, end
	}
	return len(b), Nothing
}

func (s *Scanner) message(b []byte) (n int, end End) {
	if !s.unfinished {
		n = copy(s.head[s.have:], b)
		if s.have += n; s.have < headerSize {
			return n, Nothing
		}
		s.have, s.left, s.unfinished = 0, binary.BigEndian.Uint32(s.head[1:]), true
	}
	more := min(uint64(s.left), uint64(len(b)-n))
	s.left -= uint32(more)
	if s.left == 0 {
		s.unfinished, end = false, Event
	}
	return n + int(more), end
}

// MaxEvent is how large an event of a [Splitter] may be, in bytes: the 16 MiB of an agent's own limit, in base64 and with
// its framing.
const MaxEvent = 24 << 20

// ErrTooLong is the error of an event over [MaxEvent].
var ErrTooLong = errors.New("an event is over 24 MiB")

// Splitter collects the bytes that it is fed into whole events. The zero value is for server-sent events.
type Splitter struct {
	GRPC bool

	scan    Scanner
	buf     []byte
	event   int  // where the next event begins
	scanned int  // up to where its end was looked for
	cr      bool // a CR before scanned ended the event, and an LF may belong to it
}

// Feed adds bytes of the stream. What Next returned before is no longer valid.
func (s *Splitter) Feed(p []byte) error {
	if s.event > 0 {
		s.buf = append(s.buf[:0], s.buf[s.event:]...)
		s.scanned, s.event = s.scanned-s.event, 0
	}
	if len(s.buf)+len(p) > MaxEvent {
		return ErrTooLong
	}
	s.buf = append(s.buf, p...)
	return nil
}

// Next returns the next event that is whole, with what ends it; nil if there is none. Comments count as events.
func (s *Splitter) Next() []byte {
	s.scan.GRPC = s.GRPC
	for s.scanned < len(s.buf) {
		end := Event
		if s.cr {
			if s.cr = false; s.buf[s.scanned] == '\n' {
				s.scan.cr = false
				s.scanned++
			}
		} else {
			var n int
			n, end = s.scan.Scan(s.buf[s.scanned:])
			s.scanned += n
			s.cr = end != Nothing && s.scan.cr && s.scanned == len(s.buf)
		}
		if end != Nothing && !s.cr {
			event := s.buf[s.event:s.scanned:s.scanned]
			s.event = s.scanned
			return event
		}
	}
	return nil
}

// Rest returns what was fed after the last event.
func (s *Splitter) Rest() []byte { return s.buf[s.event:] }
