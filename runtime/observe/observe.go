// Package observe is the interface of logs, audit, traces and metrics: every call that a client makes, every run of a
// skill, every call to another agent and every push notification is an [Activity] that begins and ends.
//
// An [Observer] is given to a server (server.WithObserver) or a client (client.WithObserver). Without one, observing
// costs nothing. It is called on the goroutine of what it observes, which waits meanwhile: it must be quick and safe
// for concurrent use. Its panics are logged and go no further.
package observe

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Kind is the kind of an activity.
type Kind uint8

// The kinds.
const (
	Serve   Kind = iota + 1 // a call of a client: from its credentials to the last byte of the answer
	Run                     // a skill's handler, from its turn to its return
	Call                    // a call to another agent: to the end of its answer, or of its stream
	Deliver                 // one attempt of a push notification
)

// String is "serve", "run", "call" or "deliver".
func (k Kind) String() string {
	switch k {
	case Serve:
		return "serve"
	case Run:
		return "run"
	case Call:
		return "call"
	case Deliver:
		return "deliver"
	}
	return "unknown"
}

// Activity is a call, run or delivery. Fields that are not known when it begins are zero; at its end all are set. No
// field has contents of messages, or secrets. Task, Context and Version may be what a client wrote: where it is refused
// they need not be true.
type Activity struct {
	Kind      Kind
	Operation string // the name in the newest version that is spoken here: "SendMessage"; "" for Run and Deliver, and of a call that names none
	Binding   string // [runtime.BindingJSONRPC], …; "" for Run and Deliver
	Version   string // of the protocol; "" for Run
	Stream    bool   // of Serve and Call: the operation's answer is a stream
	Skill     string // its id; "" when that is not known, as of most Calls
	Task      string // "" when there is none
	Context   string // the conversation's id
	// Caller is the caller: of Run and Deliver the sender of the message, without scopes and claims after a crash. Nil
	// if it is not known. It must not be changed.
	Caller  *runtime.Caller
	Tenant  string        // of the task; "": none
	Peer    string        // host:port of Call and Deliver, never a URL: that may hold secrets
	Attempt int           // of Run and Deliver, from 1
	State   runtime.State // of the task at the end of Run; unspecified when the answer was no task
	Reason  string        // at the end: "" went well; else why not, one of [Reasons]
	Begun   time.Time     // before Begin is called, where that comes late: a Serve begins with its credentials
	// Carrier has the trace context. That of Serve has what the request says, first by headers or metadata, then by the
	// message; that of Run what is kept with the task; that of Call takes what is to be sent; that of Deliver has what
	// is kept, and takes what is to be sent. What is set elsewhere is dropped.
	Carrier Carrier
}

// Names of the trace context (W3C Trace Context), the keys of a [Carrier].
const (
	TraceParent = "traceparent"
	TraceState  = "tracestate"
)

// Carrier carries a trace context. Keys are those of W3C, in lower case: "traceparent", "tracestate". Others are
// neither kept nor sent. Get of what is not there is "".
type Carrier interface {
	Get(key string) string
	Set(key, value string)
}

// Observer is called when activities begin and end. They must not be kept after End.
type Observer interface {
	// Begin is called before the work. What follows runs under the context it returns, which is made of ctx: the
	// handler of a Run, the request of a Call. That of a Run comes from that of the Serve which brought the message,
	// unless a crash was in between.
	Begin(ctx context.Context, a *Activity) context.Context
	// End is called once for every Begin, with the context that it returned.
	End(ctx context.Context, a *Activity)
}

// Injector is an [Observer] whose trace context is kept with tasks, so that what runs or is sent later, perhaps by
// another process, belongs to the trace.
type Injector interface {
	// Inject writes the trace context of ctx, under which a task is made, to c.
	Inject(ctx context.Context, c Carrier)
}
