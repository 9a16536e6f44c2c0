package client

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

// observed is an attempt as observers see it; nil without observers.
type observed struct {
	observe.Activity
	observers *observing.Group
	ctx       context.Context // that the observers returned
	sent      observing.Trace
}

// got records the task and the context of an answer.
func (o *observed) got(result any) {
	if o == nil {
		return
	}
	switch v := result.(type) {
	case runtime.Task:
		info := v.TaskInfo()
		o.Task, o.Context = info.ID, info.ContextID
	case runtime.Message:
		o.Context = v.MessageInfo().ContextID
	case runtime.Event:
		info := v.EventInfo()
		o.Task, o.Context = info.TaskID, info.ContextID
	}
}

// end notifies the observers that the attempt has ended.
func (o *observed) end(err error) {
	if o == nil {
		return
	}
	o.Reason = reasonOf(o.ctx, err)
	o.observers.End(o.ctx, &o.Activity)
}

// reasonOf is the reason that observers get for the error of a request; "" without one.
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
