package run

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime"
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

// A task remembers the extensions that its caller asked for, so that messages that continue it need not name them again.

func (v *view) Activated(uri string) bool {
	return slices.Contains((*call)(v).task.activated(), uri)
}

// activated returns the extensions of the task. Nobody changes the list.
func (n *notes) activated() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.active
}

// activate adds extensions to those of the task.
func (n *notes) activate(uris []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, uri := range uris {
		if !slices.Contains(n.active, uri) {
			n.active = append(slices.Clip(n.active), uri)
			n.change()
		}
	}
}

// withExtensions is the first byte of what the store keeps privately if it begins with extensions: their URIs with blanks
// between them, a line break, and the rest.
const withExtensions = '\x03'

func joinExtensions(active []string, private []byte) []byte {
	if len(active) == 0 {
		return private
	}
	return append([]byte(string(withExtensions)+strings.Join(active, " ")+"\n"), private...)
}

func splitExtensions(stored []byte) (active []string, private []byte) {
	if len(stored) == 0 || stored[0] != withExtensions {
		return nil, stored
	}
	list, private, _ := bytes.Cut(stored[1:], []byte("\n"))
	if len(private) == 0 {
		private = nil
	}
	return strings.Fields(string(list)), private
}

func withoutExtensions(stored []byte) []byte {
	_, private := splitExtensions(stored)
	return private
}

func (v *view) OnResult(f func(*runtime.ArtifactData)) {
	c := (*call)(v)
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	c.onResult = append(c.onResult, f)
}

// attach adds to an output what the handler attaches to it. What others get a pointer to is on the heap: an output to which
// nothing is attached costs nothing.
func (e *conclusion) attach(output runtime.ArtifactData) runtime.ArtifactData {
	if len(e.c.onResult) == 0 {
		return output
	}
	data := output
	for _, f := range e.c.onResult {
		f(&data)
	}
	return data
}

// check refuses an output that cannot be sent.
func (e *conclusion) check(a *runtime.ArtifactData) error {
	if len(e.c.onResult) > 0 {
		if err := e.c.r.content.checkMetadata(a.Metadata); err != nil {
			return err
		}
	}
	return e.c.r.content.check(a.Parts)
}
