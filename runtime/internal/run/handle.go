package run

import (
	"math/rand/v2"
	"sync"
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

// registry has the handles of the tasks that somebody in this process works on or reads.
type registry struct {
	store   store.Store
	shared  atomic.Bool   // other instances may work on the store's tasks, too
	looks   atomic.Bool   // readers must look now and then what those have changed
	changed func(*handle) // is called after a task may have been changed elsewhere

	mu      sync.Mutex
	handles map[store.Key]*handle
}

// use returns the task's handle, made if needed, and counts its user. Give it back with drop.
func (g *registry) use(key store.Key) *handle {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.handles[key]
	if h == nil {
		h = &handle{key: key}
		g.enter(h)
	}
	h.refs++
	return h
}

// register puts the handle of a task that was just created into the registry, for its handler.
func (g *registry) register(h *handle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.refs++
	g.enter(h)
}

// enter puts a handle into the registry. Callers must hold g.mu.
func (g *registry) enter(h *handle) {
	g.handles[h.key] = h
	if g.shared.Load() && h.unwatch == nil {
		h.unwatch = g.store.Watch(h.key, func() {
			h.Wake()
			g.changed(h)
		})
	}
}

// watchAll watches all tasks: the store is shared, as it turned out.
func (g *registry) watchAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.handles {
		g.enter(h)
	}
}

// drop gives a handle back. One that was never registered stays out.
func (g *registry) drop(h *handle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.refs--; h.refs != 0 {
		return
	}
	if h.unwatch != nil {
		h.unwatch()
		h.unwatch = nil
	}
	// A client may have chosen the id of a task that somebody else asked for.
	if g.handles[h.key] == h {
		delete(g.handles, h.key)
	}
}

// find returns the task's handle, nil if there is none. Give it back with drop.
func (g *registry) find(key store.Key) *handle {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.handles[key]
	if h != nil {
		h.refs++
	}
	return h
}

// len returns how many handles there are.
func (g *registry) len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.handles)
}

// lock is a mutex under which the store may be waited for. Waiting for it is on a channel: in the order of
// arrival, and so that a test with a clock of its own sees the waiting.
type lock struct {
	state   atomic.Int32
	mu      sync.Mutex // held for moments only
	waiting []chan struct{}
}

// The states: free, held, and held with others waiting, perhaps.
const (
	lockFree int32 = iota
	lockHeld
	lockWanted
)

func (l *lock) Lock() {
	if l.state.CompareAndSwap(lockFree, lockHeld) {
		return
	}
	l.mu.Lock()
	if l.state.Swap(lockWanted) == lockFree {
		l.mu.Unlock()
		return
	}
	mine := make(chan struct{})
	l.waiting = append(l.waiting, mine)
	l.mu.Unlock()
	<-mine
}

func (l *lock) Unlock() {
	if l.state.CompareAndSwap(lockHeld, lockFree) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.state.Store(lockFree)
		return
	}
	next := l.waiting[0] // has the lock from here on
	l.waiting = l.waiting[1:]
	close(next)
}
