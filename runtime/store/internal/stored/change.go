package stored

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Change is a new task, or an update of one, on its way into a store: what is encoded of it, what the rules are asked, and
// what they answer.
type Change struct {
	U       *store.Update  // of a new task: what comes with it
	New     *store.New     // nil: the change is an update
	Changes []store.Change // the events, of a new task those after it
	Rules   taskstate.Update
	Log     []Entry
	At      int64  // time of the status, if there is a new one
	Head    []byte // the task without history and artifacts, if there is a new status
	Config  []byte // push configuration
	Request []byte // of the call
	Ticket  []byte // request of the ticket
	// Next is what the task becomes, once it was asked.
	Next    Meta
	Effects taskstate.Effects
}

// ForNew makes the change of a new task by an instance.
func ForNew(k *Codec, n *store.New, by int32) *Change {
	c := &Change{New: n, Changes: n.Then}
	c.U = &store.Update{Then: n.Then, Stamp: n.Stamp, Call: n.Call, Push: n.Push, Repeat: n.Repeat, Unread: n.Unread}
	c.Rules = taskstate.Update{By: by, Stamp: n.Stamp, Call: n.Call != nil}
	if n.Done {
		c.Rules.Done = 1
	}
	c.prepare(k, n.Task.View(new(int), false))
	return c
}

// ForUpdate makes the change of a task by an instance. after is the task without history and artifacts, and is changed.
func ForUpdate(k *Codec, u *store.Update, expect int64, by int32, after runtime.Task) *Change {
	c := &Change{U: u, Changes: append([]store.Change{{Event: u.Event, Messages: u.Messages, Size: u.Size}}, u.Then...)}
	c.Rules = taskstate.Update{
		By: by, Expect: expect, Epoch: u.Epoch, Stamp: u.Stamp, Done: u.Done, Call: u.Call != nil, Redeem: u.Redeem != nil,
		Ticket: u.Ticket != nil,
	}
	c.prepare(k, after)
	return c
}

// prepare encodes the change and finds out whether its events fit the task.
func (c *Change) prepare(k *Codec, after runtime.Task) {
	c.Rules.Facts = &taskstate.Facts{Unfit: c.encode(k, after)}
	if p := c.U.Push; p != nil {
		c.Rules.Push = &taskstate.Push{Bad: p.Check(), Max: p.Max}
	}
}

func (c *Change) encode(k *Codec, after runtime.Task) (err error) {
	if err := c.encodeEvents(k, after); err != nil {
		return err
	}
	u := c.U
	if c.newStatus() {
		if c.Head, err = k.Head(after); err != nil {
			return err
		}
		c.At = after.TaskInfo().At.UnixNano()
	}
	if u.Call != nil {
		if c.Request, err = k.Request(u.Call.Request); err != nil {
			return err
		}
	}
	if u.Ticket != nil {
		if c.Ticket, err = k.Request(u.Ticket.Request); err != nil {
			return err
		}
	}
	if u.Push != nil {
		c.Config, err = EncodePush(u.Push)
	}
	return err
}

// encodeEvents makes the rows of the log, and applies the events to the task.
func (c *Change) encodeEvents(k *Codec, task runtime.Task) error {
	if c.New != nil {
		if err := c.append(k, c.New.Task, nil, c.New.Size); err != nil {
			return err
		}
	}
	for i := range c.Changes {
		one := &c.Changes[i]
		if err := c.append(k, one.Event, one.Messages, one.SizeOf()); err != nil {
			return err
		}
		if err := task.Apply(one.Event); err != nil {
			return fmt.Errorf("%w: %w", store.ErrUnfit, err)
		}
	}
	return nil
}

// append adds an event to the log.
func (c *Change) append(k *Codec, e runtime.Event, messages []runtime.Message, size store.Size) error {
	if c.Rules.Events == nil {
		c.Rules.Events = make([]taskstate.Event, 0, len(c.Changes)+1)
	}
	info := e.EventInfo()
	c.Rules.Events = append(c.Rules.Events, taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(size)})
	if n := len(c.Log); n == 0 || c.Log[n-1].Messages != nil {
		c.Log = append(c.Log, Entry{})
	}
	last := &c.Log[len(c.Log)-1]
	if err := last.add(k, e, len(c.Changes)); err != nil {
		return err
	}
	var err error
	last.Messages, err = k.Messages(messages)
	return err
}

// newStatus reports whether the change brings a status: the first one, or an update of it.
func (c *Change) newStatus() bool {
	return slices.ContainsFunc(c.Rules.Events, func(e taskstate.Event) bool { return e.Kind != runtime.EventArtifact })
}

