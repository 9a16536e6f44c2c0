package run

import (
	"errors"
	"time"
)

// Whether an instance is ready is what its lease says: it is renewed several times within each lease, so that it is
// known soon when the store cannot be reached, also while nobody asks for anything.

// Why an instance is not ready.
var (
	ErrDraining = errors.New("shutting down")
	ErrAway     = errors.New("the store cannot be reached")
)

// Ready says why requests should go to another instance; nil: this one answers them.
func (r *Runner) Ready() error {
	r.lease.mu.Lock()
	away := !r.lease.away.IsZero()
	r.lease.mu.Unlock()
	switch {
	case r.Draining():
		return ErrDraining
	case away:
		return ErrAway
	}
	return nil
}

// WatchReady has f called when the store cannot be reached any more, and when it can again. f must be quick.
func (r *Runner) WatchReady(f func(ready bool)) {
	r.lease.mu.Lock()
	defer r.lease.mu.Unlock()
	r.lease.watchers = append(r.lease.watchers, f)
}

// unreachable notes that the store was not reached. What follows is not logged, until it is.
func (l *lease) unreachable(since time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped || !l.away.IsZero() {
		return
	}
	l.away = since
	l.r.Logger.Warn("the store cannot be reached", "error", err)
	l.tell(false)
}

// reachable notes that the store was reached.
func (l *lease) reachable() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away.IsZero() {
		return
	}
	l.r.Logger.Info("the store can be reached again", "after", time.Since(l.away).Round(time.Millisecond))
	l.away = time.Time{}
	l.tell(true)
}

// tell tells those who watch. Callers must hold l.mu.
func (l *lease) tell(ready bool) {
	for _, f := range l.watchers {
		f(ready)
	}
}
