// Package run is the life of tasks: it takes messages on, calls the handlers of skills, and has the store keep what
// they say. It holds the lease on what this instance runs, takes over what others have left, and retries what the store
// has not answered. Which skill a message is for is decided by package route; readers get what is stored from package
// feed.
package run

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// Config is what a [Runner] works with.
type Config struct {
	Store      store.Store
	Protocol   *runtime.Protocol
	Skills     *Skills
	Feed       *feed.Feed // of the readers; its ticker drives the upkeep
	Deliveries Deliveries // of push notifications; nil: there are none
	Observers  *observing.Group
	Limits     Limits
	Now        func() time.Time
	Router     func(context.Context, runtime.Message) (skill string, err error) // nil: there is none
	Chosen     func(*route.Choice)                                              // is told why messages go where; nil: nobody is
	Calls      func(OtherCall)                                                  // is told of calls of other agents; nil: nobody is
	Made       []func(context.Context, any)                                     // hooks for new values of the protocol
	Nesting    int                                                              // how deep data may be; 0: any
	Extensions func(*runtime.SendRequest) []string                              // with a contract that a stored request names; nil: there are none
	Log        func(skill, task, caller string) *slog.Logger                    // of a run
	Logger     *slog.Logger
}

// OtherCall is a call of another agent that a handler makes, for whoever develops the agent.
type OtherCall struct {
	Task    string `json:"task"`    // of the handler
	Agent   string `json:"agent"`   // the name or URL of the other one
	Skill   string `json:"skill"`   // its id
	Message string `json:"message"` // the id of the message, unless the handler's code chose one
}

// Deliveries send push notifications in the background: a worker of package deliver.
type Deliveries interface {
	// Wake has them look what is due.
	Wake()
	// Close sends nothing more; what is in flight may arrive until ctx is done.
	Close(ctx context.Context)
}

// noDeliveries are those of an agent that sends no push notifications.
type noDeliveries struct{}

func (noDeliveries) Wake()                 {}
func (noDeliveries) Close(context.Context) {}

// Limits bound what a runner takes on.
type Limits struct {
	Work    int64         // large messages at work or waiting for it, in bytes
	Queue   int64         // inputs of the messages that wait for their turn in one task, in bytes
	Page    int           // a conversation that a handler reads, in bytes
	Event   int           // content of one message or artifact chunk of a handler, in bytes
	Running int           // calls at work or waiting for their turn
	Pushes  int           // push notification configurations of a task
	Timeout time.Duration // one call of a handler, unless its skill has its own
}

// Runner runs the handlers of an agent's skills. It starts no goroutines until there is work, and none outlives
// [Runner.Shutdown].
type Runner struct {
	Config
	ids
	content content

	deadlines           // of the calls of the store
	tasks     registry  // that somebody works on or reads
	admission admission // of calls
	lease     lease     // on what this instance runs
	flusher   flusher   // of pieces of artifacts that are kept back
	upkeep    upkeep
	parked    parked
	durable   atomic.Bool // what is given back to the store is taken up again
}

// New makes a runner.
func New(c Config) *Runner {
	now := c.Now
	c.Now = func() time.Time { return now().UTC().Truncate(time.Millisecond) } // R96, R98, T60
	r := &Runner{
		Config: c, content: content{c.Limits.Event, c.Nesting},
		admission: admission{
			limit: c.Limits.Running, work: budget.Budget{Limit: c.Limits.Work},
			closing: make(chan struct{}), hurry: make(chan struct{}), idle: make(chan struct{}),
		},
		tasks: registry{store: c.Store, handles: map[store.Key]*handle{}},
	}
	if r.Deliveries == nil {
		r.Deliveries = noDeliveries{}
	}
	r.tasks.changed, r.lease.r, r.lease.turn = r.checkEpoch, r, make(chan struct{}, 1)
	return r
}

// Start has the runner take over what a process before has left. Work that comes in starts it, too.
func (r *Runner) Start() { r.lease.start() }

// Looks reports whether readers must look now and then what other instances have changed: the store may not tell them.
func (r *Runner) Looks() bool { return r.tasks.looks.Load() }

// Closing is closed when streams are to end.
func (r *Runner) Closing() <-chan struct{} { return r.admission.closing }

// Draining reports whether new work is refused.
func (r *Runner) Draining() bool { return r.admission.isDraining() }

// Load returns how many tasks somebody works on or reads, how many calls are admitted, and how many bytes of the budget
// of messages are taken.
func (r *Runner) Load() (tasks, calls int, work int64) {
	return r.tasks.len(), r.admission.len(), r.admission.work.Taken()
}

// Topic returns the readers of a task. Call release when there is nothing to read any more.
func (r *Runner) Topic(key store.Key) (topic *feed.Topic, release func()) {
	h := r.tasks.use(key)
	return &h.Topic, func() { r.tasks.drop(h) }
}

// LastGrace is how long canceled handlers may take to return at shutdown.
const LastGrace = 2 * time.Second

