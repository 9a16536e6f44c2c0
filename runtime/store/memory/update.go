package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// slack is by how much a task may grow before the index is told: it is not worth a lock for every chunk of text.
const slack = 4 << 10

// mostEvents is for how many events of an update the rules need no memory of their own.
const mostEvents = 3

// Apply implements [store.Store].
func (m *Store) Apply(_ context.Context, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	return m.apply(&m.self, key, expect, u, view)
}

func (m *Store) apply(by *holder, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	r := m.lookup(key)
	if r == nil {
		return store.Snapshot{}, store.ErrNotFound
	}
	return r.apply(by, expect, u, view)
}

// Apply implements [store.Ref].
func (r *row) Apply(_ context.Context, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	return r.apply(&r.owner.store.self, expect, u, view)
}

func (r *row) apply(by *holder, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return store.Snapshot{}, store.ErrNotFound
	}
	e, err := r.change(by, expect, &u)
	if err != nil {
		return store.Snapshot{}, err
	}
	snap, err := r.snapshot(view)
	if e.Begin != 0 {
		snap.Run = r.call
	}
	if r.st.Status.Terminal() && !e.Again {
		r.pack()
	}
	return snap, err
}

// change is an update on its way into a row.
type change struct {
	*store.Update
	by  *holder
	log logging
}

// logging is what becomes of a log with an update.
type logging uint8

const (
	continued logging = iota
	anew              // it begins with the update: what came before has no room in the task, its readers get that anew
	none              // nobody reads it
)

