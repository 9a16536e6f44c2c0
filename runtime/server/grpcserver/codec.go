package grpcserver

import (
	"fmt"

	"google.golang.org/grpc/mem"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// codec passes messages on as bytes: who decodes and encodes them is the protocol package, or protobuf's own library
// for gRPC's own services.
type codec struct{ pool *pool }

// Name is the codec's name in content types.
func (codec) Name() string { return "proto" }

// message is a message that was received. Free it.
type message struct {
	agent   *binding.Agent
	buffer  mem.Buffer
	counted int64 // bytes that it has while it is compressed, which are taken from the server's budget; 0: it is not
}

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
	if m.counted > 0 {
		m.agent.Bodies.Release(m.counted)
		m.counted = 0
	}
}

// Unmarshal keeps a message, compressed if it came so.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("grpcserver: a %T is no message", v)
	}
	m.free()
	m.agent, m.buffer = c.pool.agent, data.MaterializeToBuffer(c.pool)
	if b := m.bytes(); len(b) > 0 && b[0] == packed {
		m.counted = int64(len(b))
		c.pool.count(m.counted)
	}
	return nil
}

// answer is what is sent: bytes or, in place of them, an error.
type answer struct {
	buffers mem.BufferSlice
	err     error
}

// Marshal returns what is to be sent.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	a, ok := v.(*answer)
	if !ok {
		return nil, fmt.Errorf("grpcserver: a %T is no answer", v)
	}
	return a.buffers, a.err
}
