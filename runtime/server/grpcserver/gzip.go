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

// Compressed messages (docs/decisions/15). grpc-go would inflate a message as soon as it is received, whatever memory that
// takes. So its decompressor here leaves the message as it is, and the call inflates it, within the budget of all
// bodies and when the caller is known.

// packed begins what the decompressor returns. No message of protobuf begins so, since fields have numbers from 1.
const packed = 0x07

// unpacker is a decompressor that only marks a message as compressed. As the server's own it has precedence over that
// of the process, which other code with grpc-go may use.
type unpacker struct{}

// Type is the name of the encoding for clients.
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

// Errors of receiving a message.
var (
	errTooLarge  = &coded{runtime.ErrInvalidRequest.With("the message is too large when it is inflated"), codes.ResourceExhausted}
	errMalformed = &coded{runtime.ErrInvalidRequest.With("the message is no gzip"), codes.InvalidArgument}
)

// errCrowded refuses a message for which the budget has no room.
var errCrowded error = &coded{binding.ErrTooMany, codes.ResourceExhausted}

// Sizes of messages that are inflated, in bytes.
const (
	gzipFrame = 10 + 8 // of header and trailer, which say the size at the end
	bestRatio = 1032   // how many bytes one of deflate may stand for
	leastRoom = 512    // for a message that does not say its size
)

// inflaters read gzip.
var inflaters = sync.Pool{New: func() any { return new(gzip.Reader) }}

// inflate replaces a compressed message by its content, of at most so many bytes. What the message needs until it is
// answered is taken from the budget before.
func (c *call) inflate(most int) error {
	from := c.in.bytes()
	if len(from) == 0 || from[0] != packed {
		return nil
	}
	size := inflatedSize(from[1:])
	if size > most {
		return errTooLarge
	}
	z := inflaters.Get().(*gzip.Reader)
	defer inflaters.Put(z)
	if z.Reset(bytes.NewReader(from[1:])) != nil {
		return errMalformed
	}
	b, err := c.read(z, size, most)
	if err != nil {
		return err
	}
	c.in.free()
	c.in.buffer, c.Beside = mem.SliceBuffer(b), 0
	return nil
}

// inflatedSize is the size that a compressed message declares, limited to what its length allows. A message of several
// parts is larger.
func inflatedSize(from []byte) int {
	if len(from) < gzipFrame {
		return 0
	}
	return int(min(int64(binary.LittleEndian.Uint32(from[len(from)-4:])), int64(len(from))*bestRatio))
}

// read reads a message of about a size.
func (c *call) read(r io.Reader, size, most int) (b []byte, err error) {
	for room := size + 1; ; room = 2 * cap(b) { // one more, to see that there is nothing else
		room = min(max(room, leastRoom), most+1)
		if room > binding.FreeBody && !c.Hold(room, 0) {
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
