package engine

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// send carries out send and stream.
func (r *Request) send(p *runtime.SendRequest) (Answer, error) {
	var m run.Message
	if p.Message != nil {
		m.Info = p.Message.MessageInfo()
		r.Subject.Task, r.Subject.Context = limit(m.Info.TaskID, maxName), limit(m.Info.ContextID, maxName)
	}
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return Answer{}, err
	}
	if err := r.message(&m, p, owner); err != nil {
		return Answer{}, err
	}
	sent, answer, err := r.e.runner.Send(r.Context, &m)
	if sent.Skill != "" {
		r.Subject.Skill = sent.Skill
	}
	if before, ok := errors.AsType[*store.Repeated](err); ok {
		return r.again(owner, p, &m, before)
	}
	if err != nil || r.Silent {
		return Answer{}, err
	}
	var result any = answer
	var bytes int
	if answer == nil {
		if result, bytes, err = sent.Result(r.Context, m.Wait); err != nil {
			return Answer{}, err
		}
	}
	switch v := result.(type) {
	case runtime.Task:
		info := v.TaskInfo()
		r.Subject.Task, r.Subject.Context = info.ID, info.ContextID
		if r.Op.Role == runtime.RoleStream {
			return r.stream(sent)
		}
		r.Subject.State = info.State
	case runtime.Message:
		r.Subject.Context = v.MessageInfo().ContextID
	}
	if err := r.Response.Reserve(r.Context, int64(bytes)); err != nil {
		return Answer{}, err
	}
	return r.value(result, nil)
}

// message checks a message, as far as that needs no task, and says how it is sent.
func (r *Request) message(m *run.Message, p *runtime.SendRequest, owner store.Owner) (err error) {
	if p.Message == nil {
		return invalid.Field("message", "is required")
	}
	if m.Repeat, err = r.repeat(p, &m.Info); err != nil {
		return err
	}
	if r.Version.Unnamed {
		r.Version.adapt(p, &m.Info, r.e)
	}
	if p.Push != nil {
		if m.Push, err = r.inline(p, &m.Info); err != nil {
			return err
		}
	}
	m.Request, m.Parts = p, p.Message.Contents()
	if err := r.e.check(p, &m.Info, m.Parts, r.Op); err != nil {
		return err
	}
	if r.e.values != nil {
		if m.Extensions, err = r.extensions(p); err != nil {
			return err
		}
	}
	m.Owner, m.Caller, m.Permit, m.Sees = owner, callerFor(r.Caller, owner), r.permit(), r.e.skills.All
	if r.Barred != nil {
		m.Sees = r.e.skills.Public
	}
	m.Wait = r.Op.Role != runtime.RoleStream && !p.ReturnImmediately && !r.Silent
	m.Named, m.Stored = r.Version.Rules.ClientIDs, r.Silent
	return nil
}

// maxName is the longest id or name that a client may give to something, in bytes: contexts and tasks repeat theirs in
// every event.
const maxName = 512

// checkName refuses an id that is too long.
func checkName(field, id string) error {
	if len(id) > maxName {
		return invalid.Field(field, "must not be longer than "+strconv.Itoa(maxName)+" bytes")
	}
	return nil
}

// errNoContent refuses a part of an unknown kind.
var errNoContent = &wire.Error{Reason: "has no content that is known here: a text, a file's bytes, a URL or data"}

// check validates what the codec does not (R35, R36), and refuses a message that cannot be expressed in every version and
// every binding, or that most clients cannot read: a task holds nothing else, so that no reader fails on it (docs/decisions/02).
// What a handler emits is checked by package run.
func (e *Engine) check(
	req *runtime.SendRequest, info *runtime.MessageInfo, parts []runtime.Part, op *runtime.Operation,
) error {
	switch {
	case info.ID == "":
		return invalid.Field("message.messageId", "is required")
	case !info.User:
		return invalid.Field("message.role",
			"must be "+e.roleOfUser(op)+": agents do not send messages to agents as themselves")
	case req.HistoryLength != nil && *req.HistoryLength < 0:
		return invalid.Field("configuration.historyLength", "must not be negative")
	case req.IfGenerationMatch != nil && info.TaskID == "":
		return invalid.Field("configuration.ifGenerationMatch", "is for a message that continues a task: name that in message.taskId")
	}
	for i, id := range info.References {
		if err := checkName("message.referenceTaskIds["+strconv.Itoa(i)+"]", id); err != nil {
			return err
		}
	}
	if max(len(info.ID), len(info.ContextID), len(info.TaskID)) > maxName {
		return cmp.Or(
			checkName("message.messageId", info.ID),
			checkName("message.contextId", info.ContextID),
			checkName("message.taskId", info.TaskID),
		)
	}
	for i := range parts {
		p, wrong := &parts[i], error(nil)
		if p.Kind == runtime.PartUnknown {
			wrong = errNoContent
		} else if err := wire.Portable(p.Data, e.nesting); err != nil {
			wrong = wire.In(err, "data")
		} else if err := wire.Portable(p.Metadata, e.nesting); err != nil {
			wrong = wire.In(err, "metadata")
		}
		if wrong != nil {
			return invalid.Below("message.parts["+strconv.Itoa(i)+"]", wrong)
		}
	}
	if err := wire.Portable(info.Metadata, e.nesting); err != nil {
		return invalid.Below("message.metadata", err)
	}
	if err := wire.Portable(req.Metadata, e.nesting); err != nil {
		return invalid.Below("metadata", err)
	}
	return nil
}

// roleOfUser is the word for the user's role in the JSON of an operation that sends a message.
func (e *Engine) roleOfUser(op *runtime.Operation) string {
	user := runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("")}}
	sample, err := op.AppendRequest(nil, e.protocol.NewSend(runtime.SendRequest{Message: e.protocol.NewMessage(user)}))
	for _, member := range []string{"message", "request"} {
		if message, ok := wire.Object(sample).Get(member); ok && err == nil {
			if role, ok := wire.Object(message).Get("role"); ok {
				return string(role)
			}
		}
	}
	return "the user's"
}

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
		field := keyField
		if strings.HasPrefix(m.Repeat.Key, messageKind) {
			field = messageField
		}
		return Answer{}, invalid.Field(field, "was used before for another request").
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
