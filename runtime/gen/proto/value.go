package proto

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime/wire"
)

// maxMerged is how many bytes of raw JSON one document may have read again to merge fields given several times, which
// no writer of protobuf does.
const maxMerged = 1 << 20

// Struct reads a google.protobuf.Struct as raw JSON. old is what an earlier field of the same number gave: protobuf
// merges them. Of entries with the same key the last one counts, so that names are unique; a number that JSON does not have
// is a failure.
func (r *Reader) Struct(old wire.Object) wire.Object {
	return wire.Object(r.json(old, (*Writer).jsonObject, (*Reader).structOf))
}

// Value reads a google.protobuf.Value as raw JSON, as Struct does. A Value without content is null.
func (r *Reader) Value(old wire.Value) wire.Value {
	return wire.Value(r.json(old, (*Writer).jsonValue, (*Reader).valueOf))
}

// json reads a message as JSON, after what old holds.
func (r *Reader) json(old []byte, write func(*Writer, *wire.Reader), read func(*Reader, []byte, []byte) []byte) []byte {
	start := r.pos
	src := r.delimited()
	if len(old) > 0 && r.err == nil {
		src = r.merge(old, src, write)
	}
	if r.err != nil {
		return nil
	}
	if r.scratch == nil {
		r.scratch = make([]byte, 0, 2*firstSlab)
		r.entries = make([]structEntry, 0, fewMembers)
	}
	r.used = true
	b := read(r, r.scratch[:0], src)
	if r.err != nil {
		r.err.Offset = start
		return nil
	}
	r.scratch = b
	return r.keep(b)
}

// merge returns old as protobuf, followed by src: reading one after the other merges them.
func (r *Reader) merge(old, src []byte, write func(*Writer, *wire.Reader)) []byte {
	if r.merged += len(old); r.merged > maxMerged {
		r.fail("given too many times")
		return nil
	}
	var w Writer
	var j wire.Reader
	j.Reset(old)
	write(&w, &j)
	b, err := w.Done()
	if err != nil || j.Err() != nil {
		r.fail("cannot be merged")
		return nil
	}
	return append(b, src...)
}

// frame is the state of the reader around a message that is read on its own, to be restored after it.
type frame struct {
	src      []byte
	pos, end int
	group    uint32
}

// open makes src the message being read.
func (r *Reader) open(src []byte) frame {
	p := frame{r.src, r.pos, r.end, r.group}
	r.src, r.pos, r.end, r.group = src, 0, len(src), 0
	return p
}

func (r *Reader) close(p frame) {
	r.src, r.pos, r.end, r.group = p.src, p.pos, p.end, p.group
	if r.err != nil {
		r.end = 0
	}
}

// valueOf appends the JSON of src, the content of a Value.
func (r *Reader) valueOf(b, src []byte) []byte {
	frame, start := r.open(src), len(b)
	var last uint32 // the tag that holds the value so far
	var raw []byte  // of a list or object
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		if tag != last && isValueMember(tag) { // it replaces the last one, which has to be well-formed all the same
			b, raw = r.collected(b, start, last, raw), nil
		}
		switch tag {
		case valueNull:
			r.varint()
			b = append(b[:start], "null"...)
		case valueBool:
			b = wire.AppendBool(b[:start], r.Bool())
		case valueNumber:
			b = r.numberOf(b[:start])
		case valueString:
			b = r.textOf(b[:start])
		case valueStruct, valueList:
			more := r.delimited()
			if len(raw) > 0 {
				more = append(raw, more...) // copies the first time, as more has no room
			}
			raw = more
		default:
			r.Skip(tag)
			continue
		}
		last = tag
	}
	switch {
	case r.err != nil:
	case last == 0:
		b = append(b, "null"...)
	default:
		b = r.collected(b, start, last, raw)
	}
	r.close(frame)
	return b
}

func isValueMember(tag uint32) bool {
	switch tag {
	case valueNull, valueBool, valueNumber, valueString, valueStruct, valueList:
		return true
	}
	return false
}

