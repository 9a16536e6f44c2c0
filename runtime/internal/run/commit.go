package run

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Every write to a task in the store is made here. The store's answer is one of four outcomes, and each has one place
// where it is handled: for what a handler says in taskWriter.answered, for what a client sends in the function that
// commits it.
//
// A store that does not answer in time may have made the write all the same. Then this instance may hold the work
// without running it, and no other takes it over as long as the lease is renewed. So the sender is told that it failed,
// and the write is repeated, with the same stamp, until the store answers.

// outcome is what became of a write.
type outcome uint8

const (
	unconfirmed outcome = iota // no answer: nothing may have happened, or the write may be made, now or later
	committed                  // the store has it
	refused                    // the store decided against it, and has changed nothing
	lost                       // refused to a handler whose task has ended, or is run elsewhere
)

// write is one transaction on a task. Repeated it is the same write: by its stamp the store makes it once.
type write struct {
	creates bool // it makes the task, as create says; else it is update, unless there is a note
	create  store.New
	update  store.Update
	expect  int64       // the version that a client's update expects; 0: any, a handler's
	ends    bool        // it ends the call
	note    *noteWrite  // replaces what is kept with the context
	view    *store.View // of the task afterwards; nil: none
	pieces  []piece     // of artifacts, that it stores
	saved   *[]byte     // what the handler saved, if that goes along

	outcome outcome
	perhaps bool           // a try got no answer: the write may have been made
	snap    store.Snapshot // of the task, once committed
	err     error          // why it is not committed
}

// stamp names the write.
func (w *write) stamp() uint64 {
	if w.creates {
		return w.create.Stamp
	}
	return w.update.Stamp
}

// copy returns a copy that outlives its function.
func (w *write) copy() *write {
	c := *w
	return &c
}

// unanswered reports whether a call of the store failed for a reason that may pass: it can be made again.
func unanswered(err error) bool { return store.Unsure(err) || errors.Is(err, store.ErrNoSpace) }

// answer notes what the store answered to a try.
func (w *write) answer(err error) {
	w.err = err
	switch {
	case err == nil:
		w.outcome = committed
	case unanswered(err):
		w.outcome = unconfirmed
		w.perhaps = w.perhaps || store.Unsure(err) && !errors.Is(err, store.ErrUnavailable)
	case w.update.Epoch != 0 && (errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrEnded)):
		w.outcome = lost
	default:
		w.outcome = refused
	}
}

// try has the store make a write, once. Callers must hold h.mu.
func (h *handle) try(r *Runner, w *write) outcome {
	var err error
	switch {
	case w.note != nil:
		err = w.note.try(r, w.perhaps)
	case w.creates:
		w.snap, err = r.Store.Create(r.Soon(), h.key, w.create, w.view)
	default: // a client that went away does not undo anything, which is why no request's context is involved
		w.update.Unread = !h.WasRead()
		if w.snap, err = h.ref(r).Apply(r.Soon(), w.expect, w.update, w.view); err == nil {
			h.applied(r, w)
		}
	}
	w.answer(err)
	return w.outcome
}

// applied notes the task as it is after an update, and wakes its readers. Callers must hold h.mu.
func (h *handle) applied(r *Runner, w *write) {
	h.note(w.snap.Version)
	if last, _ := w.update.At(len(w.update.Then)); last.EventInfo().State.Terminal() {
		h.ended = true
	}
	h.Wake()
	if w.snap.Pushed {
		r.Deliveries.Wake()
	}
}

// How an unconfirmed write is tried again: after a pause that doubles each time.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
	// retryFor is how long a client waits for the store to answer after it has failed once, and a handler without a
	// task. One retry is made in any case: the first try may have taken its time.
	retryFor = time.Second
	// answerIn is how long a client that waits for the end waits for the store to take it.
	answerIn = 10 * time.Second
)

