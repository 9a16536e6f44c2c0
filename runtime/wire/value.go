package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
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

// MaxNesting is how deep data may be for readers of protobuf, counted as [Portable] does. Those of C++, Java and Python
// read 100 messages in one another; around the data of a part there are up to eight: a page, its task, the status, the
// message, the part, and what 0.3 puts around data that is no object.
const MaxNesting = 100 - 8

// How many messages of protobuf an object and a list are in one another: an object is a Struct, an entry of its map and
// a Value, a list is a ListValue and a Value.
var nestingOf = [256]int{'{': 3, '}': 3, '[': 2, ']': 2}

// longestPlain is up to which length a number without an exponent is one that a double holds, in bytes: the largest
// double has 309 digits.
const longestPlain = 308

// Portable reports what in raw, which is valid JSON, is lost on other readers although it is JSON: a number that no
// double is near, which neither protobuf nor most JSON readers have, and, unless nesting is 0, data that are nested more
// deeply, where an object counts three and a list two. The error is an [*Error]. Nothing else about raw is checked.
func Portable(raw []byte, nesting int) error {
	depth := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '"':
			if i = quoted(raw, i+1); i < 0 {
				return nil
			}
			continue
		case '{', '[':
			if depth += nestingOf[c]; nesting > 0 && depth > nesting {
				return &Error{Pointer: pointerAt(raw, i), Reason: "nested too deeply for readers of protobuf", Offset: i}
			}
		case '}', ']':
			depth -= nestingOf[c]
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := numberEnd(raw, i)
			if end < 0 {
				return nil
			}
			if !isDouble(raw[i:end]) {
				return &Error{Pointer: pointerAt(raw, i), Reason: "number out of range: no double holds it", Offset: i}
			}
			i = end
			continue
		}
		i++
	}
	return nil
}

// isDouble reports whether a double is near the number.
func isDouble(number []byte) bool {
	if len(number) <= longestPlain && bytes.IndexByte(number, 'e') < 0 && bytes.IndexByte(number, 'E') < 0 {
		return true
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil
}

// Valid reports what is wrong with raw as JSON, as the strict [Reader] reads it; the error is an [*Error].
func Valid(raw []byte) error {
	var r Reader
	r.Reset(raw)
	r.Skip()
	return r.Done()
}
