package store

import (
	"slices"

	"github.com/a2agen/a2agen/runtime"
)

// work is what a [Memory] knows of a task's calls.
type work struct {
	epoch       int64
	calls, done int64
	holder      *holder // the instance that runs the task; nil: none does
	at          *Call   // the one at work
	waiting     []*Call
	began       uint64 // stamp of the update that brought the call up that is at work
}

// number takes a call on.
func (w *work) number(c *Call) {
	w.calls++
	c.N, c.Attempt, c.Made = w.calls, 0, 0
}

// begun is the call at work if the update of that stamp brought it up, for the instance that runs the task.
func (w *work) begun(by *holder, stamp uint64) *Call {
	if stamp == w.began && w.holder == by {
		return w.at
	}
	return nil
}

// hand passes the work on with an update that leaves the task in a state, and returns the call that the instance is to
// begin.
func (r *row) hand(by *holder, u *Update, state runtime.State) *Call {
	w := &r.work
	switch {
	case state.Terminal():
		w.done, w.waiting = w.calls, nil
		r.release(by)
		return nil
	case u.Done != 0 && w.at != nil && w.at.N == u.Done:
		w.done++
		if len(w.waiting) == 0 {
			r.release(by)
			return nil
		}
		next := w.waiting[0]
		w.waiting = slices.Delete(w.waiting, 0, 1)
		return r.bringUp(next, u.Stamp)
	case u.Call != nil:
		w.number(u.Call)
		if w.holder == nil && !r.given {
			r.store().keep(by, r)
			return r.take(by, u.Call, u.Stamp)
		}
		w.waiting = append(w.waiting, u.Call)
	}
	return nil
}

// take gives a task that nobody runs to an instance, with a call.
func (r *row) take(by *holder, c *Call, stamp uint64) *Call {
	r.work.epoch++
	r.work.holder = by
	return r.bringUp(c, stamp)
}

// bringUp makes a call the one at work.
func (r *row) bringUp(c *Call, stamp uint64) *Call {
	c.Attempt, c.Made = 1, r.task.TaskInfo().Artifacts
	r.work.at, r.work.began = c, stamp
	return c
}

// release ends the running of a task: nobody holds it any more.
func (r *row) release(by *holder) {
	w := &r.work
	r.store().unkeep(w.holder, r, by)
	w.epoch++
	w.holder, w.at, r.given = nil, nil, false
}
