package run

import (
	"bytes"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

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
