package grpcserver

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Compressed messages (decision 036). grpc-go inflates a message as soon as it has come, whatever that takes in memory.
// So it is given a decompressor that leaves the message as it is, and the call inflates it: within the budget of all
// bodies, and knowing who called.

// packed begins what the decompressor returns. No message of protobuf begins so, since fields have numbers from 1.
const packed = 0x07

// unpacker is the decompressor that does nothing: it marks a message that is compressed. A server's own decompressor
// goes before that of the process, which other code with grpc-go may use, and which stays as it is.
type unpacker struct{}

// Type is the name of what it takes for clients.
func (unpacker) Type() string { return "gzip" }

// Do returns the message, marked.
func (unpacker) Do(r io.Reader) ([]byte, error) {
	size := 0
	if sized, ok := r.(interface{ Remaining() int }); ok {
		size = sized.Remaining()
	}
	b := append(make([]byte, 0, 1+size), packed)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF || err == nil && size > 0 && len(b) == 1+size:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// Ways in which a message cannot be received.
var (
	errTooLarge  = &coded{runtime.ErrInvalidRequest.With("the message is too large when it is inflated"), codes.ResourceExhausted}
	errMalformed = &coded{runtime.ErrInvalidRequest.With("the message is no gzip"), codes.InvalidArgument}
)

// errCrowded refuses a message that there is no room for.
var errCrowded error = &coded{binding.ErrTooMany, codes.ResourceExhausted}

// Sizes of messages that are inflated, in bytes.
const (
	freeSize  = 16 << 10 // up to which there is always room
	gzipFrame = 10 + 8   // of header and trailer, which say the size at the end
	bestRatio = 1032     // how many bytes one of deflate may stand for
	leastRoom = 512      // for a message that does not say its size
)

// inflaters read gzip.
var inflaters = sync.Pool{New: func() any { return new(gzip.Reader) }}

// inflate replaces a compressed message by what it holds, of which there may be so much, in bytes. What that takes is
// taken from the budget before it is there.
func (m *message) inflate(most int) error {
	from := m.bytes()
	if len(from) == 0 || from[0] != packed {
		return nil
	}
	from = from[1:]
	size := inflatedSize(from)
	if size > most {
		return errTooLarge
	}
	z := inflaters.Get().(*gzip.Reader)
	defer inflaters.Put(z)
	if z.Reset(bytes.NewReader(from)) != nil {
		return errMalformed
	}
	b, err := m.read(z, size, most)
	if err != nil {
		return err
	}
	m.buffer = mem.SliceBuffer(b)
	m.counted -= int64(1 + len(from)) // which was counted when it came
	m.agent.Bodies.Release(int64(1 + len(from)))
	return nil
}

// inflatedSize is how large a message says that it is. One of several parts is larger, and a lie is no larger than it
// could be.
func inflatedSize(from []byte) int {
	if len(from) < gzipFrame {
		return 0
	}
	return int(min(int64(binary.LittleEndian.Uint32(from[len(from)-4:])), int64(len(from))*bestRatio))
}

// read reads a message of about a size, and counts in the budget what it takes.
func (m *message) read(r io.Reader, size, most int) (b []byte, err error) {
	for room := size + 1; ; room = 2 * cap(b) { // one more, to see that there is nothing else
		room = min(max(room, leastRoom), most+1)
		if !m.reserve(int64(room - cap(b))) {
			return nil, errCrowded
		}
		b = append(make([]byte, 0, room), b...)
		for len(b) < cap(b) {
			n, err := r.Read(b[len(b):cap(b)])
			b = b[:len(b)+n]
			switch {
			case errors.Is(err, io.EOF):
				return b, nil
			case err != nil:
				return nil, errMalformed
			}
		}
		if len(b) > most {
			return nil, errTooLarge
		}
	}
}

// reserve takes more from the budget. It is one share with what the message has: a large message is let in when nobody
// else has any. A small one always is.
func (m *message) reserve(more int64) bool {
	all := m.counted + more
	m.agent.Bodies.Release(m.counted)
	m.counted = 0
	switch {
	case all <= freeSize:
		m.agent.Bodies.Add(all)
	case !m.agent.Bodies.Try(all):
		return false
	}
	m.counted = all
	return true
}
