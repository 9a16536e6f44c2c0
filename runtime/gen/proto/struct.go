package proto

import (
	"bytes"
	"slices"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Tags of the fields of google.protobuf.Value, Struct and ListValue, and of a map's entry.
const (
	valueNull   = 1 << 3
	valueNumber = 2<<3 | 1
	valueString = 3<<3 | 2
	valueBool   = 4 << 3
	valueStruct = 5<<3 | 2
	valueList   = 6<<3 | 2
	oneTag      = 1<<3 | 2 // Struct.fields, ListValue.values, an entry's key
	entryValue  = 2<<3 | 2
)

// fewMembers is how many members the objects of most documents have, those that are open at the same time. Memory for more
// than manyMembers is not kept for the next document.
const (
	fewMembers  = 12
	manyMembers = 100
)

// member is a member of a JSON object that waits to be written: its name, and where its value begins and ends.
type member struct {
	name  []byte
	value wire.Mark // where its value begins
	end   int       // and the offset of what follows it
}

// Struct writes raw JSON as a google.protobuf.Struct; an empty one if it is not set. Numbers become doubles, so that more
// than 53 bits of an integer, trailing zeros and the way the number was written are lost; one that no double is near
// is an error. Members are sorted by name, and one given twice is an error.
func (w *Writer) Struct(tag uint32, o wire.Object) error {
	m := w.Begin(tag)
	if len(o) > 0 {
		var r wire.Reader
		r.Reset(o)
		w.jsonObject(&r)
		if err := r.Done(); err != nil {
			return err
		}
	}
	w.End(m)
	return nil
}

// Value writes raw JSON as a google.protobuf.Value, null if it is not set, with the losses of [Writer.Struct].
func (w *Writer) Value(tag uint32, v wire.Value) error {
	m := w.Begin(tag)
	if len(v) == 0 {
		w.varint(valueNull, 0)
		w.End(m)
		return nil
	}
	var r wire.Reader
	r.Reset(v)
	w.jsonValue(&r)
	w.End(m)
	return r.Done()
}

// jsonValue writes the fields of a Value.
func (w *Writer) jsonValue(r *wire.Reader) {
	switch r.Kind() {
	case wire.KindNull:
		if r.Null() {
			w.varint(valueNull, 0)
		}
	case wire.KindBool:
		w.Bool(valueBool, r.Bool())
	case wire.KindNumber:
		w.Float64(valueNumber, r.Number())
	case wire.KindString:
		w.delimited(valueString, stringOf(r.Text()))
	case wire.KindObject:
		m := w.Begin(valueStruct)
		w.jsonObject(r)
		w.End(m)
	case wire.KindArray:
		m := w.Begin(valueList)
		w.jsonList(r)
		w.End(m)
	default:
		r.Skip() // fails
	}
}

// jsonList writes the fields of a ListValue.
func (w *Writer) jsonList(r *wire.Reader) {
	for ok := r.Array(); ok; ok = r.Elem() {
		v := w.Begin(oneTag)
		w.jsonValue(r)
		w.End(v)
	}
}

// jsonObject writes the fields of a Struct. Names have to be sorted before the first value is written; values that wait
// are passed over by their brackets and checked when they are written.
func (w *Writer) jsonObject(r *wire.Reader) {
	if w.members == nil {
		w.members = make([]member, 0, fewMembers)
	}
	w.used = true
	base, sorted := len(w.members), true
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if n := len(w.members); n > base && bytes.Compare(w.members[n-1].name, key) >= 0 {
			sorted = false
		}
		value := r.Mark()
		r.Deferred()
		w.members = append(w.members, member{name: key, value: value, end: r.Offset()})
	}
	if r.Err() != nil {
		return
	}
	end := r.Mark()
	if !sorted {
		slices.SortStableFunc(w.members[base:], func(a, b member) int { return bytes.Compare(a.name, b.name) })
	}
	for i := base; i < len(w.members); i++ {
		m := w.members[i]
		r.Rewind(m.value)
		if i > base && bytes.Equal(w.members[i-1].name, m.name) {
			r.Fail("member given more than once")
			return
		}
		if w.jsonMember(r, m); r.Err() != nil {
			return
		}
	}
	w.members = w.members[:base]
	r.Rewind(end)
}

func (w *Writer) jsonMember(r *wire.Reader, m member) {
	entry := w.Begin(oneTag)
	w.delimited(oneTag, stringOf(m.name))
	value := w.Begin(entryValue)
	w.jsonValue(r)
	w.End(value)
	w.End(entry)
	if r.Err() == nil && r.Offset() != m.end {
		r.Fail("expected ',' or '}'")
	}
}
