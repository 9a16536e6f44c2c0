package binding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/internal/guard"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

// Request is a request being answered, whatever brought it. A binding reads its frame, goes through these steps, and
// writes its frame:
//
//	q.Begin, q.Identify, fill in Version (engine.Engine.Negotiate) and Op, q.Activate, fill in Repeat, After and Coding,
//	read the message, q.Run, and q.Told for what went wrong. At last q.End.
type Request struct {
	engine.Request
	Agent   *Agent
	Beside  int64        // bytes of the budget of all messages that the binding has taken for this one
	counted int64        // bytes that the message has taken beside them
	Grant   *guard.Grant // nil: nothing was demanded
	limit   *streamLimit // nil: none
	served  *served      // for observers and the log; nil: nobody is told
}

// Begin begins a request over a binding, which ends with ctx. q must be new.
func (q *Request) Begin(ctx context.Context, a *Agent, binding string) {
	q.Request.Begin(ctx, a.Engine)
	q.Agent, q.Binding = a, binding
}

// errUnaudited tells the client to come back later.
var errUnaudited = engine.ErrBusy.With("the agent cannot write down what it does, try again later")

// Identify finds the caller, before the message is read: nothing is read of an unknown caller, nor while calls must be
// written down and cannot be. A version that is not spoken, which is the one that the caller asks for, comes first
// among what is wrong. A refused caller is told so in the form of the version that was meant: one that has what the
// request names, as far as that is known. request is the request as net/http has it.
func (q *Request) Identify(asked string, has func(*engine.Version) bool, request func() *http.Request) error {
	if q.Agent.Audited != nil && !q.Agent.Audited() {
		return errUnaudited
	}
	if q.Agent.Access.Proxied == nil && q.Agent.Access.Guard == nil || q.inside() {
		return nil
	}
	denial := q.authenticate(request())
	switch {
	case denial == nil:
		return nil
	case asked != "" && q.Agent.Spoken(asked) == nil:
		return q.Agent.NotSpoken(asked)
	}
	if v, err := q.Agent.Negotiate(asked, has); err == nil {
		q.Version = v
	}
	return denial
}

// TakeRepeatKey reads the service parameters Idempotency-Key, of which there may be one at most, and Idempotency-Age. Quotes
// around a key are those of the header's draft standard.
func (q *Request) TakeRepeatKey(keys, ages []string) *runtime.Error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > 1 {
		return runtime.ErrInvalidParams.With("Idempotency-Key is given more than once")
	}
	q.Repeat = strings.Trim(keys[0], `"`)
	if len(ages) == 0 {
		return nil
	}
	seconds, err := strconv.ParseUint(ages[0], 10, 31)
	if err != nil || len(ages) > 1 {
		return runtime.ErrInvalidParams.With("Idempotency-Age must be one whole number of seconds")
	}
	q.Age = time.Duration(seconds) * time.Second
	return nil
}

