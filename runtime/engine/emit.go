package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// What a handler's call does to its task. Every function here wants the lock of c.live.

// ensure makes sure that the task exists and may still be changed by the handler. A task made now begins as create
// says.
func (c *Call) ensure(first runtime.State) error {
	if err := c.open(); err != nil {
		return err
	}
	if c.live.version != 0 {
		return c.flush()
	}
	return c.create(first)
}

// open reports why the handler may no longer say anything.
func (c *Call) open() error {
	switch {
	case c.state >= ending || c.reply != nil:
		return ErrAnswered
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	}
	return nil
}

// create makes the task with the message that brought it (A2A 1.0 §3.4.2). It begins as working when the handler is at
// work, so that clients see that, unless first is StateSubmitted because another status follows at once.
func (c *Call) create(first runtime.State) error {
	now, id, contextID := c.e.now(), c.taskID(), c.context()
	task := c.newTask(id, contextID, now)
	c.bind()
	task.AddMessage(c.req.Message)
	if c.state == running && first == runtime.StateWorking {
		if err := task.Apply(c.e.newStatus(c.ctx, id, contextID, runtime.StateWorking, nil, now)); err != nil {
			return err
		}
	}
	var view *store.View
	if c.decided.armed() {
		view = c.view()
		c.live.read = true // by the stream that is about to begin
	}
	c.live.key = store.Key{Owner: c.owner, Task: id}
	c.private.Skill, c.private.Input = c.skill.ID, c.input.raw
	var snap store.Snapshot
	err := c.retry(func() (err error) {
		snap, err = c.store(task, view)
		return err
	})
	if err != nil {
		c.err = err
		c.decided.fire()
		return err
	}
	c.unsaved, c.err = false, nil
	c.live.version, c.live.run = snap.Version, c
	c.e.register(c.live)
	c.e.beat.start()
	c.first, c.firstVersion, c.bytes = snap.Task, snap.Version, snap.Bytes
	c.decided.fire()
	return nil
}

// store puts a new task into the store. When an earlier try failed there, the task may be in it all the same.
func (c *Call) store(task runtime.Task, view *store.View) (store.Snapshot, error) {
	n := store.New{Task: task, Private: c.private, Size: store.SizeOfMessage(c.req.Message, c.parts), Push: c.configuration()}
	snap, err := c.e.store.Create(context.Background(), c.live.key, n, view)
	if errors.Is(err, store.ErrExists) && c.unsure {
		if view == nil {
			view = &store.View{History: new(int)}
		}
		snap, err = c.e.store.Get(context.Background(), c.live.key, *view)
	}
	c.unsure = c.unsure || store.Unsure(err)
	return snap, err
}

// bind tells the message that brought the task, once, which task that is.
func (c *Call) bind() {
	if !c.bound {
		c.bound = true
		c.req.Message.Bind(c.context(), c.taskID())
	}
}

// view is how the sender of the message wants to see the task.
func (c *Call) view() *store.View {
	c.wanted = store.View{History: c.req.HistoryLength, Artifacts: true}
	return &c.wanted
}

// status commits a status update, with a message unless there is nothing in it.
func (c *Call) status(state runtime.State, said runtime.MessageData, view *store.View) error {
	if err := c.check(said.Parts); err != nil {
		return err
	}
	return c.commit(c.newStatus(state, said), view)
}

// artifact commits an artifact update.
func (c *Call) artifact(data runtime.ArtifactData) error {
	if err := c.check(data.Parts); err != nil {
		return err
	}
	return c.commit(c.newArtifact(&data), nil)
}

// sized is an event with what it adds to its task.
type sized struct {
	runtime.Event
	size store.Size
}

// newStatus makes a status update, with a message unless there is nothing in it.
func (c *Call) newStatus(state runtime.State, said runtime.MessageData) sized {
	var e sized
	m := c.messageOrNone(said)
	if m != nil {
		e.size = store.SizeOfMessage(m, said.Parts)
	}
	e.Event = c.e.newStatus(c.ctx, c.taskID(), c.context(), state, m, c.e.now())
	return e
}

// newArtifact makes an artifact update.
func (c *Call) newArtifact(data *runtime.ArtifactData) sized {
	return sized{c.e.newArtifact(c.ctx, c.taskID(), c.context(), *data), store.SizeOfArtifact(data)}
}

// commit applies an event to the task, with what the handler saved meanwhile.
func (c *Call) commit(e sized, view *store.View) error {
	return c.retry(func() error { return c.try(e, view) })
}

// try is commit, once.
func (c *Call) try(e sized, view *store.View) error {
	u := store.Update{Event: e.Event, Size: e.size}
	if c.unsaved {
		u.Saved = &c.private.Saved
	}
	snap, err := c.live.commit(c.e, u, view)
	if errors.Is(err, store.ErrConflict) {
		c.cancel(errLost)
		return errLost
	}
	if err != nil {
		return err
	}
	c.unsaved = false
	if view != nil {
		c.last, c.bytes = snap.Task, snap.Bytes
	}
	return nil
}

// message makes a message of the agent'e. It names the task unless it is a plain answer (R304).
func (c *Call) message(said runtime.MessageData, ofTask bool) runtime.Message {
	if said.ID == "" {
		said.ID = c.e.ids.next()
	}
	said.ContextID, said.TaskID, said.User = c.context(), "", false
	if ofTask {
		said.TaskID = c.taskID()
	}
	return c.newMessage(said)
}

// messageOrNone makes the message of a status, an untyped nil when nothing is said.
func (c *Call) messageOrNone(said runtime.MessageData) runtime.Message {
	if len(said.Parts) == 0 {
		return nil
	}
	return c.message(said, true)
}

// check refuses parts that cannot be sent.
func (c *Call) check(parts []runtime.Part) error {
	size := 0
	for i := range parts {
		p := &parts[i]
		if p.Kind == runtime.PartUnknown {
			return fmt.Errorf("part %d cannot be sent: %s", i, p.Text)
		}
		size += len(p.Text) + len(p.Raw) + len(p.URL) + len(p.Data)
	}
	if size > c.e.limits.Event {
		return ErrTooLarge
	}
	return nil
}
