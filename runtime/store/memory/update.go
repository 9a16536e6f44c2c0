package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// slack is by how much a task may grow before the index is told: it is not worth a lock for every chunk of text.
const slack = 4 << 10

// mostEvents is for how many events of an update no memory is allocated.
const mostEvents = 3

// change is a new task, or an update of one, on its way into its row.
type change struct {
	*store.Update                // of a new task: what comes with it
	by            *life          // who makes it
	events        []store.Change // of a new task those after it
	log           logging
	was           int32 // instance that ran the task before
	rules         taskstate.Update
	next          taskstate.State
	effects       taskstate.Effects
}

// logging is what becomes of a log with a change.
type logging uint8

const (
	continued logging = iota
	anew              // it begins with the change: what came before has no room in the task, its readers get that anew
	none              // nobody reads it
)

// Create implements [store.Store].
func (m *Store) Create(_ context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	r := &row{id: key.Task, task: n.Task, Private: n.Private}
	u := store.Update{Then: n.Then, Call: n.Call, Push: n.Push, Repeat: n.Repeat, Unread: n.Unread && n.Push == nil}
	c := change{Update: &u, by: m.life.Load(), events: n.Then}
	var facts taskstate.Facts
	var space [mostEvents]taskstate.Event
	c.rules.By, c.rules.Stamp, c.rules.Call, c.rules.Facts = c.by.number, n.Stamp, n.Call != nil, &facts
	c.rules.Events = append(space[:0], make([]taskstate.Event, 1+len(n.Then))...)
	c.rules.Events[0] = taskstate.Event{Kind: runtime.EventTask, Size: taskstate.Size(n.Size)}
	if n.Done {
		c.rules.Done = 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old, err := m.create(key, r, &c)
	if old != nil {
		return old.again(c.by, n.Stamp, view)
	}
	if err != nil {
		return store.Snapshot{}, err
	}
	snap, err := r.snapshot(view)
	r.finish(&snap, &c.effects)
	return snap, err
}

// create decides on a new task, and takes it in, or returns the one that is there already. It takes the lock of the index.
// Callers must hold that of the row, which nobody else knows yet.
func (m *Store) create(key store.Key, r *row, c *change) (old *row, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old = m.row(key); old != nil {
		return old, nil
	}
	info := r.task.TaskInfo() // not before: a caller that got no answer gives the task again that is kept, and that may change
	r.context, c.rules.Events[0].State = info.ContextID, info.State
	m.describe(r, c)
	o := m.owners[key.Owner]
	if o == nil {
		o = &owned{owner: key.Owner, store: m, account: m.account(key.Owner.Principal)}
		o.all = group{queue: queue{slot: ownerSlot}, counts: make([]int, runtime.StateAuthRequired+1)}
	}
	r.owner = o
	now := m.clock()
	m.look(r, c, now)
	if c.effects, err = taskstate.Create(&c.next, &c.rules, now.UnixNano(), &m.task); err != nil {
		return nil, err
	}
	more := taskstate.Holding{Tasks: 1, Bytes: int64(c.effects.Held)}
	if !m.makeRoom(o.account, taskstate.Holding{}, more) {
		return nil, store.ErrFull
	}
	if o.all.n == 0 { // nobody knew the owner, or the last task has just made room
		m.owners[o.owner], m.accounts[o.account.principal] = o, o.account
	}
	m.made++
	r.number = m.made
	m.rows[name{o, r.id}] = r
	if context := (name{o, r.context}); r.context != "" {
		if r.group = m.contexts[context]; r.group == nil {
			r.group = &group{queue: queue{slot: contextSlot}}
			m.contexts[context] = r.group
		}
	}
	m.charge(r, more)
	m.keep(r, c)
	m.follow(r, c, now)
	return nil, nil
}

// again is what is returned for a task that is there already.
func (r *row) again(by *life, stamp uint64, view *store.View) (store.Snapshot, error) {
	if r.lock() != nil {
		return store.Snapshot{}, store.ErrExists
	}
	defer r.mu.Unlock()
	e, stamped := r.st.Again(by.number, stamp)
	if !stamped {
		return store.Snapshot{}, store.ErrExists
	}
	snap, err := r.snapshot(view)
	r.finish(&snap, &e)
	return snap, err
}

// Apply implements [store.Store].
func (m *Store) Apply(_ context.Context, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	r, err := m.lookup(key)
	if err != nil {
		return store.Snapshot{}, err
	}
	return r.apply(m.life.Load(), expect, &u, view)
}

// Apply implements [store.Ref].
func (r *row) Apply(_ context.Context, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	return r.apply(r.owner.store.life.Load(), expect, &u, view)
}

func (r *row) apply(by *life, expect int64, u *store.Update, view *store.View) (store.Snapshot, error) {
	if err := r.lock(); err != nil {
		return store.Snapshot{}, err
	}
	defer r.mu.Unlock()
	var events [mostEvents]store.Change
	c := change{Update: u, by: by, events: append(events[:0], store.Change{Event: u.Event, Messages: u.Messages, Size: u.Size})}
	c.events = append(c.events, u.Then...)
	var facts taskstate.Facts
	var space [mostEvents]taskstate.Event
	c.rules.Facts, c.rules.Events = &facts, append(space[:0], make([]taskstate.Event, len(c.events))...)
	t := &c.rules
	t.By, t.Expect, t.Epoch, t.Stamp, t.Done = by.number, expect, u.Epoch, u.Stamp, u.Done
	t.Call, t.Redeem, t.Ticket = u.Call != nil, u.Redeem != nil, u.Ticket != nil
	if err := r.owner.store.apply(r, &c); err != nil {
		return store.Snapshot{}, err
	}
	snap, err := r.snapshot(view)
	r.finish(&snap, &c.effects)
	return snap, err
}

// finish completes what is returned after a change, and packs a task that has ended.
func (r *row) finish(snap *store.Snapshot, e *taskstate.Effects) {
	if e.Begin != 0 {
		snap.Run = r.call
	}
	if r.st.Status.Terminal() && !e.Again {
		r.pack()
	}
}

// apply decides on an update, and makes it. What only adds to an artifact needs no lock but the row's, as long as that is
// not much; else it takes the lock of the index. Callers must hold the lock of the row.
func (x *index) apply(r *row, c *change) error {
	var now time.Time
	alone := x.describe(r, c)
	if !alone {
		x.mu.Lock()
		defer x.mu.Unlock()
		now = x.clock()
		x.look(r, c, now)
	}
	var err error
	if c.effects, err = r.st.Apply(&c.next, &c.rules, now.UnixNano(), &x.task); errors.Is(err, store.ErrTooLarge) {
		counted := r.st // anew, since artifacts may have been replaced
		counted.Artifacts = taskstate.Size{}
		for _, a := range r.task.ArtifactList() {
			counted.Artifacts = counted.Artifacts.Plus(taskstate.Size(store.SizeOfArtifact(&a)))
		}
		x.measure(r, c, &counted)
		c.effects, err = counted.Apply(&c.next, &c.rules, now.UnixNano(), &x.task)
	}
	if err != nil || c.effects.Again {
		return err
	}
	if c.effects.Charge(r.charged, &x.task) {
		if alone {
			x.mu.Lock()
			defer x.mu.Unlock()
		}
		if !x.grow(r, c.effects.Held, c.effects.Must) {
			return store.ErrFull
		}
	}
	if c.effects.Moved {
		x.detach(r)
	}
	x.keep(r, c)
	if !alone {
		x.follow(r, c, now)
	}
	return nil
}

// describe tells the rules what they need to know of a change, but for what the index has. It reports whether the change has
// nothing to do with that. Callers must hold the lock of the row alone.
func (x *index) describe(r *row, c *change) (alone bool) {
	t := &c.rules
	alone = t.Done == 0 && c.Call == nil && c.Push == nil && c.Repeat == nil && c.Ticket == nil && c.Redeem == nil &&
		r.st.Pushes == 0 && !x.shared
	events := t.Events[len(t.Events)-len(c.events):]
	for i := range c.events {
		e := &c.events[i]
		if t.Facts.Unfit == nil && r.task != nil { // nil: it has ended, and is packed
			if err := r.task.Fits(e.Event); err != nil {
				t.Facts.Unfit = fmt.Errorf("%w: %w", store.ErrUnfit, err)
			}
		}
		info := e.Event.EventInfo()
		events[i] = taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(e.SizeOf())}
		alone = alone && info.Kind == runtime.EventArtifact
	}
	if t.Facts.Unfit == nil && r.task != nil && (t.Call || t.Done != 0 && !t.Ends()) {
		t.Artifacts = c.Artifacts(r.task)
	}
	input, saved, _ := r.private(c.Update, t.Ends())
	t.Private = len(input) + len(saved) + len(r.Trace)
	x.measure(r, c, &r.st)
	return alone
}

