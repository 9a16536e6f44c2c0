package engine

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
)

// What hosts and bindings see of package run.
type (
	Skill   = run.Skill
	OnCrash = run.OnCrash
	Permit  = run.Permit
)

// What becomes of a call that was interrupted.
const (
	CrashFail  = run.CrashFail
	CrashRetry = run.CrashRetry
)

// LongestShutdown is how long Shutdown may take once its context has ended.
const LongestShutdown = run.LongestShutdown

// ErrHandle is [run.ErrHandle].
var ErrHandle = run.ErrHandle

// CallerFrom returns who sent the request that is being served, for a context of a hook, a handler or an operation of
// the agent's own; nil for nobody who is known.
func CallerFrom(ctx context.Context) *runtime.Caller { return run.CallerFrom(ctx) }

// Source returns the generated request that is being served, for a context of a hook or a handler.
func Source(ctx context.Context) any { return run.Source(ctx) }

// newRunner makes the runner of the skills' handlers.
func (e *Engine) newRunner(o Options) *run.Runner {
	c := run.Config{
		Store: e.store, Protocol: e.protocol, Skills: e.skills, Feed: &e.feed, Deliveries: e.pushing,
		Observers: &e.observers, Nesting: e.nesting, Log: e.log, Logger: e.logger,
		Chosen: o.Chosen, Calls: o.Calls,
		Now: func() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }, // R96, R98, T60
		Limits: run.Limits{
			Work: e.limits.Work, Queue: e.limits.Body, Page: e.limits.Page, Event: e.limits.Event,
			Running: e.limits.Running, Pushes: e.limits.Pushes, Timeout: e.limits.Timeout,
		},
	}
	if e.hooks != nil {
		c.Made = e.hooks.Made
	}
	if e.values != nil {
		c.Extensions = e.values.Named
	}
	if o.Router != nil {
		c.Router = func(ctx context.Context, m runtime.Message) (string, error) {
			id, err := o.Router(ctx, m)
			return id, byOwnCode(ctx, "router", err)
		}
	}
	return run.New(c)
}

// soon returns a context for a call of the store that begins now.
func (e *Engine) soon() context.Context { return e.runner.Soon() }

// Start has the engine take over what a process before has left. Work that comes in starts it, too.
func (e *Engine) Start() { e.runner.Start() }

// Ready says why requests should go to another instance; nil: this one answers them.
func (e *Engine) Ready() error { return e.runner.Ready() }

// WatchReady has f called when the store cannot be reached any more, and when it can again. f must be quick.
func (e *Engine) WatchReady(f func(ready bool)) { e.runner.WatchReady(f) }

// Draining reports whether new work is refused.
func (e *Engine) Draining() bool { return e.runner.Draining() }

// Shutdown is [run.Runner.Shutdown].
func (e *Engine) Shutdown(ctx context.Context) error { return e.runner.Shutdown(ctx) }

// Close is Shutdown that waits for no handler: those at work are canceled at once.
func (e *Engine) Close() error { return e.runner.Close() }

// Redeem is [run.Runner.Redeem].
func (e *Engine) Redeem(ctx context.Context, handle string, value any) error {
	return e.runner.Redeem(ctx, handle, value)
}
