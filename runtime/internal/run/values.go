package run

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

type callerKey struct{}

// CallerFrom returns who sent the request that is being served, for a context of a hook, a handler or an operation of
// the agent's own; nil for nobody who is known.
func CallerFrom(ctx context.Context) *runtime.Caller {
	c, _ := ctx.Value(callerKey{}).(*runtime.Caller)
	return c
}

// WithCaller returns a context in which [CallerFrom] finds the caller.
func WithCaller(ctx context.Context, c *runtime.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

type requestKey struct{}

// Source returns the generated request that is being served, for a context of a hook or a handler.
func Source(ctx context.Context) any { return ctx.Value(requestKey{}) }

// WithSource returns a context in which [Source] finds the generated request.
func WithSource(ctx context.Context, request any) context.Context {
	return context.WithValue(ctx, requestKey{}, request)
}

// values is a request's context without its end: a disconnect cancels nothing (R69, §3.5.2).
type values struct {
	ctx    context.Context
	source any // the generated request
	caller *runtime.Caller
}

func (v *values) Deadline() (time.Time, bool) { return time.Time{}, false }
func (v *values) Done() <-chan struct{}       { return nil }
func (v *values) Err() error                  { return nil }

func (v *values) Value(key any) any {
	switch key {
	case requestKey{}:
		return v.source
	case callerKey{}:
		return v.caller
	}
	return v.ctx.Value(key)
}
