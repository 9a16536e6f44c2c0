package engine

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
)

// Operation carries out one operation that the runtime does not know. request is what its row's Decode returned; the
// result is what Append takes, or what [NewStreamOperation] makes if the row is a stream. An A2A error that it makes or
// passes on ([runtime.Made]) is the answer, any other error becomes an internal one.
type Operation func(ctx context.Context, request any) (result any, err error)

// NewOperation makes an operation of a typed function. A nil result is an error.
func NewOperation[In, Out any](run func(context.Context, *In) (*Out, error)) Operation {
	return func(ctx context.Context, request any) (any, error) {
		in, _ := request.(*In) // nil where the operation takes nothing
		out, err := run(ctx, in)
		switch {
		case err != nil:
			return nil, err
		case out == nil:
			return nil, fmt.Errorf("neither a %T nor an error was returned", out)
		}
		return out, nil
	}
}

// other returns the agent's own function for an operation that has no role; nil without one.
func (e *Engine) other(op *runtime.Operation) Operation {
	if op.Role != runtime.RoleOther {
		return nil
	}
	return e.operations[op.RPC]
}

// own carries out an operation of the agent's own, within the time limit of handlers.
func (r *Request) own(params any) (Answer, error) {
	do := r.e.other(r.Op)
	owner, err := r.frameOwner()
	if err != nil {
		return Answer{}, err
	}
	r.introduce(owner)
	switch {
	case do == nil:
		return Answer{}, runtime.ErrUnsupportedOperation
	case r.Op.Stream:
		return r.sequence(do, params)
	}
	ctx, cancel := context.WithTimeout(r.Context, r.e.limits.Timeout)
	defer cancel()
	result, err := do(ctx, params)
	return r.value(result, byOwnCode(ctx, "operation "+r.Op.RPC, err))
}
