package storetest

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// model says what has room in the modes that limit bytes, where a store may differ from the one in memory: it has the states
// of tasks, without their content, in a list, and asks the rules. The one in memory must do as it says.
type model struct {
	limits memory.Limits
	task   taskstate.Limits
	tasks  []*modeled // in the order in which they were made
	made   int64
	calls  map[string][]func() error // creations and updates by task
	by     int32                     // the instance
	now    time.Time
}

type modeled struct {
	store.Key
	st      taskstate.State
	head    store.Head // what of it the rules do not know
	number  int64
	input   int
	saved   int
	charged int
	log     int
	content []runtime.ArtifactData
}

func newModel(l memory.Limits) *model {
	l.Tasks, l.TaskBytes = cmp.Or(l.Tasks, 1<<30), cmp.Or(l.TaskBytes, l.Bytes/4)
	// The slack is that of the store in memory.
	return &model{limits: l, task: taskstate.Limits{Task: l.TaskBytes, Slack: 4 << 10}, calls: map[string][]func() error{}, by: 1}
}

func (m *model) find(k store.Key) *modeled {
	if i := slices.IndexFunc(m.tasks, func(t *modeled) bool { return t.Key == k }); i >= 0 {
		return m.tasks[i]
	}
	return nil
}

// heads are those of all tasks.
func (m *model) heads() map[string]store.Head {
	heads := map[string]store.Head{}
	for _, t := range m.tasks {
		heads[t.Task] = t.Head()
	}
	return heads
}

// Head is what a store says of the task.
func (t *modeled) Head() store.Head {
	h := t.head
	h.State, h.Version, h.Epoch, h.Calls, h.Done = t.st.Status, t.st.Version, t.st.Epoch, t.st.Calls, t.st.Done
	return h
}

// do makes a step, and returns the error that the rules say it has.
func (m *model) do(p *pair, s *step, stamp uint64) error {
	k := keyOf(s.Task)
	m.now = p.now
	t, calls := m.find(k), m.calls[s.Task]
	switch s.Op {
	case "create":
		n := p.creation(s, m.now, stamp)
		calls = append(calls, func() error { return m.create(k, &n) })
	case "status", "chunk", "whole":
		var h store.Head
		if t != nil {
			h = t.Head()
		}
		u, expect := p.update(s, h, m.now, stamp)
		calls = append(calls, func() error { return m.apply(k, expect, &u) })
	case "again":
		if t == nil || s.Back >= len(calls) {
			return nil
		}
		return calls[len(calls)-1-s.Back]()
	case "leave", "crash":
		for _, t := range m.tasks {
			if s.Op == "leave" {
				t.st.GiveBack(&t.st, m.by)
			}
		}
		m.by++
		return nil
	case "claim":
		for _, t := range m.tasks {
			t.st.Claim(&t.st, m.by, t.st.Runner != m.by)
		}
		return nil
	default:
		return nil
	}
	m.calls[s.Task] = calls
	return calls[len(calls)-1]()
}

func (m *model) create(k store.Key, n *store.New) error {
	if t := m.find(k); t != nil {
		if _, again := t.st.Again(m.by, n.Stamp); again {
			return nil
		}
		return store.ErrExists
	}
	info := n.Task.TaskInfo()
	t := &modeled{Key: k, head: store.Head{Context: info.ContextID, Skill: n.Private.Skill}, input: len(n.Private.Input)}
	u := &store.Update{Then: n.Then, Call: n.Call, Stamp: n.Stamp}
	c := m.command(t, u, 0)
	c.Events[0] = taskstate.Event{Kind: runtime.EventTask, State: info.State, Size: taskstate.Size(n.Size)}
	if n.Done {
		c.Done = 1
	}
	c.Private, c.Log = t.after(u, c.Ends()), len(n.Then)*taskstate.EventFrame
	e, err := taskstate.Create(&t.st, c, m.now.UnixNano(), &m.task)
	if err != nil {
		return err
	}
	if !m.room(t, taskstate.Holding{Tasks: 1, Bytes: int64(e.Held)}) {
		return store.ErrFull
	}
	m.made++
	t.number, t.charged, t.log = m.made, e.Held, c.Log
	m.tasks = append(m.tasks, t)
	t.keep(u)
	return nil
}

func (m *model) apply(k store.Key, expect int64, u *store.Update) error {
	t := m.find(k)
	if t == nil {
		return store.ErrNotFound
	}
	c := m.command(t, u, expect)
	c.Private, c.Log = t.after(u, c.Ends()), t.log+u.Len()*taskstate.EventFrame
	var next taskstate.State
	e, err := t.st.Apply(&next, c, m.now.UnixNano(), &m.task)
	if errors.Is(err, store.ErrTooLarge) {
		counted := t.st
		counted.Artifacts = taskstate.Size{}
		for i := range t.content {
			counted.Artifacts = counted.Artifacts.Plus(taskstate.Size(store.SizeOfArtifact(&t.content[i])))
		}
		e, err = counted.Apply(&next, c, m.now.UnixNano(), &m.task)
	}
	if err != nil || e.Again {
		return err
	}
	if e.Charge(t.charged, &m.task) {
		if !m.room(t, taskstate.Holding{Bytes: int64(e.Held - t.charged)}) && !e.Must {
			return store.ErrFull
		}
		t.charged = e.Held
	}
	t.st, t.log = next, c.Log
	t.keep(u)
	return nil
}

