package engine

import (
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// A message that is sent again, because its sender got no answer, is accepted once. It is recognized by an idempotency
// key, or by its id. Whoever sends it again gets the task that the first one made or continued.

// Repeats say how an agent recognizes messages that are sent again. A request's own key always counts.
type Repeats struct {
	// ByMessage: the id of the message is the key of a request without one. Clients that use an id for several
	// messages, as some do, get an error for the second.
	ByMessage bool
	Window    time.Duration // how long a key is remembered [runtime.RepeatWindow]
}

// Where the key of a message comes from, as errors name the field; the kind of a key is its prefix in the store.
const (
	keyField, keyKind         = "Idempotency-Key", "key:"
	messageField, messageKind = "message.messageId", "message:"
	ageField                  = "Idempotency-Age"
)

// repeat returns the key by which the request is recognized when it is sent again; nil: there is none.
func (r *Request) repeat(p *runtime.SendRequest, info *runtime.MessageInfo) (*store.Repeat, error) {
	var key string
	var err error
	if len(info.Metadata) > 0 {
		key, err = route.IdempotencyKey(info.Metadata)
	}
	if r.Repeat != "" && err == nil {
		if key != "" && key != r.Repeat {
			err = invalid.Field("message.metadata", "idempotencyKey is not what Idempotency-Key says")
		}
		key = r.Repeat
	}
	switch {
	case err != nil:
		return nil, err
	case key != "":
		key = keyKind + key
	case r.e.repeats.ByMessage && info.ID != "":
		key = messageKind + info.ID
	default:
		return nil, nil
	}
	if err := checkName(keyField, key); err != nil {
		return nil, err
	}
	digest, err := r.e.digest(p)
	repeat := &store.Repeat{Key: key, Digest: digest, For: r.e.repeats.Window}
	if r.Age > 0 {
		repeat.Since = time.Now().Add(-r.Age)
	}
	if r.Age > repeat.For {
		err = errForgotten
	}
	return repeat, err
}

// errForgotten refuses a message that was sent before, and of which it is not known whether it came.
var errForgotten = invalid.Field(ageField, "the agent no longer knows whether a message of that age came: the work may have been done")

// fieldOf returns the field of a request that its key comes from.
func fieldOf(r *store.Repeat) string {
	if strings.HasPrefix(r.Key, messageKind) {
		return messageField
	}
	return keyField
}

// digest returns a hash that is equal for requests that say the same, whatever their wire.
func (e *Engine) digest(p *runtime.SendRequest) (sum [sha256.Size]byte, err error) {
	for _, op := range e.protocol.Versions[0].Operations {
		if op.Role == runtime.RoleSend {
			request := e.protocol.NewSend(*p)
			if observing.InMessage(p.Message.MessageInfo().Metadata).Parent != "" {
				request = observing.Unmark(request)
			}
			b, err := op.AppendRequest(nil, request)
			return sha256.Sum256(b), err
		}
	}
	return sum, errors.New("the protocol has no operation that sends a message")
}

// again answers a message that came before with its task: after the first one's call is over, if the sender waits for
// that.
func (r *Request) again(
	owner store.Owner, p *runtime.SendRequest, m *run.Message, before *store.Repeated,
) (Answer, error) {
	key := store.Key{Owner: owner, Task: before.Task}
	r.Subject.Task = before.Task
	if err := r.may(key); err != nil {
		return Answer{}, notFound(err, key.Task)
	}
	switch {
	case !before.Same:
		return Answer{}, invalid.Field(fieldOf(m.Repeat), "was used before for another request").
			WithMetadata("taskId", limit(key.Task, 100))
	case r.Silent:
		return Answer{}, nil
	case r.Op.Stream:
		return r.rejoin(key)
	}
	if m.Wait && before.Call > 0 {
		if err := r.e.runner.AwaitCall(r.Context, key, before.Call); err != nil {
			return Answer{}, notFound(err, key.Task)
		}
	}
	a, err := r.value(r.get(key, store.View{History: p.HistoryLength, Artifacts: true}))
	return a, notFound(err, key.Task)
}

// rejoin answers a message that came before with a stream: the task as it stands, then its events.
func (r *Request) rejoin(key store.Key) (Answer, error) {
	st, err := r.open(key)
	if err != nil {
		return Answer{}, err
	}
	snap, err := r.e.store.Get(r.e.soon(), key, store.Full)
	if err != nil {
		st.Close()
		return Answer{}, notFound(err, key.Task)
	}
	st.Begin(snap.Task, snap.Version)
	return Answer{Stream: st}, nil
}
