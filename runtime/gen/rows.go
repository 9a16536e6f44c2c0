package gen

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Row is an operation: what it is called, its routes, and the codecs of its messages.
type Row struct {
	Role   runtime.Role
	RPC    string
	GRPC   string
	Stream bool
	HTTP   []runtime.Route
	Query  []runtime.QueryField
	// Aliases are other JSON-RPC names.
	Aliases []string
	// Request and Result are nil where there is nothing to say.
	Request, Result any
	// Typed is the codec of a card whose security schemes have a type: it is written so, and read in both forms.
	Typed any
	// Null: a result of nothing is null.
	Null bool
	// Guard says what the neutral form of a request cannot express.
	Guard func(request any) error
}

// Boxed reads and writes messages that are given as any by their codecs: wire.Boxed or proto.Boxed.
type Boxed interface {
	Append(of any, b []byte, x any) (written []byte, ok bool, err error)
	AppendCase(of any, b []byte, x any) (written []byte, ok bool, err error)
	Read(of any, src []byte, x any) (ok bool, err error)
	New(of any, src []byte) (any, error)
	Empty() string
}

// Views is what all tables of a package share.
type Views struct {
	// Neutral is the neutral form of a request, the request itself where it has none.
	Neutral func(request any) any
	// Seen is what the runtime sees of a result: of a message that is nothing but a oneof, what is in it.
	Seen func(result any) (any, error)
}

// Table makes the table of a version on one wire. item is the codec of stream items. Without all it lacks what only agents that send
// push notifications need, and what is for clients.
func Table(by Boxed, views Views, item any, all bool, rows []Row) runtime.Table {
	t := table{by, views, all}
	made := runtime.Table{
		AppendEvent: func(dst []byte, e runtime.Event) ([]byte, error) {
			dst, ok, err := by.AppendCase(item, dst, runtime.Generated(e))
			if !ok {
				return dst, runtime.Unexpected(e, "a stream item")
			}
			return dst, err
		},
		ReadEvent: func(src []byte) (runtime.Event, error) {
			x, err := t.read(item, src)
			e, _ := x.(runtime.Event)
			return e, err
		},
	}
	for i := range rows {
		made.Operations = append(made.Operations, t.operation(&rows[i]))
	}
	for i := range rows { // those of other names come last, so that a client takes the name proper
		for _, rpc := range rows[i].Aliases {
			other := *made.Operations[i]
			other.RPC = rpc
			made.Operations = append(made.Operations, &other)
		}
	}
	return made
}

// table makes the functions of rows.
type table struct {
	by    Boxed
	views Views
	all   bool
}

func (t *table) operation(r *Row) *runtime.Operation {
	op := &runtime.Operation{Role: r.Role, RPC: r.RPC, GRPC: r.GRPC, HTTP: r.HTTP, Query: r.Query, Stream: r.Stream}
	if t.all || !r.Role.OfPush() {
		op.Decode, op.Append = t.decode(r), t.appendResult(r)
	}
	if t.all || r.Role.Sends() {
		op.AppendRequest = t.append(r.Request, t.by.Empty(), "the request of "+r.RPC)
	}
	if t.all {
		op.Read = t.readResult(r)
	}
	return op
}

func (t *table) decode(r *Row) func(src []byte) (any, error) {
	of, guard, role := r.Request, r.Guard, r.Role
	if of == nil {
		return readNothing
	}
	return func(src []byte) (any, error) {
		if len(src) == 0 { // parameters may be absent
			src = []byte(t.by.Empty())
		}
		x, err := t.by.New(of, src)
		if err == nil && guard != nil {
			err = guard(x)
		}
		if err != nil {
			return nil, err
		}
		if role == runtime.RoleOther { // the runtime does not know it, whatever its request is for other roles
			return x, nil
		}
		return t.views.Neutral(x), nil
	}
}

func (t *table) appendResult(r *Row) func([]byte, any) ([]byte, error) {
	of := r.Result
	switch {
	case r.Typed != nil:
		of = r.Typed
	case of == nil && r.Null:
		return t.append(of, "null", "")
	case r.Role == runtime.RoleSend, r.Stream && r.Role != runtime.RoleOther:
		return func(dst []byte, v any) ([]byte, error) {
			dst, ok, err := t.by.AppendCase(of, dst, runtime.Generated(v))
			if !ok {
				return dst, runtime.Unexpected(v, "a result of "+r.RPC)
			}
			return dst, err
		}
	}
	return t.append(of, t.by.Empty(), "a result of "+r.RPC)
}

// append makes a function that appends a message given as any, or as what the runtime sees of it. Without a codec it appends nothing.
func (t *table) append(of any, nothing, what string) func([]byte, any) ([]byte, error) {
	if of == nil {
		return func(dst []byte, _ any) ([]byte, error) { return append(dst, nothing...), nil }
	}
	return func(dst []byte, v any) ([]byte, error) {
		dst, ok, err := t.by.Append(of, dst, runtime.Generated(v))
		if !ok {
			return dst, runtime.Unexpected(v, what)
		}
		return dst, err
	}
}

func (t *table) readResult(r *Row) func([]byte) (any, error) {
	of, typed := r.Result, r.Typed
	if of == nil {
		return readNothing
	}
	return func(src []byte) (any, error) {
		if typed != nil && hasTypes(src) {
			return t.read(typed, src)
		}
		return t.read(of, src)
	}
}

// read reads a result as the runtime sees it.
func (t *table) read(of any, src []byte) (any, error) {
	x, err := t.by.New(of, src)
	if err != nil {
		return nil, err
	}
	return t.views.Seen(x)
}

// readNothing takes any document for nothing: peers answer {}, null or no result at all (T61).
func readNothing([]byte) (any, error) { return nil, nil }

// AppendAny makes a function that appends a message of one of several types, or what the runtime sees of it. what names them.
func AppendAny(by Boxed, list []any, what string) func([]byte, any) ([]byte, error) {
	return func(dst []byte, v any) ([]byte, error) {
		v = runtime.Generated(v)
		for _, of := range list {
			if dst, ok, err := by.Append(of, dst, v); ok {
				return dst, err
			}
		}
		return dst, runtime.Unexpected(v, what)
	}
}

// ReadAny makes a function that reads a message of one of several types.
func ReadAny(by Boxed, list []any, what string) func([]byte, any) error {
	return func(src []byte, v any) error {
		for _, of := range list {
			if ok, err := by.Read(of, src, v); ok {
				return err
			}
		}
		return runtime.Unexpected(v, what)
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

// Decode reads a whole document as a new *T.
func Decode[T any](src []byte, unmarshal func([]byte, *T) error) (*T, error) {
	x := new(T)
	if err := unmarshal(src, x); err != nil {
		return nil, err
	}
	return x, nil
}

// AppendCard makes a function that appends a *T that is a card.
func AppendCard[T any](appendTo func([]byte, *T) ([]byte, error)) func([]byte, runtime.Card) ([]byte, error) {
	return func(dst []byte, c runtime.Card) ([]byte, error) {
		if x, ok := runtime.Generated(c).(*T); ok {
			return appendTo(dst, x)
		}
		return dst, runtime.Unexpected(c, "a card")
	}
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
