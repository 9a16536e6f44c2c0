package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// Request is one request, as a binding has read it. The binding fills what is exported in, asks [Request.Allowed],
// decodes the parameters, has them served, and lets go of the request with Done when the answer is written.
type Request struct {
	Context context.Context // ends when nobody waits for the answer any more
	Binding string          // that brought it
	Caller  *runtime.Caller // nil: nobody who is known
	Permit  Permit          // nil: the caller may use all skills
	Barred  error           // why the extended card, and what only it has, is not for the caller; nil: it is
	Version *Version
	Op      *runtime.Operation
	Silent  bool   // nobody wants an answer: a message is taken on, and that is all
	After   int64  // of a subscription: the last event that its client has seen; 0: none
	Repeat  string // by what a message is known that comes again; "": by nothing that its frame says
	Tenant  string // which the frame names beside the parameters; "": none
	Coding  Coding // of events, for operations that are streams
	About   About  // is filled in as it is served

	e        *Engine
	response budget.Response // what the answer takes of the budget
	tenant   string          // for which the caller acts, when that is known
	listed   *listed
}

// ActsFor is the tenant for which the caller acts, in a Permit.
func (r *Request) ActsFor() string { return r.tenant }

// NewRequest makes a request to be filled in. It is nobody's until its caller is known.
func (e *Engine) NewRequest(ctx context.Context) Request {
	return Request{
		Context: ctx, Barred: ErrUnidentified, e: e,
		response: budget.Response{Budget: &e.responses, Stall: e.limits.Stall},
	}
}

// Answer is what a request comes to: a value, or a stream where the operation is one. A stream may also be answered
// with a value, which is the one event it has.
type Answer struct {
	// Result is what the operation's Append takes. A card has yet to be set under the binding's own address. Nil for a
	// silent request.
	Result   any
	Stream   *Stream
	Sequence *Sequence
}

// Pass makes bytes of the answer by encode and passes them to write: see [budget.Response.Pass].
func (r *Request) Pass(encode func(dst []byte) ([]byte, error), write func(b []byte)) error {
	return r.response.Pass(r.Context, encode, write)
}

// Done gives back what the answer holds.
func (r *Request) Done() { r.response.Done() }

// Serve carries the operation out, unless [Request.Allowed] has refused it. params are what its Decode returned. For an
// error ask [ToError].
func (r *Request) Serve(params any) (Answer, error) {
	if err := r.hooked(params); err != nil {
		return Answer{}, err
	}
	switch p := params.(type) {
	case *runtime.SendRequest:
		return r.send(p)
	case *runtime.TaskRequest:
		return r.task(p)
	case *runtime.ListRequest:
		return r.value(r.list(p))
	case *runtime.PushRequest:
		return r.push(p)
	}
	if r.Op.Role == runtime.RoleExtendedCard {
		card, err := r.card()
		return Answer{Result: card}, err
	}
	return r.own(params)
}

// value answers with a result as the request's version shows it.
func (r *Request) value(result any, err error) (Answer, error) {
	if err != nil || r.Silent {
		return Answer{}, err
	}
	if task, ok := result.(runtime.Task); ok {
		result, err = r.shown(task)
	}
	return Answer{Result: result}, err
}

// Allowed refuses operations that the card does not offer (§3.3.4, R45–R48), and those that nobody carries out.
func (r *Request) Allowed() *runtime.Error {
	switch needs := r.Op.Role.Info().Needs; needs {
	case runtime.NeedsStreaming:
		if !r.e.info.Streaming {
			return runtime.ErrUnsupportedOperation.With("this agent does not stream") // R47
		}
		return nil
	case runtime.NeedsPush:
		if !r.e.pushes() {
			return runtime.ErrPushNotificationNotSupported // R46
		}
		return nil
	case runtime.NeedsExtendedCard:
		if r.Version.Rules.PublicCard || r.e.extended != nil {
			return nil
		}
		if r.e.info.Extended || r.Version.Rules.PlainErrors { // 0.3 has this error for both (its §8.2)
			return runtime.ErrExtendedAgentCardNotConfigured // R48
		}
		return runtime.ErrUnsupportedOperation.With("this agent has no extended card")
	}
	if r.Op.Role != runtime.RoleOther || r.e.other(r.Op) != nil {
		return nil
	}
	return runtime.ErrUnsupportedOperation
}

// card carries out the operation that gets the extended card, which is for identified callers.
func (r *Request) card() (runtime.Card, error) {
	switch {
	case r.Version.Rules.PublicCard:
		return r.e.card, nil
	case r.Barred != nil:
		return nil, r.Barred
	}
	if _, err := r.framed(); err != nil {
		return nil, err
	}
	return r.e.extended, nil
}

