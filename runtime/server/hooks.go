package server

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// OnMade calls f with each value of type T, a pointer to a generated task, message, status update or artifact update,
// that the server makes, before anybody sees it or it is stored. f may change what the runtime does not know of it. It
// is called with the task locked: it must not call methods of [Task], and should be quick.
func OnMade[T any](f func(context.Context, T)) Option {
	return func(o *options) {
		o.core.Hooks.Made = append(o.core.Hooks.Made, func(ctx context.Context, v any) {
			if x, ok := runtime.Generated(v).(T); ok {
				f(ctx, x)
			}
		})
	}
}

// OnRequest calls f with each request of type T, a pointer to a generated request to send, get, list, cancel or
// subscribe, before it is carried out. An error is answered instead: one of the protocol's that f makes or passes on
// ([runtime.Made]) as it is, any other as an internal one.
func OnRequest[T any](f func(context.Context, T) error) Option {
	return func(o *options) {
		o.core.Hooks.Requests = append(o.core.Hooks.Requests, func(ctx context.Context, v any) error {
			if x, ok := v.(T); ok {
				return f(ctx, x)
			}
			return nil
		})
	}
}

// OnAnswer calls f with a copy of each task, T, that is about to be answered, also with those of a list and the one
// that a stream begins with. f may change what the runtime does not know of it; what is stored stays as it is.
func OnAnswer[T any](f func(context.Context, T)) Option {
	return func(o *options) {
		o.core.Hooks.Answers = append(o.core.Hooks.Answers, func(ctx context.Context, v any) {
			if x, ok := runtime.Generated(v).(T); ok {
				f(ctx, x)
			}
		})
	}
}

// RequestFrom returns the generated request, of type T, that is being served: in the context of a hook, and in that of
// a skill's handler, where it is the one that brought the message. Nobody may change it.
func RequestFrom[T any](ctx context.Context) (T, bool) {
	x, ok := engine.Source(ctx).(T)
	return x, ok
}
