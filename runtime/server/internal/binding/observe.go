package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// served is a call as observers and the log see it. Observers begin when it is clear what it is about.
type served struct {
	observe.Activity
	client context.Context // ends when the client leaves
	header map[string][]string
	answer interface{ Complete() bool } // a stream; nil: there is none
	ctx    context.Context              // which the observers made; nil: they have not begun
	// refused: that the caller may not come in was logged, or left out as one of many.
	refused bool
}

// watch has a call observed.
func (s *Server) watch(ctx context.Context, header map[string][]string) *served {
	a := &served{client: ctx, header: header}
	a.Kind, a.Begun = observe.Serve, time.Now()
	return a
}

// begin tells the observers. request is what came; nil if it did not come that far.
func (c *Call) begin(request any) {
	if c.served == nil || c.served.ctx != nil {
		return
	}
	if c.s.engine.Observers().None() {
		c.served.ctx = c.Context
		return
	}
	c.served.Carrier = c.served.trace(request).Fixed()
	c.fillIn()
	c.Context = c.s.engine.Observers().Begin(c.Context, &c.served.Activity)
	c.served.ctx = c.Context
}

// finish tells the observers and the log that the call is answered.
func (c *Call) finish() {
	a := c.served
	if a == nil {
		return
	}
	if a.Reason == "" && a.answer != nil && !a.answer.Complete() {
		a.Reason = observe.ReasonAway
		if err := c.ended(); err != nil {
			a.Reason = observe.ReasonOf(err)
		}
	}
	c.begin(nil)
	c.fillIn()
	c.s.engine.Observers().End(a.ctx, &a.Activity)
	if c.logs() {
		c.log(a)
	}
	c.served = nil
}

// fillIn says what is known by now.
func (c *Call) fillIn() {
	a := &c.served.Activity
	a.Operation, a.Binding, a.Caller = c.Operation(), c.Binding, c.Caller
	a.Skill, a.Task, a.Context, a.Tenant = c.About.Skill, c.About.Task, c.About.Context, c.About.Tenant
	if c.Version != nil {
		a.Version = c.Version.Name
	}
	a.Stream = c.Op != nil && c.Op.Stream
}

// ended is why the call ended before its answer did; nil: it did not.
func (c *Call) ended() error {
	if errors.Is(context.Cause(c.Context), errExpired) {
		return errExpired
	}
	return c.served.client.Err()
}

// Fault says why the call is not answered as it should be, for its observers. The first one counts.
func (c *Call) Fault(err error) {
	if c.served == nil || c.served.Reason != "" {
		return
	}
	if ended := c.ended(); ended != nil { // then whatever is wrong comes from that
		err = ended
	}
	c.served.Reason = observe.ReasonOf(err)
}

// trace is the trace context of a call: what its headers say, else its message.
func (a *served) trace(request any) *observe.Trace {
	var t observe.Trace
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
	return observe.InMessage(p.Message.MessageInfo().Metadata)
}

// refused logs that a caller may not come in, or may not do that, unless that happens all the time (R225).
func (c *Call) refused(err error, status int) {
	if c.served != nil {
		c.served.refused = true
	}
	ok, leftOut := c.s.refusals.another(c.s.core.Now())
	if !ok {
		return
	}
	log := c.Logger().With("status", status, "error", err)
	if leftOut > 0 {
		log = log.With("left_out", leftOut)
	}
	log.Info("request refused")
}
