package engine

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// live is a task that somebody in this process works on or reads: a handler, a stream, an operation. Updates made here
// pass through it one at a time; the store's epochs and versions fence those made elsewhere.
//
// Who holds mu may wait for the store, no longer than its calls may take. Readers, and what a handler asks without
// saying anything, do without it.
type live struct {
	key  store.Key
	refs int // guarded by registry.mu; 0: not in the registry

	mu      lock
	task    store.Ref // nil until it is needed
	version int64     // the last that is known of the task; 0: it does not exist yet
	ended   bool      // as far as is known
	run     *call     // the handler's call that is going on here, nil while the task waits or runs elsewhere
	queue   []*call   // calls for messages that came meanwhile

	looking    atomic.Bool // somebody finds out whether the task is still run here
	feed.Topic             // its readers
	unwatch    func()      // ends the watch of the store, where several instances share it; guarded by registry.mu
}

// registry knows the live entries by their tasks.
type registry struct {
	mu   sync.Mutex
	live map[store.Key]*live
}

// use returns the task's live entry, made if needed, and counts its user. Give it back with drop.
func (e *Engine) use(key store.Key) *live {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	l := e.live[key]
	if l == nil {
		l = &live{key: key}
		e.enter(l)
	}
	l.refs++
	return l
}

// register puts the entry of a task that was just created into the registry, for its handler.
func (e *Engine) register(l *live) {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	l.refs++
	e.enter(l)
}

// enter puts an entry into the registry. The caller holds its lock.
func (e *Engine) enter(l *live) {
	e.live[l.key] = l
	if e.shared.Load() && l.unwatch == nil {
		l.unwatch = e.store.Watch(l.key, func() {
			l.Wake()
			e.lookAfter(l)
		})
	}
}

// watchAll watches all tasks: the store is shared, as it turned out.
func (e *Engine) watchAll() {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	for _, l := range e.live {
		e.enter(l)
	}
}

// drop gives an entry back.
func (e *Engine) drop(l *live) {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	if l.refs--; l.refs > 0 {
		return
	}
	if l.unwatch != nil {
		l.unwatch()
		l.unwatch = nil
	}
	// A client may have chosen the id of a task that somebody else asked for.
	if e.live[l.key] == l {
		delete(e.live, l.key)
	}
}

// find returns the task's live entry, nil if there is none. Give it back with drop.
func (e *Engine) find(key store.Key) *live {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	l := e.live[key]
	if l != nil {
		l.refs++
	}
	return l
}

// load reads the task and takes note of its version. The caller holds l.mu.
func (l *live) load(e *Engine, view store.View) (store.Snapshot, error) {
	snap, err := e.store.Get(e.soon(), l.key, view)
	if err != nil {
		return snap, err
	}
	l.note(snap.Version)
	return snap, nil
}

// note takes note of a version of the task.
func (l *live) note(version int64) { l.version = max(l.version, version) }

// ref returns the task in the store, which has to be there. The caller holds l.mu.
func (l *live) ref(e *Engine) store.Ref {
	if l.task == nil {
		l.task = store.Find(e.store, l.key)
	}
	return l.task
}

// newStamp makes the stamp of an update.
func newStamp() uint64 { return rand.Uint64() | 1 }

// waiting is how many bytes the inputs of the calls in the queue have. Each has its own: a short message may be merged
// over a long input. The caller holds l.mu.
func (l *live) waiting() (bytes int64) {
	for _, c := range l.queue {
		bytes += int64(len(c.input.Raw))
	}
	return bytes
}
