package grpcserver

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/mem"
)

// link is a connection that the transport serves itself. It counts what was received and what is still to be sent.
type link struct {
	peekedConn
	outgoing
	came atomic.Int64 // bytes
}

// outgoing limits what is passed to grpc-go and not sent yet, for a connection, or for a call that net/http serves:
// grpc-go itself accepts whole messages from all calls.
type outgoing struct {
	pending atomic.Int64 // bytes not sent yet; small messages do not count

	mu   sync.Mutex
	news chan struct{} // closed when some of them are sent; nil: nobody waits for that
}

// Read counts what is received.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.peekedConn.Read(b)
	l.came.Add(int64(n))
	return n, err
}

// Limits of what is passed to grpc-go.
const (
	mostPending = 1 << 20  // of a connection, before the next message waits
	piece       = 64 << 10 // of a large message, which is given back when it has gone out
)

// pendingMessage is a message being sent. It is the pool to which grpc-go returns the pieces that are sent.
type pendingMessage struct {
	to   *outgoing
	left atomic.Int32 // pieces
	copy bool         // the one piece is from the pool of all
}

// pack makes a message of bytes. Those of a large one are not copied: the caller must not change them until all is
// sent.
func (o *outgoing) pack(b []byte) (*pendingMessage, mem.BufferSlice) {
	switch {
	case mem.IsBelowBufferPoolingThreshold(len(b)):
		return nil, mem.BufferSlice{append(make(mem.SliceBuffer, 0, len(b)), b...)}
	case len(b) <= piece:
		part := mem.DefaultBufferPool().Get(len(b))
		copy(*part, b)
		p := &pendingMessage{to: o, copy: true}
		return p, mem.BufferSlice{p.add(part)}
	}
	p := &pendingMessage{to: o}
	var all mem.BufferSlice
	for len(b) > 0 {
		n := min(len(b), piece)
		if rest := len(b) - n; mem.IsBelowBufferPoolingThreshold(rest) { // too small to come back
			n = len(b)
		}
		part := b[:n:n]
		b = b[n:]
		all = append(all, p.add(&part))
	}
	return p, all
}

func (p *pendingMessage) add(part *[]byte) mem.Buffer {
	p.left.Add(1)
	p.to.pending.Add(int64(len(*part)))
	return mem.NewBuffer(part, p)
}

// Get makes pendingMessage a pool. It is not called.
func (p *pendingMessage) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put counts a piece that is sent.
func (p *pendingMessage) Put(b *[]byte) {
	p.left.Add(-1)
	p.to.pending.Add(-int64(len(*b)))
	if p.copy {
		mem.DefaultBufferPool().Put(b)
	}
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	if p.to.news != nil {
		close(p.to.news)
		p.to.news = nil
	}
}

// never is how long nobody waits.
const never = time.Duration(math.MaxInt64)

// room waits until the connection accepts another message.
func (o *outgoing) room(ctx context.Context, stall time.Duration) error {
	if o.pending.Load() < mostPending {
		return nil
	}
	return o.wait(ctx, stall, o.pending.Load, mostPending)
}

// gone waits until all of a message is sent.
func (p *pendingMessage) gone(ctx context.Context, stall time.Duration) error {
	return p.to.wait(ctx, stall, func() int64 { return int64(p.left.Load()) }, 1)
}

// wait waits until fewer than enough are left. It fails when the client reads none of them for the stall limit.
func (o *outgoing) wait(ctx context.Context, stall time.Duration, left func() int64, enough int64) error {
	timer := time.NewTimer(stall)
	defer timer.Stop()
	for before := left(); before >= enough; {
		o.mu.Lock()
		if o.news == nil {
			o.news = make(chan struct{})
		}
		news := o.news
		o.mu.Unlock()
		now := left()
		if now < enough {
			break
		}
		if now < before {
			before = now
			timer.Reset(stall)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return errStalled
		}
	}
	return nil
}