// owner names whose tasks the request means. What its frame says and what its parameters say must be the same.
func (r *Request) owner(tenant string) (store.Owner, error) {
	switch {
	case tenant == "":
		tenant = r.Tenant
	case r.Tenant != "" && r.Tenant != tenant:
		return store.Owner{}, invalid.Field("tenant", "is not what A2A-Tenant says")
	}
	if r.e.tenants != nil && !r.e.tenants[tenant] {
		return store.Owner{}, invalid.Field("tenant", "is not a tenant of this agent")
	}
	if r.Caller != nil && !r.Caller.MayActFor(tenant) {
		return store.Owner{}, runtime.ErrPermissionDenied.With("the caller may not act for this tenant")
	}
	if err := checkName("tenant", tenant); err != nil {
		return store.Owner{}, err
	}
	r.tenant, r.About.Tenant = tenant, tenant
	return store.Owner{Tenant: tenant, Principal: r.Caller.Principal()}, nil
}

// shown is a task as the hooks want it answered and the request's version shows it.
func (r *Request) shown(task runtime.Task) (runtime.Task, error) {
	task = r.answered(task)
	if r.Version.Rules.Places {
		return r.e.protocol.Placed(task)
	}
	return task, nil
}

// sees are the skills that there are for the caller.
func (r *Request) sees() *route.Catalog {
	if r.Barred != nil {
		return r.e.skills.Public
	}
	return r.e.skills.All
}

// permit says why the caller may not use a skill; nil: he may use all. What is hidden from him is not there, nor are
// its tasks, which he may have from when it was not.
func (r *Request) permit() Permit {
	if r.sees().Len() == r.e.skills.All.Len() {
		return r.Permit
	}
	return func(skill string) error {
		if r.e.skills.Hidden(skill) {
			return store.ErrNotFound
		}
		if r.Permit == nil {
			return nil
		}
		return r.Permit(skill)
	}
}

// may refuses a caller who may not use the skill of a task. A task that is not there is as one of somebody else.
func (r *Request) may(key store.Key) error {
	permit := r.permit()
	if permit == nil {
		return nil
	}
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return err
	}
	r.About.Skill = h.Skill
	return permit(h.Skill)
}

// Foreign reports whether the request asks for a task whose id its client chose. That is how a client of an older
// version tells itself, where several versions have the same name for the operation: it is in the words of
// [Engine.ByClient] then.
func (r *Request) Foreign(p *runtime.TaskRequest) bool {
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return false
	}
	key := store.Key{Owner: owner, Task: p.ID}
	h, err := r.e.store.Head(r.e.soon(), key)
	return err == nil && h.ClientID && !errors.Is(r.may(key), store.ErrNotFound)
}

// send carries out send and stream.
func (r *Request) send(p *runtime.SendRequest) (Answer, error) {
	r.said(p.Message)
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
		r.About.Skill = skill
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
		r.comesTo(answer)
		return Answer{Result: answer}, nil
	case !m.Wait:
		sent.AwaitDecision()
	}
	result, bytes, err := sent.Result(m.Wait)
	if err != nil {
		return Answer{}, err
	}
	r.comesTo(result)
	if _, ok := result.(runtime.Task); ok && r.Op.Role == runtime.RoleStream {
		return r.stream(sent)
	}
	if task, ok := result.(runtime.Task); ok {
		r.About.State = task.TaskInfo().State
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
	r.adapt(p)
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
	m.Owner, m.Caller, m.Permit, m.Sees = owner, called(r.Caller, owner), r.permit(), r.sees()
	m.Wait = r.Op.Role != runtime.RoleStream && !p.ReturnImmediately && !r.Silent
	m.Named, m.Stored = r.Version.Rules.ClientIDs, r.Silent
	return nil
}

// adapt gives a request what older versions leave to the server: the message's id, which 0.1 does not have and samples
// of 0.2 and 0.3 leave out (T38), and the history's length.
func (r *Request) adapt(p *runtime.SendRequest) {
	if !r.Version.Unnamed() || p.Message == nil {
		return
	}
	p.HistoryLength = r.Version.history(p.HistoryLength)
	info := p.Message.MessageInfo()
	if info.ID != "" {
		return
	}
	info.ID = r.e.runner.NewID()
	p.Message = r.e.protocol.NewMessage(runtime.MessageData{MessageInfo: info, Parts: p.Message.Contents()})
}

