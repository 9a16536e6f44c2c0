package engine

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
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
	if skill := sent.Skill(); skill != "" {
		r.Subject.Skill = skill
	}
	if before, ok := errors.AsType[*store.Repeated](err); ok {
		return r.again(owner, p, &m, before)
	}
	if err == nil && answer == nil && m.Wait {
		err = sent.Await(r.Context)
	}
	switch {
	case err != nil || r.Silent:
		return Answer{}, err
	case answer != nil:
		r.Subject.ofResult(answer)
		return Answer{Result: answer}, nil
	case !m.Wait:
		sent.AwaitDecision()
	}
	result, bytes, err := sent.Result(r.Context, m.Wait)
	if err != nil {
		return Answer{}, err
	}
	r.Subject.ofResult(result)
	if _, ok := result.(runtime.Task); ok && r.Op.Role == runtime.RoleStream {
		r.Subject.State = runtime.StateUnspecified
		return r.stream(sent)
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
	if r.Version.Unnamed() {
		r.Version.adapt(p, &m.Info, r.e)
	}
	if p.Push != nil {
		if m.Push, err = r.inline(p, &m.Info); err != nil {
			return err
		}
	}
	if err := r.e.checkSend(p, &m.Info, r.Op); err != nil {
		return err
	}
	m.Request, m.Parts = p, p.Message.Contents()
	if err := r.e.checkContent(p, m.Info.Metadata, m.Parts); err != nil {
		return err
	}
	if r.e.values != nil {
		if m.Extensions, err = r.extensions(p); err != nil {
			return err
		}
	}
	m.Owner, m.Caller, m.Permit, m.Sees = owner, callerFor(r.Caller, owner), r.permit(), r.sees()
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

// checkSend validates what the codec does not (R35, R36).
func (e *Engine) checkSend(req *runtime.SendRequest, info *runtime.MessageInfo, op *runtime.Operation) error {
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
	if max(len(info.ID), len(info.ContextID), len(info.TaskID)) <= maxName {
		return nil
	}
	return cmp.Or(
		checkName("message.messageId", info.ID),
		checkName("message.contextId", info.ContextID),
		checkName("message.taskId", info.TaskID),
	)
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

// A task holds only what every version and every binding can express (decision 038), so that no reader fails on it.
// What a client sends is checked here, what a handler emits by package run.

// checkContent refuses a message that cannot be expressed in every binding, or that most clients cannot read. Its JSON
// is valid: a codec has read it.
func (e *Engine) checkContent(req *runtime.SendRequest, metadata wire.Object, parts []runtime.Part) error {
	for i := range parts {
		if err := e.checkPart(&parts[i]); err != nil {
			return invalid.Below("message.parts["+strconv.Itoa(i)+"]", err)
		}
	}
	if err := wire.Portable(metadata, e.nesting); err != nil {
		return invalid.Below("message.metadata", err)
	}
	if err := wire.Portable(req.Metadata, e.nesting); err != nil {
		return invalid.Below("metadata", err)
	}
	return nil
}

// errNoContent refuses a part of an unknown kind.
var errNoContent = &wire.Error{Reason: "has no content that is known here: a text, a file's bytes, a URL or data"}

func (e *Engine) checkPart(p *runtime.Part) error {
	if p.Kind == runtime.PartUnknown {
		return errNoContent
	}
	if err := wire.Portable(p.Data, e.nesting); err != nil {
		return wire.In(err, "data")
	}
	if err := wire.Portable(p.Metadata, e.nesting); err != nil {
		return wire.In(err, "metadata")
	}
	return nil
}
