package engine

import (
	"context"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/run"
)

// Extensions are extensions of the protocol whose values are typed: an *extension.Set. It is an interface so that only
// agents that have some link it.
type Extensions interface {
	// Has reports whether the extension is one of these.
	Has(uri string) bool
	// Named lists the extensions that a request names beside its frame: in its message's list, or by a value.
	Named(p *runtime.SendRequest) []string
	// Check returns what is wrong with the first value that does not fit, the extension it is of, and the path that leads
	// there. The error is a *check.Error.
	Check(p *runtime.SendRequest) (uri, field string, err error)
	// Of returns the extension that an operation belongs to; "" for one that is no extension's.
	Of(method string) string
}

// extensions checks what a message carries for extensions, before any work, and returns those that it asks for, of which
// the answer lists those that its frame has not named, too.
func (r *Request) extensions(p *runtime.SendRequest) (uris []string, err error) {
	if uri, field, err := r.e.values.Check(p); err != nil {
		e := invalid.Below(field, err)
		return nil, e.With("%s (it is of the extension %s: send a value that fits its schema, or none)", e.Note, uri).
			WithMetadata("extension", uri)
	}
	for _, uri := range r.e.values.Named(p) {
		if !slices.Contains(r.active, uri) {
			r.active = append(r.active, uri)
		}
	}
	for _, uri := range r.active {
		if r.e.values.Has(uri) {
			uris = append(uris, uri)
		}
	}
	return uris, nil
}

// Hooks are functions of the agent that see what the engine makes, is asked and answers. A definition of the agent's
// own may have members that the runtime does not know; hooks set and read them. Hooks that are nil cost nothing.
type Hooks struct {
	Made     []func(context.Context, any)
	Requests []func(context.Context, any) error
	Answers  []func(context.Context, any)
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
