package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// heldFor is how often the pieces of artifacts that are held back are looked at: a piece goes out at the second look.
const heldFor = 20 * time.Millisecond

// holder is the one timer for all pieces of artifacts that are held back. It runs while there are some.
type holder struct {
	mu    sync.Mutex
	tasks map[*Call]struct{}
}

// hold notes that w holds a piece back. The caller holds c.live.mu.
func (c *Call) hold(w *ArtifactWriter) {
	if !slices.Contains(c.writers, w) {
		c.writers = append(c.writers, w)
	}
	if !c.isHeld {
		c.isHeld = true
		c.e.held.add(c)
	}
}

// flush sends all pieces that are held back: something else is to follow. The caller holds c.live.mu.
func (c *Call) flush() error {
	for i := 0; i < len(c.writers); i++ { // there may be others after a wait for the store
		if err := c.writers[i].flush(false); err != nil {
			return err
		}
	}
	return nil
}

// look sends the pieces that were there at the last look, and reports whether there are others. It does not wait for a
// store that fails: the next look, write, Close or the end tries again.
func (c *Call) look() (more bool) {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if c.isHeld = false; c.open() != nil {
		return false
	}
	for _, w := range c.writers {
		fresh := w.fresh
		if w.fresh = false; fresh || !w.ripe(false) {
			continue
		}
		out := c.writeOf(w.event, nil)
		if p := c.unconfirmed; p == nil {
			c.try(&out)
		} else if p.stamp() == out.stamp() {
			c.try(p)
			out.outcome, out.err = p.outcome, p.err
		}
		if w.answered(&out); out.err != nil && out.outcome != unconfirmed {
			c.lost = out.err
		}
	}
	c.writers = slices.DeleteFunc(c.writers, func(w *ArtifactWriter) bool { return w.held.Kind == runtime.PartUnknown })
	c.isHeld = len(c.writers) > 0
	return c.isHeld
}

func (h *holder) add(c *Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks == nil {
		h.tasks = map[*Call]struct{}{}
	}
	if h.tasks[c] = struct{}{}; len(h.tasks) == 1 {
		time.AfterFunc(heldFor, h.tick)
	}
}

// tick looks at every task on a goroutine of its own: one whose store hangs keeps no other waiting.
func (h *holder) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.tasks {
		delete(h.tasks, c)
		go h.look(c)
	}
}

func (h *holder) look(c *Call) {
	if c.look() {
		h.add(c)
	}
}
