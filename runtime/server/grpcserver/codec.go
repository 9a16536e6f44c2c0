package grpcserver

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// codec hands messages on as bytes: who decodes and encodes them is the protocol package. Those of gRPC's own services
// are generated for protobuf's own library.
type codec struct{ pool mem.BufferPool }

// Name is the codec's name in content types.
func (codec) Name() string { return "proto" }

// message is a message that was received. Free it.
type message struct{ buffer mem.Buffer }

// bytes returns what the message holds, until it is freed.
func (m *message) bytes() []byte {
	if m.buffer == nil {
		return nil
	}
	return m.buffer.ReadOnlyData()
}

func (m *message) free() {
	if m.buffer != nil {
		m.buffer.Free()
		m.buffer = nil
	}
}

// Unmarshal keeps a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch m := v.(type) {
	case *message:
		m.free()
		m.buffer = data.MaterializeToBuffer(c.pool)
		return nil
	case proto.Message:
		return proto.Unmarshal(data.Materialize(), m)
	}
	return fmt.Errorf("grpcserver: a %T is no message", v)
}

// answer is what is sent: bytes or, in place of them, an error.
type answer struct {
	buffers mem.BufferSlice
	err     error
}

// Marshal returns what is to be sent.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	switch a := v.(type) {
	case *answer:
		return a.buffers, a.err
	case proto.Message:
		b, err := proto.Marshal(a)
		return mem.BufferSlice{mem.SliceBuffer(b)}, err
	}
	return nil, fmt.Errorf("grpcserver: a %T is no answer", v)
}
