package memory

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Coding is how a task is written as bytes, and read again.
type Coding struct {
	Append func(dst []byte, e runtime.Event) ([]byte, error)
	Read   func(src []byte) (runtime.Event, error)
}

// Pack has the store keep small tasks that have ended as bytes: the garbage collector, which follows every pointer of
// what is kept again and again, has a quarter to follow then. The first coding stays.
func (m *Store) Pack(c Coding) { m.coding.CompareAndSwap(nil, &c) }

// What is packed: tasks of so many bytes, with so many objects and lists. Reading those takes little more memory than
// they are long, and none nests too deep to be read.
const (
	packBytes  = 8 << 10
	packValues = 64
)

// packs hold what is being packed.
var packs = sync.Pool{New: func() any { b := make([]byte, 0, packBytes); return &b }}

// pack keeps an ended task as bytes, if it is small. Callers must hold the row's lock.
func (r *row) pack() {
	c := r.store().coding.Load()
	if c == nil || r.json(store.Full) > packBytes {
		return
	}
	buf := packs.Get().(*[]byte)
	defer packs.Put(buf)
	b, err := c.Append((*buf)[:0], r.task)
	if err != nil || len(b) > packBytes || bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) > packValues {
		return
	}
	r.packed, r.task = bytes.Clone(b), nil
}

// whole returns the row's task, which is not the row's own when it was packed. Callers must hold the row's lock.
func (r *row) whole() (runtime.Task, error) {
	if r.packed == nil {
		return r.task, nil
	}
	e, err := r.store().coding.Load().Read(r.packed)
	if err != nil {
		return nil, fmt.Errorf("reading the task %s: %w", r.id, err)
	}
	task, ok := e.(runtime.Task)
	if !ok {
		return nil, fmt.Errorf("reading the task %s: it is a %T", r.id, e)
	}
	return task, nil
}
