// Package live has the changes of a session in their order, for readers that come and go.
package live

import (
	"context"
	"sync"
)

// kept is how many changes a feed keeps for readers that were away.
const kept = 4096

// Item is a change.
type Item struct {
	Seq  int64  // from 1, without a gap
	Kind string // "agent", "call", "event", "log"
	What any    // never changed
}

// Feed is what changed. Its zero value is ready for use.
type Feed struct {
	mu    sync.Mutex
	items []Item // the last ones; the one of number n is at (n-1) % kept
	last  int64
	more  chan struct{} // closed at the next change; nil: nobody waits
}

// Publish adds a change. Readers get what as it is: it must not be changed any more.
func (f *Feed) Publish(kind string, what any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	item := Item{f.last, kind, what}
	if len(f.items) < kept {
		f.items = append(f.items, item)
	} else {
		f.items[(f.last-1)%kept] = item
	}
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// Last returns the number of the last change; 0 if there is none.
func (f *Feed) Last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Next waits for changes after a number, and returns them. lost reports that some are no longer kept, or that there was
// no such number: the reader must begin anew.
func (f *Feed) Next(ctx context.Context, after int64) (items []Item, lost bool, err error) {
	for {
		f.mu.Lock()
		switch {
		case after > f.last || after < f.last-int64(len(f.items)):
			f.mu.Unlock()
			return nil, true, nil
		case after < f.last:
			for n := after + 1; n <= f.last; n++ {
				items = append(items, f.items[(n-1)%kept])
			}
			f.mu.Unlock()
			return items, false, nil
		}
		if f.more == nil {
			f.more = make(chan struct{})
		}
		more := f.more
		f.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}
