package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// live is a task that somebody in this process works on or reads: a handler, a stream, an operation. Updates made here
// pass through it one at a time; the store's versions catch those made elsewhere.
type live struct {
	key  store.Key
	refs int // guarded by registry.mu; 0: not in the registry

	mu       sync.Mutex
	task     store.Ref // nil until it is needed
	version  int64     // of the task; 0: it does not exist yet
	run      *Call     // the handler's call that is going on, nil while the task waits
	queue    []*Call   // calls for messages that came meanwhile
	readers  []*reader // streams and waiting sends
	openings openings
	// attached is the number of readers.
	attached atomic.Int32
	read     bool          // there was a reader: its client may come back for the events after the last it saw
	doubt    runtime.Event // an update of which it is not known whether the store made it
	landed   runtime.Event // one that turned out to be made
}

// reader is woken when its task has changed. The signal is one for any number of changes.
type reader struct {
	wake chan struct{}
}

func newReader() *reader { return &reader{wake: make(chan struct{}, 1)} }

func (r *reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// registry knows the live entries by their tasks.
type registry struct {
	mu   sync.Mutex
	live map[store.Key]*live
}

// use returns the task's live entry, made if needed, and counts its user. Give it back with drop.
func (r *registry) use(key store.Key) *live {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.live[key]
	if l == nil {
		l = &live{key: key}
		r.live[key] = l
	}
	l.refs++
	return l
}

// register puts the entry of a task that was just created into the registry, for its handler.
func (r *registry) register(l *live) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.refs++
	r.live[l.key] = l
}

// drop gives an entry back.
func (r *registry) drop(l *live) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A client may have chosen the id of a task that somebody else asked for.
	if l.refs--; l.refs == 0 && r.live[l.key] == l {
		delete(r.live, l.key)
	}
}

// attach adds a reader.
func (l *live) attach(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers = append(l.readers, r)
	l.attached.Add(1)
	l.read = true
}

// detach removes a reader.
func (l *live) detach(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range l.readers {
		if x == r {
			l.readers = append(l.readers[:i], l.readers[i+1:]...)
			l.attached.Add(-1)
			return
		}
	}
}

// load reads the task and takes note of its version. The caller holds l.mu.
func (l *live) load(e *Engine, view store.View) (store.Snapshot, error) {
	snap, err := e.store.Get(context.Background(), l.key, view)
	if err != nil {
		return snap, err
	}
	if l.doubt != nil {
		l.landed = nil
		if snap.Version > l.version {
			l.landed = l.doubt
			l.wake()
		}
		l.doubt = nil
	}
	l.version = snap.Version
	return snap, nil
}

// ref returns the task in the store, which has to be there. The caller holds l.mu.
func (l *live) ref(e *Engine) store.Ref {
	if l.task == nil {
		l.task = store.Find(e.store, l.key)
	}
	return l.task
}

// commit applies an update to the task and wakes its readers. The caller holds l.mu. A client that went away does not
// undo anything, which is why no request's context is involved. An update that failed in the store can be committed
// again: if it was made all the same, it is not made twice.
func (l *live) commit(e *Engine, u store.Update, view *store.View) (store.Snapshot, error) {
	if l.doubt != nil {
		if view == nil {
			view = &store.View{History: new(int)}
		}
		if snap, err := l.load(e, *view); err != nil || l.landed == u.Event {
			return snap, err
		}
	}
	u.Unread = !l.read
	snap, err := l.ref(e).Apply(context.Background(), l.version, u, view)
	if err != nil {
		if store.Unsure(err) {
			l.doubt = u.Event
		}
		return snap, err
	}
	l.version = snap.Version
	l.wake()
	if snap.Pushed {
		e.courier.wake()
	}
	return snap, nil
}

// wake tells the readers that the task has changed.
func (l *live) wake() {
	for _, r := range l.readers {
		r.signal()
	}
}

// waiting is how many bytes the inputs of the calls in the queue have. Each has its own: a short message may be merged
// over a long input. The caller holds l.mu.
func (l *live) waiting() (bytes int64) {
	for _, c := range l.queue {
		bytes += int64(len(c.input.raw))
	}
	return bytes
}

// state returns the task's state, without copying the task.
func (l *live) state(e *Engine) (runtime.State, error) {
	snap, err := e.store.Get(context.Background(), l.key, store.View{History: new(int)})
	if err != nil {
		return runtime.StateUnspecified, err
	}
	return snap.Task.TaskInfo().State, nil
}
