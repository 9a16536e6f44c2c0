// Package handler makes of the handlers of typed skills what a server runs: a Decode for the input, and a Run that ends with JSON or
// with text.
package handler

import (
	"context"

	"github.com/a2agen/a2agen/runtime/task"
)

// Decode reads an input of type In: the Decode of a server.Skill.
func Decode[In any, P interface {
	*In
	UnmarshalJSON([]byte) error
}](input []byte) (any, error) {
	in := new(In)
	if err := P(in).UnmarshalJSON(input); err != nil {
		return nil, err
	}
	return in, nil
}

// JSON makes the Run of a server.Skill with an output schema. in is nil for a skill without Decode. An output that is
// nil says that the handler answered through t.
func JSON[In, Out any, P interface {
	*Out
	AppendJSON([]byte) ([]byte, error)
}](handle func(ctx context.Context, t *task.Task, in *In) (P, error)) func(context.Context, *task.Task, any) ([]byte, error) {
	return func(ctx context.Context, t *task.Task, value any) ([]byte, error) {
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		in, _ := value.(*In)
		out, err := handle(ctx, t, in)
		if err != nil || out == nil {
			return nil, err
		}
		return out.AppendJSON(nil)
	}
}

// Text makes the Run of a server.Skill without an output schema. in is nil for a skill without Decode. An output that
// is empty says that the handler answered through t, or has nothing to say.
func Text[In any](
	handle func(ctx context.Context, t *task.Task, in *In) (string, error),
) func(context.Context, *task.Task, any) ([]byte, error) {
	return func(ctx context.Context, t *task.Task, value any) ([]byte, error) {
		in, _ := value.(*In)
		out, err := handle(ctx, t, in)
		if err != nil {
			return nil, err
		}
		return []byte(out), nil
	}
}
