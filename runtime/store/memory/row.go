package memory

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// row is one task. It is small, and has few pointers: the garbage collector looks at all rows again and again, and one by
// one at what has more than 512 bytes.
type row struct {
	id     string
	number int64 // tasks made later have larger ones

	mu            sync.Mutex // guards the fields up to the blank line
	task          runtime.Task
	packed        []byte // in place of task; nil: it is not packed
	st            taskstate.State
	store.Private             // Skill never changes
	gone          bool        // evicted
	log           *eventLog   // nil while nobody reads the events, and when they are no longer kept
	call          *store.Call // the one at work; nil: none is open

	// Guarded by the lock of the index; written with both locks held, so that either is enough to read.
	state   runtime.State // with at: the status as the lists have it
	at      int64         // status timestamp in Unix nanoseconds: sort key
	context string
	owner   *owned
	group   *group // of its context; nil if that is ""
	links   [3]link
	charged int    // bytes that the account holds for it: at most slack less than it takes
	resting *queue // the queue the row is in, nil while active
	rested  int64  // since when
}

// key is the task's.
func (r *row) key() store.Key { return store.Key{Owner: r.owner.owner, Task: r.id} }

// lock takes the lock of the row, or fails with ErrNotFound when the task is gone.
func (r *row) lock() error {
	r.mu.Lock()
	if r.gone {
		r.mu.Unlock()
		return store.ErrNotFound
	}
	return nil
}

// held is how many bytes the task takes.
func (r *row) held() int {
	return r.st.Content.Held() + len(r.Input) + len(r.Saved) + len(r.Trace) + r.log.bytes()
}

// yields is what the account of the task would hold less if the task, which rests, was evicted; nothing if it does not rest.
func (r *row) yields() taskstate.Holding {
	if r.resting == nil {
		return taskstate.Holding{}
	}
	return taskstate.Holding{Tasks: 1, Bytes: int64(r.charged)}
}

// snapshot returns the row as view asks. An ended task never changes again: the whole of it needs no copy.
func (r *row) snapshot(view *store.View) (store.Snapshot, error) {
	s := store.Snapshot{Version: r.st.Version, Epoch: r.st.Epoch, Pushed: r.st.Pushes > 0, Private: r.Private}
	if view == nil {
		return s, nil
	}
	s.Bytes = r.json(*view)
	task, err := r.whole()
	if err == nil {
		s.Task = view.Of(task, r.st.Version, r.st.Status.Terminal())
	}
	return s, err
}

// json is about how long a view of the task is as JSON.
func (r *row) json(v store.View) int {
	return r.st.JSON(v.History == nil || *v.History > 0, v.Artifacts)
}

// chargeEncoded charges the account for the encoded events that the readers of the task keep, or drops those when there is no
// room. Callers must hold the row's lock.
func (r *row) chargeEncoded() {
	now := r.held()
	if now-r.charged < slack {
		return
	}
	x := r.owner.store.index
	x.mu.Lock()
	defer x.mu.Unlock()
	if now > x.limits.TaskBytes || !x.grow(r, now, false) {
		for _, rec := range r.log.records { // the bytes that were encoded for readers
			rec.Forget(false)
		}
		x.recharge(r)
	}
}

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
	c := r.owner.store.coding.Load()
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
	e, err := r.owner.store.coding.Load().Read(r.packed)
	task, ok := e.(runtime.Task)
	if err == nil && !ok {
		err = fmt.Errorf("it is a %T", e)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the task %s: %w", r.id, err)
	}
	return task, nil
}
