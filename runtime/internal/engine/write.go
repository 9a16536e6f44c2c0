package engine

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// endEvents are what a call ends with: maybe an artifact, which is nil again when it is stored, then a status.
type endEvents struct {
	artifact, status sized // nothing without an event
	failed           bool  // by the engine's word
}

// unkept is what a client hears of an answer that the store refuses, for want of room most of all. The end of a task
// always has room.
const unkept = "The skill's answer could not be kept."

// write stores the ending, and makes the task if there is none. After a failure it goes on where it was. The caller
// holds c.live.mu.
func (c *Call) write() error {
	if c.ending.status.Event == nil {
		return nil
	}
	err := c.writeAll()
	if err == nil || hiccup(err) {
		return err
	}
	switch {
	case errors.Is(err, ErrCanceled): // the task ended then
	case errors.Is(err, ErrLost):
		c.log().Info("task goes on elsewhere", "error", err)
		c.err = err
	case c.live.version == 0 && errors.Is(err, store.ErrFull), errors.Is(err, store.ErrNotFound), c.ending.failed:
		c.log().Error("task could not be ended", "error", err)
		c.err = err
	default:
		c.log().Error("the end of a task was refused", "error", err)
		c.fail(unkept)
		return c.write()
	}
	return err
}

func (c *Call) writeAll() error {
	if c.live.version == 0 {
		if err := c.create(runtime.StateSubmitted); err != nil {
			return err
		}
	}
	err := c.flush()
	if err == nil {
		err, c.lost = c.lost, nil
	}
	if err != nil {
		return err
	}
	if c.ending.artifact.Event != nil {
		if err := c.commit(c.ending.artifact, nil); err != nil {
			return err
		}
		c.ending.artifact = sized{}
	}
	c.ending.status.done = c.work.N // which it may have only by now
	return c.commit(c.ending.status, c.view())
}

// How a failed update is tried again: after a while that doubles each time.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
	// retryFor is how long a handler waits in all for the store to take what it says.
	retryFor = time.Second
	// answerIn is how long a client that waits for the end waits for the store to take it.
	answerIn = 10 * time.Second
)

// errUnwritten is the answer to a client whose task ended while the store does not take it.
var errUnwritten = ErrBusy.With("the task has ended, but that could not be stored yet: get the task later")

// retry does what a call asks of the store until the store answers, within limits: a hiccup is no reason for work to
// fail. What the end of a call asks for is tried once; persist does the rest.
func (c *Call) retry(do func() error) error {
	if c.state >= ending {
		return do()
	}
	return c.live.retry(c.e, c.ctx, do)
}

// hiccup reports whether a call of the store failed for a reason that may pass: it can be made again, with the same
// stamp.
func hiccup(err error) bool {
	return (store.Unsure(err) || errors.Is(err, store.ErrNoSpace)) && !errors.Is(err, ErrCanceled)
}

// retry is Call.retry, for as long as ctx is there. It fails as unheard if it may have been done. The caller holds l.mu,
// which is free while it waits.
func (l *live) retry(e *Engine, ctx context.Context, do func() error) error {
	err := do()
	perhaps := mayHaveDone(err)
	for wait := firstRetry; hiccup(err) && wait < retryFor; wait *= 2 {
		l.mu.Unlock()
		e.pause(wait, ctx.Done())
		l.mu.Lock()
		if ctx.Err() != nil {
			break
		}
		err = do()
		perhaps = perhaps || mayHaveDone(err)
	}
	if perhaps && hiccup(err) {
		return unheard{err}
	}
	return err
}

// pause waits, but not when the engine has no more time or done is closed. It reports whether there is time left.
func (e *Engine) pause(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return true
	case <-e.hurry:
		return false
	}
}
