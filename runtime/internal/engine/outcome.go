package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// What a handler's return comes to. Every function here wants the lock of c.live.

// conclude decides what the handler's return comes to: the events that [Call.write] stores, or an answer without a
// task. The caller holds c.live.mu.
func (c *Call) conclude(out []byte, err error) {
	switch {
	case err != nil:
		c.giveUp(err)
	case c.reply == nil && !errors.Is(context.Cause(c.ctx), ErrCanceled):
		c.finish(out)
	}
}

// giveUp decides what a handler's error comes to. An A2A error is the answer as long as there is no task, if the agent
// made it: what it received from another agent fails the task as any other error does.
func (c *Call) giveUp(err error) {
	var o *verdict
	cause := context.Cause(c.ctx)
	switch {
	case c.reply != nil:
		c.log().Warn("skill failed after its answer", "error", err)
	case errors.Is(cause, ErrCanceled):
		c.log().Info("task canceled") // it ended then
	case errors.Is(cause, ErrLost):
		c.log().Info("task goes on elsewhere", "error", err)
		c.err, c.elsewhere = err, true
	case errors.Is(cause, ErrShutdown) && c.givesBack():
		c.log().Info("task goes on after the shutdown")
		c.err, c.elsewhere = ErrBusy.With("the agent is shutting down"), true
	case errors.As(err, &o):
		c.end(o.state, o.said)
		if !c.ending.failed {
			c.ending.status.ticket = o.ticket
		}
	case c.live.version == 0 && !c.mayExist() && runtime.Made(err) != nil:
		c.err = runtime.Made(err)
	case c.live.version == 0 && errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrNotFound):
		c.err = err
	default:
		c.fail(c.explain(err))
	}
}

// givesBack reports whether the task of a call that the shutdown interrupts is left to whoever comes next: the skill's
// calls may be tried again, or this one was not.
func (c *Call) givesBack() bool {
	return c.live.version != 0 && c.e.durable.Load() && (c.skill.OnCrash == CrashRetry || !c.began)
}

// explain finds the text for the client: nothing of an error that is not meant for it.
func (c *Call) explain(err error) string {
	cause := context.Cause(c.ctx)
	switch public := runtime.Made(err); {
	case public != nil:
		return cmp.Or(public.Note, public.Message)
	case errors.Is(cause, ErrTimeout):
		c.Logger().Warn("skill took longer than allowed", "error", err)
		return "The work took longer than allowed."
	case errors.Is(cause, ErrShutdown):
		c.Logger().Info("skill stopped by the shutdown")
		return "The agent was shut down before the work was done."
	case errors.Is(err, store.ErrTooLarge), errors.Is(err, store.ErrFull):
		c.Logger().Warn("answer not kept", "error", err)
		return unkept
	}
	if !errors.Is(err, errPanic) && !errors.Is(err, errExit) {
		c.Logger().Error("skill failed", "error", err)
	}
	return "The skill failed unexpectedly."
}

// end decides on the status with which the call ends, with a message unless there is nothing in it.
func (c *Call) end(state runtime.State, said runtime.MessageData) {
	if err := c.check(said.Parts); err != nil {
		c.log().Error("answer refused", "error", err)
		c.fail("The skill's answer could not be sent.")
		return
	}
	c.ending.status = c.newStatus(state, said)
}

// fail decides that the call ends as a failure, and takes nothing else along.
func (c *Call) fail(reason string) {
	c.ending = endEvents{failed: true}
	c.unsaved.Store(false)
	c.end(runtime.StateFailed, runtime.MessageData{Parts: []runtime.Part{runtime.Text(reason)}})
}

// finish decides on the result and the completion of the task.
func (c *Call) finish(out []byte) {
	if len(out) > 0 {
		one := lendPart()
		defer one.giveBack()
		data := c.result(out, one)
		if err := c.check(data.Parts); err != nil {
			c.fail(c.explain(err))
			return
		}
		c.ending.artifact = c.newArtifact(&data)
	}
	var said runtime.MessageData
	if c.closing != nil {
		said = *c.closing
	}
	c.end(runtime.StateCompleted, said)
}

// result makes the artifact of a skill's output: a data part with an output schema, else text. A client that takes text
// but no JSON gets the JSON as text (R301). Its only part is one.
func (c *Call) result(out []byte, one *onePart) runtime.ArtifactData {
	one[0] = runtime.Part{Kind: runtime.PartText, Text: string(out)}
	accepted := c.req.AcceptedOutputModes
	if c.skill.OutputSchema != "" && (route.Accepts(accepted, runtime.MediaJSON) || !route.Accepts(accepted, runtime.MediaText)) {
		one[0] = runtime.Part{Kind: runtime.PartData, Data: out, MediaType: runtime.MediaJSON}
	}
	return runtime.ArtifactData{
		ID: runtime.ResultArtifact, Parts: one[:], Metadata: c.skill.metadata,
		Extensions: skillsExtension, LastChunk: true,
	}
}

var skillsExtension = []string{runtime.SkillsExtension}
