package run

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// live is a task that somebody in this process works on or reads: a handler, a stream, an operation. Updates made here
// pass through it one at a time; the store's epochs and versions fence those made elsewhere.
//
// Who holds mu may wait for the store, no longer than its calls may take. Readers, and what a handler asks without
// saying anything, do without it.
type handle struct {
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

// load reads the task and takes note of its version. The caller holds l.mu.
func (l *handle) load(r *Runner, view store.View) (store.Snapshot, error) {
	snap, err := r.Store.Get(r.Soon(), l.key, view)
	if err != nil {
		return snap, err
	}
	l.note(snap.Version)
	return snap, nil
}

// note takes note of a version of the task.
func (l *handle) note(version int64) { l.version = max(l.version, version) }

// ref returns the task in the store, which has to be there. The caller holds l.mu.
func (l *handle) ref(r *Runner) store.Ref {
	if l.task == nil {
		l.task = store.Find(r.Store, l.key)
	}
	return l.task
}

// newStamp makes the stamp of an update.
func newStamp() uint64 { return rand.Uint64() | 1 }

// waiting is how many bytes the inputs of the calls in the queue have. Each has its own: a short message may be merged
// over a long input. The caller holds l.mu.
func (l *handle) waiting() (bytes int64) {
	for _, c := range l.queue {
		bytes += int64(len(c.input.Raw))
	}
	return bytes
}
