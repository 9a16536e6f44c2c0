package run

import (
	"cmp"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// conclusion is what a handler's return comes to: the events that write stores, or an answer without a task. Callers of
// its functions must hold the lock of the task.
type conclusion struct {
	c       *call
	closing *runtime.MessageData // what the task is to be completed with
	ending  endEvents
}

// giveUp decides what a handler's error comes to. An A2A error is the answer as long as there is no task, if the agent
// made it: what it received from another agent fails the task as any other error does.
func (e *conclusion) giveUp(err error) {
	var o *verdict
	cause := e.c.ctx.Cause()
	switch {
	case e.c.reply != nil:
		e.c.log().Warn("skill failed after its answer", "error", err)
	case errors.Is(cause, ErrCanceled):
		e.c.log().Info("task canceled") // it ended then
	case errors.Is(cause, ErrLost), e.leavesIt(err):
		e.c.log().Info("task goes on elsewhere", "error", err)
		e.c.err, e.c.task.elsewhere = err, true
	case errors.Is(cause, ErrShutdown) && e.givesBack():
		e.c.log().Info("task goes on after the shutdown")
		e.c.err, e.c.task.elsewhere = budget.ErrBusy.With("the agent is shutting down"), true
	case errors.As(err, &o):
		e.end(o.state, o.said)
		if !e.ending.failed {
			e.ending.ticket = o.ticket
			e.passOn(o.asked)
		}
	case e.c.handle.version == 0 && !e.c.task.mayExist() && runtime.Made(err) != nil:
		e.c.err = runtime.Made(err)
	case e.c.handle.version == 0 && errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrNotFound):
		e.c.err = err
	case e.c.handle.version == 0 && e.wasAway(err): // its sender tries again
		e.c.err = err
		if t := &e.c.task; t.mayExist() { // if it does, it is worked on from the beginning
			w := t.unconfirmed
			t.unconfirmed = nil
			t.retryUnconfirmed(e.c.handle.key, w)
		}
	default:
		e.fail(e.explain(err))
	}
}

// leavesIt reports whether a call that may be tried again failed for a store that was away for longer than the lease, or
// began when that was lost already: its task is for others to take over.
func (e *conclusion) leavesIt(err error) bool {
	return e.wasAway(err) && e.c.task.runsHere.Load() && e.c.r.lease.expired()
}

// wasAway reports whether a call that may be tried again failed for a store that was away, or full.
func (e *conclusion) wasAway(err error) bool {
	return e.c.skill.OnCrash == CrashRetry &&
		(errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrNoSpace))
}

// givesBack reports whether the task of a call that the shutdown interrupts is left to whoever comes next: the skill's
// calls may be tried again, or this one was not.
func (e *conclusion) givesBack() bool {
	return e.c.handle.version != 0 && e.c.r.mayBeDurable() && (e.c.skill.OnCrash == CrashRetry || !e.c.began)
}

// explain finds the text for the client: nothing of an error that is not meant for it.
func (e *conclusion) explain(err error) string {
	cause := e.c.ctx.Cause()
	switch public := runtime.Made(err); {
	case public != nil:
		return cmp.Or(public.Note, public.Message)
	case errors.Is(cause, ErrTimeout):
		(*view)(e.c).Logger().Warn("skill took longer than allowed", "error", err)
		return "The work took longer than allowed."
	case errors.Is(cause, ErrShutdown):
		(*view)(e.c).Logger().Info("skill stopped by the shutdown")
		return "The agent was shut down before the work was done."
	case errors.Is(err, store.ErrTooLarge), errors.Is(err, store.ErrFull):
		(*view)(e.c).Logger().Warn("answer not kept", "error", err)
		return unkept
	}
	if !errors.Is(err, errPanic) && !errors.Is(err, errExit) {
		(*view)(e.c).Logger().Error("skill failed", "error", err)
	}
	return "The skill failed unexpectedly."
}

