package server

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// hooks are the agent's own say in what the server makes, is asked and answers: what a definition of the agent's own has that the runtime
// does not know is set and acted upon here. Nothing is paid for hooks that are not there.
type hooks struct {
	made     []func(context.Context, any)
	requests []func(context.Context, any) error
	answers  []func(context.Context, any)
}

// OnMade calls f with each value of type T, a pointer to a generated task, message, status update or artifact update, that the server
// makes, before anybody sees it or it is stored. f may change what the runtime does not know of it. It is called with the task locked: it
// must not call methods of [Task], and should be quick.
func OnMade[T any](f func(context.Context, T)) Option {
	return func(o *options) {
		o.hooks.made = append(o.hooks.made, func(ctx context.Context, v any) {
			if x, ok := v.(T); ok {
				f(ctx, x)
			}
		})
	}
}

// OnRequest calls f with each request of type T, a pointer to a generated request to send, get, list, cancel or subscribe, before it is carried
// out. An error is answered instead: one of the protocol's as it is, any other as an internal one.
func OnRequest[T any](f func(context.Context, T) error) Option {
	return func(o *options) {
		o.hooks.requests = append(o.hooks.requests, func(ctx context.Context, v any) error {
			if x, ok := v.(T); ok {
				return f(ctx, x)
			}
			return nil
		})
	}
}

// OnAnswer calls f with a copy of each task, T, that is about to be answered, also with those of a list and the one that a stream begins
// with. f may change what the runtime does not know of it; what is stored stays as it is.
func OnAnswer[T any](f func(context.Context, T)) Option {
	return func(o *options) {
		o.hooks.answers = append(o.hooks.answers, func(ctx context.Context, v any) {
			if x, ok := v.(T); ok {
				f(ctx, x)
			}
		})
	}
}

type requestKey struct{}

// RequestFrom returns the generated request, of type T, that is being served: in the context of a hook, and in that of a skill's handler, where it is
// the one that brought the message. Nobody may change it.
func RequestFrom[T any](ctx context.Context) (T, bool) {
	x, ok := ctx.Value(requestKey{}).(T)
	return x, ok
}

func (h *hooks) any() bool { return len(h.made)+len(h.requests)+len(h.answers) > 0 }

// hooked shows the request to the hooks. params are what Decode made of it.
func (q *request) hooked(params any) error {
	if !q.s.hooks.any() {
		return nil
	}
	var source any
	switch p := params.(type) {
	case *runtime.SendRequest:
		source = p.Source
	case *runtime.TaskRequest:
		source = p.Source
	case *runtime.ListRequest:
		source = p.Source
	default:
		return nil // the agent's own, which it sees anyway
	}
	q.r = q.r.WithContext(context.WithValue(q.r.Context(), requestKey{}, source))
	for _, f := range q.s.hooks.requests {
		if err := f(q.r.Context(), source); err != nil {
			return err
		}
	}
	return nil
}

// answered is a task as the hooks want it answered.
func (q *request) answered(task runtime.Task) runtime.Task {
	if len(q.s.hooks.answers) == 0 || task == nil {
		return task
	}
	task = task.View(nil, true) // others may read it at the same time
	for _, f := range q.s.hooks.answers {
		f(q.r.Context(), task)
	}
	return task
}

// made shows a new value to the hooks.
func (s *Server) made(ctx context.Context, v any) {
	for _, f := range s.hooks.made {
		f(ctx, v)
	}
}

func (t *Task) newTask(id, contextID string, at time.Time) runtime.Task {
	task := t.s.protocol.NewTask(id, contextID, at)
	t.s.made(t.ctx, task)
	return task
}

func (t *Task) newMessage(data runtime.MessageData) runtime.Message {
	m := t.s.protocol.NewMessage(data)
	t.s.made(t.ctx, m)
	return m
}

func (s *Server) newStatus(ctx context.Context, id, contextID string, state runtime.State, m runtime.Message, at time.Time) runtime.Event {
	e := s.protocol.NewStatus(id, contextID, state, m, at)
	s.made(ctx, e)
	return e
}

func (s *Server) newArtifact(ctx context.Context, id, contextID string, data runtime.ArtifactData) runtime.Event {
	e := s.protocol.NewArtifact(id, contextID, data)
	s.made(ctx, e)
	return e
}
