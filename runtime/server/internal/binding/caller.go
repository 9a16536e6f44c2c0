package binding

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// proxyScheme is the scheme of callers that a proxy names.
const proxyScheme = "proxy"

// insideKey is the key of the caller in the context of a request that [Inside] made.
type insideKey struct{}

// Inside returns the context of a request that the agent's own process makes for a caller, nil for nobody who is known: no
// credentials are asked for.
func Inside(ctx context.Context, c *runtime.Caller) context.Context {
	return context.WithValue(ctx, insideKey{}, c)
}

// senderKey is the key of the request for whose sender another one is made.
type senderKey struct{}

// ForSender returns the context of a request that the agent's own process makes for whoever sent r: the credentials of r
// count as those of the request. Its headers must stay as they are.
func ForSender(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, senderKey{}, r)
}

// inside sets the caller of a request of the agent's own process. It reports whether it is one.
func (q *Request) inside() bool {
	c, ok := q.Context.Value(insideKey{}).(*runtime.Caller)
	if !ok {
		return false
	}
	if q.Caller = c; c != nil && c.Has(q.Agent.Access.Extended...) {
		q.Barred = nil
	}
	return true
}

// authenticate sets the caller and its permissions. The credentials are those of r, or of the request for whose sender r
// is made.
func (q *Request) authenticate(r *http.Request) *guard.Denial {
	own := r
	sender, _ := q.Context.Value(senderKey{}).(*http.Request)
	if sender != nil {
		r = sender.WithContext(q.Context)
	}
	if proxied := q.Agent.Access.Proxied; proxied != nil {
		id, err := proxied(r)
		if err != nil {
			return guard.Deny(err)
		}
		if id != "" {
			q.Caller, q.Barred = &runtime.Caller{ID: id, Scheme: proxyScheme}, nil
		}
		return nil
	}
	grant, denial := q.Agent.Access.Guard.Check(r)
	if denial != nil {
		return denial
	}
	if sender != nil {
		grant.Request = own
	}
	q.Grant, q.Caller = grant, grant.Caller
	switch {
	case q.Caller == nil:
	case q.Caller.Has(q.Agent.Access.Extended...):
		q.Barred = nil
	default:
		q.Barred = errUnscoped
	}
	if q.Agent.Access.Guard.Skills {
		q.Permit = q.permit
	}
	return nil
}

// permit returns why the caller may not use a skill; nil: it may.
func (q *Request) permit(skill string) error {
	if denial := q.Agent.Access.Guard.Skill(q.Grant, skill, q.ActsFor()); denial != nil {
		return &barred{denial, skill}
	}
	q.limit.by(q.Grant.Until)
	return nil
}

// barred is a denial with the skill that it is about.
type barred struct {
	*guard.Denial
	skill string
}

// Unwrap returns the denial.
func (b *barred) Unwrap() error { return b.Denial }

// errUnscoped: the caller does not have the scopes of the extended card.
var errUnscoped = errors.New("the caller does not have the scopes of the extended card")

// LimitStream has a stream end when a credential has expired that its caller needs for it: the request's Context ends
// then. End releases the limit.
func (q *Request) LimitStream() {
	if !q.Op.Stream || q.Grant == nil || q.Grant.Until.IsZero() && q.Permit == nil {
		return
	}
	ctx, cancel := context.WithCancelCause(q.Context)
	q.Context, q.limit = ctx, &streamLimit{grace: q.Agent.Access.Grace, now: q.Agent.Now, cancel: cancel}
	q.limit.by(q.Grant.Until)
}

// Outlive has the request end with ctx in place of the context that it began with. It must be called before Run.
func (q *Request) Outlive(ctx context.Context) {
	q.Context = ctx
	if q.served != nil {
		q.served.client = ctx
	}
}

// errExpired ends a stream.
var errExpired = runtime.ErrUnauthenticated.With("the credential has expired")

// streamLimit ends a stream when a credential has expired.
type streamLimit struct {
	grace  time.Duration
	now    func() time.Time
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	at    time.Time   // of the first credential that expires
	timer *time.Timer // nil: none does
}

// by has the stream end when the grace after a time is over, unless it ends earlier. A zero time sets no limit; l may
// be nil.
func (l *streamLimit) by(at time.Time) {
	if l == nil || at.IsZero() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && !at.Before(l.at) {
		return
	}
	l.stop()
	l.at, l.timer = at, time.AfterFunc(at.Sub(l.now())+l.grace, func() { l.cancel(errExpired) })
}

// stop stops the timer. Callers must hold mu.
func (l *streamLimit) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// release stops the timer and ends the request's Context.
func (l *streamLimit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	l.cancel(nil)
}
