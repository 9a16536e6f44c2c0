package check

import (
	"github.com/a2agen/a2agen/runtime/wire"
)

// List reads an array. The result is not nil when there is one, even an empty one.
func List[T any](r *Reader, read func(*Reader) T) []T {
	if !r.want(wire.KindArray) {
		return nil
	}
	list := []T{}
	for ok := r.in.Array(); ok; ok = r.in.Elem() {
		r.Index(len(list))
		list = append(list, read(r))
		r.Leave()
	}
	return list
}

// Map reads an object whose members all have one type.
func Map[T any](r *Reader, read func(*Reader) T) map[string]T {
	if !r.want(wire.KindObject) {
		return nil
	}
	m := map[string]T{}
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		Extra(r, &m, key, read)
	}
	return m
}

// Extra reads a member into the map of additional properties.
func Extra[T any](r *Reader, m *map[string]T, key []byte, read func(*Reader) T) {
	if *m == nil {
		*m = map[string]T{}
	}
	name, at, n := r.in.Keep(key), r.in.Offset(), len(*m)
	v := read(r)
	if (*m)[name] = v; len(*m) == n { // one look-up, which is what takes time in a large one
		r.in.FailAt(at, "member given more than once")
	}
}

// Ptr reads a value into memory of its own.
func Ptr[T any](r *Reader, read func(*Reader) T) *T {
	v := read(r)
	return &v
}

// PtrOrNull reads a value into memory of its own; null gives nil.
func PtrOrNull[T any](r *Reader, read func(*Reader) T) *T {
	if r.in.Null() {
		return nil
	}
	return Ptr(r, read)
}

// OrNull reads a value; null gives the zero value, a nil.
func OrNull[T any](r *Reader, read func(*Reader) T) (zero T) {
	if r.in.Null() {
		return zero
	}
	return read(r)
}

// Default reads the default of an absent property, which was found valid when the code was generated.
func Default[T any](src string, read func(*Reader) T) T {
	var r Reader
	r.in.Reset([]byte(src))
	return read(&r)
}

// Const reads a value that must be the scalar whose JSON text is given.
func (r *Reader) Const(text string) {
	v := r.in.Value()
	if r.in.Err() == nil && !equalScalar(v, wire.Value(text)) {
		r.unreadf("must be %s", text)
	}
}

// equalScalar reports whether two JSON values are the same string, number, boolean or null.
func equalScalar(a, b wire.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	return string(canonical(nil, a)) == string(canonical(nil, b))
}

// Key returns the canonical JSON text of the member name of the object that follows, without reading the object:
// `"circle"`, or "" if there is no such member or it is no scalar.
func (r *Reader) Key(name string) string {
	m := r.in.Mark()
	defer r.in.Rewind(m)
	for key, ok := r.in.Object(); ok; key, ok = r.in.Next() {
		if string(key) != name {
			r.in.Skip()
			continue
		}
		if k := r.in.Kind(); k == wire.KindObject || k == wire.KindArray {
			return ""
		}
		v := r.in.Value()
		if r.in.Err() != nil {
			return ""
		}
		return string(canonical(nil, v))
	}
	return ""
}

// JSON types as a schema names them, for choosing the case of a union.
const (
	TypeNull    = "null"
	TypeBoolean = "boolean"
	TypeNumber  = "number"
	TypeString  = "string"
	TypeObject  = "object"
	TypeArray   = "array"
)

// Type returns the JSON type of the next value; "" for malformed JSON.
func (r *Reader) Type() string {
	switch r.in.Kind() {
	case wire.KindNull:
		return TypeNull
	case wire.KindBool:
		return TypeBoolean
	case wire.KindNumber:
		return TypeNumber
	case wire.KindString:
		return TypeString
	case wire.KindObject:
		return TypeObject
	case wire.KindArray:
		return TypeArray
	}
	return ""
}

// NoCase records that the next value is none of the alternatives, and skips it. want lists them for the reader of the message.
func (r *Reader) NoCase(want string) {
	if got := r.in.Kind(); got != wire.KindNone {
		r.unreadf("must be %s, not %s", want, kindNames[got])
	}
	r.in.Skip()
}

// NoKey records that the discriminating member name of the object that follows is none of the alternatives, and skips the object.
func (r *Reader) NoKey(name, want string) {
	r.Enter(name)
	r.Failf("must be %s", want)
	r.Leave()
	if len(r.unread) < MaxViolations {
		r.unread = append(r.unread, r.pointer())
	}
	r.in.Skip()
}
