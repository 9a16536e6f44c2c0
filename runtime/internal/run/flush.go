package run

import (
	"slices"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// flushEvery is how often the pieces of artifacts that wait are looked at: a piece goes out at the second look.
const flushEvery = 20 * time.Millisecond

// flusher is the one timer for all pieces of artifacts that wait. It runs while there are some.
type flusher struct {
	mu    sync.Mutex
	tasks map[*call]struct{}
}

// flushLater notes that w has a piece that waits for the next one. Callers must hold the lock of the task.
func (w *artifactWriter) flushLater() {
	t := &w.c.task
	if !slices.Contains(t.writers, w) {
		t.writers = append(t.writers, w)
	}
	t.scheduleFlush()
}

// scheduleFlush has the flusher look at the pieces. Callers must hold c.handle.mu.
func (t *taskWriter) scheduleFlush() {
	if !t.inFlusher {
		t.inFlusher = true
		t.c.r.flusher.add(t.c)
	}
}

// flush stores all pieces of artifacts: something else is to follow. Callers must hold c.handle.mu.
func (t *taskWriter) flush() error {
	if err := t.collect(); err != nil {
		return err
	}
	return t.writePending()
}

// collect sends all pieces that wait for the next one, or adds them to the pending ones.
func (t *taskWriter) collect() error {
	for i := 0; i < len(t.writers); i++ { // there may be others after a wait for the store
		if err := t.writers[i].flush(false); err != nil {
			return err
		}
	}
	return nil
}

// flushOld sends the pieces that waited at the last tick already, and reports whether there are others. It does not wait
// for a store that fails: the next look, write, Close or the end tries again.
func (t *taskWriter) flushOld() (more bool) {
	t.c.handle.mu.Lock()
	defer t.c.handle.mu.Unlock()
	if t.inFlusher = false; t.open() != nil {
		return false
	}
	for _, w := range t.writers {
		fresh := w.fresh
		if w.fresh = false; fresh || !w.ripe(false) {
			continue
		}
		if t.c.r.durable.Load() {
			if err := t.enqueue(w.take()); err != nil {
				t.pieceErr = err
			}
			continue
		}
		out := t.writeOf(w.event, nil)
		if p := t.unconfirmed; p == nil {
			t.try(&out)
		} else if p.stamp() == out.stamp() {
			t.try(p)
			out.outcome, out.err = p.outcome, p.err
		}
		if w.answered(&out); out.err != nil && out.outcome != unconfirmed {
			t.pieceErr = out.err
		}
	}
	sent := func(w *artifactWriter) bool { return w.unsent.Kind == runtime.PartUnknown }
	t.writers = slices.DeleteFunc(t.writers, sent)
	t.startFlush()
	more = len(t.writers) > 0 && !t.inFlusher
	t.inFlusher = t.inFlusher || more
	return more
}

func (h *flusher) add(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks == nil {
		h.tasks = map[*call]struct{}{}
	}
	if h.tasks[c] = struct{}{}; len(h.tasks) == 1 {
		time.AfterFunc(flushEvery, h.tick)
	}
}

// tick looks at every task on a goroutine of its own: one whose store hangs keeps no other waiting.
func (h *flusher) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.tasks {
		delete(h.tasks, c)
		go h.flush(c)
	}
}

func (h *flusher) flush(c *call) {
	if c.task.flushOld() {
		h.add(c)
	}
}
