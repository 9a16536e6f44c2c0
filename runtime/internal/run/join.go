package run

import (
	"errors"
	"strconv"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
)

// turn says when the call of a message that continues a task has its turn.
type turn uint8

const (
	noTurn     turn = iota // there is no call
	atOnce                 // nobody is at work on the task
	inLine                 // behind the calls that wait here
	withOthers             // the task is run by another instance
)

// follow continues a task (A2A 1.0 §3.4.2, §3.4.3).
func (a *arrival) follow(m *Message) error {
	r, c := a.r, a.c
	if err := r.admission.admit(c); err != nil {
		return err
	}
	h := r.tasks.use(store.Key{Owner: m.Owner, Task: a.info.TaskID})
	c.handle, c.resumed = h, true
	c.set(a.info.TaskID, "")
	when, err := a.join(m)
	switch when {
	case atOnce:
		c.launch(m.Wait)
	case noTurn, withOthers:
		c.refuse()
		r.tasks.drop(h)
	}
	return err
}

// join adds the message to its task and makes its call the task's next.
func (a *arrival) join(m *Message) (when turn, err error) {
	c := a.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	err = decide(func() error {
		when, err = a.joinOnce(m)
		return err
	})
	if when == inLine {
		c.state, c.input.Value = queued, nil // it may wait for long
		if m.Wait {
			c.done = make(chan struct{})
		}
		c.handle.queue = append(c.handle.queue, c)
	}
	return when, err
}

// joinOnce decides on the task as it stands. Callers must hold the lock of c.handle.
func (a *arrival) joinOnce(m *Message) (turn, error) {
	r, c, info := a.r, a.c, &a.info
	snap, err := c.handle.load(r, store.View{History: new(int)})
	if err != nil {
		return noTurn, err // R60: also for a foreign task (R34, R39)
	}
	if m.Permit != nil {
		if err := m.Permit(snap.Private.Skill); err != nil {
			return noTurn, err
		}
	}
	now := snap.Task.TaskInfo()
	switch {
	case info.ContextID != "" && info.ContextID != now.ContextID:
		return noTurn, invalid.Field("message.contextId", "is not the context of the task") // R62
	case m.Request.IfGenerationMatch != nil && *m.Request.IfGenerationMatch != snap.Version:
		return noTurn, a.mismatch(m, snap.Version)
	case !taskstate.May(now.State, taskstate.Message, runtime.StateWorking):
		if err := a.cameAgain(m); err != nil {
			return noTurn, err
		}
		return noTurn, runtime.ErrUnsupportedOperation.
			With("the task has ended, send a message without a task id").WithMetadata("taskId", now.ID)
	}
	c.set(now.ID, now.ContextID) // R61
	c.task.private = snap.Private
	if c.skill = r.Skills.byID[snap.Private.Skill]; c.skill == nil {
		return noTurn, runtime.ErrUnsupportedOperation.With("the skill of the task is no longer offered")
	}
	if err := c.skill.routed.CheckModes(m.Parts, m.Request.AcceptedOutputModes); err != nil {
		return noTurn, err
	}
	in, missing := route.Input{Raw: snap.Private.Input}, []runtime.Part(nil)
	if !now.State.Interrupted() || !passedOn(snap.Private.Saved) { // else the message is for the agent that asked
		in, missing, err = c.skill.routed.FollowUp(c.ctx.request, snap.Private.Input, snap.Private.Asked, m.Parts)
	}
	if err != nil {
		return noTurn, err
	}
	c.input, c.task.private.Input = in, in.Raw
	if missing != nil {
		if _, err = a.addMessage(m, snap.Version, runtime.StateInputRequired, missing, nil); err == nil {
			c.task.last, c.state = c.task.first, over
		}
		return noTurn, err
	}
	queued := int64(len(in.Raw)) // each call has an input of its own: a short message may be merged over a long one
	for _, q := range c.handle.queue {
		queued += int64(len(q.input.Raw))
	}
	if c.handle.run != nil && queued > r.Limits.Queue {
		return noTurn, budget.ErrBusy.With("too many messages wait for their turn in the task, try again later").
			WithMetadata("taskId", now.ID)
	}
	return a.takeTurn(m, snap.Version)
}

