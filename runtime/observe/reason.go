package observe

import (
	"context"
	"errors"

	"github.com/a2agen/a2agen/runtime"
)

// Reasons beside those of A2A's errors ([runtime.Errors]), of [runtime.ErrUnauthenticated] and
// [runtime.ErrPermissionDenied].
const (
	ReasonBusy     = "RESOURCE_EXHAUSTED" // a limit is reached, or something is not available for now
	ReasonCanceled = "CANCELED"           // the client canceled it
	ReasonTimeout  = "DEADLINE_EXCEEDED"  // it took too long
	ReasonAway     = "UNAVAILABLE"        // the peer could not be reached, or closed the connection
	ReasonLost     = "ABORTED"            // another instance runs the task
	ReasonFailed   = "FAILED"             // the handler failed, or the receiver refused the notification
	ReasonRejected = "REJECTED"           // the handler rejected the work, or the receiver ended the notifications
	ReasonUnknown  = "UNKNOWN"            // a peer's error that is none of A2A's
)

// own are the reasons that are declared here.
var own = []string{
	ReasonBusy, ReasonCanceled, ReasonTimeout, ReasonAway, ReasonLost, ReasonFailed, ReasonRejected, ReasonUnknown,
}

// Reasons returns all reasons but "".
func Reasons() []string {
	var all []string
	for _, e := range known() {
		all = append(all, e.Reason)
	}
	return append(all, own...)
}

func known() []*runtime.Error {
	return append(runtime.Errors(), runtime.ErrUnauthenticated, runtime.ErrPermissionDenied)
}

// byReason and byCode are the errors of the protocol.
var byReason, byCode = func() (map[string]bool, map[int]string) {
	reasons, codes := map[string]bool{ReasonBusy: true}, map[int]string{}
	for _, e := range known() {
		reasons[e.Reason], codes[e.Code] = true, e.Reason
	}
	return reasons, codes
}()

// ReasonOf is the reason of an error; "" of none. It never has text of a peer, or of user code.
func ReasonOf(err error) string {
	var e *runtime.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return reasonOf(e)
	case errors.Is(err, context.Canceled):
		return ReasonCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	}
	return runtime.ErrInternal.Reason
}

// reasonOf returns the reason of an error or, where that is not one of the protocol's, of its code.
func reasonOf(e *runtime.Error) string {
	if byReason[e.Reason] {
		return e.Reason
	}
	if reason, ok := byCode[e.Code]; ok {
		return reason
	}
	return ReasonUnknown
}
