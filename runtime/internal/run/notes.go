package run

import (
	"sync"
	"sync/atomic"
)

// notes are what the handler saved, the calls of other agents that it made, and the extensions of its task.
type notes struct {
	mu      sync.Mutex
	saved   []byte
	active  []string     // extensions with a contract that the task's caller asked for, by URI
	nesting *nesting     // nil: no other agent was called
	private []byte       // both as the store keeps them; nil: they have changed since
	unsaved atomic.Bool  // the store does not have them
	context *contextNote // what is kept with the context; nil: nobody has asked
}

// change notes that there is something new to store. Callers must hold n.mu.
func (n *notes) change() {
	n.private = nil
	n.unsaved.Store(true)
}

// unstored returns what is to be stored; nil for nothing.
func (n *notes) unstored() *[]byte {
	if !n.unsaved.Load() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.private == nil {
		n.private = joinExtensions(n.active, joinPrivate(n.nesting, n.saved))
	}
	private := n.private
	return &private
}

// kept notes what the store has by now.
func (n *notes) kept(stored *[]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.private) > 0 && &(*stored)[0] == &n.private[0] {
		n.unsaved.Store(false)
	}
}

// have takes over what the store has.
func (n *notes) have(stored []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	active, rest := splitExtensions(stored)
	n.active = active
	n.nesting, n.saved = splitPrivate(rest)
	n.unsaved.Store(false)
}
