package grpcserver

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/mem"
)

// link is a connection of gRPC that is the transport's own. It knows how much came in, and how much is to go out.
type link struct {
	replayed
	outgoing
	came atomic.Int64 // bytes
}

// outgoing is what was handed to grpc-go of a connection, or of a call that net/http brings, and what the client has
// not taken yet: grpc-go itself takes whole messages, as many as there are calls.
type outgoing struct {
	held atomic.Int64 // bytes; small messages do not count

	mu   sync.Mutex
	news chan struct{} // closed when some of them have gone out; nil: nobody waits for that
}

// Read counts what comes.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.replayed.Read(b)
	l.came.Add(int64(n))
	return n, err
}

// Bounds of what is handed to grpc-go.
const (
	mostHeld = 1 << 20  // of a connection, before the next message waits
	piece    = 64 << 10 // of a large message, which is given back when it has gone out
)

// parcel is a message on its way out: the pool to which its pieces come back.
type parcel struct {
	to   *outgoing
	left atomic.Int32 // pieces
	copy bool         // the one piece is from the pool of all
}

// pack makes a message of bytes. Those of a large one are not copied: they stay as they are until they have gone out.
func (o *outgoing) pack(b []byte) (*parcel, mem.BufferSlice) {
	switch {
	case mem.IsBelowBufferPoolingThreshold(len(b)):
		return nil, mem.BufferSlice{append(make(mem.SliceBuffer, 0, len(b)), b...)}
	case len(b) <= piece:
		part := mem.DefaultBufferPool().Get(len(b))
		copy(*part, b)
		p := &parcel{to: o, copy: true}
		return p, mem.BufferSlice{p.add(part)}
	}
	p := &parcel{to: o}
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

func (p *parcel) add(part *[]byte) mem.Buffer {
	p.left.Add(1)
	p.to.held.Add(int64(len(*part)))
	return mem.NewBuffer(part, p)
}

// Get is for who takes buffers from a pool, which nobody does here.
func (p *parcel) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put takes a piece back that has gone out.
func (p *parcel) Put(b *[]byte) {
	p.left.Add(-1)
	p.to.held.Add(-int64(len(*b)))
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

// room waits until the connection takes another message.
func (o *outgoing) room(ctx context.Context, stall time.Duration) error {
	if o.held.Load() < mostHeld {
		return nil
	}
	return o.wait(ctx, stall, o.held.Load, mostHeld)
}

// gone waits until all of a message has gone out.
func (p *parcel) gone(ctx context.Context, stall time.Duration) error {
	return p.to.wait(ctx, stall, func() int64 { return int64(p.left.Load()) }, 1)
}

// wait waits until fewer are left than so many. A client that takes nothing of them for too long is not waited for.
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
