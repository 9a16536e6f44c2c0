package fault

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"time"
)

// frames cuts what it reads into pieces, none of which is of two events.
type frames struct {
	src  io.Reader
	scan scanner
	buf  []byte
	rest []byte // read, and not cut yet
	err  error  // after rest
}

// sizeOfPiece is how much is read at once, in bytes.
const sizeOfPiece = 4 << 10

// frames cuts what comes out of a body so far.
func (b *body) frames() *frames {
	return &frames{src: b.out, scan: b.scan(), buf: make([]byte, sizeOfPiece)}
}

// next returns the next piece, of most bytes at most, and whether an event ends with it. The piece is valid until the
// next call. An error comes with the last piece or after it.
func (f *frames) next(most int) (piece []byte, ends bool, err error) {
	if len(f.rest) == 0 {
		if f.err != nil {
			return nil, false, f.err
		}
		n, err := f.src.Read(f.buf)
		f.rest, f.err = f.buf[:n], err
	}
	if len(f.rest) > 0 {
		var n int
		n, ends = f.scan.scan(f.rest[:min(len(f.rest), most)])
		piece, f.rest = f.rest[:n], f.rest[n:]
	}
	if len(f.rest) == 0 {
		err = f.err
	}
	return piece, ends, err
}

// scanner knows where events end.
type scanner interface {
	// scan returns how many bytes of b belong to the event that they begin or go on with, and whether it ends with them.
	// At least one byte does.
	scan(b []byte) (n int, ends bool)
}

// scannerOf returns what makes a scanner for an answer's body.
func scannerOf(resp *http.Response) func() scanner {
	if isGRPC(resp.Header) {
		return func() scanner { return &messages{} }
	}
	return func() scanner { return &serverSent{} }
}

// serverSent splits server-sent events: what ends with a blank line and has a line of data. What comes between two
// events, such as comments, belongs to the later one.
type serverSent struct {
	line int  // bytes of the line so far
	data bool // the event has a line of data
	is   bool // the line so far begins as one of data
	cr   bool // the last byte ended a line, and an LF may belong to it
}

func (s *serverSent) scan(b []byte) (int, bool) {
	for i, c := range b {
		if c == '\n' && s.cr {
			s.cr = false
			continue
		}
		s.cr = c == '\r'
		if c != '\n' && c != '\r' {
			s.char(c)
			continue
		}
		blank := s.line == 0
		s.data = s.data || s.is && s.line >= len("data")
		s.line, s.is = 0, false
		if blank && s.data {
			s.data = false
			if s.cr && i+1 < len(b) && b[i+1] == '\n' {
				s.cr = false
				i++
			}
			return i + 1, true
		}
	}
	return len(b), false
}

// char takes a byte of a line.
func (s *serverSent) char(c byte) {
	const name = "data"
	switch {
	case s.line < len(name):
		s.is = (s.is || s.line == 0) && c == name[s.line]
	case s.line == len(name):
		s.is = s.is && c == ':'
	}
	s.line++
}

// messages splits the messages of gRPC: a byte, the length, and so many bytes.
type messages struct {
	head bytes.Buffer
	left uint32
}

const messageHead = 5

func (m *messages) scan(b []byte) (n int, ends bool) {
	if m.head.Len() < messageHead {
		n = min(messageHead-m.head.Len(), len(b))
		m.head.Write(b[:n])
		if m.head.Len() < messageHead {
			return n, false
		}
		m.left = binary.BigEndian.Uint32(m.head.Bytes()[1:])
	}
	more := min(uint64(m.left), uint64(len(b)-n))
	m.left -= uint32(more)
	if m.left == 0 {
		m.head.Reset()
		return n + int(more), true
	}
	return n + int(more), false
}

// secondsOf is how long n bytes take at a rate of bytes in a second.
func secondsOf(n, rate int) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}
