package runtime

import (
	"fmt"
	"time"
)

// PushConfig is the neutral form of a push notification configuration (A2A 1.0 §4.3.1): where a task's events are to be
// sent, and what the sender shows there. A task has any number of them, told apart by their ids.
type PushConfig struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Token       string `json:"token,omitempty"`
	Scheme      string `json:"scheme,omitempty"` // of the Authorization header; "": none
	Credentials string `json:"credentials,omitempty"`
	// Tenant and TaskID are what the configuration itself says of whose it is, as it came; "": nothing.
	Tenant, TaskID string `json:"-"`
}

// The headers of a push notification beside Content-Type, A2A-Version and Authorization.
const (
	// PushTokenHeader carries the configuration's token. PushTokenHeaderToo is the name that some receivers know.
	PushTokenHeader    = "X-A2A-Notification-Token"
	PushTokenHeaderToo = "A2A-Notification-Token"
	// PushIDHeader names the notification: the same on every repeat of it, and no other has it.
	PushIDHeader = "X-A2A-Notification-Id"
	// PushTaskHeader and PushConfigHeader are the ids of the task and of the configuration, percent-encoded.
	PushTaskHeader   = "X-A2A-Notification-Task"
	PushConfigHeader = "X-A2A-Notification-Config"
	// PushSequenceHeader is the number of the event in the task's log, or the range "first-last" of those that travel as
	// one. Those of one configuration are contiguous.
	PushSequenceHeader = "X-A2A-Notification-Sequence"
	// PushSignatureHeader is a JWT over the notification, if the agent signs.
	PushSignatureHeader = "X-A2A-Notification-Signature"
)

// PushKeysPath is where an agent that signs its notifications serves its keys, as a JSON Web Key Set.
const PushKeysPath = "/.well-known/jwks.json"

// Notification is a push notification on its way.
type Notification struct {
	Config   PushConfig // where it goes
	Version  string     // of the protocol in which Body is written
	ID       string     // the same on every repeat
	TaskID   string
	Sequence string // [PushSequenceHeader]
	Body     []byte
	// TraceParent and TraceState are the headers of W3C Trace Context that go along; "": none.
	TraceParent, TraceState string
}

// PushFailure says why a notification did not arrive. It is the error of a transport.
type PushFailure struct {
	Reason string
	// Answered: the receiver is there, and answered something else than that it has the notification.
	Answered bool
	// After is when the receiver wants to hear of it again; zero: it does not say.
	After time.Duration
	// Gone: the receiver wants no notification any more.
	Gone bool
}

func (f *PushFailure) Error() string { return f.Reason }

// AppendPush appends the body of a push notification about e, an event of task, which already shows it: a stream item,
// or before 1.0 the whole task as it now stands (A2A 1.0 §4.3.3, R18; [Rules.PushTask]).
func (p *Protocol) AppendPush(dst []byte, v *Version, task Task, e Event) ([]byte, error) {
	if !v.Rules.PushTask {
		return v.AppendEvent(dst, e)
	}
	if v.Rules.Places {
		var err error
		if task, err = p.Placed(task); err != nil {
			return dst, err
		}
	}
	for _, op := range v.Operations {
		if op.Role == RoleGet {
			return op.Append(dst, task)
		}
	}
	return dst, fmt.Errorf("encode a push notification: version %s has no operation that gets a task", v.Name)
}
