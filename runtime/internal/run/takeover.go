package run

import (
	"context"
	"errors"
	"slices"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// This file is about tasks that begin to be run by another instance than before: taken from a handler here, by another
// instance or a client's cancel, or taken over here, with the work that another instance, or a process before, has
// left.

// takeAtOnce is how many tasks are taken over at a time.
const takeAtOnce = 100

// What a task ends with that was interrupted. Its reader is a person.
const (
	restarted  = "The agent was restarted while it worked on this. Please send the message again."
	tooOften   = "The agent was interrupted each time it worked on this, and does not try it again."
	cannotGoOn = "The agent can no longer work on this."
)

// lose notes that the task is no longer the call's, and returns why. Callers must hold c.handle.mu.
func (t *taskWriter) lose() error {
	h, failed := t.c.r.Store.Head(t.c.r.Soon(), t.c.handle.key)
	if failed != nil {
		h = store.Head{}
	}
	if h.State.Terminal() {
		t.c.handle.ended = true
	}
	cause := causeOf(h)
	if t.c.handle.run == t.c {
		t.c.handle.revoke(cause)
	}
	t.c.ctx.cancel(cause)
	t.elsewhere = true
	return cause
}

// causeOf is why a handler does not have its task any more.
func causeOf(h store.Head) error {
	if h.State == runtime.StateCanceled {
		return ErrCanceled
	}
	return ErrLost
}

// revoke takes the task from the call at work on it, and leaves those that wait for their turn to whoever has the task.
// Callers must hold h.mu.
func (h *handle) revoke(cause error) {
	if h.run != nil {
		h.run.ctx.cancel(cause)
		h.run.task.elsewhere = true
		closeOnce(h.run.done)
		h.run = nil
	}
	for _, q := range h.queue {
		q.task.elsewhere = true
		q.abandon()
	}
	h.queue = nil
}

// checkEpoch finds out whether a task that is run here still is, and stops its handler if not. It does not wait for the
// store.
func (r *Runner) checkEpoch(l *handle) {
	if l.looking.Swap(true) {
		return
	}
	go func() {
		h, err := r.Store.Head(r.Soon(), l.key)
		l.looking.Store(false)
		if err != nil {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.run != nil && h.Epoch > l.run.task.epoch {
			l.ended = h.State.Terminal()
			l.revoke(causeOf(h))
		}
	}()
}

// succeed brings up the call that the store names: one that waits here, or one that was taken on elsewhere. Callers
// must hold h.mu.
func (h *handle) succeed(r *Runner, snap *store.Snapshot, state runtime.State) *call {
	for i, c := range h.queue {
		if c.task.work.N == snap.Run.N {
			h.queue = slices.Delete(h.queue, i, i+1)
			c.task.have(snap.Private.Saved)
			c.promote(snap, state)
			return c
		}
	}
	if r.admission.isDraining() {
		return nil // it is given back
	}
	c, err := r.revive(h.key, snap)
	if err != nil {
		r.giveUp(h.key, snap, cannotGoOn)
		return nil
	}
	c.promote(snap, state)
	return c
}

// revive makes a call of what the store knows of one that was taken on elsewhere, or by a process that is no more.
func (r *Runner) revive(key store.Key, snap *store.Snapshot) (*call, error) {
	work, skill := snap.Run, r.Skills.byID[snap.Private.Skill]
	if skill == nil || work.Request == nil || work.Request.Message == nil {
		return nil, errors.New("its skill or its request is not there")
	}
	c := r.newCall()
	c.req, c.parts, c.owner, c.skill = work.Request, work.Request.Message.Contents(), key.Owner, skill
	c.ctx.values = values{context.Background(), work.Request, key.Owner.Caller()}
	c.handle = r.tasks.use(key)
	c.set(key.Task, work.Request.Message.MessageInfo().ContextID) // bound to the task, it has that
	if r.Extensions != nil {
		c.extensions = r.Extensions(work.Request)
	}
	c.task.have(snap.Private.Saved)
	c.task.activate(c.extensions)
	c.input.Raw, c.resumed = work.Input, work.N > 1
	r.admission.adopt(c)
	return c, nil
}

// takeOver takes over tasks that nobody runs, as many as may be admitted, and reports whether there may be more.
func (r *Runner) takeOver(ctx context.Context) (more bool) {
	if !r.durable.Load() || r.admission.isDraining() {
		return false
	}
	var free []string // skills without a bound of their own
	for _, sk := range r.Skills.all {
		if sk.slots == nil {
			free = append(free, sk.ID)
		} else if n := min(cap(sk.slots)-len(sk.slots), r.admission.free()); n > 0 {
			more = r.takeOverOf(ctx, []string{sk.ID}, n) || more
		} else {
			more = true
		}
	}
	if len(free) > 0 {
		more = r.takeOverOf(ctx, free, r.admission.free()) || more
	}
	return more
}

func (r *Runner) takeOverOf(ctx context.Context, skills []string, places int) (more bool) {
	n := min(places, takeAtOnce)
	if n <= 0 {
		return true
	}
	runs, err := r.Store.Claim(ctx, skills, n)
	if err != nil {
		r.Logger.Warn("tasks could not be taken over", "error", err)
		return true
	}
	for i := range runs {
		r.resume(&runs[i])
	}
	return len(runs) == n
}

// resume goes on with a task that was interrupted.
func (r *Runner) resume(run *store.Run) {
	if r.admission.isDraining() {
		return // it is given back
	}
	snap := &run.Snapshot
	snap.Run = run.Call
	c, err := r.revive(run.Key, snap)
	if err != nil {
		r.Log(snap.Private.Skill, run.Key.Task, run.Key.Owner.Principal).Error("an interrupted task cannot go on", "error", err)
		r.giveUp(run.Key, snap, cannotGoOn)
		return
	}
	go func() {
		reason, late := c.takeUp(snap)
		if late {
			r.tasks.drop(c.handle)
			r.admission.dismiss(c)
			return
		}
		(*view)(c).Logger().Info("interrupted task taken over", "attempt", c.attempt, "again", reason == "")
		if reason != "" {
			c.abort(c.forHandler.Fail(reason))
			return
		}
		c.execute()
	}()
}

// takeUp makes the call the one at work on its task, which was interrupted, and says why it is not tried again; "" that
// it is. late: this instance has taken the task over once more since, and is at work on it.
func (c *call) takeUp(snap *store.Snapshot) (reason string, late bool) {
	h, now := c.handle, snap.Task.TaskInfo()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != nil && h.run.task.epoch > snap.Epoch {
		return "", true
	}
	h.revoke(ErrLost)
	h.note(snap.Version)
	h.run, h.ended = c, false
	c.set(now.ID, now.ContextID)
	c.begins(snap)
	switch taskstate.AfterCrash(c.attempt, c.skill.OnCrash == CrashRetry) {
	case taskstate.NotRepeated:
		return restarted, false
	case taskstate.TooOften:
		return tooOften, false
	}
	c.seen = now.State == runtime.StateWorking
	c.promote(snap, now.State)
	return "", false
}

// abort ends a call without its handler.
func (c *call) abort(err error) {
	defer c.r.admission.dismiss(c)
	defer c.ctx.cancel(nil)
	if next := c.returned(nil, err); next != nil {
		go next.execute()
	}
}

// giveUp ends a task of which no call can be made, in the background.
func (r *Runner) giveUp(key store.Key, snap *store.Snapshot, reason string) {
	c, info := r.newBackgroundCall(), snap.Task.TaskInfo()
	r.admission.adopt(c)
	defer r.admission.dismiss(c)
	said := r.Protocol.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: r.NewID(), ContextID: info.ContextID, TaskID: info.ID},
		Parts:       []runtime.Part{runtime.Text(reason)},
	})
	c.task.retryUnconfirmed(key, &write{update: store.Update{
		Event: r.Protocol.NewStatus(info.ID, info.ContextID, runtime.StateFailed, said, r.Now()),
		Stamp: newStamp(), Epoch: snap.Epoch, Done: snap.Run.N,
	}})
}
