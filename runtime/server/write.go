package server

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

// write stores the ending, and makes the task if there is none. After a failure it goes on where it was. The caller holds t.l.mu.
func (t *Task) write() error {
	if t.ending.status.Event == nil {
		return nil
	}
	err := t.writeAll()
	if err == nil || store.Unsure(err) {
		return err
	}
	switch {
	case errors.Is(context.Cause(t.ctx), ErrCanceled): // the task ended when it was canceled
	case errors.Is(err, errLost), errors.Is(err, store.ErrEnded):
		t.s.log(t.skill.ID, t.id).Info("task goes on elsewhere", "error", err)
		t.err = err
	case t.l.version == 0 && errors.Is(err, store.ErrFull), errors.Is(err, store.ErrNotFound), t.ending.failed:
		t.s.log(t.skill.ID, t.id).Error("task could not be ended", "error", err)
		t.err = err
	default:
		t.s.log(t.skill.ID, t.id).Error("the end of a task was refused", "error", err)
		t.fail(unkept)
		return t.write()
	}
	return err
}

func (t *Task) writeAll() error {
	if t.l.version == 0 {
		if err := t.create(runtime.StateSubmitted); err != nil {
			return err
		}
	}
	err := t.flush()
	if err == nil {
		err, t.lost = t.lost, nil
	}
	if err != nil {
		return err
	}
	if t.ending.artifact.Event != nil {
		if err := t.commit(t.ending.artifact, nil); err != nil {
			return err
		}
		t.ending.artifact = sized{}
	}
	return t.commit(t.ending.status, t.view())
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
var errUnwritten = errBusy.With("the task has ended, but that could not be stored yet: get the task later")

// retry does what a call asks of the store until the store answers, within limits: a hiccup is no reason for work to fail. What the end of a call
// asks for is tried once; persist does the rest.
func (t *Task) retry(do func() error) error {
	if t.over {
		return do()
	}
	return t.l.retry(t.s, t.ctx, do)
}

// retry is Task.retry, for as long as ctx is there. The caller holds l.mu, which is free while it waits.
func (l *live) retry(s *Server, ctx context.Context, do func() error) error {
	err := do()
	for wait := firstRetry; store.Unsure(err) && wait < retryFor; wait *= 2 {
		l.mu.Unlock()
		s.pause(wait, ctx.Done())
		l.mu.Lock()
		if ctx.Err() != nil {
			return err
		}
		err = do()
	}
	return err
}

// pause waits, but not when the server has no more time or done is closed. It reports whether there is time left.
func (s *Server) pause(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return true
	case <-s.hurry:
		return false
	}
}

// persist goes on trying to store the ending in the background, until the store takes it or the server shuts down. A client that waits for the
// end is answered with an error after a while. The caller holds t.l.mu.
func (t *Task) persist(err error) {
	t.s.log(t.skill.ID, t.id).Warn("the end of a task could not be stored, trying again", "state", t.ending.status.EventInfo().State.String(), "error", err)
	if t.ended == nil {
		t.ended = make(chan struct{}) // the sender may be on the handler's goroutine
	}
	t.s.hold(t)
	go func() {
		defer t.s.dismiss(t)
		begin := time.Now()
		for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
			inTime := t.s.pause(wait, nil)
			if next, done := t.rewrite(inTime, time.Since(begin) > answerIn); done {
				if next != nil {
					go next.execute()
				}
				return
			}
		}
	}()
}

// rewrite tries once more to store the ending. The last try is when the server has no more time; what it does not store is in the log.
func (t *Task) rewrite(inTime, late bool) (next *Task, done bool) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	err := t.write()
	if store.Unsure(err) && inTime {
		if late {
			t.err = errUnwritten
			t.decide()
			t.release()
		}
		return nil, false
	}
	if store.Unsure(err) {
		t.err = errUnwritten
		t.s.log(t.skill.ID, t.id).Error("the end of a task was not stored", "state", t.ending.status.EventInfo().State.String(), "error", err)
	} else if t.err == errUnwritten {
		t.err = nil
	}
	return t.leave(), true
}