// EventNumber reads the service parameter Last-Event-ID; 0 is none.
func EventNumber(value string) int64 {
	if value == "" {
		return 0
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// rejection is what is wrong before the operation begins.
type rejection struct {
	Cause  *runtime.Error
	Status int // of HTTP, for what is no request of a binding over HTTP; 0 for any other error
}

func (r *rejection) Error() string { return r.Cause.Error() }

// Unwrap returns the cause.
func (r *rejection) Unwrap() error { return r.Cause }

// Run has the operation carried out. Capabilities are checked before parameters (§3.3.4). objects counts the objects in
// parameters; read is called when nothing refers to them any more. For an error ask Told. Of JSON objects counts the brackets: those in texts
// only make them heavier.
func (q *Request) Run(params []byte, objects func([]byte) int, read func()) (engine.Answer, error) {
	request, err := q.decode(params, objects)
	if err != nil {
		q.Fault(err)
		return engine.Answer{}, err
	}
	read()
	if len(params) <= budget.Uncounted {
		q.GiveBack() // the handler may take long
	}
	if q.served != nil {
		q.begin(request)
	}
	a, err := q.Serve(request)
	switch {
	case q.served == nil:
	case a.Stream != nil:
		q.served.answer = a.Stream
	case a.Sequence != nil:
		q.served.answer = a.Sequence
	}
	return a, err
}

// objectWeight is about what reading an object of a request takes in memory beside its content, in bytes.
const objectWeight = 256

// decode reads the parameters of the operation, if the agent has it. What a message is going to need until it is answered
// is taken from the budget: small objects need many times the bytes that they came in.
func (q *Request) decode(params []byte, objects func([]byte) int) (any, error) {
	if err := q.Allowed(); err != nil {
		return nil, &rejection{Cause: err}
	}
	if len(params) > FreeBody {
		n := objectWeight * int64(objects(params))
		if n > q.Agent.Limits.Bodies/2 {
			tooMany := runtime.ErrInvalidRequest.With("the request has too many objects")
			return nil, &rejection{tooMany, http.StatusRequestEntityTooLarge}
		}
		if !q.Hold(len(params), n) {
			return nil, &rejection{ErrTooMany, http.StatusServiceUnavailable}
		}
	}
	request, err := q.Version.Decode(q.Op, params)
	if err != nil {
		return nil, &rejection{Cause: err}
	}
	return request, nil
}

// Take takes n bytes from the budget in place of what the message has taken before, and reports whether there was room.
func (q *Request) Take(n int64) bool {
	if !q.Agent.Bodies.Grow(q.Beside+q.counted, q.Beside+n) {
		return false
	}
	q.counted = n
	return true
}

// Hold is Take for a message of a size that is held until it is answered, and for so many bytes beside it.
func (q *Request) Hold(size int, beside int64) bool {
	return q.Take(budget.Held*int64(size) + beside)
}

// GiveBack gives back to the budget what the message took.
func (q *Request) GiveBack() {
	if q.counted > 0 {
		q.Agent.Bodies.Release(q.counted)
		q.counted = 0
	}
}

// End releases what the request holds when the answer is written.
func (q *Request) End() {
	q.GiveBack()
	q.Response.Done()
	if q.served != nil {
		q.finish()
	}
	if q.limit != nil {
		q.limit.release()
	}
}

// Located is a result as the client of a request may have it: a card is set under the agent's address.
func (q *Request) Located(result any, request func() *http.Request) any {
	if card, ok := result.(runtime.Card); ok {
		return q.Agent.Cards.For(request(), card, q.Version)
	}
	return result
}

// Contain calls run, which answers the request. A panic of user code in it (a router, say) is logged and becomes an
// internal error. exited is called when user code ended the goroutine (runtime.Goexit).
func (q *Request) Contain(run, exited func()) (err error) {
	done := false
	defer func() {
		p := recover()
		switch {
		case p == nil && !done:
			exited()
			return
		case p == nil:
			return
		case p == http.ErrAbortHandler:
			q.Fault(context.Canceled)
			panic(p)
		}
		q.Logger().Error("request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		err = runtime.ErrInternal
	}()
	run()
	done = true
	return nil
}

// Told returns the error for the peer; denial is not nil if the caller lacks credentials or permission, and has the
// challenge. Errors whose text is not for the peer are logged and become internal errors.
func (q *Request) Told(err error) (e *runtime.Error, denial *guard.Denial) {
	switch {
	case errors.Is(err, engine.ErrUnidentified) && q.Agent.Access.Guard == nil:
		err = guard.Deny(err)
	case errors.Is(err, engine.ErrUnidentified):
		err = q.Agent.Access.Guard.Unidentified(err)
	case errors.Is(err, errUnscoped):
		err = q.Agent.Access.Guard.Lacks(q.Grant, q.Agent.Access.Extended)
	}
	if b, ok := errors.AsType[*barred](err); ok {
		q.Subject.Skill = b.skill
	}
	if errors.As(err, &denial) {
		q.refused(denial, denial.Status)
		e = denial.Told()
		q.Fault(e)
		return e, denial
	}
	e, known := engine.ToError(err)
	q.Fault(e)
	switch {
	case !known:
		q.Logger().Error("request failed", "error", err)
	case e.Is(runtime.ErrPermissionDenied), e.Is(runtime.ErrUnauthenticated):
		q.refused(e, errorformat.Of(e, errorformat.Statuses101).HTTP)
	}
	return e, nil
}

// Exited returns the error for a request whose goroutine user code has ended.
func (q *Request) Exited() *runtime.Error {
	q.Fault(runtime.ErrInternal)
	return runtime.ErrInternal.With("the skill ended unexpectedly")
}

// Status is how an error of the request is classed, over bindings that class them.
func (q *Request) Status(e *runtime.Error) errorformat.Status { return q.Agent.Status(q.Version, e) }

// served is a request as observers and the log see it. Observers are told of it when its message has been read.
type served struct {
	observe.Activity
	client context.Context // ends when the client leaves
	header map[string][]string
	answer interface{ Complete() bool } // a stream; nil: there is none
	ctx    context.Context              // made by the observers; nil: they have not been told
	logged bool                         // the call is to be logged
	// refused: the denial of the caller was logged, or left out as one of many.
	refused bool
}

// Observe has observers and the log told of a request that has begun, if there are any. It is for operations of the
// protocol. header are its headers or metadata, which stay as they are.
func (q *Request) Observe(header map[string][]string) {
	logged := !q.Agent.NoCallLog && q.Agent.Logger.Enabled(q.Context, slog.LevelInfo)
	if len(q.Agent.Observers.List) == 0 && !logged {
		return
	}
	q.served = &served{client: q.Context, header: header, logged: logged}
	q.served.Kind, q.served.Begun = observe.Serve, time.Now()
}

// begin calls the observers' Begin, once. request is the decoded request; nil if none was read.
func (q *Request) begin(request any) {
	if q.served.ctx != nil {
		return
	}
	if len(q.Agent.Observers.List) == 0 {
		q.served.ctx = q.Context
		return
	}
	q.served.Carrier = q.served.trace(request).Fixed()
	q.fillIn()
	q.Context = q.Agent.Observers.Begin(q.Context, &q.served.Activity)
	q.served.ctx = q.Context
}

// finish calls the observers' End and logs the call.
func (q *Request) finish() {
	a := q.served
	if a.Reason == "" && a.answer != nil && !a.answer.Complete() {
		a.Reason = observe.ReasonAway
		if err := q.ended(); err != nil {
			a.Reason = observe.ReasonOf(err)
		}
	}
	q.begin(nil)
	q.fillIn()
	q.Agent.Observers.End(a.ctx, &a.Activity)
	if a.logged && !a.refused {
		q.log(a)
	}
	q.served = nil
}

// fillIn sets what is known by now.
func (q *Request) fillIn() {
	a := &q.served.Activity
	a.Operation, a.Binding, a.Caller = q.Operation(), q.Binding, q.Caller
	a.Skill, a.Task, a.Context, a.Tenant = q.Subject.Skill, q.Subject.Task, q.Subject.Context, q.Subject.Tenant
	if q.Version != nil {
		a.Version = q.Version.Name
	}
	a.Stream = q.Op != nil && q.Op.Stream
}

// ended is why the call ended before its answer did; nil: it did not.
func (q *Request) ended() error {
	if errors.Is(context.Cause(q.Context), errExpired) {
		return errExpired
	}
	return q.served.client.Err()
}

// Fault sets the error of the call for its observers. The first one counts.
func (q *Request) Fault(err error) {
	if q.served == nil || q.served.Reason != "" {
		return
	}
	if ended := q.ended(); ended != nil { // then whatever is wrong comes from that
		err = ended
	}
	q.served.Reason = observe.ReasonOf(err)
}

// trace is the trace context of a call: what its headers say, else its message.
func (a *served) trace(request any) *observing.Trace {
	var t observing.Trace
	for _, key := range []string{observe.TraceParent, observe.TraceState} {
		for _, name := range []string{http.CanonicalHeaderKey(key), key} { // those of gRPC are in lower case
			if values := a.header[name]; len(values) > 0 {
				t.Set(key, values[0])
			}
		}
	}
	p, ok := request.(*runtime.SendRequest)
	if t.Parent != "" || !ok || p.Message == nil {
		return &t
	}
	return observing.InMessage(p.Message.MessageInfo().Metadata)
}

// refused logs that a caller was denied, unless that happens all the time (R225).
func (q *Request) refused(err error, status int) {
	if q.served != nil {
		q.served.refused = true
	}
	ok, leftOut := q.Agent.denials.another(q.Agent.Now())
	if !ok {
		return
	}
	log := q.Logger().With("status", status, "error", err)
	if leftOut > 0 {
		log = log.With("left_out", leftOut)
	}
	log.Info("request refused")
}

// callLogger is a handler that has a shorter way for the lines of calls, at level info. It reports whether it took one.
type callLogger interface {
	LogCall(at time.Time, message string, attrs []slog.Attr) bool
}

// log writes the line of a call that is over.
func (q *Request) log(a *served) {
	attrs := make([]slog.Attr, 0, 10)
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	add("operation", a.Operation)
	add("skill", a.Skill)
	add("task", a.Task)
	add("caller", a.Caller.Principal())
	if q.Subject.State != runtime.StateUnspecified {
		add("state", q.Subject.State.String())
	}
	if a.Reason == "" {
		add("outcome", "ok")
	} else {
		add("outcome", a.Reason)
	}
	now := time.Now()
	attrs = append(attrs, slog.Duration("took", now.Sub(a.Begun)))
	if q.Agent.Logger.Enabled(q.Context, slog.LevelDebug) {
		add("binding", a.Binding)
		add("version", a.Version)
		add("context", a.Context)
	}
	const message = "request"
	if h, ok := q.Agent.Logger.Handler().(callLogger); !ok || !h.LogCall(now, message, attrs) {
		q.Agent.Logger.LogAttrs(q.Context, slog.LevelInfo, message, attrs...)
	}
}

// How many denials are logged in which time: a client that sends wrong credentials all the time must not fill the log
// (R225).
const (
	denialsLogged = 60
	denialsWithin = time.Minute
)

// denialLog decides which denials are logged.
type denialLog struct {
	mu      sync.Mutex
	since   time.Time
	n       int // since then
	leftOut int // since the last one that was logged
}

// another reports whether one more is to be logged, and how many before it were not.
func (l *denialLog) another(now time.Time) (ok bool, leftOut int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := now.Sub(l.since); d >= denialsWithin || d < 0 {
		l.since, l.n = now, 0
	}
	if l.n++; l.n > denialsLogged {
		l.leftOut++
		return false, 0
	}
	leftOut, l.leftOut = l.leftOut, 0
	return true, leftOut
}
