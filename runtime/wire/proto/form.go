package proto

import (
	"encoding/binary"
	"math"
)

// The forms of integers that definitions may ask for, and values that are wrapped in a message of their own.

// Sint32 writes an int32 in zigzag form, which is short for small negative numbers.
func (w *Writer) Sint32(tag uint32, x int32) { w.varint(tag, uint64(uint32(x)<<1^uint32(x>>31))) }

// Sint64 writes an int64 in zigzag form.
func (w *Writer) Sint64(tag uint32, x int64) { w.varint(tag, uint64(x)<<1^uint64(x>>63)) }

// Fixed32 writes a uint32 in four bytes.
func (w *Writer) Fixed32(tag uint32, x uint32) {
	w.tag(tag)
	w.b = binary.LittleEndian.AppendUint32(w.b, x)
}

// Fixed64 writes a uint64 in eight bytes.
func (w *Writer) Fixed64(tag uint32, x uint64) {
	w.tag(tag)
	w.b = binary.LittleEndian.AppendUint64(w.b, x)
}

// Sfixed32 writes an int32 in four bytes.
func (w *Writer) Sfixed32(tag uint32, x int32) { w.Fixed32(tag, uint32(x)) }

// Sfixed64 writes an int64 in eight bytes.
func (w *Writer) Sfixed64(tag uint32, x int64) { w.Fixed64(tag, uint64(x)) }

// RawString writes a string whose bytes need not be UTF-8.
func (w *Writer) RawString(tag uint32, s string) { w.delimited(tag, s) }

// Sint32 reads an int32 in zigzag form.
func (r *Reader) Sint32() int32 {
	x := uint32(r.varint())
	return int32(x>>1) ^ -int32(x&1)
}

// Sint64 reads an int64 in zigzag form.
func (r *Reader) Sint64() int64 {
	x := r.varint()
	return int64(x>>1) ^ -int64(x&1)
}

// Fixed32 reads a uint32 of four bytes.
func (r *Reader) Fixed32() uint32 { return math.Float32bits(r.Float32()) }

// Fixed64 reads a uint64 of eight bytes.
func (r *Reader) Fixed64() uint64 { return math.Float64bits(r.Float64()) }

// Sfixed32 reads an int32 of four bytes.
func (r *Reader) Sfixed32() int32 { return int32(r.Fixed32()) }

// Sfixed64 reads an int64 of eight bytes.
func (r *Reader) Sfixed64() int64 { return int64(r.Fixed64()) }

// RawString reads a string whose bytes need not be UTF-8.
func (r *Reader) RawString() string { return stringOf(r.keep(r.delimited())) }

// WriteWrapped writes a message whose only field is x, which is written if it is not zero.
func WriteWrapped[T any](w *Writer, tag, field uint32, notZero bool, x T, write func(*Writer, uint32, T)) {
	m := w.Begin(tag)
	if notZero {
		write(w, field, x)
	}
	w.End(m)
}

// ReadWrapped reads a message whose only field has the given tag. old is what an earlier piece of it gave.
func ReadWrapped[T any](r *Reader, field uint32, old T, read func(*Reader) T) T {
	m := r.Enter(0)
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		if tag == field {
			old = read(r)
		} else {
			r.Skip(tag)
		}
	}
	r.Leave(m)
	return old
}
