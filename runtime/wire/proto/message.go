package proto

import (
	"sync"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Readers and writers of protobuf are shared between documents for the same reason as those of JSON: the functions that
// read or write a message are given as values.
var (
	readers = sync.Pool{New: func() any { return new(Reader) }}
	writers = sync.Pool{New: func() any { return new(Writer) }}
)

// Append appends x as a protobuf document, whose content write writes.
func Append[T any](b []byte, x *T, write func(*Writer, *T) error) ([]byte, error) {
	w := writers.Get().(*Writer)
	w.Reset(b)
	err := write(w, x)
	if err == nil {
		b, err = w.Done()
	}
	w.Reset(nil)
	writers.Put(w)
	return b, err
}

// Decode reads the protobuf document src into x, which has to be empty. Something required that one piece of a
// message lacks may be in a later one, so what lacked it is looked at again in the end: whatever can be written is
// complete.
func Decode[T any](src []byte, x *T, read func(*Reader, *T), write func(*Writer, *T) error) error {
	r := readers.Get().(*Reader)
	r.Reset(src)
	read(r, x)
	complete, err := r.Complete(), r.Done()
	r.Reset(nil)
	readers.Put(r)
	if !complete {
		_, err = Append(nil, x, write)
	}
	return err
}

// WriteInner writes a message inside another one.
func WriteInner[T any](w *Writer, tag uint32, x *T, write func(*Writer, *T) error) error {
	m := w.Begin(tag)
	if err := write(w, x); err != nil {
		return err
	}
	w.End(m)
	return nil
}

// ReadInner reads a message inside another one into x, which may hold an earlier piece of it.
func ReadInner[T any](r *Reader, x *T, read func(*Reader, *T)) {
	m := r.Enter(1)
	read(r, x)
	r.Leave(m)
}

// ReadGroup is ReadInner for a message that is a group, which the tag began.
func ReadGroup[T any](r *Reader, tag uint32, x *T, read func(*Reader, *T)) {
	m := r.EnterGroup(tag, 1)
	read(r, x)
	r.Leave(m)
}

// ReadElem reads an element of a list of messages, which come from growing blocks.
func ReadElem[T any](r *Reader, list []*T, block *[]T, read func(*Reader, *T)) []*T {
	x := next(len(list), block)
	m := r.Enter(2)
	read(r, x)
	r.Leave(m)
	r.Elem(len(list))
	return append(list, x)
}

// ReadGroupElem is ReadElem for messages that are groups.
func ReadGroupElem[T any](r *Reader, tag uint32, list []*T, block *[]T, read func(*Reader, *T)) []*T {
	x := next(len(list), block)
	m := r.EnterGroup(tag, 2)
	read(r, x)
	r.Leave(m)
	r.Elem(len(list))
	return append(list, x)
}

// next takes the next message of a list of n from a block.
func next[T any](n int, block *[]T) *T {
	if len(*block) == 0 {
		*block = make([]T, wire.BlockSize(n))
	}
	x := &(*block)[0]
	*block = (*block)[1:]
	return x
}
