// Package events cuts streams into the very bytes of their events: server-sent events, and messages of gRPC.
package events

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
)

// MaxEvent is how large an event may be, in bytes: the 16 MiB of an agent's own limit, in base64 and with its framing.
const MaxEvent = 24 << 20

// ErrTooLong is the error of an event over [MaxEvent].
var ErrTooLong = errors.New("an event is over 24 MiB")

// IsServerSent reports whether an answer is a stream of server-sent events.
func IsServerSent(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

// IsGRPC reports whether a request or an answer is one of gRPC.
func IsGRPC(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "application/grpc") }

// Splitter cuts what it is fed into events. The zero value cuts server-sent events.
type Splitter struct {
	GRPC bool

	buf     []byte
	event   int // where the next event begins
	scanned int // up to where was looked for its end
	line    int // where the line at scanned begins
}

// Feed adds bytes of the stream. What Next returned before is no longer valid.
func (s *Splitter) Feed(p []byte) error {
	if s.event > 0 {
		s.buf = append(s.buf[:0], s.buf[s.event:]...)
		s.scanned, s.line, s.event = s.scanned-s.event, s.line-s.event, 0
	}
	if len(s.buf)+len(p) > MaxEvent {
		return ErrTooLong
	}
	s.buf = append(s.buf, p...)
	return nil
}

// Next returns the next event that is whole, with what ends it; nil if there is none. Comments count as events.
func (s *Splitter) Next() []byte {
	end := -1
	if s.GRPC {
		end = s.message()
	} else {
		end = s.block()
	}
	if end < 0 {
		return nil
	}
	event := s.buf[s.event:end:end]
	s.event, s.scanned, s.line = end, end, end
	return event
}

// Rest returns what was fed after the last event.
func (s *Splitter) Rest() []byte { return s.buf[s.event:] }

const grpcHeader = 5 // a flag, and the length

func (s *Splitter) message() (end int) {
	rest := s.Rest()
	if len(rest) < grpcHeader {
		return -1
	}
	n := binary.BigEndian.Uint32(rest[1:grpcHeader])
	if int64(n) > int64(len(rest)-grpcHeader) {
		return -1
	}
	return s.event + grpcHeader + int(n)
}

// block finds the blank line that ends a server-sent event. Lines end with LF, CR LF or CR.
func (s *Splitter) block() (end int) {
	for s.scanned < len(s.buf) {
		i := bytes.IndexAny(s.buf[s.scanned:min(len(s.buf), s.scanned+chunk)], "\r\n")
		if i < 0 {
			s.scanned = min(len(s.buf), s.scanned+chunk)
			continue
		}
		at := s.scanned + i
		after := at + 1
		if s.buf[at] == '\r' {
			if after == len(s.buf) { // LF may follow
				s.scanned = at
				return -1
			}
			if s.buf[after] == '\n' {
				after++
			}
		}
		blank := at == s.line
		s.scanned, s.line = after, after
		if blank {
			return after
		}
	}
	return -1
}

// chunk is how many bytes are looked at in one go.
const chunk = 64 << 10