// private is what is private after an update: an ended task needs neither its input nor what was saved.
func (r *row) private(u *store.Update, ends bool) (input, saved []byte, asked bool) {
	input, saved, asked = r.Input, r.Saved, r.Asked
	if u.Input != nil {
		input = *u.Input
	}
	if u.Saved != nil {
		saved = *u.Saved
	}
	if u.Asked != nil {
		asked = *u.Asked
	}
	if ends {
		input, saved = nil, nil
	}
	return input, saved, asked
}

// measure says what becomes of the log of a task, which was in a state before the change, and how large it is then.
func (x *index) measure(r *row, c *change, was *taskstate.State) {
	frames := len(c.events) * taskstate.EventFrame
	held := was.Content.Held() + c.rules.Private + frames + r.log.bytes()
	for i := range c.rules.Events {
		held += c.rules.Events[i].Size.Held()
	}
	switch {
	case c.Unread && r.st.Pushes == 0 && !x.shared:
		c.log, c.rules.Log = none, 0
	case held > x.limits.TaskBytes:
		c.log, c.rules.Log = anew, frames
	default:
		c.log, c.rules.Log = continued, r.log.bytes()+frames
	}
}

// look tells the rules what the index knows. Callers must hold both locks.
func (x *index) look(r *row, c *change, now time.Time) {
	facts := c.rules.Facts
	if c.Repeat != nil {
		facts.Repeated = x.repeats.find(r.key(), c.Repeat, now)
	}
	if c.Redeem != nil {
		if t := x.byHash[*c.Redeem]; t == nil || t.row != r || !now.Before(t.until) {
			facts.NoTicket = store.ErrTicket
		}
	}
	if c.Push != nil {
		c.rules.Push = x.pushFacts(r, c.Push)
	}
}

