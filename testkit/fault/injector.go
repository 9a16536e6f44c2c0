package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Injector applies faults to requests and their answers. Its methods may be called concurrently.
type Injector struct {
	seed   uint64
	faults []Fault
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	drains sync.WaitGroup // of answers without a reader, and of requests that are sent a second time

	watching sync.Mutex
	watch    func(Exchange)
	hit      func(*http.Request, string)

	mu       sync.Mutex
	closed   bool
	counts   []count // of faults
	requests int
	problems []error // the first ones
}

// count is how often a fault could have hit, and did.
type count struct {
	seen, hits int
	waiting    chan struct{} // of a request that waits to be overtaken; nil: none does
}

// maxProblems is how many problems are kept.
const maxProblems = 20

// New returns an injector that applies the faults to each request in their order. A status or a dropped request keeps
// it from the faults behind. seed decides what is random. The error names each invalid fault, and why.
func New(seed int64, faults ...Fault) (*Injector, error) {
	in := &Injector{seed: uint64(seed), faults: slices.Clone(faults), counts: make([]count, len(faults))}
	var wrong []error
	for _, f := range faults {
		if f.name == "" {
			wrong = append(wrong, errors.New("fault.Fault{} is no fault: make one, such as fault.CutAfter(3)"))
			continue
		}
		for _, name := range f.where.operations {
			if role := runtime.RoleOf(name); f.events && role != runtime.RoleStream && role != runtime.RoleSubscribe {
				f = f.wrong("%s has no stream of events; SendStreamingMessage and SubscribeToTask have", name)
			}
		}
		wrong = append(wrong, f.err)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	in.ctx, in.cancel = context.WithCancel(context.Background())
	return in, nil
}

// Close breaks stalled answers and waiting requests, and stops reading answers that have no reader. It returns when all of
// them have ended.
func (in *Injector) Close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.cancel()
	in.drains.Wait()
}

// background runs work in a goroutine that Close waits for. When the injector is closed it reports false and runs nothing.
func (in *Injector) background(work func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.drains.Go(work)
	}
	return !in.closed
}

// Watch calls f with each request when its answer has ended, one at a time. It must be called before the first request.
func (in *Injector) Watch(f func(Exchange)) { in.watch = f }

// WatchHits has f called when a fault, by its name without its limits, hits a request, before it takes effect:
// [Injector.Watch] does not report a request that never gets an answer. The request is the one that came, whose body may be read
// meanwhile. Calls of f are one at a time. It must be called before the first request.
func (in *Injector) WatchHits(f func(r *http.Request, fault string)) { in.hit = f }

// reportHits reports which faults hit a request.
func (in *Injector) reportHits(r *http.Request, hits []*hit) {
	if in.hit == nil {
		return
	}
	in.watching.Lock()
	defer in.watching.Unlock()
	for _, h := range hits {
		if h.overtakes == nil {
			in.hit(r, h.fault.name)
		}
	}
}

// Err returns the faults that hit a request and could not be applied, each with the reason; nil if there were none.
// The first twenty are kept.
func (in *Injector) Err() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return errors.Join(in.problems...)
}

// Unused returns the faults that hit nothing so far: in a test that is over, a mistake in a limit, or a fault of
// events where nothing streams. Those with a [Fault.Probability] are not among them: they may well hit nothing.
func (in *Injector) Unused() (unused []Fault) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, c := range in.counts {
		if c.hits == 0 && in.faults[i].chance == 0 {
			unused = append(unused, in.faults[i])
		}
	}
	return unused
}

// Wrap returns a transport that sends requests by next with the injector's faults; nil is [http.DefaultTransport].
func (in *Injector) Wrap(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{in, next}
}

type transport struct {
	in   *Injector
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.in.ctx.Err() != nil {
		return nil, unsent(r, errInjector)
	}
	x := t.in.begin(r)
	next := t.next.RoundTrip
	for _, h := range slices.Backward(x.hits) {
		inner := next
		next = func(r *http.Request) (*http.Response, error) { return h.fault.request(x, h, r, inner) }
	}
	resp, err := next(x.request)
	if err != nil {
		x.release()
		x.end(err)
		return nil, err
	}
	return x.answer(resp), nil
}

// begin takes a request on, and decides which faults of requests hit it.
func (in *Injector) begin(r *http.Request) *exchange {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	x := &exchange{in: in, caller: r.Context(), cancel: cancel, began: time.Now(), closed: make(chan struct{})}
	x.unhook = context.AfterFunc(r.Context(), func() { cancel(context.Cause(r.Context())) })
	x.unclose = context.AfterFunc(in.ctx, func() { cancel(errInjector) })
	x.request = r.WithContext(ctx)
	x.seen.Operation, x.seen.Binding = Called(x.request)
	x.seen.Method, x.seen.Path = r.Method, r.URL.Path
	in.mu.Lock()
	in.requests++
	x.seen.Number = in.requests
	x.hits = x.plan(func(f Fault) bool { return f.request != nil })
	in.mu.Unlock()
	in.reportHits(r, x.hits)
	return x
}

