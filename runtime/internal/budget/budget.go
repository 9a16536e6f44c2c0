// Package budget shares a number of bytes among requests.
package budget

import (
	"container/list"
	"context"
	"sync"
)

// Budget is a number of bytes that requests share. A share is granted if another one of its size would still fit beside
// it, so that large shares always leave room for small ones; any share is granted while no other is.
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
func (b *Budget) fits(n int64) bool { return b.used == 0 || b.used+2*n <= b.Limit }

// Try takes n bytes if they can be granted now.
func (b *Budget) Try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fits(n) {
		return false
	}
	b.used += n
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
