package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// Request is one request, as a binding has read it. The binding fills what is exported in, asks [Request.Allowed],
// decodes the parameters, calls Serve, and calls Response.Done when the answer is written.
type Request struct {
	Context context.Context // ends when nobody waits for the answer any more
	Binding string          // that the request came over
	Caller  *runtime.Caller // nil: nobody who is known
	Permit  Permit          // nil: the caller may use all skills
	Barred  error           // why the extended card, and what only it has, is not for the caller; nil: it is
	Version *Version
	Op      *runtime.Operation
	Silent  bool          // nobody waits for an answer: a message is accepted, and that is all
	After   int64         // of a subscription: the last event that its client has; 0: none
	Repeat  string        // idempotency key of a message, as its frame says; "": none
	Age     time.Duration // since the message with the key was first sent; 0: it was not sent before
	Tenant  string        // that the frame names beside the parameters; "": none
	Coding  Coding        // of events, for operations that are streams
	Subject Subject       // what it is about, filled in as it is served

	Response budget.Response // what the answer takes of the budget

	e      *Engine
	listed *listed
	active []string // extensions that it asks for and the agent has, by URI
	framed int      // how many of them its frame named
}

// Begin begins a request, which is to be filled in. Until its caller is known it may see what is public, and no more.
func (r *Request) Begin(ctx context.Context, e *Engine) {
	r.Context, r.Barred, r.e = ctx, ErrUnidentified, e
	r.Response.Budget, r.Response.Stall = &e.responses, e.limits.Stall
}

// Subject is what a request is about, as far as that is known: for the log and for observers.
type Subject struct {
	Skill, Task, Context, Tenant string
	State                        runtime.State // of the task that a message is answered with; of a stream it is not known
}

// Answer is the result of a request: a value, or a stream where the operation is one. A stream may also be answered
// with a value, which is its only event.
type Answer struct {
	// Result is what the operation's Append takes. A card has yet to be set under the binding's own address. Nil for a
	// silent request.
	Result   any
	Stream   *Stream
	Sequence *Sequence
}

// Serve carries the operation out, unless [Request.Allowed] has refused it. params are what its Decode returned. For an
// error ask [ToError].
func (r *Request) Serve(params any) (Answer, error) {
	if r.e.hooks != nil {
		if err := r.hooked(params); err != nil {
			return Answer{}, err
		}
	}
	switch p := params.(type) {
	case *runtime.SendRequest:
		return r.send(p)
	case *runtime.TaskRequest:
		return r.task(p)
	case *runtime.ListRequest:
		return r.value(r.list(p))
	case *runtime.PushRequest:
		if !r.e.pushes() {
			return Answer{}, runtime.ErrPushNotificationNotSupported
		}
		return r.e.pushing.serve(r, p)
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
	task, ok := result.(runtime.Task)
	switch {
	case !ok:
		return Answer{Result: result}, nil
	case r.e.hooks != nil:
		task = r.e.showTask(r.Context, task)
	}
	if r.Version.Rules.Places {
		task, err = r.e.protocol.Placed(task)
	}
	return Answer{Result: task}, err
}

// AppendResult appends the result of the operation as its Append does. A task of a page that cannot be written is there
// with its id, its context and its state alone; any other result that cannot be written is an error for the peer.
func (r *Request) AppendResult(dst []byte, result any) ([]byte, error) {
	b, err := r.Op.Append(dst, result)
	if err == nil {
		return b, nil
	}
	if r.listed != nil && r.listed.bare(r) {
		return r.Op.Append(b[:len(dst)], r.listed.page(r.e.protocol))
	}
	return b[:len(dst)], feed.Unwritable(err)
}

// Allowed refuses operations that the card does not offer (§3.3.4, R45–R48), those that nobody carries out, and those of an
// extension to callers that do not ask for it.
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
	switch {
	case r.Op.Role == runtime.RoleOther && r.e.other(r.Op) == nil:
		return runtime.ErrUnsupportedOperation
	case r.e.values == nil:
		return nil
	}
	if uri := r.e.values.Of(r.Op.RPC); uri != "" && !slices.Contains(r.active, uri) {
		return runtime.ErrExtensionSupportRequired.
			With("%s is an operation of the extension %s: name that in A2A-Extensions", r.Op.RPC, uri).
			WithMetadata("extension", uri)
	}
	return nil
}