// command is an update as the rules know it.
func (m *model) command(t *modeled, u *store.Update, expect int64) *taskstate.Update {
	c := &taskstate.Update{By: m.by, Expect: expect, Epoch: u.Epoch, Stamp: u.Stamp, Call: u.Call != nil, Done: u.Done}
	c.Events = make([]taskstate.Event, u.Len())
	for i := range c.Events {
		if e, _ := u.At(i); e != nil { // of a creation the first is the task
			info := e.EventInfo()
			c.Events[i] = taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(u.SizeAt(i))}
		}
	}
	return c
}

// after is how many bytes of private state a task has after an update.
func (t *modeled) after(u *store.Update, ends bool) int {
	switch {
	case ends:
		return 0
	case u.Saved != nil:
		return t.input + len(*u.Saved)
	}
	return t.input + t.saved
}

// keep keeps the content of an update, as far as its size matters.
func (t *modeled) keep(u *store.Update) {
	for i := range u.Len() {
		e, _ := u.At(i)
		update, ok := e.(runtime.ArtifactUpdate)
		if !ok {
			continue
		}
		a := update.ArtifactUpdate()
		switch i := slices.IndexFunc(t.content, func(o runtime.ArtifactData) bool { return o.ID == a.ID }); {
		case i < 0:
			a.Append = false
			t.content = append(t.content, a)
		case a.Append:
			t.content[i].Parts = append(t.content[i].Parts, a.Parts...)
		default:
			t.content[i] = a
		}
	}
	if u.Saved != nil {
		t.saved = len(*u.Saved)
	}
	if t.st.Status.Terminal() {
		t.input, t.saved = 0, 0
	}
}

// room makes room for a task that is to hold more.
func (m *model) room(t *modeled, more taskstate.Holding) bool {
	var stays taskstate.Holding
	if t.number != 0 && t.st.Rest() != taskstate.Active {
		stays = t.holding()
	}
	own, all := m.accounts(t)
	switch taskstate.Room(own, all, stays, more) {
	case taskstate.Fits:
		return true
	case taskstate.Full:
		return false
	}
	for own, all = m.accounts(t); !own.Fits(more); own, all = m.accounts(t) {
		m.evict(t, t.Owner.Principal)
	}
	for ; !all.Fits(more); _, all = m.accounts(t) {
		m.evict(t, m.heaviest(t))
	}
	return true
}

func (t *modeled) holding() taskstate.Holding {
	return taskstate.Holding{Tasks: 1, Bytes: int64(t.charged)}
}

// accounts are that of a task's principal, and that of all.
func (m *model) accounts(t *modeled) (own, all *taskstate.Account) {
	l := &m.limits
	total := taskstate.Holding{Tasks: int64(l.Tasks), Bytes: int64(l.Bytes)}
	ofOwner := taskstate.Holding{Tasks: int64(l.OwnerTasks), Bytes: int64(l.OwnerBytes)}
	own = &taskstate.Account{Limit: taskstate.Share(total, ofOwner, t.Owner.Principal != "")}
	all = &taskstate.Account{Limit: total}
	for _, o := range m.tasks {
		for _, a := range []*taskstate.Account{own, all} {
			if a == own && o.Owner.Principal != t.Owner.Principal {
				continue
			}
			a.Held = a.Held.Plus(o.holding())
			if o.st.Rest() != taskstate.Active {
				a.Rested = a.Rested.Plus(o.holding())
			}
		}
	}
	return own, all
}

// heaviest is the principal who holds most of those who have a task to lose.
func (m *model) heaviest(but *modeled) (principal string) {
	var most int64
	for _, t := range m.tasks {
		if own, _ := m.accounts(t); t != but && t.st.Rest() != taskstate.Active && taskstate.Weigh(own.Held) > most {
			principal, most = t.Owner.Principal, taskstate.Weigh(own.Held)
		}
	}
	return principal
}

// evict drops the first task to go of a principal's.
func (m *model) evict(but *modeled, principal string) {
	var first *modeled
	rests := func(t *modeled) taskstate.Resting {
		return taskstate.Resting{Rest: t.st.Rest(), Rested: t.st.Rested, Number: t.number}
	}
	for _, t := range m.tasks {
		if t != but && t.Owner.Principal == principal && t.st.Rest() != taskstate.Active && (first == nil || rests(t).Compare(rests(first)) < 0) {
			first = t
		}
	}
	m.tasks = slices.DeleteFunc(m.tasks, func(t *modeled) bool { return t == first })
}
