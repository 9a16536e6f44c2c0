package grpcserver

import (
	"runtime"

	"google.golang.org/grpc/mem"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// pool has the buffers of messages that are being received, and counts them in the server's budget. grpc-go does not
// return those of calls that are cut short: a finalizer gives their bytes back.
type pool struct {
	agent   *binding.Agent
	crowded func() // called when the budget is used up
}

// Get returns a buffer.
func (p *pool) Get(length int) *[]byte {
	b := mem.DefaultBufferPool().Get(length)
	p.count(int64(cap(*b)))
	runtime.SetFinalizer(b, func(b *[]byte) { p.agent.Bodies.Release(int64(cap(*b))) })
	return b
}

// count counts bytes that are received already. When they are over the budget, some calls that are receiving are ended.
func (p *pool) count(n int64) {
	if !p.agent.Bodies.Add(n) {
		p.crowded()
	}
}

// Put returns a buffer.
func (p *pool) Put(b *[]byte) {
	runtime.SetFinalizer(b, nil)
	p.agent.Bodies.Release(int64(cap(*b)))
	mem.DefaultBufferPool().Put(b)
}