// keep makes the row what the change has made of it. Callers must hold the lock of the row.
func (x *index) keep(r *row, c *change) {
	r.Input, r.Saved, r.Asked = r.private(c.Update, c.next.Status.Terminal())
	if c.log != continued {
		r.log = nil
	}
	if r.log == nil && c.log != none && len(c.events) > 0 {
		r.log = &eventLog{
			records: make([]*store.Record, 0, firstRecords), blank: make([]store.Record, firstRecords),
			trimmed: c.next.Version - int64(len(c.events)),
		}
	}
	for i := range c.events {
		if err := c.events[i].Apply(r.task); err != nil {
			panic(err) // Fits has said that it can be applied
		}
		if r.log != nil {
			r.log.append(&c.events[i], x.limits.Events)
		}
	}
	c.was, r.st = r.st.Runner, c.next
}

// follow has the index follow a change that was made, of a task that is in no list if it has moved. Callers must hold both
// locks.
func (x *index) follow(r *row, c *change, now time.Time) {
	if c.effects.Moved {
		x.attach(r)
		if r.log != nil && r.state.Terminal() {
			x.keepLog(r)
		}
	}
	x.moveCalls(r, c.Call, &c.effects)
	if c.effects.DropTickets {
		x.dropTickets(r)
	}
	if c.Ticket != nil && r.st.Ticketed {
		x.addTicket(r, c.Ticket, now)
	}
	if c.Repeat != nil {
		x.repeats.add(r.key(), c.Repeat, c.Call, now)
	}
	for _, p := range x.pushes[r] {
		if p.Wake(now.UnixNano()) {
			x.due.move(p, true)
		}
	}
	if c.Push != nil {
		x.addPush(r, c.Push, now)
	}
	if x.shared {
		x.tell(r, c.was, c.by)
	}
}

// moveCalls has the calls follow the state: it adds the one that came, and makes another the one at work. Callers must hold
// both locks.
func (x *index) moveCalls(r *row, brought *store.Call, e *taskstate.Effects) {
	if brought != nil {
		brought.N, brought.Attempt, brought.Made = e.Call, 0, 0
	}
	switch {
	case !r.st.Open():
		r.call = nil
		delete(x.waiting, r)
		return
	case brought != nil && e.Begin == e.Call:
		r.call = brought
	case brought != nil:
		x.waiting[r] = append(x.waiting[r], brought)
		return
	case e.Begin != 0:
		r.call, x.waiting[r] = x.waiting[r][0], x.waiting[r][1:]
	default:
		return
	}
	r.call.Attempt, r.call.Made = int(r.st.Attempt), int(r.st.Made)
}