// change decides on an update, and makes it. What only adds to an artifact needs no lock but the row's, as long as that
// is not much.
func (r *row) change(by *holder, expect int64, u *store.Update) (taskstate.Effects, error) {
	m := r.owner.store
	c := change{Update: u, by: by}
	var space [mostEvents]taskstate.Event
	var facts taskstate.Facts
	var next taskstate.State
	var t taskstate.Update // one by one: a literal is copied
	t.By, t.Expect, t.Epoch, t.Stamp, t.Done = by.number, expect, u.Epoch, u.Stamp, u.Done
	t.Call, t.Redeem, t.Ticket = u.Call != nil, u.Redeem != nil, u.Ticket != nil
	t.Facts, t.Events = &facts, space[:0]
	for i := range u.Len() {
		event, _ := u.At(i)
		t.Events = append(t.Events, rule(r.task, event, u.SizeAt(i), &facts))
	}
	if r.describe(&r.st, &c, &t) {
		e, err := r.st.Apply(&next, &t, 0, &m.task)
		if err == nil && !e.Again && !e.Charge(r.charged, &m.task) {
			r.keep(&next, &c, &e)
			return e, nil
		}
		if err == nil && e.Again || err != nil && err != store.ErrTooLarge {
			return e, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.facts(r, u, &t)
	now := m.clock()
	e, err := r.st.Apply(&next, &t, now.UnixNano(), &m.task)
	if err == store.ErrTooLarge {
		counted := r.st
		counted.Artifacts = r.recount()
		r.describe(&counted, &c, &t)
		e, err = counted.Apply(&next, &t, now.UnixNano(), &m.task)
	}
	if err != nil || e.Again {
		return e, err
	}
	return e, m.take(r, &next, &c, &e, now)
}

// rule is what the rules know of an event. It notes whether that fits the task; nil: it has ended, and is packed.
func rule(task runtime.Task, e runtime.Event, size store.Size, facts *taskstate.Facts) taskstate.Event {
	info := e.EventInfo()
	if facts.Unfit == nil && task != nil {
		if err := task.Fits(e); err != nil {
			facts.Unfit = fmt.Errorf("%w: %w", store.ErrUnfit, err)
		}
	}
	return taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(size)}
}

// describe tells the rules what they need to know of an update of a state, but for what the index has. It reports whether
// the update has nothing to do with that.
func (r *row) describe(was *taskstate.State, c *change, t *taskstate.Update) (chunk bool) {
	chunk = c.Done == 0 && c.Call == nil && c.Push == nil && c.Repeat == nil && c.Ticket == nil && c.Redeem == nil &&
		r.st.Pushes == 0 && !r.owner.store.shared
	held := was.Content.Held()
	for i := range t.Events {
		chunk = chunk && t.Events[i].Kind == runtime.EventArtifact
		held += t.Events[i].Size.Held()
	}
	input, saved, _ := r.after(c.Update, t.Ends())
	t.Private = len(input) + len(saved) + len(r.trace)
	c.log, t.Log = r.logs(c.Update, held+t.Private)
	if t.Facts.Unfit == nil && r.task != nil && (c.Call != nil || c.Done != 0 && !t.Ends()) {
		t.Artifacts = c.Artifacts(r.task)
	}
	return chunk
}

// logs says what becomes of the log with an update, after which the task holds some bytes, and how large the log is then.
func (r *row) logs(u *store.Update, held int) (logging, int) {
	frames := u.Len() * taskstate.EventFrame
	switch limit := r.owner.store.limits.TaskBytes; {
	case u.Unread && r.st.Pushes == 0 && !r.owner.store.shared:
		return none, 0
	case held+frames+r.logged() > limit:
		return anew, frames
	}
	return continued, r.logged() + frames
}

// after is the private state after an update: an ended task needs neither its input nor what was saved.
func (r *row) after(u *store.Update, ends bool) (input, saved []byte, asked bool) {
	input, saved, asked = r.input, r.saved, r.asked
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

// facts are those of the index. Callers must hold both locks.
func (x *index) facts(r *row, u *store.Update, t *taskstate.Update) {
	if u.Repeat != nil {
		t.Facts.Repeated = x.repeats.find(r.key(), u.Repeat, x.clock)
	}
	if u.Redeem != nil {
		if good := x.tickets.byHash[*u.Redeem]; good == nil || good.row != r || !x.clock().Before(good.until) {
			t.Facts.NoTicket = store.ErrTicket
		}
	}
	if u.Push != nil {
		t.Push = x.pushFacts(r, u.Push)
	}
}

// take makes room for an update and makes it, with all that the index has of it. Callers must hold both locks.
func (x *index) take(r *row, next *taskstate.State, c *change, e *taskstate.Effects, now time.Time) error {
	if e.Charge(r.charged, &x.task) && !x.grow(r, e.Held, e.Must) {
		return store.ErrFull
	}
	was := r.st.Runner
	r.keep(next, c, e)
	if e.Moved {
		x.detach(r)
		r.state, r.at = r.st.Status, r.task.TaskInfo().At.UnixNano()
		x.attach(r)
		if r.log != nil && r.state.Terminal() {
			x.keepLog(r)
		}
	}
	x.tickets.change(r, c.Update, e, now)
	if c.Repeat != nil {
		x.repeats.add(r.key(), c.Repeat, c.Call, now)
	}
	x.outbox.due(r.pushes(), now)
	if c.Push != nil {
		x.addPush(r, *c.Push, now)
	}
	if x.shared {
		x.runs(r, was, c.by)
		x.wake(r.key(), c.by)
	}
	return nil
}

// keep makes an update that the rules have taken. Callers must hold the lock of the row.
func (r *row) keep(next *taskstate.State, c *change, e *taskstate.Effects) {
	r.input, r.saved, r.asked = r.after(c.Update, next.Status.Terminal())
	if c.log != continued {
		r.log = nil
	}
	for i := range c.Len() {
		event, messages := c.At(i)
		r.fold(event, messages)
		if c.log != none {
			r.record(r.st.Version+int64(i), event, messages, r.owner.store.limits.Events)
		}
	}
	r.st = *next
	r.moveCalls(c.Call, e)
}

// fold changes the task by an event that fits it.
func (r *row) fold(e runtime.Event, messages []runtime.Message) {
	if err := r.task.Apply(e); err != nil {
		panic(err) // Fits has said that it can be applied
	}
	for _, m := range messages {
		r.task.AddMessage(m)
	}
}

// record appends an event to the log, which follows a version.
func (r *row) record(version int64, e runtime.Event, messages []runtime.Message, keep int) {
	if r.log == nil {
		r.log = &eventLog{
			records: make([]*store.Record, 0, firstRecords), trimmed: version, blank: make([]store.Record, firstRecords),
		}
	}
	r.log.append(e, messages, keep)
}

// moveCalls has the calls follow the state: it adds the one that came, and makes another the one at work. Callers must hold the lock of the row.
func (r *row) moveCalls(brought *store.Call, e *taskstate.Effects) {
	if brought != nil {
		brought.N, brought.Attempt, brought.Made = e.Call, 0, 0
		if e.Begin != e.Call && r.st.Open() {
			has := r.more()
			has.calls = append(has.calls, brought)
		}
	}
	switch {
	case !r.st.Open():
		r.call = nil
		if r.extra != nil {
			r.extra.calls = nil
		}
	case e.Begin != 0:
		if e.Begin == e.Call {
			r.call = brought
		} else {
			r.call, r.extra.calls = r.extra.calls[0], r.extra.calls[1:]
		}
		r.call.Attempt, r.call.Made = int(r.st.Attempt), int(r.st.Made)
	}
}

// recount is the size of the artifacts, some of which may have been replaced. It is counted once for each
// version. Callers must hold both locks.
func (r *row) recount() taskstate.Size {
	has := r.more()
	if has.counted != r.st.Version {
		has.counted, has.actual = r.st.Version, taskstate.Size{}
		for _, a := range r.task.ArtifactList() {
			has.actual = has.actual.Plus(taskstate.Size(store.SizeOfArtifact(&a)))
		}
	}
	return has.actual
}

// Create implements [store.Store].
func (m *Store) Create(_ context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	return m.create(&m.self, key, n, view)
}

func (m *Store) create(by *holder, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	var space [mostEvents]taskstate.Event
	var facts taskstate.Facts
	task := taskstate.Event{Kind: runtime.EventTask, State: n.Task.TaskInfo().State, Size: taskstate.Size(n.Size)}
	t := taskstate.Update{By: by.number, Stamp: n.Stamp, Call: n.Call != nil, Facts: &facts}
	t.Events = append(space[:0], task)
	for i := range n.Then {
		t.Events = append(t.Events, rule(n.Task, n.Then[i].Event, n.Then[i].SizeOf(), &facts))
	}
	p := &n.Private
	r := &row{
		id: key.Task, skill: p.Skill, task: n.Task, input: p.Input, saved: p.Saved, trace: p.Trace, asked: p.Asked,
		clientID: p.ClientID, context: n.Task.TaskInfo().ContextID,
	}
	if n.Done {
		t.Done = 1
	}
	if t.Ends() {
		r.input, r.saved = nil, nil
	}
	t.Private = len(r.input) + len(r.saved) + len(r.trace)
	if facts.Unfit == nil && n.Call != nil {
		t.Artifacts = n.Artifacts()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old, e, err := m.insertNew(by, key, r, &n, &t)
	if old != nil {
		return old.again(by, n.Stamp, view)
	}
	if err != nil {
		return store.Snapshot{}, err
	}
	snap, err := r.snapshot(view)
	if e.Begin != 0 {
		snap.Run = r.call
	}
	if r.st.Status.Terminal() {
		r.pack()
	}
	return snap, err
}

// insertNew decides on a new task and takes it in, or returns the one that is there already. The caller holds the lock of
// the row, which nobody else knows.
func (m *Store) insertNew(by *holder, key store.Key, r *row, n *store.New, t *taskstate.Update) (old *row, e taskstate.Effects, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old = m.row(key); old != nil {
		return old, e, nil
	}
	unread := n.Unread && n.Push == nil && !m.shared
	if !unread {
		t.Log = len(n.Then) * taskstate.EventFrame
	}
	r.account = m.ledger.account(key.Owner.Principal)
	if n.Repeat != nil {
		t.Facts.Repeated = m.repeats.find(key, n.Repeat, m.clock)
	}
	if n.Push != nil {
		t.Push = m.pushFacts(r, n.Push)
	}
	now := m.clock()
	if e, err = taskstate.Create(&r.st, t, now.UnixNano(), &m.task); err != nil {
		return nil, e, err
	}
	if !m.makeRoom(r.account, nil, taskstate.Holding{Tasks: 1, Bytes: int64(e.Held)}) {
		return nil, e, store.ErrFull
	}
	for i := range n.Then {
		c := &n.Then[i]
		r.fold(c.Event, c.Messages)
		if !unread {
			r.record(int64(i+1), c.Event, c.Messages, m.limits.Events)
		}
	}
	o := m.owners[key.Owner]
	if o == nil {
		o = &owned{owner: key.Owner, store: m}
		o.all = group{queue: queue{slot: ownerSlot}, counts: &o.tally}
		m.owners[key.Owner] = o
	}
	m.made++
	r.owner, r.number = o, m.made
	m.rows[rowKey{o, r.id}] = r
	r.state, r.at = r.st.Status, r.task.TaskInfo().At.UnixNano()
	if r.account.Held.Tasks == 0 { // nobody knew it, or its last task has just made room
		m.ledger.accounts[r.account.principal] = r.account
	}
	m.ledger.charge(r, taskstate.Holding{Tasks: 1, Bytes: int64(e.Held)})
	if r.context != "" {
		k := groupKey{o, r.context}
		if r.group = m.contexts[k]; r.group == nil {
			r.group = &group{queue: queue{slot: contextSlot}}
			m.contexts[k] = r.group
		}
	}
	m.attach(r)
	if r.log != nil && r.st.Status.Terminal() {
		m.keepLog(r)
	}
	r.moveCalls(n.Call, &e)
	if m.shared {
		m.runs(r, 0, by)
	}
	if n.Repeat != nil {
		m.repeats.add(key, n.Repeat, n.Call, now)
	}
	if n.Push != nil {
		m.addPush(r, *n.Push, now)
	}
	return nil, e, nil
}

// again is what is returned for a task that is there already.
func (r *row) again(by *holder, stamp uint64, view *store.View) (store.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, stamped := r.st.Again(by.number, stamp)
	if r.gone || !stamped {
		return store.Snapshot{}, store.ErrExists
	}
	snap, err := r.snapshot(view)
	if e.Begin != 0 {
		snap.Run = r.call
	}
	return snap, err
}
