package run

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/store"
)

// Sent is a message that was taken on, for its sender. The zero Sent is none.
type Sent struct{ c *call }

// Key names the message's task.
func (s Sent) Key() store.Key { return s.c.handle.key }

// Skill returns the id of the skill that works on the message; "" without one.
func (s Sent) Skill() string {
	if s.c == nil || s.c.skill == nil {
		return ""
	}
	return s.c.skill.ID
}

// patience is how long a client that does not wait for the end (a stream, or returnImmediately) goes without a task
// when the handler has not decided between a task and a plain Message.
const patience = 200 * time.Millisecond

// Await waits until the call is over here, or canceled, or its outcome cannot be told for now. A client that goes away, or
// the shutdown, ends the waiting; the call goes on.
func (s Sent) Await(client context.Context) error {
	c := s.c
	if c.done.armed() {
		select {
		case <-c.done.c:
		case <-client.Done():
			return context.Cause(client)
		case <-c.r.admission.closing:
			return budget.ErrBusy.With("the agent is shutting down")
		}
	}
	return nil
}

// AwaitDecision waits, for a sender that does not wait for the end, until there is something to show. If the handler
// takes its time, the task is created for it.
func (s Sent) AwaitDecision() {
	c := s.c
	select {
	case <-c.decided.c:
		return
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.decided.c:
		return
	case <-timer.C:
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.decided.fired || c.handle.version != 0 {
		return
	}
	c.task.auto = true
	if err := c.task.create(runtime.StateWorking); err != nil {
		c.err = err // the handler may be making the task, too, and has not noted yet that it could not
		c.ctx.cancel(err)
	}
}

// First returns the task that a stream begins with and its version, and forgets it: the stream may be open for
// long.
func (s Sent) First() (runtime.Task, int64) {
	c := s.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	first := c.task.first
	c.task.first = nil
	return first, c.task.firstVersion
}

// Result returns what the sender of the message gets: a Message or a Task, and about how long a Task is. The call is
// over, where it went on elsewhere after some waiting, or its sender does not wait.
func (s Sent) Result(client context.Context, ended bool) (result any, bytes int, err error) {
	c := s.c
	c.handle.mu.Lock()
	if ended && c.task.elsewhere {
		c.handle.mu.Unlock()
		if err := c.awaitElsewhere(client); err != nil {
			return nil, 0, err
		}
		c.handle.mu.Lock()
	}
	defer c.handle.mu.Unlock()
	switch {
	case c.err != nil && (c.handle.version == 0 || c.err == ErrUnwritten):
		return nil, 0, c.err
	case c.reply != nil && c.handle.version == 0:
		return c.reply, 0, nil
	case !ended && c.task.first != nil:
		return c.task.first, c.task.bytes, nil
	case ended && c.task.last != nil:
		return c.task.last, c.task.bytes, nil
	}
	snap, err := c.r.Store.Get(c.r.Soon(), c.handle.key, *c.task.view())
	if err != nil {
		return nil, 0, err
	}
	return snap.Task, snap.Bytes, nil
}

// AwaitCall waits until the store says that a call of a task is over, whoever runs it. It fails when the store says
// nothing for too long.
func (r *Runner) AwaitCall(client context.Context, key store.Key, n int64) error {
	l := r.tasks.use(key)
	defer r.tasks.drop(l)
	reader := feed.NewReader(r.Looks())
	l.Attach(reader)
	defer l.Detach(reader)
	answered := time.Now()
	for {
		asked := time.Now()
		h, err := r.Store.Head(r.Soon(), key)
		switch {
		case err == nil && (h.Done >= n || h.State.Terminal()):
			return nil
		case err == nil:
			answered = asked
		case !unanswered(err) || time.Since(answered) > answerIn:
			return err
		}
		if err := r.rest(client, reader); err != nil {
			return err
		}
	}
}

// rest waits until the task may have changed, or says why there is no use in waiting.
func (r *Runner) rest(client context.Context, reader *feed.Reader) error {
	timer := time.NewTimer(feed.Jitter(feed.PollEvery))
	defer timer.Stop()
	select {
	case <-reader.Wake():
	case <-timer.C:
	case <-client.Done():
		return context.Cause(client)
	case <-r.admission.closing:
		return budget.ErrBusy.With("the agent is shutting down")
	}
	return nil
}
