package run

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

// What observers are told of runs. What they are told of requests is the host's to say, of deliveries the worker's.

// watched is an activity with the context that its observers made.
type watched struct {
	observe.Activity
	ctx context.Context
}

// watch tells the observers that the handler is called, and returns its context.
func (c *call) watch(ctx context.Context) context.Context {
	w := &watched{}
	w.Kind, w.Begun, w.Attempt = observe.Run, time.Now(), (*view)(c).Attempt()
	w.Skill, w.Context, w.Caller, w.Tenant = c.skill.ID, c.context(), c.ctx.caller, c.owner.Tenant
	c.handle.mu.Lock()
	w.Task, w.Carrier = c.task.made(), observing.ReadTrace(c.task.private.Trace).Fixed()
	c.handle.mu.Unlock()
	w.ctx = c.r.Observers.Begin(ctx, &w.Activity)
	c.watched = w
	return w.ctx
}

// made is the id of the task if there is one. Callers must hold c.handle.mu.
func (t *taskWriter) made() string {
	if t.c.handle.version == 0 {
		return ""
	}
	return t.c.taskID()
}

// unwatch tells the observers that the handler has returned, with this error, and what that came to.
func (c *call) unwatch(err error) {
	w := c.watched
	c.handle.mu.Lock()
	w.Task = c.task.made()
	w.State, w.Reason = c.came(err)
	c.handle.mu.Unlock()
	c.r.Observers.End(w.ctx, &w.Activity)
}

// came is what the handler's return came to. Callers must hold c.handle.mu.
func (c *call) came(err error) (state runtime.State, reason string) {
	state = c.conclusion.ending.status.state()
	if c.reply != nil && c.handle.version != 0 {
		state = runtime.StateCompleted
	}
	var o *verdict
	cause := c.ctx.Cause()
	switch {
	case errors.Is(cause, ErrCanceled):
		return runtime.StateCanceled, observe.ReasonCanceled
	case err == nil && state == runtime.StateFailed && !errors.Is(cause, ErrTimeout):
		// Its answer could not be kept or sent.
		return state, runtime.ErrInternal.Reason
	case err == nil && !state.Terminal() || state == runtime.StateCompleted:
		return state, ""
	case errors.Is(cause, ErrTimeout):
		return state, observe.ReasonTimeout
	case errors.Is(cause, ErrShutdown):
		return state, observe.ReasonAway
	case errors.Is(cause, ErrLost):
		return state, observe.ReasonLost
	case errors.As(err, &o) && o.state == runtime.StateFailed:
		return state, observe.ReasonFailed
	case errors.As(err, &o) && o.state == runtime.StateRejected:
		return state, observe.ReasonRejected
	case errors.As(err, &o):
		return state, ""
	}
	if made := runtime.Made(err); made != nil {
		return state, observe.ReasonOf(made)
	}
	return state, runtime.ErrInternal.Reason // whatever a call of the handler's own came to
}
