package server

import (
	"slices"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// heldFor is how often the pieces of artifacts that are held back are looked at: a piece goes out at the second look.
const heldFor = 20 * time.Millisecond

// holder is the one timer for all pieces of artifacts that are held back. It runs while there are some.
type holder struct {
	mu    sync.Mutex
	tasks map[*Task]struct{}
}

// hold notes that w holds a piece back. The caller holds t.l.mu.
func (t *Task) hold(w *ArtifactWriter) {
	if !slices.Contains(t.writers, w) {
		t.writers = append(t.writers, w)
	}
	if !t.isHeld {
		t.isHeld = true
		t.s.held.add(t)
	}
}

// flush sends all pieces that are held back: something else is to follow. The caller holds t.l.mu.
func (t *Task) flush() error {
	for i := 0; i < len(t.writers); i++ { // there may be others after a wait for the store
		if err := t.writers[i].flush(false); err != nil {
			return err
		}
	}
	return nil
}

// look sends the pieces that were there at the last look, and reports whether there are others. It does not wait for a store that fails: the next
// look, write, Close or the end tries again.
func (t *Task) look() (more bool) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if t.isHeld = false; t.open() != nil {
		return false
	}
	for _, w := range t.writers {
		fresh := w.fresh
		if w.fresh = false; fresh || !w.ripe(false) {
			continue
		}
		if err := w.try(); err != nil && !store.Unsure(err) {
			t.lost = err
		}
	}
	t.writers = slices.DeleteFunc(t.writers, func(w *ArtifactWriter) bool { return w.held.Kind == runtime.PartUnknown })
	t.isHeld = len(t.writers) > 0
	return t.isHeld
}

func (h *holder) add(t *Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks == nil {
		h.tasks = map[*Task]struct{}{}
	}
	if h.tasks[t] = struct{}{}; len(h.tasks) == 1 {
		time.AfterFunc(heldFor, h.tick)
	}
}

// tick looks at every task on a goroutine of its own: one whose store hangs keeps no other waiting.
func (h *holder) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for t := range h.tasks {
		delete(h.tasks, t)
		go h.look(t)
	}
}

func (h *holder) look(t *Task) {
	if t.look() {
		h.add(t)
	}
}
