package run

import (
	"sync"
	"sync/atomic"
)

// lock is a mutex under which the store may be waited for. Waiting for it is on a channel: in the order of
// arrival, and so that a test with a clock of its own sees the waiting.
type lock struct {
	state   atomic.Int32
	mu      sync.Mutex // held for moments only
	waiting []chan struct{}
}

// The states: free, held, and held with others waiting, perhaps.
const (
	lockFree int32 = iota
	lockHeld
	lockWanted
)

func (l *lock) Lock() {
	if l.state.CompareAndSwap(lockFree, lockHeld) {
		return
	}
	l.mu.Lock()
	if l.state.Swap(lockWanted) == lockFree {
		l.mu.Unlock()
		return
	}
	mine := make(chan struct{})
	l.waiting = append(l.waiting, mine)
	l.mu.Unlock()
	<-mine
}

func (l *lock) Unlock() {
	if l.state.CompareAndSwap(lockHeld, lockFree) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.state.Store(lockFree)
		return
	}
	next := l.waiting[0] // has the lock from here on
	l.waiting = l.waiting[1:]
	close(next)
}
