package run

import (
	"context"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
)

// callContext is the context of a call: it has the values of the request, and is canceled with a cause. What the standard
// library needs for that is made when somebody waits for the end or makes another context of it: most handlers do
// neither.
type callContext struct {
	values
	mu    sync.Mutex
	cause error       // why it is canceled; nil: it is not
	std   *stdContext // nil: nobody has needed it
}

type stdContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

func (c *callContext) Done() <-chan struct{} { return c.standard().Done() }

func (c *callContext) Err() error {
	if c.Cause() != nil {
		return context.Canceled
	}
	return nil
}

// Value finds the request and its caller here. Everything else is asked of the standard library's context, which also
// finds itself like this, for [context.Cause].
func (c *callContext) Value(key any) any {
	switch key {
	case requestKey{}, callerKey{}:
		return c.values.Value(key)
	}
	return c.standard().Value(key)
}

// Cause is [context.Cause] of the context.
func (c *callContext) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// cancel ends the context. The first cause counts; nil is [context.Canceled].
func (c *callContext) cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	if c.cause == nil {
		c.cause = cause
	}
	cause, std := c.cause, c.std
	c.mu.Unlock()
	if std != nil {
		std.cancel(cause)
	}
}

// standard is the context as the standard library makes it.
func (c *callContext) standard() *stdContext {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.std == nil {
		c.std = new(stdContext)
		c.std.Context, c.std.cancel = context.WithCancelCause(&c.values)
		if c.cause != nil {
			c.std.cancel(c.cause)
		}
	}
	return c.std
}

// runContext is a handler's context: canceled with a cause, never by the client's disconnect, and with the deadline of
// the skill's timeout, which a timer or the ticker enforces.
type runContext struct {
	*callContext
	deadline time.Time
	handler  *chain
}

// exactTimeout is up to which timeout a call gets a timer of its own; longer ones are left to the ticker.
const exactTimeout = time.Minute

func (c *runContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Value finds the call itself here, for the clients that its handler uses.
func (c *runContext) Value(key any) any {
	if key == (nested.Key{}) {
		return c.handler
	}
	return c.callContext.Value(key)
}

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
	request context.Context
	sent    *runtime.SendRequest // nil: none
	caller  *runtime.Caller
}

func (v *values) Deadline() (time.Time, bool) { return time.Time{}, false }
func (v *values) Done() <-chan struct{}       { return nil }
func (v *values) Err() error                  { return nil }

func (v *values) Value(key any) any {
	switch key {
	case requestKey{}:
		if v.sent == nil {
			return nil
		}
		return v.sent.Source
	case callerKey{}:
		return v.caller
	}
	return v.request.Value(key)
}
