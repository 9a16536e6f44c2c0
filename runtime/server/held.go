package server

import (
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
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
	for _, x := range t.writers {
		if x == w {
			w = nil
			break
		}
	}
	if w != nil {
		t.writers = append(t.writers, w)
	}
	if !t.isHeld {
		t.isHeld = true
		t.s.held.add(t)
	}
}

// flush sends all pieces that are held back: something else is to follow. The caller holds t.l.mu.
func (t *Task) flush() error {
	for _, w := range t.writers {
		if err := w.told(w.flush(false)); err != nil {
			return err
		}
	}
	t.writers = t.writers[:0]
	return nil
}

// look sends the pieces that were there at the last look, and reports whether there are others.
func (t *Task) look() (more bool) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	waiting := t.writers[:0]
	for _, w := range t.writers {
		switch {
		case w.held.Kind == runtime.PartUnknown || t.open() != nil:
		case w.fresh:
			w.fresh = false
			waiting = append(waiting, w)
		default:
			if w.flush(false) != nil { // what could not be sent now goes with the next write, Close or the end, which tell
				waiting = append(waiting, w)
			}
		}
	}
	clear(t.writers[len(waiting):])
	t.writers = waiting
	t.isHeld = len(waiting) > 0
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