// LongestShutdown is how long Shutdown may take once its context has ended.
const LongestShutdown = 2 * LastGrace

// Shutdown refuses new work and lets the handlers at work finish until ctx is done; then it cancels them, and gives
// them a moment to return. At last it ends the open streams. It returns ctx's error when handlers had to be canceled.
func (r *Runner) Shutdown(ctx context.Context) (err error) {
	if !r.admission.drain(ctx) {
		r.Logger.Warn("handlers ignore their canceled context")
		r.admission.cutOff()
	}
	if isClosed(r.admission.hurry) {
		err = context.Cause(ctx)
	}
	r.admission.endStreams()
	r.Feed.Ticker.Stop()
	r.Deliveries.Close(ctx)
	r.lease.stop()
	r.giveUpCalls()
	return err
}

// Close is Shutdown that waits for no handler: those at work are canceled at once.
func (r *Runner) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Shutdown(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// States returns the states of the call at work on a task and of those queued behind it, for tests.
func (r *Runner) States(key store.Key) (now string, queued []string) {
	h := r.tasks.use(key)
	defer r.tasks.drop(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == nil {
		return over.String(), nil
	}
	for _, c := range h.queue {
		queued = append(queued, c.state.String())
	}
	return h.run.state.String(), queued
}

// StoreTime is how long a call of the store may take at least before it is given up, and half of what it may take at
// most. Where instances have leases it is a third of one, if that is less, but no less than a second.
const StoreTime = 10 * time.Second

// deadlines gives the calls of the store their context. A context with a timer for each would cost more than a call of
// a store in memory: those of a while share one.
type deadlines struct {
	current atomic.Pointer[context.Context]
	mu      sync.Mutex
	all     context.Context // of all of them; nil: there were none
	giveUp  func()          // ends it
	lease   time.Duration   // 0: there is none, or it is not known
}

// Soon returns a context for a call of the store that begins now.
func (d *deadlines) Soon() context.Context {
	if ctx := d.current.Load(); ctx != nil {
		return *ctx
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx := d.current.Load(); ctx != nil {
		return *ctx
	}
	if d.all == nil {
		d.all, d.giveUp = context.WithCancel(context.Background())
	}
	least := StoreTime
	if d.lease > 0 {
		least = max(min(least, d.lease/callIn), time.Second)
	}
	ctx, cancel := context.WithTimeout(d.all, 2*least)
	context.AfterFunc(ctx, cancel)
	d.current.Store(&ctx)
	time.AfterFunc(least, func() { d.current.CompareAndSwap(&ctx, nil) })
	return ctx
}

// leased says how long a lease is.
func (d *deadlines) leased(lease time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lease != lease {
		d.lease = lease
		d.current.Store(nil)
	}
}

// giveUpCalls ends the calls that are under way: nobody waits for them.
func (d *deadlines) giveUpCalls() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all != nil {
		d.giveUp()
		d.all = nil
		d.current.Store(nil)
	}
}

// SetPush adds a configuration to a task, or puts it in the place of the one with its id.
func (r *Runner) SetPush(key store.Key, config *store.Push) error {
	config.Max = r.Limits.Pushes
	if err := r.Store.SetPush(r.Soon(), key, *config); err != nil {
		return err
	}
	r.Deliveries.Wake() // the one before may have waited for its next try
	return nil
}

// ids makes identifiers that nobody can guess: task and context ids are all it takes to name a task. Random bytes are
// drawn in bulk, and some ids are made at a time: they share one piece of memory, as a task and its context often do.
type ids struct {
	mu   sync.Mutex
	made string // ids that are not given out yet
	left int    // unused bytes at the end of pool
	pool [64 * idBytes]byte
}

const (
	idBytes  = 16 // the randomness of an id
	idLength = 36
	idsMade  = 4 // at a time: one that is kept keeps the others' memory, too
)

// NewID makes an id that nobody can guess, in the form of a random UUID (version 4).
func (g *ids) NewID() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.made == "" {
		g.made = g.make()
	}
	id := g.made[:idLength]
	g.made = g.made[idLength:]
	return id
}

// make makes some ids in a row.
func (g *ids) make() string {
	if g.left == 0 {
		_, _ = rand.Read(g.pool[:]) // never fails
		g.left = len(g.pool)
	}
	unused := g.pool[len(g.pool)-g.left:][:idsMade*idBytes]
	var row [idsMade * idLength]byte
	for i := range idsMade {
		writeID(row[i*idLength:], unused[i*idBytes:][:idBytes])
	}
	clear(unused)
	g.left -= len(unused)
	return string(row[:])
}

// writeID writes random bytes as an id.
func writeID(dst, random []byte) {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	const digits = "0123456789abcdef"
	at := 0
	for i, c := range random {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst[at] = '-'
			at++
		}
		dst[at], dst[at+1] = digits[c>>4], digits[c&15]
		at += 2
	}
}
