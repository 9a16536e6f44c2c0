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
	r.Subject.ofMessage(p.Message)
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return Answer{}, err
	}
	var m run.Message
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
	result, bytes, err := sent.Result(m.Wait)
	if err != nil {
		return Answer{}, err
	}
	r.Subject.ofResult(result)
	if _, ok := result.(runtime.Task); ok && r.Op.Role == runtime.RoleStream {
		return r.stream(sent)
	}
	if task, ok := result.(runtime.Task); ok {
		r.Subject.State = task.TaskInfo().State
	}
	if err := r.response.Reserve(r.Context, int64(bytes)); err != nil {
		return Answer{}, err
	}
	return r.value(result, nil)
}

// message checks a message, as far as that needs no task, and says how it is sent.
func (r *Request) message(m *run.Message, p *runtime.SendRequest, owner store.Owner) (err error) {
	if m.Repeat, err = r.repeat(p); err != nil {
		return err
	}
	r.Version.adapt(p, r.e)
	if m.Push, err = r.inline(p); err != nil {
		return err
	}
	if m.Info, err = r.e.checkSend(p, r.Op); err != nil {
		return err
	}
	m.Request, m.Parts = p, p.Message.Contents()
	if err := r.e.checkContent(p, m.Info.Metadata, m.Parts); err != nil {
		return err
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
func (e *Engine) checkSend(req *runtime.SendRequest, op *runtime.Operation) (info runtime.MessageInfo, err error) {
	if req.Message == nil {
		return info, invalid.Field("message", "is required")
	}
	info = req.Message.MessageInfo()
	switch {
	case info.ID == "":
		return info, invalid.Field("message.messageId", "is required")
	case !info.User:
		return info, invalid.Field("message.role",
			"must be "+e.roleOfUser(op)+": agents do not send messages to agents as themselves")
	case req.HistoryLength != nil && *req.HistoryLength < 0:
		return info, invalid.Field("configuration.historyLength", "must not be negative")
	}
	for i, id := range info.References {
		if err := checkName("message.referenceTaskIds["+strconv.Itoa(i)+"]", id); err != nil {
			return info, err
		}
	}
	return info, cmp.Or(
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
