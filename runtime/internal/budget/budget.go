// Package budget shares a number of bytes among many.
package budget

import (
	"container/list"
	"context"
	"sync"
)

// Budget is a number of bytes that many share. A share is granted while another one of its size would still fit beside
// it, so that large ones always leave room for small ones. One that is larger than that is granted when nobody else has
// any.
type Budget struct {
	Limit int64

	mu    sync.Mutex
	used  int64
	queue list.List // of *claim, longest waiting first
}

// claim is somebody who waits for a share.
type claim struct {
	n       int64
	granted chan struct{}
}

// fits reports whether a share can be granted. The caller holds mu.
func (b *Budget) fits(n int64) bool { return b.used == 0 || b.used+2*n <= b.Limit }

// Try takes n bytes if they are there.
func (b *Budget) Try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fits(n) {
		return false
	}
	b.used += n
	return true
}

// Acquire takes n bytes, and waits for them until ctx ends. Those who wait are served in turn; who comes later and fits
// does not wait for them.
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
		b.serve() // the next may be smaller
	}
	return ctx.Err()
}

// Add takes n bytes that are there already, whether they fit or not. It reports whether they did.
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

// free is Release for who holds mu.
func (b *Budget) free(n int64) {
	b.used -= n
	b.serve()
}

// serve grants what fits, in turn. The caller holds mu.
func (b *Budget) serve() {
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
