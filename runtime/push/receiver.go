package push

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
)

// Receiver receives push notifications: it checks who sent them, drops what comes twice, puts them in order, and hands
// their events to the functions given with [On]. It keeps what it needs for that in memory, within limits, and starts
// no goroutine of its own. It is an [http.Handler], safe for concurrent use.
//
// It answers 200 once the functions have returned without an error, or had done so before. Any other answer lets the
// agent try again:
//
//	400  the body or a header is not what it should be
//	401  the token, the Authorization or the signature is missing or wrong
//	404  another path than that of [Path]
//	405  another method than POST
//	408  the body came too slowly
//	410  a function returned [ErrGone]: this configuration is no longer wanted
//	413  the body is too large
//	415  the body is no JSON, or compressed
//	500  a function returned an error, or panicked
//	503  too much waits, or the signer's keys cannot be had: later, as Retry-After says
type Receiver struct {
	protocol *runtime.Protocol
	settings
	bodies budget.Budget

	mu      sync.Mutex
	lanes   map[laneKey]*lane
	order   list.List // of *lane, the last used first
	held    int       // notifications that wait for their turn
	known   int64     // bytes of the tasks that lanes know
	seen    memory
	watches map[string][]chan struct{} // by task
}

// Limits of a receiver; in brackets what stands for zero. What is too much to remember is forgotten, the longest unused
// first.
type Limits struct {
	Body     int64         // one notification in bytes [16 MiB]
	Bodies   int64         // the memory of all notifications at work or waiting, in bytes; more are put off [256 MiB]
	Read     time.Duration // reading a body, and one second more for every 16 KiB of it that came [30 s]
	Callback time.Duration // the functions of one notification: their context ends then [30 s]
	Gap      time.Duration // how long a notification waits for those before it [3 s]
	Waiting  int           // notifications of one task that wait for their turn; more are put off [64]
	Held     int           // notifications of all tasks that wait for their turn; more are put off [4,096]
	Tasks    int           // tasks, each with a configuration, whose order is known [16,384]
	Known    int64         // tasks that came as a whole, in bytes [64 MiB]
	Seen     int           // ids of notifications that are remembered [65,536]
	Memory   time.Duration // how long a task and an id are remembered without being used [24 h]
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Bodies = cmp.Or(l.Bodies, 256<<20)
	l.Read = cmp.Or(l.Read, 30*time.Second)
	l.Callback = cmp.Or(l.Callback, 30*time.Second)
	l.Gap = cmp.Or(l.Gap, 3*time.Second)
	l.Waiting = cmp.Or(l.Waiting, 64)
	l.Held = cmp.Or(l.Held, 4096)
	l.Tasks = cmp.Or(l.Tasks, 16_384)
	l.Known = cmp.Or(l.Known, 64<<20)
	l.Seen = cmp.Or(l.Seen, 65_536)
	l.Memory = cmp.Or(l.Memory, 24*time.Hour)
	return l
}

// ErrGone is what a function given with [On] returns, wrapped or not, when notifications of this configuration are no
// longer wanted: the answer is 410, upon which an agent stops.
var ErrGone = errors.New("these notifications are no longer wanted")

// Option configures a [Receiver].
type Option func(*settings)

type settings struct {
	path      string
	secrets   []secret
	accept    func(ctx context.Context, taskID, token string) bool
	verifier  Verifier
	anyone    bool
	whole     bool
	callbacks []callback
	onGap     func(Gap)
	limits    Limits
	logger    *slog.Logger
}

// callback is a function that wants events of one type.
type callback struct {
	wants func(generated any) bool
	call  func(ctx context.Context, generated any, n *Notification) error
}

// On has f called with every event of type E: *a2a.TaskStatusUpdateEvent, *a2a.TaskArtifactUpdateEvent, *a2a.Message,
// a2a.StreamResponsePayload for all of them, or with [Whole] *a2a.Task. Functions are called in the order in which they
// were given, for one event of a task after the other. An error ends the notification, which comes again with the event
// that f refused.
func On[E any](f func(ctx context.Context, e E, n *Notification) error) Option {
	return func(s *settings) {
		s.callbacks = append(s.callbacks, callback{
			wants: func(generated any) bool { _, ok := generated.(E); return ok },
			call:  func(ctx context.Context, generated any, n *Notification) error { return f(ctx, generated.(E), n) },
		})
	}
}

