package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// taskWriter writes what a call does to its task. Callers of its functions must hold the lock of the task.
type taskWriter struct {
	c *call
	notes

	private     store.Private // but for what was saved
	queue       *pending      // pieces of artifacts; nil: there were none
	unconfirmed *write        // that the store has not answered: nothing else is written before it does; nil: none

	work      store.Call      // the call as the store has it
	epoch     int64           // under which it is run
	elsewhere bool            // another instance runs it, and its outcome is read from the store
	runsHere  atomic.Bool     // this instance runs the call: it must stop when the lease is lost
	auto      bool            // the task was created for the client's sake, not by the handler
	bound     bool            // the message knows its task
	inFlusher bool            // the flusher looks after the writers
	lent      *lent           // nil: nothing was needed
	said      time.Time       // of the first status: a task that is made with it, or just before it, is no younger
	next      *store.Snapshot // of the task, with the call that comes up when this one is over

	artifactIDs artifactIDs
	writers     []*artifactWriter // those that may have a piece that was not sent yet
	pieceErr    error             // why a piece was not stored, until the handler knows

	// The task as the sender gets it.
	wanted       store.View
	first        runtime.Task // at creation, or when the message was added
	firstVersion int64        // of first
	last         runtime.Task // when the call was over
	bytes        int          // about how long the later of first and last is as JSON
}

// ready makes sure that the task may still be changed by the handler, and stores the pieces of artifacts that go
// before.
func (t *taskWriter) ready() error {
	if err := t.open(); err != nil {
		return err
	}
	if t.c.handle.version == 0 {
		return t.confirm() // an earlier try may have made the task
	}
	return t.flush()
}

// lent is memory for what a call says, which nobody else keeps: it has it until it is over.
type lent struct {
	part [1]runtime.Part // the only part of what is being made
	then [2]store.Change // what follows the first event of a write, until the store has answered that
}

var allLent = sync.Pool{New: func() any { return new(lent) }}

// scratch is the memory that the call has.
func (t *taskWriter) scratch() *lent {
	if t.lent == nil {
		t.lent = allLent.Get().(*lent)
	}
	return t.lent
}

// sayFirst is say, once ready, also where it is the first thing that the handler says: then the task is made with it,
// in one write unless the sender or a webhook is to be told of both.
func (t *taskWriter) sayFirst(first runtime.State, e sized) error {
	if t.c.handle.version == 0 && (t.c.decided != nil || t.c.push != nil) {
		if err := t.create(first); err != nil {
			return err
		}
	}
	if t.c.handle.version != 0 {
		return t.say(e, nil)
	}
	return t.createWith(first, append(t.scratch().then[:0], e.Change), false)
}

// open reports why the handler may no longer say anything.
func (t *taskWriter) open() error {
	switch {
	case t.c.state >= ending || t.c.reply != nil:
		return ErrAnswered
	case t.c.ctx.Err() != nil:
		return t.c.ctx.Cause()
	}
	return nil
}

// create makes the task with the message that brought it (A2A 1.0 §3.4.2). It begins as working when the handler is at
// work, so that clients see that, unless first is StateSubmitted because another status follows at once.
func (t *taskWriter) create(first runtime.State) error { return t.createWith(first, nil, false) }

