// Package engine turns a request into its answer, whatever its client speaks: it decides on tenants, versions, access
// and hooks, and carries the operation out. What handlers do is run by package run, streams are read from package feed.
//
// It knows no transport, and bindings know no rule of the protocol: a binding reads a request from its wire and decodes
// it, calls [Request.Serve], and writes the [Answer], which is a value or a [Stream] that is read at the client's
// speed.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Engine is an agent without a transport. It starts no goroutine until there is work, and none outlives
// [Engine.Shutdown].
type Engine struct {
	logger  *slog.Logger
	store   store.Store
	limits  Limits
	hooks   *Hooks // nil: there are none
	repeats Repeats
	terms   // what the card and the protocol say

	Observers  observing.Group
	protocol   *runtime.Protocol
	operations map[string]Operation // those that the runtime does not know
	nesting    int                  // how deep data may be, as [wire.Portable] counts; 0: as deep as is read
	skills     *run.Skills

	runner    *run.Runner // of the skills' handlers
	feed      feed.Feed
	pushing   pushing       // nil: no push notifications are sent
	responses budget.Budget // bytes of the responses that are being written
}

// Options are what a host may choose. Logger and Now are required.
type Options struct {
	Logger *slog.Logger
	Store  store.Store
	Limits Limits
	Router Router
	Chosen func(*Choice)   // is told why messages go to their skills; nil: nobody is
	Calls  func(OtherCall) // is told of calls of other agents; nil: nobody is
	Strict bool            // requests that name no version are none of 1.0 (R73)
	Now    func() time.Time
	Hooks  Hooks
	// Identifies: the host finds out who callers are. Without that there is no extended card for anybody.
	Identifies bool
	Pusher     Pusher // [Pushing] with a sender; nil: no push notifications are sent, whatever the card says
	Observers  []observe.Observer
}

// New makes an engine. It fails on a configuration that cannot work: no protocol, no card, skills without ids or twice
// the same.
func New(cfg Config, o Options) (*Engine, error) {
	if cfg.Protocol == nil || len(cfg.Protocol.Versions) == 0 || cfg.Card == nil {
		return nil, errors.New("the configuration has no protocol or no card")
	}
	skills, err := run.NewSkills(cfg.Skills)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		logger: o.Logger, store: o.Store, limits: o.Limits.WithDefaults(), repeats: cfg.Repeats,
		terms: newTerms(cfg, o), protocol: cfg.Protocol, operations: cfg.Operations,
		nesting: nestingOf(cfg.Protocol.Versions), skills: skills,
	}
	if len(o.Hooks.Made)+len(o.Hooks.Requests)+len(o.Hooks.Answers) > 0 {
		e.hooks = &o.Hooks
	}
	e.Observers = observing.Together(o.Observers, func(p any) { e.logger.Error("an observer panicked", "panic", fmt.Sprint(p)) })
	e.repeats.Window = cmp.Or(e.repeats.Window, runtime.RepeatWindow)
	e.responses.Limit = e.limits.Answers
	if e.store == nil {
		e.store = memory.New(memory.Limits{})
	}
	for _, o := range o.Observers {
		if w, ok := o.(store.Observer); ok {
			e.store = w.ObserveStore(e.store)
		}
	}
	newest := cfg.Protocol.Versions[0]
	if m, ok := e.store.(*memory.Store); ok && newest.Rules == (runtime.Rules{}) { // older ones do not write all of a task
		m.Pack(memory.Coding{Append: newest.AppendEvent, Read: newest.ReadEvent})
	}
	if e.info.Push && o.Pusher != nil && e.protocol.NewPushConfig != nil {
		e.pushing = o.Pusher(e)
	}
	c := run.Config{
		Store: e.store, Protocol: e.protocol, Skills: e.skills, Feed: &e.feed, Deliveries: e.pushing,
		Observers: &e.Observers, Nesting: e.nesting, Log: e.log, Logger: e.logger,
		Chosen: o.Chosen, Calls: o.Calls, Now: o.Now,
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
	e.runner = run.New(c)
	e.feed.Config = feed.Config{
		Store: e.store, Protocol: e.protocol, Context: e.runner.Soon, Show: e.showTask, MaxStreams: e.limits.Streams,
		Heartbeat: e.limits.Heartbeat, Stall: e.limits.Stall, Closing: e.runner.Closing(),
	}
	e.feed.Ticker.SetPace(e.limits.Heartbeat, e.limits.Stall)
	e.feed.Ticker.Tick, e.feed.Ticker.Started = e.runner.Tick, e.runner.TickerStarted
	if e.pushes() {
		e.pushing.Wake() // for what an instance before left
	}
	return e, nil
}

// Limits returns the limits with the defaults filled in.
func (e *Engine) Limits() Limits { return e.limits }

// Load is what an engine is busy with.
type Load struct {
	Tasks   int   // that somebody works on or reads
	Calls   int   // that are admitted
	Streams int   // that are open
	Work    int64 // bytes of the budget of messages that are taken
	Answers int64 // bytes of the budget of answers that are taken
}

