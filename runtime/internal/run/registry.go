package run

import (
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/store"
)

// registry has the handles of the tasks that somebody in this process works on or reads.
type registry struct {
	store   store.Store
	shared  atomic.Bool   // other instances may work on the store's tasks, too
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
