package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
)

// admission is who may begin, and the end of all: calls are counted in and out, and nobody is let in when the engine
// shuts down.
type admission struct {
	closing chan struct{} // closed when streams are to end
	hurry   chan struct{} // closed when the shutdown has no more time: what waits for the store has one more try
	work    budget.Budget // of the messages of admitted calls

	mu       sync.Mutex
	running  map[*call]int // admitted calls, with the number of goroutines at work on each
	draining bool
	lost     []store.Key   // tasks of calls that are over here, but maybe not in the store
	idle     chan struct{} // closed when draining and nothing runs
}

func newAdmission() admission {
	return admission{
		closing: make(chan struct{}), hurry: make(chan struct{}), idle: make(chan struct{}),
		running: map[*call]int{},
	}
}

// lastGrace is how long canceled handlers may take to return at shutdown.
const lastGrace = 2 * time.Second

// LongestShutdown is how long Shutdown may take once its context has ended.
const LongestShutdown = 2 * lastGrace

// Draining reports whether new work is refused.
func (e *Engine) Draining() bool {
	e.admission.mu.Lock()
	defer e.admission.mu.Unlock()
	return e.draining
}

// Shutdown refuses new work and lets the handlers at work finish until ctx is done; then it cancels them, and gives
// them a moment to return. At last it ends the open streams. It returns ctx's error when handlers had to be canceled.
func (e *Engine) Shutdown(ctx context.Context) error {
	a := &e.admission
	a.mu.Lock()
	if !a.draining {
		a.draining = true
		if len(a.running) == 0 {
			close(a.idle)
		}
	}
	a.mu.Unlock()
	err := e.drain(ctx)
	a.mu.Lock()
	closeOnce(a.closing)
	a.mu.Unlock()
	e.feed.Ticker.Stop()
	e.deliveries.Close(ctx)
	e.keeper.stop()
	return err
}

// Close is Shutdown that waits for no handler: those at work are canceled at once.
func (e *Engine) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := e.Shutdown(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (e *Engine) drain(ctx context.Context) error {
	a := &e.admission
	if isClosed(a.idle) {
		return nil
	}
	select {
	case <-a.idle:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	for c := range a.running {
		c.cancel(ErrShutdown)
	}
	closeOnce(a.hurry)
	a.mu.Unlock()
	late, stop := context.WithTimeout(context.Background(), lastGrace)
	defer stop()
	select {
	case <-a.idle:
	case <-late.Done():
		e.logger.Warn("handlers ignore their canceled context")
		e.cutOff()
	}
	return context.Cause(ctx)
}

// cutOff ends the calls whose handlers do not return, so that their clients hear of it; it waits a moment for the store.
func (e *Engine) cutOff() {
	a := &e.admission
	a.mu.Lock()
	var all sync.WaitGroup
	for c := range a.running {
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
	case <-time.After(lastGrace / 2):
	}
}

// admit counts a call in, or refuses it.
func (e *Engine) admit(c *call) error {
	a := &e.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draining {
		return ErrBusy.With("the agent is shutting down")
	}
	if len(a.running) >= e.limits.Running {
		return ErrBusy
	}
	if c.weight = c.weigh(); c.weight > 0 && !a.work.Try(c.weight) {
		return ErrBusy.With("too many large messages are being worked on, try again later")
	}
	a.running[c] = 1
	return nil
}

// adopt counts in a call that was admitted before, by another process or instance.
func (e *Engine) adopt(c *call) {
	a := &e.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.weight = c.weigh(); c.weight > 0 {
		a.work.Add(c.weight)
	}
	a.running[c] = 1
}

// partWeight is about what a part of a message takes in memory beside its content, in bytes.
const partWeight = 256

// weigh returns what the call's message takes in memory, 0 if that is too little to be counted.
func (c *call) weigh() int64 {
	size := store.SizeOfParts(c.parts)
	if n := size.Bytes + partWeight*size.Parts; n > budget.Uncounted {
		return int64(n)
	}
	return 0
}

// hold keeps an admitted call counted in until it is dismissed once more.
func (a *admission) hold(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[c]++
}

// dismiss counts a call out.
func (a *admission) dismiss(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running[c]--; a.running[c] > 0 {
		return
	}
	delete(a.running, c)
	if c.task.held.Load() {
		a.lost = append(a.lost, c.live.key)
	}
	if c.weight > 0 {
		a.work.Release(c.weight)
	}
	if a.draining && len(a.running) == 0 {
		closeOnce(a.idle)
	}
}

// due returns the calls whose time is up, save those that have a timer.
func (a *admission) due(now time.Time) (calls []*call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.running {
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

// closeOnce closes c unless it is closed. A lock keeps others away meanwhile.
func closeOnce(c chan struct{}) {
	if !isClosed(c) {
		close(c)
	}
}
