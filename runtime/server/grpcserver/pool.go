package grpcserver

import (
	"runtime"

	"google.golang.org/grpc/mem"

	"github.com/a2agen/a2agen/runtime/server"
)

// pool hands out the buffers of messages that are being received, and counts them in the server's budget. grpc-go does
// not give all of them back: those of calls that are cut short are left to the garbage collector, which counts them out
// then.
type pool struct {
	host    *server.Host
	crowded func() // called when the budget is used up
}

// Get returns a buffer.
func (p *pool) Get(length int) *[]byte {
	b := mem.DefaultBufferPool().Get(length)
	if !p.host.Received(int64(cap(*b))) {
		p.crowded()
	}
	runtime.SetFinalizer(b, func(b *[]byte) { p.host.Released(int64(cap(*b))) })
	return b
}

// Put takes a buffer back.
func (p *pool) Put(b *[]byte) {
	runtime.SetFinalizer(b, nil)
	p.host.Released(int64(cap(*b)))
	mem.DefaultBufferPool().Put(b)
}