// collected puts the JSON of raw, the content of the list or object in member tag, behind start; other members are there already.
func (r *Reader) collected(b []byte, start int, tag uint32, raw []byte) []byte {
	switch tag {
	case valueStruct:
		return r.structOf(b[:start], raw)
	case valueList:
		return r.listOf(b[:start], raw)
	}
	return b
}

func (r *Reader) numberOf(b []byte) []byte {
	x := r.Float64()
	if math.IsNaN(x) || math.IsInf(x, 0) {
		r.fail("not a number that JSON can express")
		return b
	}
	return wire.AppendFloat64(b, x)
}

func (r *Reader) textOf(b []byte) []byte {
	raw := r.delimited()
	if !utf8.Valid(raw) {
		r.fail("invalid UTF-8")
		return b
	}
	return wire.AppendString(b, stringOf(raw))
}

// listOf appends the JSON of src, the content of a ListValue.
func (r *Reader) listOf(b, src []byte) []byte {
	if !r.nest() {
		return b
	}
	frame, start := r.open(src), len(b)
	for i, tag := 0, r.Tag(); tag != 0; tag = r.Tag() {
		if tag != oneTag {
			r.Skip(tag)
			continue
		}
		raw := r.delimited()
		b = r.valueOf(append(b, ','), raw)
		r.elem(i)
		i++
	}
	r.close(frame)
	r.depth--
	return wire.EndArray(b, start)
}

// nest goes one level down.
func (r *Reader) nest() bool {
	if r.depth++; r.depth >= wire.MaxDepth {
		r.fail("nested too deeply")
	}
	return r.err == nil
}

// structEntry is an entry of a Struct: its key and the content of its value.
type structEntry struct{ key, value []byte }

// structOf appends the JSON of src, the content of a Struct. All entries are collected before the first is read,
// because a later one may have the same key.
func (r *Reader) structOf(b, src []byte) []byte {
	if !r.nest() {
		return b
	}
	frame, start, base := r.open(src), len(b), len(r.entries)
	var index map[string]int
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		if tag != oneTag {
			r.Skip(tag)
			continue
		}
		e := r.entry()
		if index == nil && len(r.entries)-base >= manyEntries {
			index = indexEntries(r.entries[base:])
		}
		if i := findEntry(r.entries[base:], index, e.key); i >= 0 {
			b = r.valueOf(b, r.entries[base+i].value)[:len(b)] // replaced, and has to be well-formed all the same
			r.entries[base+i] = e
			continue
		}
		if index != nil {
			index[string(e.key)] = len(r.entries) - base
		}
		r.entries = append(r.entries, e)
	}
	for i := base; i < len(r.entries) && r.err == nil; i++ {
		e := r.entries[i]
		b = r.valueOf(append(wire.AppendString(append(b, ','), stringOf(e.key)), ':'), e.value)
		if r.err != nil {
			r.In(string(e.key))
		}
	}
	r.entries = r.entries[:base]
	r.close(frame)
	r.depth--
	return wire.EndObject(b, start)
}

// manyEntries is the number of entries from which their keys are indexed.
const manyEntries = 24

func indexEntries(entries []structEntry) map[string]int {
	index := make(map[string]int, 4*len(entries))
	for i, e := range entries {
		index[string(e.key)] = i
	}
	return index
}

// findEntry returns the index of the entry called key, or -1.
func findEntry(entries []structEntry, index map[string]int, key []byte) int {
	if index != nil {
		if i, ok := index[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range entries {
		if bytes.Equal(entries[i].key, key) {
			return i
		}
	}
	return -1
}

// entry reads an entry of a Struct. Keys and values given several times in one entry are merged.
func (r *Reader) entry() (e structEntry) {
	frame := r.open(r.delimited())
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case oneTag:
			if e.key = r.delimited(); !utf8.Valid(e.key) {
				r.fail("invalid UTF-8")
			}
		case entryValue:
			if more := r.delimited(); len(e.value) > 0 {
				e.value = append(e.value, more...)
			} else {
				e.value = more
			}
		default:
			r.Skip(tag)
		}
	}
	r.close(frame)
	return e
}
