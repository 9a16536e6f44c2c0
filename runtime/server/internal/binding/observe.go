package binding

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

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
	if q.Agent.Observers.None() && !logged {
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
	if q.Agent.Observers.None() {
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