// Ask fills in the part of the next version that the rules do not decide on, and what they must know of the content. was
// and task are what the task is now; of a new one, what it starts with. Facts of other rows are for the store to fill in.
func (c *Change) Ask(was *Meta, task runtime.Task) {
	u, r, m := c.U, &c.Rules, &c.Next
	*m = *was
	if u.Input != nil {
		m.Input = *u.Input
	}
	if u.Saved != nil {
		m.Saved = *u.Saved
	}
	if u.Asked != nil {
		m.Asked = *u.Asked
	}
	if r.Ends() {
		m.Input, m.Saved = nil, nil
	}
	if c.Head != nil {
		m.At, m.Head = c.At, int64(len(c.Head))
	}
	for i := range c.Log {
		m.Log += c.Log[i].Bytes()
		m.Since += c.Log[i].Bytes()
	}
	r.Private, r.Log = m.PrivateBytes(), c.logged(&was.State)
	if c.New != nil {
		task = c.New.Task
	}
	if r.Call || r.Done != 0 {
		r.Artifacts = u.Artifacts(task)
	}
}

// logged is how many bytes the log takes after the change of a task that was in a state.
func (c *Change) logged(was *taskstate.State) int {
	content := was.Messages.Held() + was.Artifacts.Held()
	for i := range c.Rules.Events {
		content += c.Rules.Events[i].Size.Held()
	}
	return c.Next.beside(content, was.Version+int64(len(c.Rules.Events)))
}

// Decide asks the rules. If the task is too large it counts the artifacts anew, some of which may have been replaced, and
// asks again.
func (c *Change) Decide(was *Meta, task runtime.Task, now int64, limits *taskstate.Limits) (err error) {
	if c.New != nil {
		c.Effects, err = taskstate.Create(&c.Next.State, &c.Rules, now, limits)
		return err
	}
	if c.Effects, err = was.Apply(&c.Next.State, &c.Rules, now, limits); errors.Is(err, store.ErrTooLarge) {
		counted := was.State
		counted.Artifacts = recountArtifacts(task)
		c.Rules.Log = c.logged(&counted)
		c.Effects, err = counted.Apply(&c.Next.State, &c.Rules, now, limits)
	}
	return err
}

// Charge reports whether the account is to be charged anew, and if so for how much more. Then Next.Charged is to become
// Effects.Held.
func (c *Change) Charge(was *Meta, limits *taskstate.Limits) (more taskstate.Holding, ok bool) {
	if !c.Effects.Charge(int(was.Charged), limits) {
		return more, false
	}
	more.Bytes = int64(c.Effects.Held) - was.Charged
	if was.Version == 0 {
		more.Tasks = 1
	}
	return more, true
}

// leastLog is how many bytes of events come before the first body of a task: less is read from the log as fast.
const leastLog = 64 << 10

// Body returns the body of the task after the change when one is due, so that bodies cost about as much as the events and a
// reader reads at most twice the task; nil: it is not. Next then says that it has it.
func (c *Change) Body(k *Codec, task runtime.Task) []byte {
	m := &c.Next
	if m.Since < max(leastLog, m.Body) {
		return nil
	}
	after := task.View(nil, true)
	for i := range c.Changes {
		if err := c.Changes[i].Apply(after); err != nil {
			return nil // it fitted when it was prepared
		}
	}
	doc, err := k.Append(nil, after)
	if err != nil {
		return nil // the log has it all: there is only more to read
	}
	m.Snapshot, m.Since, m.Body = m.Version, 0, int64(len(doc))
	return doc
}

// Trim says up to which event the log must be trimmed, unless those are at most least; 0: it must not.
func (m *Meta) Trim(events int, bytes int64) (upTo, least int64) {
	kept, keep := m.Version-m.Oldest, int64(events)
	switch {
	case kept > keep+keep/4:
		return m.Version - keep, keep / 8
	case m.Log > 2*bytes && m.Snapshot == m.Version:
		return m.Version, 0
	}
	return 0, 0
}

// Publish makes the row what the change has made of it, once that is stored. An error says that an event did not fit, though
// it did when it was prepared: the row is then wrong. Callers must hold r.Mu.
func (c *Change) Publish(k *Codec, r *Row) (err error) {
	seq := r.Meta.Version
	for i := range c.Log {
		for j := range c.Log[i].ends {
			if seq++; seq == 1 { // the task itself
				continue
			}
			change := &c.Changes[len(c.Changes)-int(c.Next.Version-seq)-1]
			err = cmp.Or(err, change.Apply(r.Task))
			if !c.U.Unread {
				r.Append(k.Record(seq, change.Event, c.Log[i].At(j)))
			}
		}
	}
	if c.U.Unread {
		r.Tail = nil
	}
	r.Meta = c.Next
	return err
}
