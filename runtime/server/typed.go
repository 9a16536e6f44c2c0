package server

import (
	"context"
)

// What a generated skill is made of: a Decode for its input, and a Run that ends with JSON or with text.

// Decode reads an input of type In: the Decode of a [Skill].
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

// OutputJSON makes the Run of a [Skill] with an output schema. in is nil for a skill without Decode. An output that is
// nil says that the handler answered through t.
func OutputJSON[In, Out any, P interface {
	*Out
	AppendJSON([]byte) ([]byte, error)
}](handle func(ctx context.Context, t *Task, in *In) (P, error)) func(context.Context, *Task, any) ([]byte, error) {
	return func(ctx context.Context, t *Task, value any) ([]byte, error) {
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

// OutputText makes the Run of a [Skill] without an output schema. in is nil for a skill without Decode. An output that
// is empty says that the handler answered through t, or has nothing to say.
func OutputText[In any](
	handle func(ctx context.Context, t *Task, in *In) (string, error),
) func(context.Context, *Task, any) ([]byte, error) {
	return func(ctx context.Context, t *Task, value any) ([]byte, error) {
		in, _ := value.(*In)
		out, err := handle(ctx, t, in)
		if err != nil {
			return nil, err
		}
		return []byte(out), nil
	}
}
