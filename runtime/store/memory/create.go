package memory

import (
	"context"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

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
	r := newRow(key, &n, &t)
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

// newRow makes the row of a task, and tells the rules what they need to know of it, but for what the index has.
func newRow(key store.Key, n *store.New, t *taskstate.Update) *row {
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
	if t.Facts.Unfit == nil && n.Call != nil {
		t.Artifacts = n.Artifacts()
	}
	return r
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
	m.insert(key.Owner, r, e.Held)
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