// createWith is create with what follows at once, which may end the call.
func (t *taskWriter) createWith(first runtime.State, then []store.Change, ends bool) error {
	if err := t.confirm(); err != nil || t.c.handle.version != 0 { // an earlier try has made it
		return err
	}
	now, id, contextID := t.c.r.Now(), t.c.taskID(), t.c.context()
	if !t.said.IsZero() {
		now = t.said
	}
	task := made(t.c.r, &t.c.ctx, t.c.r.Protocol.NewTask(id, contextID, now))
	t.bind()
	task.AddMessage(t.c.req.Message)
	if t.c.state == running && first == runtime.StateWorking {
		if err := task.Apply(made(t.c.r, &t.c.ctx, t.c.r.Protocol.NewStatus(id, contextID, runtime.StateWorking, nil, now))); err != nil {
			return err
		}
	}
	var view *store.View
	if ends || t.c.decided != nil {
		view = t.view()
	}
	if t.c.decided != nil {
		t.c.handle.ExpectReader() // by the stream that is about to begin
	}
	t.c.handle.key = store.Key{Owner: t.c.owner, Task: id}
	t.private.Skill, t.private.Input = t.c.skill.ID, t.c.input.Raw
	if len(t.c.r.Observers.List) != 0 && t.private.Trace == "" {
		t.private.Trace = t.c.r.Observers.Inject(t.c.ctx.request)
	}
	saved := t.unstored()
	if t.private.Saved = nil; saved != nil {
		t.private.Saved = *saved
	}
	if t.c.push != nil {
		t.c.setConfiguration()
	}
	t.work = store.Call{Input: t.c.input.Raw, Request: t.c.req}
	w := write{creates: true, ends: ends, view: view, saved: saved, create: store.New{
		Task: task, Then: then, Done: ends, Unread: !t.c.handle.WasRead(), Private: t.private, Size: store.SizeOfMessage(t.c.req.Message, t.c.parts), Stamp: newStamp(), Call: &t.work,
		Push: t.c.push, Repeat: t.c.repeat,
	}}
	err := t.commit(&w)
	if err != nil {
		t.c.err = err
		closeOnce(t.c.decided)
	}
	if t.mayExist() && t.c.state == arriving && !t.private.Asked { // there is no handler that would ask again
		t.retryUnconfirmed(t.c.handle.key, t.unconfirmed)
	}
	return err
}

// bind tells the message that brought the task, once, which task that is.
func (t *taskWriter) bind() {
	if !t.bound {
		t.bound = true
		t.c.req.Message.Bind(t.c.context(), t.c.taskID())
	}
}

// view is the view of the task that the sender asked for.
func (t *taskWriter) view() *store.View {
	t.wanted = store.View{History: t.c.req.HistoryLength, Artifacts: true}
	return &t.wanted
}

// status commits a status update, with a message unless there is nothing in it.
func (t *taskWriter) status(state runtime.State, said runtime.MessageData, view *store.View) error {
	if err := t.c.r.content.check(said.Parts); err != nil {
		return err
	}
	return t.say(t.newStatus(state, said), view)
}

// sized is an event with what it adds to its task. Its stamp stays the same however often the store is asked to take
// it.
type sized struct {
	store.Change
	stamp uint64
}

// state is what the event makes the task's.
func (e *sized) state() runtime.State {
	if e.Event == nil {
		return runtime.StateUnspecified
	}
	return e.Event.EventInfo().State
}

// newStatus makes a status update, with a message unless there is nothing in it.
func (t *taskWriter) newStatus(state runtime.State, said runtime.MessageData) sized {
	var size store.Size
	var m runtime.Message // untyped nil when nothing is said
	if len(said.Parts) > 0 {
		m = t.message(said, true)
		size = store.SizeOfMessage(m, said.Parts)
	}
	now := t.c.r.Now()
	if t.said.IsZero() {
		t.said = now
	}
	e := made(t.c.r, &t.c.ctx, t.c.r.Protocol.NewStatus(t.c.taskID(), t.c.context(), state, m, now))
	return sized{Change: store.Change{Event: e, Size: size}, stamp: newStamp()}
}

// newArtifact makes an artifact update.
func (t *taskWriter) newArtifact(data *runtime.ArtifactData) sized {
	e := made(t.c.r, &t.c.ctx, t.c.r.Protocol.NewArtifact(t.c.taskID(), t.c.context(), *data))
	return sized{Change: store.Change{Event: e, Size: store.SizeOfArtifact(data)}, stamp: newStamp()}
}

// say stores an event of the handler's, with what it saved meanwhile.
func (t *taskWriter) say(e sized, view *store.View) error {
	if err := t.writePending(); err != nil {
		return err
	}
	w := t.writeOf(e, view)
	return t.commit(&w)
}

// writeOf makes the write of an event of the handler's.
func (t *taskWriter) writeOf(e sized, view *store.View) write {
	saved := t.unstored()
	return write{view: view, saved: saved, update: store.Update{
		Event: e.Event, Size: e.Size, Stamp: e.stamp, Epoch: t.epoch, Saved: saved,
	}}
}

// message makes a message of the agent's. It names the task unless it is a plain answer (R304).
func (t *taskWriter) message(said runtime.MessageData, ofTask bool) runtime.Message {
	if said.ID == "" {
		said.ID = t.c.r.NewID()
	}
	said.ContextID, said.TaskID, said.User = t.c.context(), "", false
	for _, uri := range t.activated() {
		if !slices.Contains(said.Extensions, uri) {
			said.Extensions = append(slices.Clip(said.Extensions), uri)
		}
	}
	if ofTask {
		said.TaskID = t.c.taskID()
	}
	return made(t.c.r, &t.c.ctx, t.c.r.Protocol.NewMessage(said))
}