// takeTurn adds the message and its call to the task, if that is as it was at the version.
func (a *arrival) takeTurn(m *Message, version int64) (turn, error) {
	c := a.c
	c.task.private.Asked = false
	c.task.work = store.Call{Input: c.input.Raw, Request: c.req}
	snap, err := a.addMessage(m, version, runtime.StateWorking, nil, &c.task.work)
	h := c.handle
	switch {
	case err != nil:
		return noTurn, err
	case snap.Run != nil:
		h.revoke(ErrLost) // it went on here without the store's consent
		h.run = c
		c.begins(&snap)
		return atOnce, nil
	case h.run != nil && h.run.task.epoch == snap.Epoch && h.run.task.work.N < c.task.work.N:
		return inLine, nil
	}
	c.task.elsewhere = true
	return withOthers, nil
}

// addMessage commits the client's message together with a status. The status goes first: the question that it replaces
// belongs before the answer in the history.
func (a *arrival) addMessage(
	m *Message, version int64, state runtime.State, parts []runtime.Part, work *store.Call,
) (snap store.Snapshot, err error) {
	c := a.c
	c.req.Message.Bind(c.context(), c.taskID())
	var question runtime.Message
	if len(parts) > 0 {
		question = c.task.message(runtime.MessageData{Parts: parts}, true)
	}
	if c.decided != nil {
		c.handle.ExpectReader() // by the stream that is about to begin
	}
	if c.push != nil {
		c.setConfiguration()
	}
	w := write{expect: version, view: c.task.view(), update: store.Update{
		Event:    made(c.r, &c.ctx, c.r.Protocol.NewStatus(c.taskID(), c.context(), state, question, c.r.Now())),
		Messages: []runtime.Message{c.req.Message},
		Input:    &c.task.private.Input,
		Asked:    &c.task.private.Asked,
		Push:     c.push,
		Repeat:   m.Repeat,
		Stamp:    newStamp(),
		Call:     work,
	}}
	switch c.handle.commit(c.r, &c.ctx, &w) {
	case unconfirmed:
		if work != nil && w.perhaps {
			c.task.retryUnconfirmed(c.handle.key, w.copy())
		}
		return snap, w.err
	case refused, lost:
		return snap, w.err
	}
	snap = w.snap
	c.task.first, c.task.firstVersion, c.task.last, c.task.bytes = snap.Task, snap.Version, nil, snap.Bytes
	closeOnce(c.decided)
	return snap, nil
}

// mismatch is the error for a message whose task has another generation than its sender says, unless it came before: what
// changed the task may be that message. One whose generation is right is added at that version, by the rules of the store,
// or is decided on anew: of two senders that have seen the same task one gets this error, wherever they are served.
func (a *arrival) mismatch(m *Message, generation int64) error {
	if err := a.cameAgain(m); err != nil {
		return err
	}
	return runtime.ErrTaskGenerationMismatch.
		With("the task has generation %d, not %d: get it before you send the message again", generation, *m.Request.IfGenerationMatch).
		WithMetadata("taskId", a.info.TaskID).WithMetadata("generation", strconv.FormatInt(generation, 10))
}

// cameAgain returns a [store.Repeated] if a message that its task cannot take came before: what ended or changed the task may
// be that message. Another error says that the store cannot tell. The update expects a version that no task has, so that it
// is never made.
func (a *arrival) cameAgain(m *Message) error {
	if m.Repeat == nil {
		return nil
	}
	_, err := a.addMessage(m, 0, runtime.StateWorking, nil, nil)
	if again, ok := errors.AsType[*store.Repeated](err); ok {
		return again
	}
	if err != nil && unanswered(err) {
		return err
	}
	return nil
}
