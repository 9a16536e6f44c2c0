package run

import (
	"cmp"
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// conclusion is what a handler's return comes to: the events that write stores, or an answer without a task. Callers of its functions must hold the lock of the task.
type conclusion struct {
	c       *call
	closing *runtime.MessageData // what the task is to be completed with
	ending  endEvents
}

// giveUp decides what a handler's error comes to. An A2A error is the answer as long as there is no task, if the agent
// made it: what it received from another agent fails the task as any other error does.
func (e *conclusion) giveUp(err error) {
	var o *verdict
	cause := context.Cause(e.c.ctx)
	switch {
	case e.c.reply != nil:
		e.c.log().Warn("skill failed after its answer", "error", err)
	case errors.Is(cause, task.ErrCanceled):
		e.c.log().Info("task canceled") // it ended then
	case errors.Is(cause, task.ErrLost):
		e.c.log().Info("task goes on elsewhere", "error", err)
		e.c.err, e.c.task.elsewhere = err, true
	case errors.Is(cause, task.ErrShutdown) && e.givesBack():
		e.c.log().Info("task goes on after the shutdown")
		e.c.err, e.c.task.elsewhere = budget.ErrBusy.With("the agent is shutting down"), true
	case errors.As(err, &o):
		e.end(o.state, o.said)
		if !e.ending.failed {
			e.ending.status.ticket = o.ticket
		}
	case e.c.handle.version == 0 && !e.c.task.mayExist() && runtime.Made(err) != nil:
		e.c.err = runtime.Made(err)
	case e.c.handle.version == 0 && errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrNotFound):
		e.c.err = err
	default:
		e.fail(e.explain(err))
	}
}

// givesBack reports whether the task of a call that the shutdown interrupts is left to whoever comes next: the skill's
// calls may be tried again, or this one was not.
func (e *conclusion) givesBack() bool {
	return e.c.handle.version != 0 && e.c.r.durable.Load() && (e.c.skill.OnCrash == CrashRetry || !e.c.began)
}

// explain finds the text for the client: nothing of an error that is not meant for it.
func (e *conclusion) explain(err error) string {
	cause := context.Cause(e.c.ctx)
	switch public := runtime.Made(err); {
	case public != nil:
		return cmp.Or(public.Note, public.Message)
	case errors.Is(cause, task.ErrTimeout):
		(*view)(e.c).Logger().Warn("skill took longer than allowed", "error", err)
		return "The work took longer than allowed."
	case errors.Is(cause, task.ErrShutdown):
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

// finish decides on the result and the completion of the task.
func (e *conclusion) finish(out []byte) {
	if len(out) > 0 {
		one := lendPart()
		defer one.giveBack()
		data := e.result(out, one)
		if err := e.c.r.content.check(data.Parts); err != nil {
			e.fail(e.explain(err))
			return
		}
		e.ending.artifact = e.c.task.newArtifact(&data)
	}
	var said runtime.MessageData
	if e.closing != nil {
		said = *e.closing
	}
	e.end(runtime.StateCompleted, said)
}

// result makes the artifact of a skill's output: a data part with an output schema, else text. A client that takes text
// but no JSON gets the JSON as text (R301). Its only part is one.
func (e *conclusion) result(out []byte, one *onePart) runtime.ArtifactData {
	one[0] = runtime.Part{Kind: runtime.PartText, Text: string(out)}
	accepted := e.c.req.AcceptedOutputModes
	if e.c.skill.OutputSchema != "" && (route.Accepts(accepted, runtime.MediaJSON) || !route.Accepts(accepted, runtime.MediaText)) {
		one[0] = runtime.Part{Kind: runtime.PartData, Data: out, MediaType: runtime.MediaJSON}
	}
	return runtime.ArtifactData{
		ID: runtime.ResultArtifact, Parts: one[:], Metadata: e.c.skill.metadata,
		Extensions: skillsExtension, LastChunk: true,
	}
}

var skillsExtension = []string{runtime.SkillsExtension}
