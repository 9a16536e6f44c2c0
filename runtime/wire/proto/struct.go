package wire

import (
	"bytes"
	"slices"
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

// fewMembers is how many members the objects of most documents have, those that are open at the same time.
const fewMembers = 12

// protoMember is a member of a JSON object that waits to be written: its name, and where its value begins and ends.
type protoMember struct {
	name       []byte
	start, end int
}

// Struct writes raw JSON as a google.protobuf.Struct; an empty one if it is not set. Numbers become doubles, so that more
// than 53 bits of an integer, trailing zeros and the way the number was written are lost; one that no double is near
// is an error. Members are sorted by name, and one given twice is an error.
func (w *ProtoWriter) Struct(tag uint32, o Object) error {
	m := w.Begin(tag)
	if len(o) > 0 {
		var r Reader
		r.Reset(o)
		w.jsonObject(&r)
		if err := r.Done(); err != nil {
			return err
		}
	}
	w.End(m)
	return nil
}

// Value writes raw JSON as a google.protobuf.Value, null if it is not set, with the losses of [ProtoWriter.Struct].
func (w *ProtoWriter) Value(tag uint32, v Value) error {
	m := w.Begin(tag)
	if len(v) == 0 {
		w.varint(valueNull, 0)
		w.End(m)
		return nil
	}
	var r Reader
	r.Reset(v)
	w.jsonValue(&r)
	w.End(m)
	return r.Done()
}

// jsonValue writes the fields of a Value.
func (w *ProtoWriter) jsonValue(r *Reader) {
	switch r.Kind() {
	case KindNull:
		if r.Null() {
			w.varint(valueNull, 0)
		}
	case KindBool:
		w.Bool(valueBool, r.Bool())
	case KindNumber:
		w.Float64(valueNumber, r.Number())
	case KindString:
		w.delimited(valueString, stringOf(r.Text()))
	case KindObject:
		m := w.Begin(valueStruct)
		w.jsonObject(r)
		w.End(m)
	case KindArray:
		m := w.Begin(valueList)
		w.jsonList(r)
		w.End(m)
	default:
		r.expected("a value")
	}
}

// jsonList writes the fields of a ListValue.
func (w *ProtoWriter) jsonList(r *Reader) {
	for ok := r.Array(); ok; ok = r.Elem() {
		v := w.Begin(oneTag)
		w.jsonValue(r)
		w.End(v)
	}
}

// jsonObject writes the fields of a Struct. Names have to be sorted before the first value is written; values that wait
// are passed over by their brackets and checked when they are written.
func (w *ProtoWriter) jsonObject(r *Reader) {
	if w.members == nil {
		w.members = make([]protoMember, 0, fewMembers)
	}
	base, sorted := len(w.members), true
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if n := len(w.members); n > base && bytes.Compare(w.members[n-1].name, key) >= 0 {
			sorted = false
		}
		start := r.Offset()
		r.Deferred()
		w.members = append(w.members, protoMember{name: key, start: start, end: r.pos})
	}
	if r.err != nil {
		return
	}
	end := r.pos
	r.depth++
	if !sorted {
		slices.SortStableFunc(w.members[base:], func(a, b protoMember) int { return bytes.Compare(a.name, b.name) })
	}
	for i := base; i < len(w.members) && r.err == nil; i++ {
		member := w.members[i]
		r.pos = member.start
		if i > base && bytes.Equal(w.members[i-1].name, member.name) {
			r.fail(r.pos, "member given more than once")
			return
		}
		w.jsonMember(r, member)
	}
	w.members = w.members[:base]
	if r.err == nil {
		r.depth--
		r.pos = end
	}
}

func (w *ProtoWriter) jsonMember(r *Reader, member protoMember) {
	entry := w.Begin(oneTag)
	w.delimited(oneTag, stringOf(member.name))
	value := w.Begin(entryValue)
	w.jsonValue(r)
	w.End(value)
	w.End(entry)
	if r.err == nil && r.pos != member.end {
		r.expected("',' or '}'")
	}
}
