package engine

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
)

// Request is one request, as a binding has read it. The binding fills what is exported in, asks [Request.Allowed],
// decodes the parameters, calls Serve, and calls Done when the answer is written.
type Request struct {
	Context context.Context // ends when nobody waits for the answer any more
	Binding string          // that the request came over
	Caller  *runtime.Caller // nil: nobody who is known
	Permit  Permit          // nil: the caller may use all skills
	Barred  error           // why the extended card, and what only it has, is not for the caller; nil: it is
	Version *Version
	Op      *runtime.Operation
	Silent  bool    // nobody waits for an answer: a message is accepted, and that is all
	After   int64   // of a subscription: the last event that its client has; 0: none
	Repeat  string  // idempotency key of a message, as its frame says; "": none
	Tenant  string  // that the frame names beside the parameters; "": none
	Coding  Coding  // of events, for operations that are streams
	Subject Subject // what it is about, filled in as it is served

	e        *Engine
	response budget.Response // what the answer takes of the budget
	tenant   string          // for which the caller acts, when that is known
	listed   *listed
}

// NewRequest makes a request to be filled in. Until its caller is known it may see what is public, and no more.
func (e *Engine) NewRequest(ctx context.Context) Request {
	return Request{
		Context: ctx, Barred: ErrUnidentified, e: e,
		response: budget.Response{Budget: &e.responses, Stall: e.limits.Stall},
	}
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
	if _, err := r.frameOwner(); err != nil {
		return nil, err
	}
	return r.e.extended, nil
}

// shown is a task as the hooks want it answered and the request's version shows it.
func (r *Request) shown(task runtime.Task) (runtime.Task, error) {
	task = r.answered(task)
	if r.Version.Rules.Places {
		return r.e.protocol.Placed(task)
	}
	return task, nil
}
