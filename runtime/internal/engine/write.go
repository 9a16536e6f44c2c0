package engine

import (
	"errors"

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
	if err == nil || c.unconfirmed != nil {
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
		if err := c.say(c.ending.artifact, nil); err != nil {
			return err
		}
		c.ending.artifact = sized{}
	}
	c.ending.status.done = c.work.N // which it may have only by now
	return c.say(c.ending.status, c.view())
}

// errUnwritten is the answer to a client whose task ended while the store does not take it.
var errUnwritten = ErrBusy.With("the task has ended, but that could not be stored yet: get the task later")