// task carries out get, cancel and subscribe.
func (r *Request) task(p *runtime.TaskRequest) (Answer, error) {
	owner, err := r.owner(p.Tenant)
	switch {
	case err != nil:
	case p.ID == "":
		err = invalid.Field("id", "is required")
	case len(p.ID) > maxName:
		err = checkName("id", p.ID)
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		err = invalid.Field("historyLength", "must not be negative")
	}
	if err != nil {
		return Answer{}, err
	}
	key := store.Key{Owner: owner, Task: p.ID}
	r.About.Task = p.ID
	if err := r.may(key); err != nil {
		return Answer{}, notFound(err, p.ID)
	}
	p.HistoryLength = r.Version.history(p.HistoryLength)
	var a Answer
	switch r.Op.Role {
	case runtime.RoleGet:
		a, err = r.value(r.get(key, store.View{History: p.HistoryLength, Artifacts: true}))
	case runtime.RoleCancel:
		a, err = r.value(r.cancel(key))
	case runtime.RoleSubscribe:
		if !r.Silent {
			a, err = r.subscribe(key)
		}
	default:
		err = fmt.Errorf("operation %s decodes to a task request", r.Op.RPC)
	}
	return a, notFound(err, p.ID)
}

// get carries out GetTask. A large task is read once more when there is room for the answer: nobody holds on to one
// while he waits.
func (r *Request) get(key store.Key, view store.View) (any, error) {
	snap, err := r.e.store.Get(r.e.soon(), key, view)
	r.About.Skill = snap.Private.Skill
	if err != nil || snap.Bytes <= budget.Uncounted {
		return snap.Task, err
	}
	snap.Task = nil
	if err := r.response.Reserve(r.Context, int64(snap.Bytes)); err != nil {
		return nil, err
	}
	snap, err = r.e.store.Get(r.e.soon(), key, view)
	return snap.Task, err
}

// notFound names the task in the error (R36).
func notFound(err error, id string) error {
	if err == nil {
		return nil
	}
	if e, _ := ToError(err); e == runtime.ErrTaskNotFound {
		return e.WithMetadata("taskId", limit(id, 100))
	}
	return err
}

// cancel carries out CancelTask.
func (r *Request) cancel(key store.Key) (any, error) {
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return nil, err
	}
	r.About.Skill, r.About.Context = h.Skill, h.Context
	task, err := r.e.runner.Cancel(r.Context, key)
	return task, err
}

// Bounds of a page of tasks (R308).
const (
	defaultPage = 50
	maxPage     = 100
)

// list carries out ListTasks (A2A 1.0 §3.1.4). Tasks come without history unless some is asked for.
func (r *Request) list(p *runtime.ListRequest) (any, error) {
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return nil, err
	}
	size := defaultPage
	switch {
	case p.PageSize != nil && (*p.PageSize < 0 || *p.PageSize > maxPage):
		return nil, invalid.Field("pageSize", fmt.Sprintf("must be between 1 and %d", maxPage))
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		return nil, invalid.Field("historyLength", "must not be negative")
	case p.PageSize != nil && *p.PageSize > 0: // 0 is what ProtoJSON writers send for "not set"
		size = *p.PageSize
	}
	history := p.HistoryLength
	if history == nil {
		history = new(int)
	}
	page, err := r.page(owner, store.Query{
		Context: p.ContextID, State: p.State, After: p.After, Size: size, Bytes: r.e.limits.Page, Token: p.PageToken,
		View: store.View{History: history, Artifacts: p.IncludeArtifacts}, Without: r.refused(),
	})
	if err != nil {
		return nil, err
	}
	for i, task := range page.Tasks {
		page.Tasks[i] = r.answered(task)
	}
	r.listed = &listed{tasks: page.Tasks, next: page.Next, size: size, total: page.Total}
	return r.listed.page(r.e.protocol), nil
}

// refused are the skills that the caller may not use.
func (r *Request) refused() (ids []string) {
	permit := r.permit()
	if permit == nil {
		return nil
	}
	return r.e.skills.IDs(func(id string) bool { return permit(id) != nil })
}

// page reads a page of tasks, as get reads one task.
func (r *Request) page(owner store.Owner, query store.Query) (store.Page, error) {
	page, err := r.e.store.List(r.e.soon(), owner, query)
	if err != nil || page.Bytes <= budget.Uncounted {
		return page, err
	}
	page.Tasks = nil
	if err := r.response.Reserve(r.Context, int64(page.Bytes)); err != nil {
		return page, err
	}
	return r.e.store.List(r.e.soon(), owner, query)
}
