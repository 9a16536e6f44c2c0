package engine

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Hooks are the agent's own say in what the engine makes, is asked and answers: what a definition of the agent's own
// has that the runtime does not know is set and acted upon here. Nothing is paid for hooks that are not there.
type Hooks struct {
	Made     []func(context.Context, any)
	Requests []func(context.Context, any) error
	Answers  []func(context.Context, any)
}

type requestKey struct{}

// Source returns the generated request that is being served, for a context of a hook or a handler.
func Source(ctx context.Context) any { return ctx.Value(requestKey{}) }

func (h *Hooks) any() bool { return len(h.Made)+len(h.Requests)+len(h.Answers) > 0 }

// hooked shows the request to the hooks. params are what Decode made of it.
func (r *Request) hooked(params any) error {
	if !r.e.hooks.any() {
		return nil
	}
	var source any
	var tenant string
	switch p := params.(type) {
	case *runtime.SendRequest:
		source, tenant = p.Source, p.Tenant
	case *runtime.TaskRequest:
		source, tenant = p.Source, p.Tenant
	case *runtime.ListRequest:
		source, tenant = p.Source, p.Tenant
	case *runtime.PushRequest:
		source, tenant = p.Source, p.Tenant
	default:
		return nil // the agent's own, which it sees anyway
	}
	owner, err := r.owner(tenant)
	if err != nil {
		return err
	}
	r.Context = context.WithValue(r.Context, requestKey{}, source)
	r.introduce(owner)
	for _, f := range r.e.hooks.Requests {
		if err := f(r.Context, source); err != nil {
			return byOwnCode(r.Context, "hook of requests", err)
		}
	}
	return nil
}

// answered is a task as the hooks want it answered.
func (r *Request) answered(task runtime.Task) runtime.Task { return r.e.showTask(r.Context, task) }

// showTask returns a task as the hooks want it shown.
func (e *Engine) showTask(ctx context.Context, task runtime.Task) runtime.Task {
	if len(e.hooks.Answers) == 0 || task == nil {
		return task
	}
	task = task.View(nil, true) // others may read it at the same time
	for _, f := range e.hooks.Answers {
		f(ctx, task)
	}
	return task
}

// made shows a new value to the hooks.
func (e *Engine) made(ctx context.Context, v any) {
	for _, f := range e.hooks.Made {
		f(ctx, v)
	}
}

func (t *taskWriter) newTask(id, contextID string, at time.Time) runtime.Task {
	task := t.c.e.protocol.NewTask(id, contextID, at)
	t.c.e.made(t.c.ctx, task)
	return task
}

func (t *taskWriter) newMessage(data runtime.MessageData) runtime.Message {
	m := t.c.e.protocol.NewMessage(data)
	t.c.e.made(t.c.ctx, m)
	return m
}

func (e *Engine) newStatus(
	ctx context.Context, id, contextID string, state runtime.State, m runtime.Message, at time.Time,
) runtime.Event {
	v := e.protocol.NewStatus(id, contextID, state, m, at)
	e.made(ctx, v)
	return v
}

func (e *Engine) newArtifact(ctx context.Context, id, contextID string, data runtime.ArtifactData) runtime.Event {
	v := e.protocol.NewArtifact(id, contextID, data)
	e.made(ctx, v)
	return v
}
