package gen

import (
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What follows makes the functions of a protocol's tables from the codecs of its messages, so that a generated table is
// data.

// AppendOf makes a function that appends a *T given as any, or as what the runtime sees of it.
func AppendOf[T any](appendTo func([]byte, *T) ([]byte, error)) func([]byte, any) ([]byte, error) {
	return func(dst []byte, v any) ([]byte, error) {
		if x, ok := runtime.Generated(v).(*T); ok {
			return appendTo(dst, x)
		}
		return dst, runtime.Unexpected(v, fmt.Sprintf("%T", *new(T)))
	}
}

// AppendAny makes a function that appends a message of any type of a wire, or what the runtime sees of it. what names them.
func AppendAny(appendAny func([]byte, any) ([]byte, bool, error), what string) func([]byte, any) ([]byte, error) {
	return func(dst []byte, v any) ([]byte, error) {
		v = runtime.Generated(v)
		dst, ok, err := appendAny(dst, v)
		if !ok {
			return dst, runtime.Unexpected(v, what)
		}
		return dst, err
	}
}

// ReadAny makes a function that reads a message of any type of a wire.
func ReadAny(unmarshal func([]byte, any) (bool, error), what string) func([]byte, any) error {
	return func(src []byte, v any) error {
		ok, err := unmarshal(src, v)
		if !ok {
			return runtime.Unexpected(v, what)
		}
		return err
	}
}

// AppendEvent makes a function that appends an event as the case of a message that is nothing but a oneof.
func AppendEvent(appendCase func([]byte, any) ([]byte, bool, error)) func([]byte, runtime.Event) ([]byte, error) {
	return func(dst []byte, e runtime.Event) ([]byte, error) {
		dst, ok, err := appendCase(dst, runtime.Generated(e))
		if !ok {
			return dst, runtime.Unexpected(e, "a stream item")
		}
		return dst, err
	}
}

// AppendItem makes a function that appends an event given as any.
func AppendItem(appendCase func([]byte, any) ([]byte, bool, error)) func([]byte, any) ([]byte, error) {
	each := AppendEvent(appendCase)
	return func(dst []byte, v any) ([]byte, error) {
		if e, ok := v.(runtime.Event); ok {
			return each(dst, e)
		}
		return dst, runtime.Unexpected(v, "a stream item")
	}
}

// AppendResult makes a function that appends a task or a message as the case of a message.
func AppendResult(appendCase func([]byte, any) ([]byte, bool, error)) func([]byte, any) ([]byte, error) {
	return AppendAny(appendCase, "the result of a send")
}

// AppendNothing makes a function that appends what stands for no request or result: {} (A2A 1.0 §5.5), or null as older
// versions have it.
func AppendNothing(text string) func([]byte, any) ([]byte, error) {
	return func(dst []byte, _ any) ([]byte, error) { return append(dst, text...), nil }
}

// Decode reads a whole document as a new *T.
func Decode[T any](src []byte, unmarshal func([]byte, *T) error) (*T, error) {
	x := new(T)
	if err := unmarshal(src, x); err != nil {
		return nil, err
	}
	return x, nil
}

// ReadOf makes a function that reads a whole *T.
func ReadOf[T any](unmarshal func([]byte, *T) error) func([]byte) (any, error) {
	return func(src []byte) (any, error) { return orNil(Decode(src, unmarshal)) }
}

// ReadTypedCard is ReadOf for a card that peers write in two ways: its security schemes have a type in one, which typed
// reads.
func ReadTypedCard[T any](unmarshal, typed func([]byte, *T) error) func([]byte) (any, error) {
	return func(src []byte) (any, error) {
		if hasTypes(src) {
			return orNil(Decode(src, typed))
		}
		return orNil(Decode(src, unmarshal))
	}
}

// hasTypes reports whether a card's security schemes have a type.
func hasTypes(card wire.Object) bool {
	schemes, _ := card.Get("securitySchemes")
	if schemes.Kind() != wire.KindObject {
		return false
	}
	for _, scheme := range wire.Object(schemes).All() {
		if scheme.Kind() == wire.KindObject {
			_, typed := wire.Object(scheme).Get("type")
			return typed
		}
	}
	return false
}

// ReadTask is ReadOf for a task, of which show makes what the runtime sees.
func ReadTask[T any](unmarshal func([]byte, *T) error, show func(*T) runtime.Task) func([]byte) (any, error) {
	return func(src []byte) (any, error) {
		x, err := Decode(src, unmarshal)
		if err != nil {
			return nil, err
		}
		return show(x), nil
	}
}

// ReadResult is ReadOf for the result of a send, of which show makes what the runtime sees.
func ReadResult[T any](unmarshal func([]byte, *T) error, show func(*T) (any, error)) func([]byte) (any, error) {
	return func(src []byte) (any, error) {
		x, err := Decode(src, unmarshal)
		if err != nil {
			return nil, err
		}
		return show(x)
	}
}

// ReadEvent is ReadOf for a stream item, of which show makes what the runtime sees.
func ReadEvent[T any](unmarshal func([]byte, *T) error, show func(*T) (runtime.Event, error)) func([]byte) (runtime.Event, error) {
	return func(src []byte) (runtime.Event, error) {
		x, err := Decode(src, unmarshal)
		if err != nil {
			return nil, err
		}
		return show(x)
	}
}

// ReadItem is ReadEvent with the event as any.
func ReadItem[T any](unmarshal func([]byte, *T) error, show func(*T) (runtime.Event, error)) func([]byte) (any, error) {
	read := ReadEvent(unmarshal, show)
	return func(src []byte) (any, error) { return read(src) }
}

// ReadNothing takes any result for none: peers answer {}, null or nothing (T61).
func ReadNothing([]byte) (any, error) { return nil, nil }

// ParamsOf makes a function that reads a *T from parameters of JSON, which may be absent.
func ParamsOf[T any](unmarshal func([]byte, *T) error) func([]byte) (any, error) {
	return func(src []byte) (any, error) { return orNil(Decode(params(src), unmarshal)) }
}

// RequestOf is ParamsOf for a request that has a neutral form. A guard says what that form cannot express.
func RequestOf[T, N any](unmarshal func([]byte, *T) error, neutral func(*T) *N, guards ...func(*T) error) func([]byte) (any, error) {
	return func(src []byte) (any, error) {
		x, err := Decode(params(src), unmarshal)
		return neutralOf(x, err, neutral, guards)
	}
}

// ProtoRequest is RequestOf for a message of protobuf.
func ProtoRequest[T, N any](unmarshal func([]byte, *T) error, neutral func(*T) *N, guards ...func(*T) error) func([]byte) (any, error) {
	return func(src []byte) (any, error) {
		x, err := Decode(src, unmarshal)
		return neutralOf(x, err, neutral, guards)
	}
}

// neutralOf is the neutral form of a request that has been read.
func neutralOf[T, N any](x *T, err error, neutral func(*T) *N, guards []func(*T) error) (any, error) {
	if err != nil {
		return nil, err
	}
	for _, guard := range guards {
		if err := guard(x); err != nil {
			return nil, err
		}
	}
	return neutral(x), nil
}

// orNil is x as any, without a typed nil beside an error.
func orNil[T any](x *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return x, nil
}

// AppendCard makes a function that appends a *T that is a card.
func AppendCard[T any](appendTo func([]byte, *T) ([]byte, error)) func([]byte, runtime.Card) ([]byte, error) {
	each := AppendOf(appendTo)
	return func(dst []byte, c runtime.Card) ([]byte, error) { return each(dst, c) }
}

// CardOf makes runtime.Protocol.Card of the function that shows a *T to the runtime.
func CardOf[T any](show func(*T) runtime.Card) func(generated any) runtime.Card {
	return func(generated any) runtime.Card {
		if x, ok := generated.(*T); ok && x != nil {
			return show(x)
		}
		return nil
	}
}

// ReadCard makes a function that reads a whole *T that is a card. show makes of it what the runtime sees.
func ReadCard[T any](unmarshal func([]byte, *T) error, show func(*T) runtime.Card) func([]byte) (runtime.Card, error) {
	return func(src []byte) (runtime.Card, error) {
		x, err := Decode(src, unmarshal)
		if err != nil {
			return nil, err
		}
		return show(x), nil
	}
}
