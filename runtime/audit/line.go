package audit

import (
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Outcomes, as lines have them.
const (
	ok     = "ok"
	denied = "denied" // the caller has no permission, or is not known
	failed = "failed"
)

// appendLine appends the line of an activity. took is its duration; omitted lines before it are missing.
func appendLine(b []byte, a *observe.Activity, took time.Duration, omitted int) []byte {
	b = append(b, `{"time":"`...)
	b = a.Begun.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, '"')
	b = text(b, "kind", a.Kind.String())
	b = text(b, "caller", a.Caller.Principal())
	if a.Caller != nil {
		b = text(b, "scheme", a.Caller.Scheme)
		b = text(b, "client", a.Caller.Client)
	}
	b = text(b, "tenant", a.Tenant)
	b = text(b, "operation", a.Operation)
	b = text(b, "skill", a.Skill)
	b = text(b, "binding", a.Binding)
	b = text(b, "version", a.Version)
	b = text(b, "task", a.Task)
	b = text(b, "context", a.Context)
	b = text(b, "peer", a.Peer)
	b = number(b, "attempt", int64(a.Attempt))
	if a.State != runtime.StateUnspecified {
		b = text(b, "state", a.State.String())
	}
	b = text(b, "outcome", outcome(a.Reason))
	b = text(b, "reason", a.Reason)
	b = append(b, `,"ms":`...)
	b = strconv.AppendInt(b, max(took.Milliseconds(), 0), 10)
	b = number(b, "omitted", int64(omitted))
	return append(b, "}\n"...)
}

func outcome(reason string) string {
	switch reason {
	case "":
		return ok
	case runtime.ErrUnauthenticated.Reason, runtime.ErrPermissionDenied.Reason:
		return denied
	}
	return failed
}

// text appends a member unless it is "".
func text(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return wire.AppendString(b, value)
}

// number appends a member unless it is 0.
func number(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, n, 10)
}