// report says that the task, which is ready, is being worked on. Callers must hold c.handle.mu.
func (t *taskWriter) report(m runtime.MessageData) error {
	if err := t.c.r.content.check(m.Parts); err != nil {
		return err
	}
	return t.sayFirst(runtime.StateSubmitted, t.newStatus(runtime.StateWorking, m))
}

// respond answers with a plain message, or ends with it the task that was only made for the client.
func (t *taskWriter) respond(m runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	t.c.handle.mu.Lock()
	defer t.c.handle.mu.Unlock()
	if err := t.open(); err != nil {
		return err
	}
	if err := t.c.r.content.check(m.Parts); err != nil {
		return err
	}
	if t.c.handle.version == 0 && t.private.ClientID || t.mayExist() { // 0.1 has no answers but tasks
		if err := t.create(runtime.StateSubmitted); err != nil {
			return err
		}
		t.auto = true
	}
	if t.c.handle.version != 0 {
		if !t.auto || t.c.resumed {
			return ErrTaskExists
		}
		said := t.message(m, true)
		e := made(t.c.r, &t.c.ctx, t.c.r.Protocol.NewStatus(t.c.taskID(), t.c.context(), runtime.StateCompleted, said, t.c.r.Now()))
		end := sized{Change: store.Change{Event: e, Size: store.SizeOfMessage(said, m.Parts)}, stamp: newStamp()}
		if err := t.say(end, nil); err != nil {
			return err
		}
		t.c.reply = said
		return nil
	}
	t.c.reply = t.message(m, false)
	closeOnce(t.c.decided)
	return nil
}

// content checks what a handler says: it must be sayable in every version and every binding (docs/decisions/02), so that no
// reader of a task fails on it later.
type content struct {
	most    int // bytes of one message or artifact chunk
	nesting int // how deep data may be, as [wire.Portable] counts; 0: as deep as is read
}

// errEmpty: what A2A sends has content (R35, R305).
var errEmpty = errors.New("a message or an artifact has at least one part")

// check refuses parts that cannot be sent.
func (k content) check(parts []runtime.Part) error {
	size := 0
	for i := range parts {
		p := &parts[i]
		size += len(p.Text) + len(p.Raw) + len(p.URL) + len(p.Data)
	}
	if size > k.most {
		return ErrTooLarge
	}
	return k.checkParts(parts)
}

// checkParts refuses parts of a handler that could be stored, but not said in every binding.
func (k content) checkParts(parts []runtime.Part) error {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case runtime.PartUnknown:
			return fmt.Errorf("part %d cannot be sent: %s", i, p.Text)
		case runtime.PartOther:
			return fmt.Errorf("part %d cannot be sent: its content is of a kind that only the generated types have", i)
		}
		if p.Kind == runtime.PartData {
			if err := k.sayable(p.Data); err != nil {
				return fmt.Errorf("part %d cannot be sent: data: %w", i, err)
			}
		}
		if len(p.Metadata) == 0 {
			continue
		}
		if err := k.checkMetadata(p.Metadata); err != nil {
			return fmt.Errorf("part %d cannot be sent: %w", i, err)
		}
	}
	return nil
}

// checkMessage refuses a message of a handler that cannot be sent, but for its parts.
func (k content) checkMessage(m *runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	return k.checkMetadata(m.Metadata)
}

// checkMetadata is checkParts for metadata, which have to be a JSON object.
func (k content) checkMetadata(o wire.Object) error {
	if err := k.sayable(o); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	if kind := wire.Value(o).Kind(); kind != wire.KindNone && kind != wire.KindObject {
		return fmt.Errorf("metadata: not an object")
	}
	return nil
}

// sayable reports why raw JSON of a handler cannot be sent. None is null, or no metadata.
func (k content) sayable(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if err := wire.Valid(raw); err != nil {
		return err
	}
	return wire.Portable(raw, k.nesting)
}

// made shows a new value of the protocol to the agent's hooks, and returns it.
func made[T any](r *Runner, ctx context.Context, v T) T {
	for _, hook := range r.Made {
		hook(ctx, v)
	}
	return v
}
