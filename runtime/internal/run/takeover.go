package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// What happens when a task changes hands: another instance, or a client's cancel, has taken it from a handler here; a
// message was taken on here for a handler elsewhere.

// lose takes note that the store no longer takes what the handler says, and returns why. The caller holds c.live.mu.
func (t *taskWriter) lose() error {
	h, failed := t.c.e.store.Head(t.c.e.soon(), t.c.live.key)
	if failed != nil {
		h = store.Head{}
	}
	if h.State.Terminal() {
		t.c.live.ended = true
	}
	cause := causeOf(h)
	if t.c.live.run == t.c {
		t.c.live.revoke(cause)
	}
	t.c.cancel(cause)
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
// Callers must hold l.mu.
func (l *live) revoke(cause error) {
	if l.run != nil {
		l.run.cancel(cause)
		l.run.task.elsewhere = true
		l.run.done.fire()
		l.run = nil
	}
	for _, q := range l.queue {
		q.task.elsewhere = true
		q.abandon()
	}
	l.queue = nil
}

func (c *call) isElsewhere() bool {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	return c.task.elsewhere
}

// lookAfter finds out whether a task that is run here still is. It does not wait for the store.
func (e *Engine) lookAfter(l *live) {
	if l.looking.Swap(true) {
		return
	}
	go func() {
		h, err := e.store.Head(e.soon(), l.key)
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

// awaitElsewhere waits until the store says that the call is over, whoever has run it.
func (c *call) awaitElsewhere(client context.Context) error {
	return c.e.awaitCall(client, c.live.key, c.task.work.N)
}

// rest waits until the task may have changed, or says why there is no use in waiting.
func (e *Engine) rest(client context.Context, r *feed.Reader) error {
	timer := time.NewTimer(feed.Jitter(feed.PollEvery))
	defer timer.Stop()
	select {
	case <-r.Wake():
	case <-timer.C:
	case <-client.Done():
		return context.Cause(client)
	case <-e.closing:
		return ErrBusy.With("the agent is shutting down")
	}
	return nil
}

// succeed brings up the call that the store names: one that waits here, or one that was taken on elsewhere. The caller
// holds l.mu.
func (l *live) succeed(e *Engine, snap *store.Snapshot, state runtime.State) *call {
	for i, c := range l.queue {
		if c.task.work.N == snap.Run.N {
			l.queue = slices.Delete(l.queue, i, i+1)
			c.task.have(snap.Private.Saved)
			c.promote(snap, state)
			return c
		}
	}
	if e.Draining() {
		return nil // it is given back
	}
	c, err := e.revive(l.key, snap)
	if err != nil {
		e.giveUp(l.key, snap, cannotGoOn)
		return nil
	}
	c.promote(snap, state)
	return c
}

// revive makes a call of what the store knows of one that was taken on elsewhere, or by a process that is no more.
func (e *Engine) revive(key store.Key, snap *store.Snapshot) (*call, error) {
	work, skill := snap.Run, e.byID[snap.Private.Skill]
	if skill == nil || work.Request == nil || work.Request.Message == nil {
		return nil, errors.New("its skill or its request is not there")
	}
	from := sender{
		req: work.Request, parts: work.Request.Message.Contents(), owner: key.Owner,
		base: values{context.Background(), work.Request.Source, key.Owner.Caller()},
	}
	c := e.newCall(from)
	c.skill = skill
	c.ctx, c.cancel = context.WithCancelCause(&c.base)
	c.live = e.use(key)
	c.set(key.Task, work.Request.Message.MessageInfo().ContextID) // bound to the task, it has that
	c.task.have(snap.Private.Saved)
	c.input.Raw, c.resumed = work.Input, work.N > 1
	e.adopt(c)
	return c, nil
}
