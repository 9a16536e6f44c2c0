package engine

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// What a handler's call does to its task. Callers of these functions must hold c.live.mu.

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
	if err := c.confirm(); err != nil || c.live.version != 0 { // an earlier try has made it
		return err
	}
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
		c.live.read.Store(true) // by the stream that is about to begin
	}
	c.live.key = store.Key{Owner: c.owner, Task: id}
	c.private.Skill, c.private.Input = c.skill.ID, c.input.Raw
	if !c.e.observers.None() && c.private.Trace == "" {
		c.private.Trace = c.e.observers.Inject(c.base.ctx)
	}
	saved := c.pending()
	if c.private.Saved = nil; saved != nil {
		c.private.Saved = *saved
	}
	c.work = store.Call{Input: c.input.Raw, Request: c.req}
	w := write{creates: true, view: view, saved: saved, create: store.New{
		Task: task, Private: c.private, Size: store.SizeOfMessage(c.req.Message, c.parts), Stamp: newStamp(), Call: &c.work,
		Push: c.configuration(), Repeat: c.repeat,
	}}
	err := c.commit(&w)
	if err != nil {
		c.err = err
		c.decided.fire()
	}
	if c.mayExist() && c.state == arriving && !c.private.Asked { // there is no handler that would ask again
		c.retryUnconfirmed(c.live.key, c.unconfirmed)
	}
	return err
}

// created notes the task that was made. It may be somebody else's by now, if the answer is late.
func (c *Call) created(snap *store.Snapshot) error {
	c.live.version = snap.Version
	c.e.register(c.live)
	c.e.beat.start()
	c.first, c.firstVersion, c.bytes = snap.Task, snap.Version, snap.Bytes
	if snap.Run == nil {
		return c.lose()
	}
	c.err, c.live.run = nil, c
	c.holds(snap)
	c.decided.fire()
	return nil
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
	return c.say(c.newStatus(state, said), view)
}

// artifact commits an artifact update, whose parts have been checked.
func (c *Call) artifact(data runtime.ArtifactData) error {
	return c.say(c.newArtifact(&data), nil)
}

// sized is an event with what it adds to its task. Its stamp stays the same however often the store is asked to take it.
type sized struct {
	runtime.Event
	size  store.Size
	stamp uint64
	done  int64 // the call that it ends
	// ticket goes on with the task that waits by then; nil: none.
	ticket *store.Ticket
}

// state is what the event makes the task's.
func (e *sized) state() runtime.State {
	if e.Event == nil {
		return runtime.StateUnspecified
	}
	return e.EventInfo().State
}

func stamped(e runtime.Event, size store.Size) sized {
	return sized{Event: e, size: size, stamp: newStamp()}
}

// newStatus makes a status update, with a message unless there is nothing in it.
func (c *Call) newStatus(state runtime.State, said runtime.MessageData) sized {
	var size store.Size
	m := c.messageOrNone(said)
	if m != nil {
		size = store.SizeOfMessage(m, said.Parts)
	}
	return stamped(c.e.newStatus(c.ctx, c.taskID(), c.context(), state, m, c.e.now()), size)
}

// newArtifact makes an artifact update.
func (c *Call) newArtifact(data *runtime.ArtifactData) sized {
	return stamped(c.e.newArtifact(c.ctx, c.taskID(), c.context(), *data), store.SizeOfArtifact(data))
}

// say stores an event of the handler's, with what it saved meanwhile.
func (c *Call) say(e sized, view *store.View) error {
	w := c.writeOf(e, view)
	return c.commit(&w)
}

// writeOf makes the write of an event of the handler's.
func (c *Call) writeOf(e sized, view *store.View) write {
	saved := c.pending()
	return write{view: view, saved: saved, update: store.Update{
		Event: e.Event, Size: e.size, Stamp: e.stamp, Epoch: c.epoch, Done: e.done, Saved: saved, Ticket: e.ticket,
	}}
}

// message makes a message of the agent's. It names the task unless it is a plain answer (R304).
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
		size += len(p.Text) + len(p.Raw) + len(p.URL) + len(p.Data)
	}
	if size > c.e.limits.Event {
		return ErrTooLarge
	}
	return c.e.checkParts(parts)
}
