package run

import (
	"errors"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// endEvents are what a call ends with: maybe an artifact, then a status.
type endEvents struct {
	artifact, status sized // nothing without an event
	failed           bool  // because the skill failed, or its answer could not be kept
	stored           bool
}

// unkept is what a client hears of an answer that the store refuses, for want of room most of all. The end of a task
// always has room.
const unkept = "The skill's answer could not be kept."

// write stores the ending, and makes the task if there is none. After a failure it goes on where it was. Callers must
// hold c.handle.mu.
func (e *conclusion) write() error {
	if e.ending.status.Event == nil {
		return nil
	}
	err := e.writeAll()
	if err == nil || e.c.task.unconfirmed != nil {
		return err
	}
	switch {
	case errors.Is(err, task.ErrCanceled): // the task ended then
	case errors.Is(err, task.ErrLost):
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
	t := &e.c.task
	if err := t.confirm(); err != nil || e.ending.stored {
		return err
	}
	if e.c.handle.version == 0 {
		if err := e.create(); err != nil || e.ending.stored {
			return err
		}
	}
	err := t.collect()
	if err == nil {
		err = t.confirm()
	}
	if err == nil {
		err, t.pieceErr = t.pieceErr, nil
	}
	if err != nil {
		return err
	}
	e.ending.status.done = t.work.N // which it may have only by now
	return e.commit()
}

// commit stores what is pending and the end in one write.
func (e *conclusion) commit() error {
	t, end, lent := &e.c.task, &e.ending, lendChanges()
	w := t.writeOf(end.status, t.view())
	w.ends = true
	w.update.Event, w.update.Then = nil, lent[:0]
	if q := t.queue; q != nil {
		w.pieces, q.pieces, q.bytes = q.pieces, nil, 0
	}
	for i := range w.pieces {
		w.then(&w.pieces[i].sized)
	}
	if end.artifact.Event != nil {
		w.then(&end.artifact)
	}
	w.then(&end.status)
	err := t.commit(&w)
	lent.giveBack(t)
	return err
}

// changes are what follows the first event of an ending. They are lent to a write until the store has answered it.
type changes [2]store.Change

var changesLent = sync.Pool{New: func() any { return new(changes) }}

func lendChanges() *changes { return changesLent.Get().(*changes) }

func (c *changes) giveBack(t *taskWriter) {
	if t.unconfirmed == nil {
		*c = changes{}
		changesLent.Put(c)
	}
}

// create makes the task of a call that ends without one, with its end in the same transaction. It is made before its
// end for a sender or a webhook that is to be told of both, with a ticket, and when there is no room for all of it.
func (e *conclusion) create() error {
	t, end := &e.c.task, &e.ending
	if e.c.decided.armed() || e.c.push != nil || end.status.ticket != nil {
		return t.create(runtime.StateSubmitted)
	}
	lent := lendChanges()
	then := lent[:0]
	if end.artifact.Event != nil {
		then = append(then, end.artifact.change())
	}
	err := t.createWith(runtime.StateSubmitted, append(then, end.status.change()), true)
	lent.giveBack(t)
	if t.unconfirmed == nil && (errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrTooLarge)) {
		return t.create(runtime.StateSubmitted)
	}
	return err
}

// errUnwritten is the answer to a client whose task ended while the store does not take it.
var errUnwritten = budget.ErrBusy.With("the task has ended, but that could not be stored yet: get the task later")
