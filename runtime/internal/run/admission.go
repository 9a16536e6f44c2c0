package run

import (
	"context"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
)

// admission tracks the admitted calls, and rejects new ones during the shutdown.
type admission struct {
	closing chan struct{} // closed when streams are to end
	hurry   chan struct{} // closed when the shutdown has no more time: what waits for the store has one more try
	limit   int           // of admitted calls
	work    budget.Budget // of the messages of admitted calls

	mu       sync.Mutex
	running  inFlight // admitted calls
	draining bool
	lost     []store.Key   // tasks of calls that are over here, but maybe not in the store
	idle     chan struct{} // closed when draining and nothing runs
}

// inFlight is a list of calls through their flight, so that adding one takes no memory.
type inFlight struct {
	first *call
	n     int
}

// flight is what a list has in a call of its own.
type flight struct {
	previous, next *call
	goroutines     int // at work on the call
}

func (l *inFlight) add(c *call) {
	c.flight = flight{next: l.first, goroutines: 1}
	if l.first != nil {
		l.first.flight.previous = c
	}
	l.first = c
	l.n++
}

// drain lets no more calls in and waits for those at work until ctx is done; then it cancels them, and gives them a
// moment to return. It reports whether all have.
func (a *admission) drain(ctx context.Context) (returned bool) {
	a.mu.Lock()
	if !a.draining {
		a.draining = true
		if a.running.n == 0 {
			close(a.idle)
		}
	}
	a.mu.Unlock()
	if isClosed(a.idle) {
		return true
	}
	select {
	case <-a.idle:
		return true
	case <-ctx.Done():
	}
	a.cancelAll(ErrShutdown, func(*call) bool { return true })
	a.mu.Lock()
	closeOnce(a.hurry)
	a.mu.Unlock()
	select {
	case <-a.idle:
		return true
	case <-time.After(LastGrace):
		return false
	}
}

// cancelAll cancels the admitted calls for which which is true.
func (a *admission) cancelAll(cause error, which func(*call) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := a.running.first; c != nil; c = c.flight.next {
		if which(c) {
			c.ctx.cancel(cause)
		}
	}
}

// cutOff ends the calls whose handlers do not return, so that their clients are answered; it waits a moment for the
// store.
func (a *admission) cutOff() {
	a.mu.Lock()
	var all sync.WaitGroup
	for c := a.running.first; c != nil; c = c.flight.next {
		all.Go(func() { _ = c.returned(nil, ErrShutdown) })
	}
	a.mu.Unlock()
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(LastGrace / 2):
	}
}

// endStreams closes closing.
func (a *admission) endStreams() {
	a.mu.Lock()
	defer a.mu.Unlock()
	closeOnce(a.closing)
}

// isDraining reports whether new work is refused.
func (a *admission) isDraining() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.draining
}

// len returns how many calls are admitted.
func (a *admission) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running.n
}

// free returns how many more calls may be admitted.
func (a *admission) free() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draining {
		return 0
	}
	return a.limit - a.running.n
}

// forget forgets what this instance ran before its lease was over.
func (a *admission) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lost = nil
}

// unstored are the tasks that this instance may still run in the eyes of the store, although what their calls came to
// could not be stored: they are not to be run again as if nothing had happened.
func (a *admission) unstored() (keys []store.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := a.running.first; c != nil; c = c.flight.next {
		if c.task.runsHere.Load() {
			keys = append(keys, c.handle.key)
		}
	}
	return append(keys, a.lost...)
}

// pause waits, but not when the shutdown has no more time or done is closed. It reports whether there is time left.
func (a *admission) pause(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return true
	case <-a.hurry:
		return false
	}
}

// admit counts a call in, or refuses it.
func (a *admission) admit(c *call) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draining {
		return budget.ErrBusy.With("the agent is shutting down")
	}
	if a.running.n >= a.limit {
		return budget.ErrBusy
	}
	if c.weight = c.weigh(); c.weight > 0 && !a.work.Try(c.weight) {
		return budget.ErrBusy.With("too many large messages are being worked on, try again later")
	}
	a.running.add(c)
	return nil
}

// adopt counts in a call that was admitted before, by another process or instance.
func (a *admission) adopt(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.weight = c.weigh(); c.weight > 0 {
		a.work.Add(c.weight)
	}
	a.running.add(c)
}

// partWeight is about what a part of a message takes in memory beside its content, in bytes.
const partWeight = 256

// weigh returns what the call's message takes in memory until the call is over, 0 if that is too little to be counted.
func (c *call) weigh() int64 {
	size := store.SizeOfParts(c.parts)
	if n := size.Bytes + partWeight*size.Parts; n > budget.Uncounted {
		return budget.Held * int64(n)
	}
	return 0
}

// hold keeps a call counted in, or counts it in again, until it is dismissed once more.
func (a *admission) hold(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.flight.goroutines == 0 {
		a.running.add(c)
		return
	}
	c.flight.goroutines++
}

// dismiss counts a call out.
func (a *admission) dismiss(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch c.flight.goroutines {
	case 0: // it was never admitted
	case 1:
		before, after := c.flight.previous, c.flight.next
		if before == nil {
			a.running.first = after
		} else {
			before.flight.next = after
		}
		if after != nil {
			after.flight.previous = before
		}
		c.flight = flight{}
		a.running.n--
	default:
		c.flight.goroutines--
		return
	}
	if c.task.runsHere.Load() {
		a.lost = append(a.lost, c.handle.key)
	}
	if c.weight > 0 {
		a.work.Release(c.weight)
	}
	if a.draining && a.running.n == 0 {
		closeOnce(a.idle)
	}
}

// due returns the calls whose time is up, save those that have a timer.
func (a *admission) due(now time.Time) (calls []*call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := a.running.first; c != nil; c = c.flight.next {
		if at := c.overdue.Load(); at != 0 && at <= now.UnixNano() {
			calls = append(calls, c)
		}
	}
	return calls
}

// isClosing reports whether streams are to end.
func (a *admission) isClosing() bool { return isClosed(a.closing) }

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closeOnce closes c unless it is closed, or nil: then nobody waits for it. A lock keeps others away meanwhile.
func closeOnce(c chan struct{}) {
	if c != nil && !isClosed(c) {
		close(c)
	}
}
