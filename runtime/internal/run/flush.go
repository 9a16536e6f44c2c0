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
		go func() {
			if c.task.flushOld() {
				h.add(c)
			}
		}()
	}
}

// pending are the pieces of artifacts that the handler has written and the store does not have yet, where a write takes
// long: in a durable store. They are written in the background. What the handler writes meanwhile goes together into
// the next write, and whatever else it says waits for that. Why a piece was not stored is told with the next write to
// its artifact, or at the end.
type pending struct {
	pieces   []piece
	bytes    int
	flushing bool          // a goroutine writes them
	underWay chan struct{} // closed when the store answers to the write that is under way; nil: none is
}

// piece is an event of an artifact.
type piece struct {
	sized
	w *artifactWriter
}

// enqueue adds a piece to those that are pending. With too many bytes it waits until they are stored. Callers of this
// and the functions below must hold the lock of the task.
func (t *taskWriter) enqueue(p piece) error {
	if t.queue == nil {
		t.queue = new(pending)
	}
	q := t.queue
	q.pieces = append(q.pieces, p)
	if q.bytes += p.Size.Bytes; q.bytes > t.c.r.Limits.Event {
		return t.writePending()
	}
	t.startFlush()
	return nil
}

// hasPending reports whether there are pieces that the store may not have.
func (t *taskWriter) hasPending() bool {
	return t.queue != nil && len(t.queue.pieces) > 0 || t.unconfirmed != nil && t.unconfirmed.pieces != nil
}

// startFlush writes what is pending in the background.
func (t *taskWriter) startFlush() {
	if t.queue == nil || t.queue.flushing || t.c.state >= ending || !t.hasPending() {
		return
	}
	t.queue.flushing = true
	t.c.r.admission.hold(t.c)
	go t.flushPending()
}

func (t *taskWriter) flushPending() {
	defer t.c.r.admission.dismiss(t.c)
	t.c.handle.mu.Lock()
	defer t.c.handle.mu.Unlock()
	for t.open() == nil && t.confirm() == nil && len(t.queue.pieces) > 0 {
		t.writeApart(t.takePending())
	}
	t.queue.flushing = false
	if t.hasPending() { // the store does not answer
		t.scheduleFlush()
	}
}

// writePending writes what is pending, and waits for it.
func (t *taskWriter) writePending() error {
	if !t.hasPending() {
		return nil
	}
	if err := t.confirm(); err != nil || len(t.queue.pieces) == 0 {
		return err
	}
	return t.commit(t.takePending())
}

// takePending makes a write of what is pending.
func (t *taskWriter) takePending() *write {
	w := &write{pieces: t.queue.pieces}
	w.update.Stamp, w.update.Epoch, w.saved = w.pieces[0].stamp, t.epoch, t.unstored()
	w.update.Saved = w.saved
	for i := range w.pieces {
		w.then(&w.pieces[i].sized)
	}
	t.queue.pieces, t.queue.bytes = nil, 0
	return w
}

// putBack has the pieces of a write that was given up be pending again.
func (q *pending) putBack(pieces []piece) {
	if len(pieces) == 0 {
		return
	}
	q.pieces = slices.Concat(pieces, q.pieces)
	for i := range pieces {
		q.bytes += pieces[i].Size.Bytes
	}
}

// then adds an event to an update.
func (w *write) then(e *sized) {
	if w.update.Event == nil {
		w.update.Event, w.update.Size = e.Event, e.Size
		return
	}
	w.update.Then = append(w.update.Then, e.Change)
}

// writeApart makes a write without the lock of the task, so that the handler can go on.
func (t *taskWriter) writeApart(w *write) {
	h, r, done := t.c.handle, t.c.r, make(chan struct{})
	task := h.ref(r)
	w.update.Unread = !h.WasRead()
	t.unconfirmed, t.queue.underWay = w, done
	h.mu.Unlock()
	snap, err := task.Apply(r.Soon(), 0, w.update, nil)
	h.mu.Lock()
	t.queue.underWay = nil
	close(done)
	if w.snap = snap; err == nil {
		h.applied(r, w)
	}
	if w.answer(err); w.outcome == unconfirmed {
		t.wait(w)
		return
	}
	t.answered(w)
}

// await waits until the store has answered to the write that is under way. The lock of the task, mu, is free meanwhile.
func (q *pending) await(mu *lock) {
	for q.underWay != nil {
		done := q.underWay
		mu.Unlock()
		<-done
		mu.Lock()
	}
}