// card carries out the operation that gets the extended card, which is for identified callers.
func (r *Request) card() (runtime.Card, error) {
	switch {
	case r.Version.Rules.PublicCard:
		return r.e.card, nil
	case r.Barred != nil:
		return nil, r.Barred
	}
	if _, err := r.frameOwner(); err != nil {
		return nil, err
	}
	return r.e.extended, nil
}

// Operation is what the newest version calls the operation; "" when it is not known.
func (r *Request) Operation() string {
	if r.Op == nil {
		return ""
	}
	return r.e.protocol.NameOf(r.Op)
}

// Logger returns the logger with what is known of the request. It is for rare events: attributes cost time.
func (r *Request) Logger() *slog.Logger {
	return r.e.logger.With(attributes("operation", r.Operation(), "skill", r.Subject.Skill, "task", r.Subject.Task,
		"caller", r.Caller.Principal())...)
}

// attributes are those of names and values that are not "".
func attributes(all ...string) (list []any) {
	for i := 0; i < len(all); i += 2 {
		if all[i+1] != "" {
			list = append(list, all[i], all[i+1])
		}
	}
	return list
}

// limit cuts a text of the client after n bytes.
func limit(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// Who may do what: whose tasks a request means, and which skills there are for its caller.

// ActsFor returns the tenant for which the caller acts, for a Permit.
func (r *Request) ActsFor() string { return r.Subject.Tenant }

// owner returns whose tasks the request means. The tenants that its frame and its parameters name must be the same.
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
	if len(tenant) > maxName {
		return store.Owner{}, checkName("tenant", tenant)
	}
	r.Subject.Tenant = tenant
	return store.Owner{Tenant: tenant, Principal: r.Caller.Principal()}, nil
}

// permit returns what says why the caller may not use a skill; nil: the caller may use all. Hidden skills and their
// tasks, which a caller may have from when the skill was not hidden, are reported as not found.
func (r *Request) permit() Permit {
	if r.Barred == nil || r.e.skills.Public == r.e.skills.All {
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

// may refuses a caller who may not use the skill of a task. A task that does not exist is refused as somebody else's
// is.
func (r *Request) may(key store.Key) error {
	permit := r.permit()
	if permit == nil {
		return nil
	}
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return err
	}
	r.Subject.Skill = h.Skill
	return permit(h.Skill)
}

// Foreign reports whether the request asks for a task whose id its client chose. Where several versions have one name
// for an operation, this tells a client of an older version, whose words are those of [Engine.ByClient].
func (r *Request) Foreign(p *runtime.TaskRequest) bool {
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return false
	}
	key := store.Key{Owner: owner, Task: p.ID}
	h, err := r.e.store.Head(r.e.soon(), key)
	return err == nil && h.ClientID && !errors.Is(r.may(key), store.ErrNotFound)
}

// refused returns the skills that the caller may not use.
func (r *Request) refused() (ids []string) {
	permit := r.permit()
	if permit == nil {
		return nil
	}
	return r.e.skills.IDs(func(id string) bool { return permit(id) != nil })
}

// introduce puts the caller into the request's context, for hooks and for operations of the agent's own.
func (r *Request) introduce(owner store.Owner) {
	if r.Caller != nil && run.CallerFrom(r.Context) == nil {
		r.Context = run.WithCaller(r.Context, callerFor(r.Caller, owner))
	}
}

// frameOwner is owner for operations whose parameters name no tenant.
func (r *Request) frameOwner() (store.Owner, error) {
	if r.Tenant == "" {
		return store.Owner{Principal: r.Caller.Principal()}, nil
	}
	return r.owner("")
}

// callerFor returns the caller as handlers see it: acting for the owner's tenant.
func callerFor(c *runtime.Caller, owner store.Owner) *runtime.Caller {
	if c == nil || c.Tenant == owner.Tenant {
		return c
	}
	seen := *c
	seen.Tenant = owner.Tenant
	return &seen
}
