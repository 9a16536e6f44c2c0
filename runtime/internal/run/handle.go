package run

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// handle is a task that somebody in this process works on or reads: a handler, a stream, an operation. Updates made
// here pass through it one at a time; the store's epochs and versions fence those made elsewhere.
//
// mu may be held during calls of the store, which are bounded. Readers, and what a handler asks without saying
// anything, do without it.
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

// load reads the task and notes its version. Callers must hold h.mu.
func (h *handle) load(r *Runner, view store.View) (store.Snapshot, error) {
	snap, err := r.Store.Get(r.Soon(), h.key, view)
	if err != nil {
		return snap, err
	}
	h.note(snap.Version)
	return snap, nil
}

// note notes a version of the task.
func (h *handle) note(version int64) { h.version = max(h.version, version) }

// ref returns the task in the store, which has to be there. Callers must hold h.mu.
func (h *handle) ref(r *Runner) store.Ref {
	if h.task == nil {
		h.task = store.Find(r.Store, h.key)
	}
	return h.task
}

// newStamp makes the stamp of an update.
func newStamp() uint64 { return rand.Uint64() | 1 }

// waiting is how many bytes the inputs of the calls in the queue have. Each has its own: a short message may be merged
// over a long input. Callers must hold h.mu.
func (h *handle) waiting() (bytes int64) {
	for _, c := range h.queue {
		bytes += int64(len(c.input.Raw))
	}
	return bytes
}
