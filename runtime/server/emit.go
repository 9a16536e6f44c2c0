package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// What a handler's call does to its task. Every function here wants the lock of t.l.

// ensure makes sure that the task exists and may still be changed by the handler. A task made now begins as create says.
func (t *Task) ensure(first runtime.State) error {
	if err := t.open(); err != nil {
		return err
	}
	if t.l.version != 0 {
		return t.flush()
	}
	return t.create(first)
}

// open reports why the handler may no longer say anything.
func (t *Task) open() error {
	switch {
	case t.over || t.reply != nil:
		return ErrAnswered
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	}
	return nil
}

// create makes the task with the message that brought it (A2A 1.0 §3.4.2). It begins as working when the handler is at work, so that clients see that,
// unless first is StateSubmitted because another status follows at once.
func (t *Task) create(first runtime.State) error {
	now, id, contextID := t.s.now(), t.taskID(), t.context()
	task := t.newTask(id, contextID, now)
	t.bind()
	task.AddMessage(t.req.Message)
	if t.working && first == runtime.StateWorking {
		if err := task.Apply(t.s.newStatus(t.ctx, id, contextID, runtime.StateWorking, nil, now)); err != nil {
			return err
		}
	}
	var view *store.View
	if t.decided != nil {
		view = t.view()
		t.l.read = true // by the stream that is about to begin
	}
	t.l.key = store.Key{Owner: t.owner, Task: id}
	t.private.Skill, t.private.Input = t.skill.ID, t.input
	var snap store.Snapshot
	err := t.retry(func() (err error) {
		snap, err = t.store(task, view)
		return err
	})
	if err != nil {
		t.err = err
		t.decide()
		return err
	}
	t.unsaved, t.err = false, nil
	t.l.version, t.l.run = snap.Version, t
	t.s.register(t.l)
	t.s.beat.start()
	t.first, t.firstVersion, t.bytes = snap.Task, snap.Version, snap.Bytes
	t.decide()
	return nil
}

// store puts a new task into the store. When an earlier try failed there, the task may be in it all the same.
func (t *Task) store(task runtime.Task, view *store.View) (store.Snapshot, error) {
	n := store.New{Task: task, Private: t.private, Size: store.SizeOfMessage(t.req.Message, t.parts)}
	snap, err := t.s.store.Create(context.Background(), t.l.key, n, view)
	if errors.Is(err, store.ErrExists) && t.unsure {
		if view == nil {
			view = &store.View{History: new(int)}
		}
		snap, err = t.s.store.Get(context.Background(), t.l.key, *view)
	}
	t.unsure = t.unsure || store.Unsure(err)
	return snap, err
}

// bind tells the message that brought the task, once, which task that is.
func (t *Task) bind() {
	if !t.bound {
		t.bound = true
		t.req.Message.Bind(t.context(), t.taskID())
	}
}

// view is how the sender of the message wants to see the task.
func (t *Task) view() *store.View {
	t.wanted = store.View{History: t.req.HistoryLength, Artifacts: true}
	return &t.wanted
}

// decide tells a waiting sender that it is clear what the call comes to.
func (t *Task) decide() {
	if t.isDecided {
		return
	}
	t.isDecided = true
	if t.decided != nil {
		close(t.decided)
	}
}

// status commits a status update, with a message unless there is nothing in it.
func (t *Task) status(state runtime.State, said runtime.MessageData, view *store.View) error {
	if err := t.check(said.Parts); err != nil {
		return err
	}
	return t.commit(t.newStatus(state, said), view)
}

// artifact commits an artifact update.
func (t *Task) artifact(data runtime.ArtifactData) error {
	if err := t.check(data.Parts); err != nil {
		return err
	}
	return t.commit(t.newArtifact(&data), nil)
}

// sized is an event with what it adds to its task.
type sized struct {
	runtime.Event
	size store.Size
}

// newStatus makes a status update, with a message unless there is nothing in it.
func (t *Task) newStatus(state runtime.State, said runtime.MessageData) sized {
	var e sized
	m := t.messageOrNone(said)
	if m != nil {
		e.size = store.SizeOfMessage(m, said.Parts)
	}
	e.Event = t.s.newStatus(t.ctx, t.taskID(), t.context(), state, m, t.s.now())
	return e
}

// newArtifact makes an artifact update.
func (t *Task) newArtifact(data *runtime.ArtifactData) sized {
	return sized{t.s.newArtifact(t.ctx, t.taskID(), t.context(), *data), store.SizeOfArtifact(data)}
}

// commit applies an event to the task, with what the handler saved meanwhile.
func (t *Task) commit(e sized, view *store.View) error {
	return t.retry(func() error { return t.try(e, view) })
}

// try is commit, once.
func (t *Task) try(e sized, view *store.View) error {
	u := store.Update{Event: e.Event, Size: e.size}
	if t.unsaved {
		u.Saved = &t.private.Saved
	}
	snap, err := t.l.commit(t.s, u, view)
	if errors.Is(err, store.ErrConflict) {
		t.cancel(errLost)
		return errLost
	}
	if err != nil {
		return err
	}
	t.unsaved = false
	if view != nil {
		t.last, t.bytes = snap.Task, snap.Bytes
	}
	return nil
}

// message makes a message of the agent's. It names the task unless it is a plain answer (R304).
func (t *Task) message(said runtime.MessageData, ofTask bool) runtime.Message {
	if said.ID == "" {
		said.ID = t.s.ids.next()
	}
	said.ContextID, said.TaskID, said.User = t.context(), "", false
	if ofTask {
		said.TaskID = t.taskID()
	}
	return t.newMessage(said)
}

// messageOrNone makes the message of a status, an untyped nil when nothing is said.
func (t *Task) messageOrNone(said runtime.MessageData) runtime.Message {
	if len(said.Parts) == 0 {
		return nil
	}
	return t.message(said, true)
}

// check refuses parts that cannot be sent.
func (t *Task) check(parts []runtime.Part) error {
	size := 0
	for i := range parts {
		p := &parts[i]
		if p.Kind == runtime.PartUnknown {
			return fmt.Errorf("part %d cannot be sent: %s", i, p.Text)
		}
		size += len(p.Text) + len(p.Raw) + len(p.URL) + len(p.Data)
	}
	if size > t.s.limits.Event {
		return ErrTooLarge
	}
	return nil
}