// end decides on the status with which the call ends, with a message unless there is nothing in it.
func (e *conclusion) end(state runtime.State, said runtime.MessageData) {
	if err := e.c.r.content.check(said.Parts); err != nil {
		e.c.log().Error("answer refused", "error", err)
		e.fail("The skill's answer could not be sent.")
		return
	}
	e.ending.status = e.c.task.newStatus(state, said)
}

// fail decides that the call ends as a failure, and takes nothing else along.
func (e *conclusion) fail(reason string) {
	e.ending = endEvents{failed: true}
	e.c.task.unsaved.Store(false)
	e.end(runtime.StateFailed, runtime.MessageData{Parts: []runtime.Part{runtime.Text(reason)}})
}

// finish decides on the completion of the task, with an artifact of the skill's output: a data part with an output schema,
// else text. A client that takes text but no JSON gets the JSON as text (R301).
func (e *conclusion) finish(out []byte) {
	c := e.c
	if len(out) > 0 {
		one := &c.task.scratch().part
		one[0] = runtime.Part{Kind: runtime.PartText, Text: string(out)}
		accepted := c.req.AcceptedOutputModes
		if c.skill.OutputSchema != "" && (route.Accepts(accepted, runtime.MediaJSON) || !route.Accepts(accepted, runtime.MediaText)) {
			one[0] = runtime.Part{Kind: runtime.PartData, Data: out, MediaType: runtime.MediaJSON}
		}
		data := runtime.ArtifactData{
			ID: runtime.ResultArtifact, Parts: one[:], Metadata: c.skill.metadata,
			Extensions: skillsExtension, LastChunk: true,
		}
		var err error
		if len(c.onResult) > 0 {
			data = attached(data, c.onResult)
			err = c.r.content.checkMetadata(data.Metadata)
		}
		if err == nil {
			err = c.r.content.check(data.Parts)
		}
		if err != nil {
			e.fail(e.explain(err))
			return
		}
		e.ending.artifact = c.task.newArtifact(&data)
	}
	var said runtime.MessageData
	if e.closing != nil {
		said = *e.closing
	}
	e.end(runtime.StateCompleted, said)
}

var skillsExtension = []string{runtime.SkillsExtension}

// endEvents are what a call ends with: maybe an artifact, then a status.
type endEvents struct {
	artifact, status sized         // nothing without an event
	ticket           *store.Ticket // with which a task that waits by then can be continued; nil: none
	failed           bool          // because the skill failed, or its answer could not be kept
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
	t := &e.c.task
	if err := t.confirm(); err != nil || e.ending.stored {
		return err
	}
	if e.c.handle.version == 0 {
		// The task is made with its end in one transaction. It is made before its end for a sender or a webhook that is to be
		// told of both, with a ticket, and when there is no room for all of it.
		var err error
		end := &e.ending
		apart := e.c.decided != nil || e.c.push != nil || end.ticket != nil
		if !apart {
			then := t.scratch().then[:0]
			if end.artifact.Event != nil {
				then = append(then, end.artifact.Change)
			}
			err = t.createWith(runtime.StateSubmitted, append(then, end.status.Change), true)
			apart = t.unconfirmed == nil && (errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrTooLarge))
		}
		if apart {
			err = t.create(runtime.StateSubmitted)
		}
		if err != nil || end.stored {
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
	return e.commit()
}

// commit stores what is pending and the end in one write.
func (e *conclusion) commit() error {
	t, end := &e.c.task, &e.ending
	w := t.writeOf(end.status, t.view())
	w.ends = true
	w.update.Event, w.update.Then = nil, t.scratch().then[:0]
	w.update.Done, w.update.Ticket = t.work.N, end.ticket
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
	return t.commit(&w)
}

// ErrUnwritten is the answer to a client whose task ended while the store does not take the end.
var ErrUnwritten = budget.ErrBusy.With("the task has ended, but that could not be stored yet: get the task later")
