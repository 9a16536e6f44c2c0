package wire

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Value is one JSON value as it came off the wire, checked but not interpreted, so that nothing is lost (numbers keep
// their digits, T54). A nil Value is "not set"; JSON null is the value `null`. Make one with [ValueOf] or [ParseValue];
// one converted from other bytes is checked when it is written. Its bytes are never changed in place.
type Value []byte

// Object is a JSON object as it came off the wire. A nil Object is "not set". Make one with [ObjectOf], [ParseObject]
// or, member by member, [Object.Set]. Its bytes are never changed in place, so copies may share them.
type Object []byte

// ParseValue checks that src is one JSON value and returns a copy without whitespace. The error is an [*Error].
func ParseValue(src []byte) (Value, error) {
	var r Reader
	r.Reset(src)
	v := r.Value()
	if err := r.Done(); err != nil {
		return nil, err
	}
	return v, nil
}

// ParseObject is ParseValue for an object.
func ParseObject(src []byte) (Object, error) {
	var r Reader
	r.Reset(src)
	o := r.Struct()
	if err := r.Done(); err != nil {
		return nil, err
	}
	return o, nil
}

// ValueOf encodes a Go value as encoding/json does, without HTML escapes. Raw JSON is checked and copied.
func ValueOf(v any) (Value, error) {
	switch v := v.(type) {
	case Value:
		return ParseValue(v)
	case Object:
		return ParseValue(v)
	case json.RawMessage:
		return ParseValue(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return ParseValue(b.Bytes())
}

// ObjectOf is ValueOf for a Go value that encodes as an object. A nil map or pointer gives a nil Object.
func ObjectOf(v any) (Object, error) {
	value, err := ValueOf(v)
	if err != nil || value.Kind() == KindNull {
		return nil, err
	}
	if value.Kind() != KindObject {
		return nil, &Error{Reason: "expected an object"}
	}
	return Object(value), nil
}

// Kind returns the JSON type of v; KindNone if v is not set.
func (v Value) Kind() Kind {
	var r Reader
	r.Reset(v)
	return r.Kind()
}

// Decode decodes v into the Go value that dst points to, as encoding/json does; numbers decoded into an any become
// [json.Number], so that they keep their digits.
func (v Value) Decode(dst any) error {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	return d.Decode(dst)
}

// MarshalJSON returns v, checked and without whitespace; null if v is not set.
func (v Value) MarshalJSON() ([]byte, error) { return AppendValue(nil, v) }

// UnmarshalJSON keeps a copy of src, null included.
func (v *Value) UnmarshalJSON(src []byte) (err error) {
	*v, err = ParseValue(src)
	return err
}

// Decode is [Value.Decode] for an object.
func (o Object) Decode(dst any) error { return Value(o).Decode(dst) }

// Get returns the value of a member, which shares o's bytes. It is false if there is no such member or o is not valid.
func (o Object) Get(name string) (Value, bool) {
	for key, v := range o.All() {
		if key == name {
			return v, true
		}
	}
	return nil, false
}

// All returns the members in the order they are written. Values share o's bytes. It ends at the first invalid byte.
func (o Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if len(o) == 0 {
			return
		}
		var r Reader
		r.Reset(o)
		for key, ok := r.Object(); ok; key, ok = r.Next() {
			name := string(key)
			v := Value(r.Raw())
			if r.err != nil || !yield(name, v) {
				return
			}
		}
	}
}

// Set gives o a new value of bytes in which the member name is v, encoded as by [ValueOf]: in its old place if it was
// there, else last. Copies of the old o keep their members.
func (o *Object) Set(name string, v any) error {
	value, err := ValueOf(v)
	if err != nil {
		return err
	}
	if len(*o) > 0 {
		if _, err := ParseObject(*o); err != nil {
			return err
		}
	}
	b, found := make(Object, 0, len(*o)+len(name)+len(value)+8), false
	for key, old := range o.All() {
		b = AppendKey(b, key)
		if key == name {
			old, found = value, true
		}
		b = append(b, old...)
	}
	if !found {
		b = append(AppendKey(b, name), value...)
	}
	*o = EndObject(b, 0)
	return nil
}

// Delete gives o new bytes without the member name. An object left without members becomes nil.
func (o *Object) Delete(name string) {
	b := make(Object, 0, len(*o))
	for key, v := range o.All() {
		if key != name {
			b = append(AppendKey(b, key), v...)
		}
	}
	if len(b) == 0 {
		*o = nil
		return
	}
	*o = EndObject(b, 0)
}

// MarshalJSON returns o, checked and without whitespace; null if o is not set.
func (o Object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	return AppendStruct(nil, o)
}

// UnmarshalJSON keeps a copy of src; null gives nil.
func (o *Object) UnmarshalJSON(src []byte) (err error) {
	if string(bytes.TrimSpace(src)) == "null" {
		*o = nil
		return nil
	}
	*o, err = ParseObject(src)
	return err
}