// commit has the store make a write, and repeats it while there is no answer, as retry does. Callers must hold h.mu.
func (h *handle) commit(r *Runner, ctx context.Context, w *write) outcome {
	if h.try(r, w) == unconfirmed {
		h.retry(r, ctx, w, retryFor)
	}
	return w.outcome
}

// retry repeats an unconfirmed write for a while, or until ctx ends. Callers must hold h.mu, which is free during the
// pauses: another goroutine may get the answer meanwhile.
func (h *handle) retry(r *Runner, ctx context.Context, w *write, patience time.Duration) {
	end := time.Now().Add(patience)
	for pause := firstRetry; ; pause = min(2*pause, retryFor) {
		h.mu.Unlock()
		inTime := r.admission.pause(pause, ctx.Done())
		h.mu.Lock()
		if w.outcome != unconfirmed || ctx.Err() != nil || h.try(r, w) != unconfirmed {
			return
		}
		if !inTime || !time.Now().Before(end) {
			return
		}
	}
}

// commit stores what the handler says. A call has at most one unconfirmed write, and writes nothing else before that is
// answered. Callers must hold c.handle.mu.
func (t *taskWriter) commit(w *write) error {
	for p := t.unconfirmed; p != nil; p = t.unconfirmed {
		if err := t.confirm(); err != nil {
			return err
		}
		if p.stamp() == w.stamp() {
			w.outcome, w.err = p.outcome, p.err
			return w.err
		}
	}
	if !t.try(w) {
		p := t.unconfirmed
		t.wait(p)
		w.outcome, w.err = p.outcome, p.err
	}
	return w.err
}

// confirm has the call's unconfirmed write answered, if there is one. It fails if the store does not answer, and if the
// task is lost. It is no error that the write is refused: the handler was told already that it failed. Callers must hold
// c.handle.mu.
func (t *taskWriter) confirm() error {
	if t.queue != nil {
		t.queue.await(&t.c.handle.mu)
	}
	w := t.unconfirmed
	if w == nil {
		return nil
	}
	if !t.try(w) {
		t.wait(w)
	}
	if w.outcome == refused {
		return nil
	}
	return w.err
}

// try is commit, once, when there is no other unconfirmed write. It reports whether the store has answered.
func (t *taskWriter) try(w *write) (answered bool) {
	if t.c.handle.try(t.c.r, w) != unconfirmed {
		t.answered(w)
		return true
	}
	if t.unconfirmed != w {
		t.unconfirmed = w.copy()
	}
	return false
}

// wait repeats the call's unconfirmed write for as long as a handler waits for the store: on a task that this instance
// runs as long as its lease allows, so that an outage that ends before fails no work, and one that lasts longer leaves
// it to others. What the end of a call writes is tried once, persist does the rest. A write that cannot have been made
// is given up.
func (t *taskWriter) wait(w *write) {
	if t.c.state >= ending {
		return
	}
	patience := retryFor
	if t.runsHere.Load() {
		patience = max(patience, t.c.r.lease.outage())
	}
	t.c.handle.retry(t.c.r, &t.c.ctx, w, patience)
	if cause := t.c.ctx.Cause(); cause != nil && w.outcome == unconfirmed {
		w.err = cause
	}
	switch {
	case t.unconfirmed != w: // answered to another goroutine of the handler, or given up there
	case w.outcome != unconfirmed:
		t.answered(w)
	case !w.perhaps && t.c.state < ending:
		t.unconfirmed = nil
		t.queue.putBack(w.pieces)
	}
}

