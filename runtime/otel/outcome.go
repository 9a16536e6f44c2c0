package otel

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// How an activity can end.
const (
	ok       = "ok"
	refused  = "refused"  // what was asked is not to be had
	canceled = "canceled" // nobody waits for it here any more
	failed   = "failed"
)

// outcomes are what reasons come to. Those that are not here are failures.
var outcomes = func() map[string]string {
	all := map[string]string{
		"": ok, observe.ReasonCanceled: canceled, observe.ReasonLost: canceled,
		observe.ReasonBusy: refused, observe.ReasonRejected: refused,
		runtime.ErrUnauthenticated.Reason: refused, runtime.ErrPermissionDenied.Reason: refused,
	}
	for _, e := range runtime.Errors() {
		if e != runtime.ErrInternal && e != runtime.ErrInvalidAgentResponse {
			all[e.Reason] = refused
		}
	}
	return all
}()

// outcomeOf says in a word what a reason says in detail.
func outcomeOf(reason string) string {
	if o, known := outcomes[reason]; known {
		return o
	}
	return failed
}
