package engine

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
)

// Hooks are functions of the agent that see what the engine makes, is asked and answers. A definition of the agent's
// own may have members that the runtime does not know; hooks set and read them. Hooks that are nil cost nothing.
type Hooks struct {
	Made     []func(context.Context, any)
	Requests []func(context.Context, any) error
	Answers  []func(context.Context, any)
}

// orNil are the hooks, nil if there are none.
func (h Hooks) orNil() *Hooks {
	if len(h.Made)+len(h.Requests)+len(h.Answers) == 0 {
		return nil
	}
	return &h
}

// hooked shows the request to the hooks, if there are any. params are what Decode made of it.
func (r *Request) hooked(params any) error {
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
	r.Context = run.WithSource(r.Context, source)
	r.introduce(owner)
	for _, f := range r.e.hooks.Requests {
		if err := f(r.Context, source); err != nil {
			return byOwnCode(r.Context, "hook of requests", err)
		}
	}
	return nil
}

// showTask returns a task as the hooks want it shown.
func (e *Engine) showTask(ctx context.Context, task runtime.Task) runtime.Task {
	if e.hooks == nil || len(e.hooks.Answers) == 0 || task == nil {
		return task
	}
	task = task.View(nil, true) // others may read it at the same time
	for _, f := range e.hooks.Answers {
		f(ctx, task)
	}
	return task
}