// OnGap has f called when notifications are missing and no longer waited for.
func OnGap(f func(Gap)) Option { return func(s *settings) { s.onGap = f } }

// Path accepts notifications at this path only. Without it any path will do: say it in the pattern of your mux.
func Path(path string) Option { return func(s *settings) { s.path = path } }

// Whole hands over a task that came as a whole, as in all notifications before 1.0, as the *a2a.Task that it is.
// Without it functions get what is new in the task since its last notification: artifact updates, then a status update.
func Whole() Option { return func(s *settings) { s.whole = true } }

// WithLimits sets limits; zero fields keep their defaults.
func WithLimits(l Limits) Option { return func(s *settings) { s.limits = l } }

// WithLogger sets the logger, which hears of functions that fail, gaps, and notifications that are refused; the default
// is slog.Default().
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.logger = l } }

// NewReceiver makes a receiver of notifications in every version that the protocol package speaks. It has to be told
// how to know a sender: [Token], [Tokens], [Authorization] or [Verify], of which all that are given must hold, or
// [Anyone].
func NewReceiver(p *runtime.Protocol, opts ...Option) (*Receiver, error) {
	r := &Receiver{
		protocol: p, settings: settings{logger: slog.Default()},
		lanes: map[laneKey]*lane{}, watches: map[string][]chan struct{}{},
	}
	for _, o := range opts {
		o(&r.settings)
	}
	r.limits = r.limits.withDefaults()
	r.bodies.Limit = r.limits.Bodies
	r.seen.limit, r.seen.life = r.limits.Seen, r.limits.Memory
	guarded := len(r.secrets) > 0 || r.accept != nil || r.verifier != nil
	switch {
	case p == nil:
		return nil, errors.New("a receiver of push notifications needs a protocol: a2a.Protocol()")
	case !p.IsComplete():
		return nil, errors.New("the protocol is one for servers: give the receiver of push notifications a2a.ClientProtocol()")
	case guarded == r.anyone:
		return nil, errors.New("a receiver of push notifications needs a Token, Tokens, Authorization or Verify; " +
			"or Anyone, and none of them")
	}
	for _, s := range r.secrets {
		if s.err != nil {
			return nil, s.err
		}
	}
	return r, r.checkCallbacks()
}

// checkCallbacks refuses a function that would never be called.
func (r *Receiver) checkCallbacks() error {
	task := r.protocol.NewTask("t", "c", time.Time{}).Generated()
	update := r.protocol.NewStatus("t", "c", runtime.StateWorking, nil, time.Time{}).Generated()
	for _, f := range r.callbacks {
		if !r.whole && f.wants(task) && !f.wants(update) {
			return errors.New("a function for tasks needs the option Whole: without it they come as updates")
		}
	}
	return nil
}

// Settled tells when a notification says that a task ended or waits for its client: a value comes on the channel. The
// caller calls stop in the end. It is what ByPush of runtime/client needs.
func (r *Receiver) Settled(taskID string) (news <-chan struct{}, stop func()) {
	watch := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches[taskID] = append(r.watches[taskID], watch)
	return watch, func() { r.unwatch(taskID, watch) }
}

func (r *Receiver) unwatch(taskID string, watch chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.watches[taskID][:0:0]
	for _, w := range r.watches[taskID] {
		if w != watch {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		delete(r.watches, taskID)
		return
	}
	r.watches[taskID] = left
}

// tell wakes those who wait for the task to settle.
func (r *Receiver) tell(taskID string, state runtime.State) {
	if !state.Terminal() && !state.Interrupted() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watches[taskID] {
		select {
		case w <- struct{}{}:
		default: // it knows
		}
	}
}
