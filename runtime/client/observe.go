package client

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

// attempt is a request over one link as observers see it. Its methods do nothing for nil, which is what nobody sees.
type attempt struct {
	observe.Activity
	observers *observing.Group
	ctx       context.Context // which they made
	sent      observing.Trace
}

// observed tells the observers that an operation is called over a link, and returns the context of the request.
func (c *Client) observed(ctx context.Context, l *link, op *runtime.Operation, cl *call) (context.Context, *attempt) {
	if len(c.observers.List) == 0 {
		return ctx, nil
	}
	a := &attempt{observers: &c.observers}
	a.Kind, a.Begun, a.Carrier = observe.Call, time.Now(), &a.sent
	a.Operation, a.Stream = c.protocol.NameOf(op), op.Stream
	a.Binding, a.Version, a.Peer = l.iface.Binding, c.links.version.Name, peerOf(l.iface.URL)
	a.Skill, a.Task, a.Context, a.Tenant = cl.skill, cl.message.TaskID, cl.message.ContextID, c.Tenant()
	a.ctx = c.observers.Begin(ctx, &a.Activity)
	return a.ctx, a
}

// marked is the request with the trace context in its message.
func (a *attempt) marked(request any) any {
	if a == nil {
		return request
	}
	return observing.Mark(request, &a.sent)
}

// send writes the trace context into the headers of a request.
func (a *attempt) send(r *Request) {
	if a == nil {
		return
	}
	for _, key := range []string{observe.TraceParent, observe.TraceState} {
		if value := a.sent.Get(key); value != "" {
			r.Header.Set(key, value)
		}
	}
}

// got takes note of what an answer is about.
func (a *attempt) got(result any) {
	if a == nil {
		return
	}
	switch v := result.(type) {
	case runtime.Task:
		info := v.TaskInfo()
		a.Task, a.Context = info.ID, info.ContextID
	case runtime.Message:
		a.Context = v.MessageInfo().ContextID
	case runtime.Event:
		info := v.EventInfo()
		a.Task, a.Context = info.TaskID, info.ContextID
	}
}

// end tells the observers that the answer is there, or why not.
func (a *attempt) end(err error) {
	if a == nil {
		return
	}
	a.Reason = reasonOf(a.ctx, err)
	a.observers.End(a.ctx, &a.Activity)
}

// reasonOf is why a request failed; "" if it did not.
func reasonOf(ctx context.Context, err error) string {
	var known *runtime.Error
	var missing *CredentialError
	var broken *LinkError
	var transport *url.Error
	var status interface{ TryLater() bool }
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return observe.ReasonOf(ctx.Err())
	case errors.Is(err, ErrIdle), errors.Is(err, ErrNoEvent):
		return observe.ReasonTimeout
	case errors.Is(err, runtime.ErrUnauthenticated), errors.As(err, &missing):
		return runtime.ErrUnauthenticated.Reason
	case errors.Is(err, runtime.ErrPermissionDenied):
		return runtime.ErrPermissionDenied.Reason
	case errors.As(err, &known):
		return observe.ReasonOf(known)
	case errors.As(err, &broken), errors.As(err, &transport), errors.Is(err, io.ErrUnexpectedEOF):
		return observe.ReasonAway
	case errors.As(err, &status) && status.TryLater():
		return observe.ReasonBusy
	case errors.As(err, &status):
		return observe.ReasonUnknown
	}
	return observe.ReasonOf(err)
}

// peerOf is the host of an interface, with its port if it names one, and nothing else of its URL.
func peerOf(address string) string {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		if address = u.Host; address == "" { // "dns:///host:port"
			address = strings.TrimPrefix(u.Path, "/")
		}
	}
	address, _, _ = strings.Cut(address, "/")
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}
