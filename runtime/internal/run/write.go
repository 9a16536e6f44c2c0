package run

import (
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
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
// holds c.handle.mu.
func (e *conclusion) write() error {
	if e.ending.status.Event == nil {
		return nil
	}
	err := e.writeAll()
	if err == nil || e.c.task.unconfirmed != nil {
		return err
	}
	switch {
	case errors.Is(err, ErrCanceled): // the task ended then
	case errors.Is(err, ErrLost):
		e.c.log().Info("task goes on elsewhere", "error", err)
		e.c.err = err
	case e.c.handle.version == 0 && errors.Is(err, store.ErrFull), errors.Is(err, store.ErrNotFound), e.ending.failed:
		e.c.log().Error("task could not be ended", "error", err)
		e.c.err = err
	default:
		e.c.log().Error("the end of a task was refused", "error", err)
		e.fail(unkept)
		return e.write()
	}
	return err
}

func (e *conclusion) writeAll() error {
	if e.c.handle.version == 0 {
		if err := e.c.task.create(runtime.StateSubmitted); err != nil {
			return err
		}
	}
	err := e.c.task.flush()
	if err == nil {
		err, e.c.task.lost = e.c.task.lost, nil
	}
	if err != nil {
		return err
	}
	if e.ending.artifact.Event != nil {
		if err := e.c.task.say(e.ending.artifact, nil); err != nil {
			return err
		}
		e.ending.artifact = sized{}
	}
	e.ending.status.done = e.c.task.work.N // which it may have only by now
	return e.c.task.say(e.ending.status, e.c.task.view())
}

// errUnwritten is the answer to a client whose task ended while the store does not take it.
var errUnwritten = budget.ErrBusy.With("the task has ended, but that could not be stored yet: get the task later")