// plan decides which of some faults hit. Callers must hold in.mu.
func (x *exchange) plan(some func(Fault) bool) (hits []*hit) {
	for i, f := range x.in.faults {
		named := slices.Contains(f.where.operations, x.seen.Operation)
		here := named || len(f.where.operations) == 0 && x.seen.Operation != Card
		if !some(f) || !here || !strings.HasPrefix(x.seen.Path, f.where.prefix) {
			continue
		}
		if h := x.in.decide(i, f); h != nil {
			hits = append(hits, h)
			if h.overtakes == nil {
				x.seen.Faults = append(x.seen.Faults, f.name)
			}
		}
	}
	return hits
}

// decide decides whether a fault hits a request that it could hit; nil if it does not. Callers must hold in.mu.
func (in *Injector) decide(i int, f Fault) *hit {
	c := &in.counts[i]
	if c.waiting != nil {
		h := &hit{fault: f, count: c, overtakes: c.waiting}
		c.waiting = nil
		return h
	}
	c.seen++
	switch {
	case c.seen <= f.skip, f.times > 0 && c.hits >= f.times:
		return nil
	case f.chance > 0:
		// It depends on nothing but the seed, the fault and which request it is.
		if rand.New(rand.NewPCG(in.seed, uint64(i)<<32|uint64(c.seen))).Float64() >= f.chance {
			return nil
		}
	}
	c.hits++
	h := &hit{fault: f, count: c}
	if f.pairs {
		c.waiting = make(chan struct{})
		h.overtaken = c.waiting
	}
	return h
}

// hit is a fault that hits a request.
type hit struct {
	fault     Fault
	count     *count
	overtaken chan struct{} // closed when this request was overtaken
	overtakes chan struct{} // of the request that this one overtakes
}

// Exchange is what one request met.
type Exchange struct {
	Number       int    // of the request, from 1
	Method, Path string // of HTTP
	Operation    string // as A2A 1.0 calls it; [Card]; "" if it is none
	Binding      string // as cards call it; "" if it is none
	Faults       []string
	Status       int   // of HTTP; 0: there was no answer
	Events       int   // of a stream that were passed on
	Bytes        int64 // of the answer's body that were passed on
	Duration     time.Duration
	// Err is how the answer ended for the caller; nil when it was complete.
	Err error
	// Problems are the faults that hit it and could not be applied. Each wraps the reason.
	Problems []error
}

// exchange is a request that is under way.
type exchange struct {
	in      *Injector
	request *http.Request // in a context that the caller's ends
	caller  context.Context
	cancel  context.CancelCauseFunc
	unhook  func() bool   // from the caller's context
	unclose func() bool   // from the injector's
	closed  chan struct{} // when the caller closed the answer
	// detached: the agent's request is not canceled when the caller leaves.
	detached atomic.Bool
	once     sync.Once
	ended    sync.Once
	began    time.Time
	hits     []*hit // of faults of requests

	mu   sync.Mutex
	seen Exchange
}

// problem reports that a fault could not be applied.
func (x *exchange) problem(fault string, why error) {
	err := fmt.Errorf("fault.%s: request %d (%s %s): %w", fault, x.seen.Number, x.seen.Method, x.seen.Path, why)
	x.mu.Lock()
	x.seen.Problems = append(x.seen.Problems, err)
	x.mu.Unlock()
	x.in.mu.Lock()
	defer x.in.mu.Unlock()
	if len(x.in.problems) < maxProblems {
		x.in.problems = append(x.in.problems, err)
	}
}

// release ends the request to the agent, unless it goes on without its caller.
func (x *exchange) release() {
	x.once.Do(func() {
		x.unhook()
		close(x.closed)
		if !x.detached.Load() {
			x.unclose()
			x.cancel(context.Canceled)
		}
	})
}

// detach has the request to the agent go on when the caller leaves, until the injector is closed.
func (x *exchange) detach() {
	x.detached.Store(true)
	x.unhook()
}

// finish ends a request that went on without its caller.
func (x *exchange) finish() {
	x.unclose()
	x.cancel(nil)
}

// end reports the exchange to the watcher, once.
func (x *exchange) end(err error) {
	x.ended.Do(func() {
		x.mu.Lock()
		seen := x.seen
		x.mu.Unlock()
		seen.Err, seen.Duration = err, time.Since(x.began)
		if x.in.watch != nil {
			x.in.watching.Lock()
			defer x.in.watching.Unlock()
			x.in.watch(seen)
		}
	})
}

// wait waits for a while, or until what is waited for is over. It returns why it did not wait to the end.
func (x *exchange) wait(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	return x.until(t.C)
}

// until waits for a signal; nil never comes.
func (x *exchange) until(signal <-chan time.Time) error {
	select {
	case <-signal:
		return nil
	case <-x.caller.Done():
		return context.Cause(x.caller)
	case <-x.closed:
		return errClosed
	case <-x.in.ctx.Done():
		return errInjector
	}
}

var (
	errClosed   = errors.New("the caller closed the answer")
	errInjector = errors.New("the injector of faults was closed")
)

// Error is a connection that a fault broke. It is an [io.ErrUnexpectedEOF], as where a connection really breaks.
type Error struct{ Fault string }

// Error names the fault.
func (e *Error) Error() string { return "the connection broke: fault." + e.Fault }

// Unwrap returns [io.ErrUnexpectedEOF].
func (e *Error) Unwrap() error { return io.ErrUnexpectedEOF }