// answered notes the store's answer to what the handler said, and the task as it is then.
func (t *taskWriter) answered(w *write) {
	if t.unconfirmed == w {
		t.unconfirmed = nil
	}
	if w.outcome == committed && w.saved != nil {
		t.kept(w.saved)
	}
	if w.outcome == committed && w.ends {
		t.c.conclusion.ending.stored = true
	}
	switch {
	case w.outcome == lost:
		w.err = t.lose()
	case w.outcome == refused:
		for i := range w.pieces { // their artifacts are told why they will never be stored
			w.pieces[i].w.err, t.pieceErr = w.err, w.err
		}
	case w.note != nil:
	case w.creates:
		snap, h := &w.snap, t.c.handle
		h.version = snap.Version
		t.c.r.Feed.Ticker.Start()
		t.first, t.firstVersion, t.bytes = snap.Task, snap.Version, snap.Bytes
		if w.ends { // then nobody here has to know that it was at work
			t.c.err, t.last, h.ended = nil, snap.Task, t.c.conclusion.ending.status.state().Terminal()
			return
		}
		t.c.r.tasks.register(h)
		if snap.Run == nil { // the answer is late: the task is somebody else's by now
			w.err = t.lose()
			return
		}
		t.c.err, h.run = nil, t.c
		t.c.holds(snap)
		closeOnce(t.c.decided)
	default:
		if w.view != nil {
			t.last, t.bytes = w.snap.Task, w.snap.Bytes
		}
		if w.snap.Run != nil {
			next := w.snap
			t.next = &next
		}
	}
}

// mayExist reports whether the task may have been made although the store has not said so. Callers must hold
// c.handle.mu.
func (t *taskWriter) mayExist() bool {
	return t.c.handle.version == 0 && t.unconfirmed != nil && t.unconfirmed.creates
}

// newBackgroundCall returns a call without a handler, for what is done in the background. It has yet to be admitted.
func (r *Runner) newBackgroundCall() *call {
	c := r.newCall()
	c.state, c.handle = over, &c.ownHandle
	c.ctx.request = context.Background()
	return c
}

// retryUnconfirmed repeats a write in the background until the store answers, and runs the call that it brings up,
// whose sender has left. When the shutdown begins, or the lease cannot be renewed, it is left to others with the rest.
func (t *taskWriter) retryUnconfirmed(key store.Key, w *write) {
	r, h := t.c.r, t.c.r.tasks.use(key)
	t.lent = nil // the write has it
	w.view = &store.View{History: new(int)}
	r.inBackground(t.c, r.admission.closing, func(inTime bool) (over bool) {
		over = !inTime || r.admission.isClosing() || r.lease.lapsing() || r.confirmLate(h, w)
		if over {
			r.tasks.drop(h)
		}
		return over
	})
}

// confirmLate tries once more to have an unconfirmed write answered, and runs the call that it brings up.
func (r *Runner) confirmLate(h *handle, w *write) (answered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch h.try(r, w) {
	case unconfirmed:
		return false
	case committed:
		if w.snap.Run != nil && !r.lease.lapsing() {
			h.note(w.snap.Version)
			r.begin(h, &w.snap)
		}
	case refused, lost:
		r.Log("", h.key.Task, h.key.Owner.Principal).Info("the store has refused what it did not answer to", "error", w.err)
	}
	return true
}

// inBackground calls try after pauses that grow until it reports that it is over; what ends with stop is the pause. The
// call is admitted, and counted for as long, which is why there are not many and the shutdown waits for them.
func (r *Runner) inBackground(c *call, stop <-chan struct{}, try func(inTime bool) (over bool)) {
	r.admission.hold(c)
	go func() {
		defer r.admission.dismiss(c)
		for pause := firstRetry; !try(r.admission.pause(pause, stop)); pause = min(2*pause, lastRetry) {
		}
	}()
}

// begin runs a call that was taken on without a sender, or whose sender has left. Callers must hold h.mu.
func (r *Runner) begin(h *handle, snap *store.Snapshot) {
	if r.admission.isDraining() {
		return // it is given back
	}
	h.revoke(ErrLost) // it went on here without the store's consent
	c, err := r.revive(h.key, snap)
	if err != nil {
		r.giveUp(h.key, snap, cannotGoOn)
		return
	}
	now := snap.Task.TaskInfo().State
	h.run, h.ended, c.seen = c, false, now == runtime.StateWorking
	c.promote(snap, now)
	c.launch(false)
}
