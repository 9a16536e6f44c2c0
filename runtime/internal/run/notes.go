package run

import (
	"sync"
	"sync/atomic"
)

// notes are what the handler saved.
type notes struct {
	mu      sync.Mutex
	saved   []byte
	unsaved atomic.Bool  // the store does not have it
	context *contextNote // what is kept with the context; nil: nobody has asked
}

// unstored returns what is to be stored; nil for nothing.
func (n *notes) unstored() *[]byte {
	if !n.unsaved.Load() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	saved := n.saved
	return &saved
}

// kept notes what the store has by now.
func (n *notes) kept(saved *[]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if &(*saved)[0] == &n.saved[0] {
		n.unsaved.Store(false)
	}
}

// have takes over what the store has.
func (n *notes) have(saved []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.saved = saved
	n.unsaved.Store(false)
}
