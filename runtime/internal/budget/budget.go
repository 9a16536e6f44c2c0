// Package budget shares a number of bytes among requests.
package budget

import (
	"container/list"
	"context"
	"sync"
)

// Held is about how many bytes a byte of a large message takes in memory until the message is answered: it is received,
// decoded, put into the handler's answer, and both are encoded for the store and for the client; and the collector lets
// garbage grow to as much as what is alive.
const Held = 10

// Budget is a number of bytes that requests share. A share is granted if another one of its size, or an eighth of all,
// would still fit beside it, so that large shares always leave room for small ones; any share is granted while no other
// is.
type Budget struct {
	Limit int64

	mu    sync.Mutex
	used  int64
	queue list.List // of *claim, longest waiting first
}

// claim is a share that is waited for.
type claim struct {
	n       int64
	granted chan struct{}
}

// fits reports whether a share can be granted. Callers must hold mu.
func (b *Budget) fits(n int64) bool { return b.used == 0 || b.used+n+min(n, b.Limit/8) <= b.Limit }

// Try takes n bytes if they can be granted now.
func (b *Budget) Try(n int64) bool { return b.Grow(0, n) }

// Grow makes a share of from bytes one of to bytes, if that can be granted now.
func (b *Budget) Grow(from, to int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= from
	if !b.fits(to) {
		b.used += from
		return false
	}
	b.used += to
	return true
}

// Acquire takes n bytes, and waits for them until ctx ends. Waiting claims are granted in turn; a later one that fits at
// once does not wait behind them.
func (b *Budget) Acquire(ctx context.Context, n int64) error {
	b.mu.Lock()
	if b.fits(n) {
		b.used += n
		b.mu.Unlock()
		return nil
	}
	c := &claim{n, make(chan struct{})}
	place := b.queue.PushBack(c)
	b.mu.Unlock()
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.granted: // in the same moment
		b.free(n)
	default:
		b.queue.Remove(place)
		b.grant() // the next may be smaller
	}
	return ctx.Err()
}

// Add takes n bytes that are in use already, whether they fit or not. It reports whether they did.
func (b *Budget) Add(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	return b.used <= b.Limit
}

// Release gives n bytes back.
func (b *Budget) Release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(n)
}

// Taken is how many bytes are taken.
func (b *Budget) Taken() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// free is Release for callers that hold mu.
func (b *Budget) free(n int64) {
	b.used -= n
	b.grant()
}

// grant grants the waiting claims that fit, in turn. Callers must hold mu.
func (b *Budget) grant() {
	for first := b.queue.Front(); first != nil; first = b.queue.Front() {
		c := first.Value.(*claim)
		if !b.fits(c.n) {
			return
		}
		b.used += c.n
		b.queue.Remove(first)
		close(c.granted)
	}
}