// Load returns what the engine is busy with.
func (e *Engine) Load() Load {
	l := Load{Streams: e.feed.Streams(), Answers: e.responses.Taken()}
	l.Tasks, l.Calls, l.Work = e.runner.Load()
	return l
}

// log returns the logger with what a run or a delivery is known by. It is for rare events: attributes cost time.
func (e *Engine) log(skill, task, caller string) *slog.Logger {
	return e.logger.With(attributes("skill", skill, "task", task, "caller", caller)...)
}

// nestingOf returns how deep data may nest in an agent of these versions: as deep as readers of protobuf go if one of
// them is spoken over gRPC. 0: as deep as the JSON reader goes.
func nestingOf(versions []*runtime.Version) int {
	for _, v := range versions {
		if slices.ContainsFunc(v.Wires, func(w *runtime.Wire) bool { return w.Encoding == runtime.EncodingProto }) {
			return wire.MaxNesting
		}
	}
	return 0
}

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

// Config is what generated code hands over.
type Config struct {
	Protocol *runtime.Protocol
	Card     runtime.Card
	// Extended is the card for identified callers; nil: the agent has none. A caller needs all ExtendedScopes to see
	// it.
	Extended       runtime.Card
	ExtendedScopes []string
	Skills         []Skill // in the card's order; ids are unique
	// Operations carry out operations that the runtime does not know ([runtime.RoleOther]), by JSON-RPC method name.
	// One that is not there answers UnsupportedOperation.
	Operations map[string]Operation
	// Extensions are those that the card declares and whose values are typed; nil: there are none.
	Extensions Extensions
	// Repeats say how messages that are sent again are recognized.
	Repeats Repeats
	// OpenStore opens the store in which the agent of that name keeps its tasks, at StorePath unless the host names another
	// address or store. Nil for an agent that keeps them in memory.
	OpenStore func(address, agent string, p *runtime.Protocol) (store.Store, error)
	StorePath string // a file, or "" where the store has an address of its own
}

// Router picks the skill for a message for which nothing else decides. It returns a skill's id, or "" if it does not
// know either.
type Router func(ctx context.Context, m runtime.Message) (skill string, err error)

// Choice is why a message went to its skill.
type Choice = route.Choice

// OtherCall is a call of another agent that a handler makes.
type OtherCall = run.OtherCall

// Limits bound what an agent takes on: the engine, and the bindings in its name. A zero field means the default in
// brackets. How deep a request's JSON may nest is bounded too, by wire.MaxDepth.
type Limits struct {
	Body      int64         // request body in bytes [16 MiB]
	Bodies    int64         // memory for large messages until they are answered, in bytes; more are refused as busy [256 MiB]
	Work      int64         // memory for large messages at work or waiting for it, in bytes; more are refused as busy [256 MiB]
	Answers   int64         // all large answers being written, in bytes; more wait for their turn [256 MiB]
	Page      int           // content of a page of tasks in bytes; it ends early, but has at least one task [8 MiB]
	Event     int           // content of one message or artifact chunk made by a handler, in bytes [16 MiB]
	Running   int           // handlers running or waiting for their turn; more sends are refused as busy [10,000]
	Streams   int           // open event streams [20,000]
	Pushes    int           // push notification configurations of a task [16]
	Timeout   time.Duration // one call of a handler [1 h]
	Heartbeat time.Duration // silence on a stream after which a comment is sent at the latest [15 s]
	Stall     time.Duration // a client that takes nothing for so long is dropped; large answers wait as long for room [30 s]
	Header    time.Duration // reading a request's header [10 s]
	Read      time.Duration // reading a request's body, and one second more for every 16 KiB of it that came [60 s]
	Idle      time.Duration // keep-alive of an unused connection [120 s]
	Grace     time.Duration // shutdown: how long handlers may finish before they are canceled [10 s]
}

// WithDefaults returns the limits with the defaults for those that are zero.
func (l Limits) WithDefaults() Limits {
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Bodies = cmp.Or(l.Bodies, 256<<20)
	l.Work = cmp.Or(l.Work, 256<<20)
	l.Answers = cmp.Or(l.Answers, 256<<20)
	l.Page = cmp.Or(l.Page, 8<<20)
	l.Event = cmp.Or(l.Event, 16<<20)
	l.Running = cmp.Or(l.Running, 10_000)
	l.Streams = cmp.Or(l.Streams, 20_000)
	l.Pushes = cmp.Or(l.Pushes, 16)
	l.Timeout = cmp.Or(l.Timeout, time.Hour)
	l.Heartbeat = cmp.Or(l.Heartbeat, 15*time.Second)
	l.Stall = cmp.Or(l.Stall, 30*time.Second)
	l.Header = cmp.Or(l.Header, 10*time.Second)
	l.Read = cmp.Or(l.Read, time.Minute)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.Grace = cmp.Or(l.Grace, 10*time.Second)
	return l
}
