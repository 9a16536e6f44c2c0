package engine

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// ending is what a call ends with: maybe an artifact, which is nil again when it is stored, then a status.
type ending struct {
	artifact, status sized // nothing without an event
	failed           bool  // by the engine's word
}

// unkept is what a client hears of an answer that the store refuses, for want of room most of all. The end of a task always has room.
const unkept = "The skill's answer could not be kept."

// write stores the ending, and makes the task if there is none. After a failure it goes on where it was. The caller holds c.live.mu.
func (c *Call) write() error {
	if c.ending.status.Event == nil {
		return nil
	}
	err := c.writeAll()
	if err == nil || store.Unsure(err) {
		return err
	}
	switch {
	case errors.Is(context.Cause(c.ctx), ErrCanceled): // the task ended when it was canceled
	case errors.Is(err, errLost), errors.Is(err, store.ErrEnded):
		c.e.log(c.skill.ID, c.id).Info("task goes on elsewhere", "error", err)
		c.err = err
	case c.live.version == 0 && errors.Is(err, store.ErrFull), errors.Is(err, store.ErrNotFound), c.ending.failed:
		c.e.log(c.skill.ID, c.id).Error("task could not be ended", "error", err)
		c.err = err
	default:
		c.e.log(c.skill.ID, c.id).Error("the end of a task was refused", "error", err)
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

// retry does what a call asks of the store until the store answers, within limits: a hiccup is no reason for work to fail. What the end of a call
// asks for is tried once; persist does the rest.
func (c *Call) retry(do func() error) error {
	if c.over {
		return do()
	}
	return c.live.retry(c.e, c.ctx, do)
}

// retry is Task.retry, for as long as ctx is there. The caller holds l.mu, which is free while it waits.
func (l *live) retry(e *Engine, ctx context.Context, do func() error) error {
	err := do()
	for wait := firstRetry; store.Unsure(err) && wait < retryFor; wait *= 2 {
		l.mu.Unlock()
		e.pause(wait, ctx.Done())
		l.mu.Lock()
		if ctx.Err() != nil {
			return err
		}
		err = do()
	}
	return err
}

// pause waits, but not when the server has no more time or done is closed. It reports whether there is time left.
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

// persist goes on trying to store the ending in the background, until the store takes it or the server shuts down. A client that waits for the
// end is answered with an error after a while. The caller holds c.live.mu.
func (c *Call) persist(err error) {
	c.e.log(c.skill.ID, c.id).Warn("the end of a task could not be stored, trying again", "state", c.ending.status.EventInfo().State.String(), "error", err)
	if c.ended == nil {
		c.ended = make(chan struct{}) // the sender may be on the handler's goroutine
	}
	c.e.hold(c)
	go func() {
		defer c.e.dismiss(c)
		begin := time.Now()
		for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
			inTime := c.e.pause(wait, nil)
			if next, done := c.rewrite(inTime, time.Since(begin) > answerIn); done {
				if next != nil {
					go next.execute()
				}
				return
			}
		}
	}()
}

// rewrite tries once more to store the ending. The last try is when the server has no more time; what it does not store is in the log.
func (c *Call) rewrite(inTime, late bool) (next *Call, done bool) {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	err := c.write()
	if store.Unsure(err) && inTime {
		if late {
			c.err = errUnwritten
			c.decide()
			c.release()
		}
		return nil, false
	}
	if store.Unsure(err) {
		c.err = errUnwritten
		c.e.log(c.skill.ID, c.id).Error("the end of a task was not stored", "state", c.ending.status.EventInfo().State.String(), "error", err)
	} else if c.err == errUnwritten {
		c.err = nil
	}
	return c.leave(), true
}
