package grpcserver

import (
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// watch ends calls that wait too long for their clients: to send a message, or to read one. It checks all of them at
// each tick, so that a wait costs nearly nothing. net/http does that for the calls that it serves.
type watch struct {
	t     *transport
	tick  time.Duration
	began time.Time
	now   atomic.Int64  // ticks
	alarm chan struct{} // too much is being received

	mu    sync.Mutex
	first *call
}

// slowestTick is the longest time between two checks.
const slowestTick = time.Second

func newWatch(t *transport) *watch {
	limits := t.agent.Limits
	tick := min(slowestTick, limits.Read/8, limits.Stall/8)
	w := &watch{t: t, tick: max(tick, time.Millisecond), began: time.Now(), alarm: make(chan struct{}, 1)}
	w.now.Store(1)
	return w
}

// run checks at each tick until ended.
func (w *watch) run(ended <-chan struct{}) {
	ticker := time.NewTicker(w.tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.now.Store(1 + int64(time.Since(w.began)/w.tick))
			w.end(w.late)
		case <-w.alarm:
			if w.waiting(2) {
				w.end(w.receiving)
			}
		case <-ended:
			return
		}
	}
}

// crowded has calls ended that are receiving a message, because the budget is used up.
func (w *watch) crowded() {
	select {
	case w.alarm <- struct{}{}:
	default: // somebody has asked already
	}
}

// Errors of calls that waited too long for their clients.
var (
	errSlow    = &coded{runtime.ErrInvalidRequest.With("the message came too slowly"), codes.DeadlineExceeded}
	errStalled = &coded{engine.ErrBusy.With("nothing is taken of the answer"), codes.DeadlineExceeded}
)

// end ends the calls for which refused returns an error.
func (w *watch) end(refused func(*call) error) {
	type ending struct {
		c   *call
		err error
	}
	var all []ending
	w.mu.Lock()
	for c := w.first; c != nil; c = c.next {
		since := c.since.Load()
		if since == 0 {
			continue
		}
		if err := refused(c); err != nil && c.since.CompareAndSwap(since, 0) {
			all = append(all, ending{c, err})
		}
	}
	w.mu.Unlock()
	for _, e := range all {
		e.c.abort(e.err)
	}
}

// late finds calls that have waited for too long.
func (w *watch) late(c *call) error {
	waited := time.Duration(w.now.Load()-c.since.Load()) * w.tick
	switch {
	case !c.sending.Load() && waited > w.t.agent.Patience(c.received()):
		return errSlow
	case c.sending.Load() && waited > w.t.agent.Limits.Stall:
		return errStalled
	}
	return nil
}

// waiting reports whether so many messages are coming at a time: one alone always may.
func (w *watch) waiting(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := w.first; c != nil && n > 0; c = c.next {
		if c.since.Load() != 0 && !c.sending.Load() {
			n--
		}
	}
	return n == 0
}

// receiving finds calls whose message has not come yet.
func (w *watch) receiving(c *call) error {
	if c.sending.Load() {
		return nil
	}
	return errCrowded
}

// add adds a call.
func (w *watch) add(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.next = w.first; c.next != nil {
		c.next.previous = c
	}
	w.first = c
}

// remove removes a call.
func (w *watch) remove(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.next != nil {
		c.next.previous = c.previous
	}
	if c.previous != nil {
		c.previous.next = c.next
	} else {
		w.first = c.next
	}
}
