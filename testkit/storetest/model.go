package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// model is the plainest store there can be: it has the states of tasks and asks the rules, in a list, without any
// content. The differential test holds both stores to it.
type model struct {
	limits  memory.Limits
	task    taskstate.Limits
	tasks   []*modeled // in the order in which they were made
	made    int64
	repeats []modelRepeat
	tickets []modelTicket
	claims  int64
	claimed []*modelPush
	last    [differentTasks]func() error
	now     time.Time
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
	pushes  []*modelPush
	content []runtime.ArtifactData
}

type modelPush struct {
	taskstate.Cursor
	of *modeled
	id string
}

type modelRepeat struct {
	owner  store.Owner
	key    string
	digest [32]byte
	until  time.Time
	store.Repeated
}

type modelTicket struct {
	of    *modeled
	hash  [32]byte
	until time.Time
}

// slackOfModel is that of the store in memory.
const slackOfModel = 4 << 10

func newModel(l memory.Limits) *model {
	l.Tasks, l.Bytes = cmp.Or(l.Tasks, 1<<30), cmp.Or(l.Bytes, math.MaxInt)
	l.TaskBytes, l.Pushes = cmp.Or(l.TaskBytes, l.Bytes/4), cmp.Or(l.Pushes, 1<<30)
	l.Ended, l.Parked = cmp.Or(l.Ended, 1000*time.Hour), cmp.Or(l.Parked, 1000*time.Hour)
	return &model{limits: l, task: taskstate.Limits{Task: l.TaskBytes, Slack: slackOfModel}}
}

func (m *model) find(k store.Key) *modeled {
	if i := slices.IndexFunc(m.tasks, func(t *modeled) bool { return t.Key == k }); i >= 0 {
		return m.tasks[i]
	}
	return nil
}

// heads are those of all tasks.
func (m *model) heads() (list [differentTasks]string) {
	for i := range list {
		if t := m.find((&step{Task: i}).key()); t != nil {
			list[i] = fmt.Sprintf("%+v", t.Head())
		}
	}
	return list
}

// Head is what a store says of the task.
func (t *modeled) Head() store.Head {
	h := t.head
	h.State, h.Version, h.Epoch, h.Calls, h.Done = t.st.Status, t.st.Version, t.st.Epoch, t.st.Calls, t.st.Done
	return h
}

// do makes a step, and returns what the rules say of it.
func (m *model) do(p *pair, s *step) (string, error) {
	k, stamp := s.key(), p.stamp
	m.now = p.now
	t := m.find(k)
	switch s.Op {
	case opCreate:
		n := p.creation(s, m.now, stamp)
		m.last[s.Task] = func() error { return m.create(k, &n) }
		return said(m.last[s.Task]())
	case opStatus, opChunk, opWhole, opUnfit:
		var h store.Head
		if t != nil {
			h = t.Head()
		}
		u, expect := p.update(s, h, m.now, stamp)
		m.last[s.Task] = func() error { return m.apply(k, expect, &u) }
		return said(m.last[s.Task]())
	case opAgain:
		if m.last[s.Task] != nil && t != nil {
			return said(m.last[s.Task]())
		}
	case opSetPush:
		return said(m.setPush(t, s.push()))
	case opDelPush:
		return said(m.deletePush(t, fmt.Sprint("p", s.Push)))
	case opDue:
		return m.due(), nil
	case opSettle:
		return said(m.settle(s))
	case opSweep:
		m.sweep()
	case opReopen:
		m.reopen()
	}
	return "", nil
}

func (m *model) create(k store.Key, n *store.New) error {
	if t := m.find(k); t != nil {
		if _, again := t.st.Again(1, n.Stamp); again {
			return nil
		}
		return store.ErrExists
	}
	info := n.Task.TaskInfo()
	t := &modeled{Key: k, head: store.Head{Context: info.ContextID, Skill: n.Private.Skill}, input: len(n.Private.Input)}
	u := &store.Update{Then: n.Then, Call: n.Call, Push: n.Push, Repeat: n.Repeat, Stamp: n.Stamp}
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
	m.keep(t, u, &e)
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
		counted.Artifacts = t.recount()
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
	m.keep(t, u, &e)
	return nil
}

// command is an update as the rules know it, with all facts.
func (m *model) command(t *modeled, u *store.Update, expect int64) *taskstate.Update {
	c := &taskstate.Update{
		By: 1, Expect: expect, Epoch: u.Epoch, Stamp: u.Stamp, Call: u.Call != nil, Done: u.Done, Redeem: u.Redeem != nil,
		Ticket: u.Ticket != nil, Events: make([]taskstate.Event, u.Len()), Facts: new(taskstate.Facts),
	}
	for i := range c.Events {
		e, _ := u.At(i)
		if e == nil {
			continue // of a creation the first is the task
		}
		info := e.EventInfo()
		c.Events[i] = taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(u.SizeAt(i))}
		if info.TaskID != t.Task {
			c.Facts.Unfit = store.ErrUnfit
		}
	}
	if u.Repeat != nil {
		for _, r := range m.repeats {
			if r.owner == t.Owner && r.key == u.Repeat.Key && m.now.Before(r.until) {
				again := r.Repeated
				again.Same = r.digest == u.Repeat.Digest
				c.Facts.Repeated = &again
			}
		}
	}
	if u.Redeem != nil && !slices.ContainsFunc(m.tickets, func(k modelTicket) bool {
		return k.of == t && k.hash == *u.Redeem && m.now.Before(k.until)
	}) {
		c.Facts.NoTicket = store.ErrTicket
	}
	if u.Push != nil {
		c.Push = m.comes(t, u.Push)
	}
	return c
}

// recount is the size of the artifacts as they are.
func (t *modeled) recount() (size taskstate.Size) {
	for i := range t.content {
		size = size.Plus(taskstate.Size(store.SizeOfArtifact(&t.content[i])))
	}
	return size
}

// add keeps an artifact.
func (t *modeled) add(a runtime.ArtifactData) {
	i := slices.IndexFunc(t.content, func(o runtime.ArtifactData) bool { return o.ID == a.ID })
	switch {
	case i < 0:
		a.Append = false
		t.content = append(t.content, a)
	case a.Append:
		t.content[i].Parts = append(t.content[i].Parts, a.Parts...)
	default:
		t.content[i] = a
	}
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

func (m *model) comes(t *modeled, p *store.Push) *taskstate.Push {
	own, all := 0, 0
	for _, other := range m.tasks {
		if all += len(other.pushes); other.Owner.Principal == t.Owner.Principal {
			own += len(other.pushes)
		}
	}
	room := taskstate.PushRoom(own, all, m.limits.Pushes, t.Owner.Principal != "")
	return &taskstate.Push{Bad: p.Check(), New: t.push(p.ID) == nil, Max: p.Max, Full: !room}
}

func (t *modeled) push(id string) *modelPush {
	if i := slices.IndexFunc(t.pushes, func(p *modelPush) bool { return p.id == id }); i >= 0 {
		return t.pushes[i]
	}
	return nil
}

// keep does what an update brings beside its events.
func (m *model) keep(t *modeled, u *store.Update, e *taskstate.Effects) {
	for i := range u.Len() {
		if e, _ := u.At(i); e != nil && e.EventInfo().Kind == runtime.EventArtifact {
			t.add(e.(runtime.ArtifactUpdate).ArtifactUpdate())
		}
	}
	if u.Saved != nil {
		t.saved = len(*u.Saved)
	}
	if t.st.Status.Terminal() {
		t.input, t.saved = 0, 0
	}
	if e.DropTickets {
		m.tickets = slices.DeleteFunc(m.tickets, func(k modelTicket) bool { return k.of == t })
	}
	if u.Ticket != nil && t.st.Ticketed {
		m.tickets = slices.DeleteFunc(m.tickets, func(k modelTicket) bool { return k.hash == u.Ticket.Hash })
		m.tickets = append(m.tickets, modelTicket{t, u.Ticket.Hash, m.now.Add(u.Ticket.For)})
	}
	if r := u.Repeat; r != nil {
		m.repeats = slices.DeleteFunc(m.repeats, func(o modelRepeat) bool { return o.owner == t.Owner && o.key == r.Key })
		m.repeats = append(m.repeats, modelRepeat{t.Owner, r.Key, r.Digest, m.now.Add(r.For), store.Repeated{Task: t.Task, Call: e.Call}})
	}
	for _, p := range t.pushes {
		p.Wake(m.now.UnixNano())
	}
	if u.Push != nil {
		m.addPush(t, u.Push)
	}
}

func (m *model) addPush(t *modeled, p *store.Push) {
	if old := t.push(p.ID); old != nil {
		old.Replace(t.st.Version, m.now.UnixNano())
		return
	}
	t.pushes = append(t.pushes, &modelPush{taskstate.NewCursor(t.st.Version), t, p.ID})
}

func (m *model) setPush(t *modeled, p *store.Push) error {
	if t == nil {
		return store.ErrNotFound
	}
	err := t.st.AddPush(m.comes(t, p))
	if err == nil {
		m.addPush(t, p)
	}
	return err
}

func (m *model) deletePush(t *modeled, id string) error {
	if t == nil {
		return store.ErrNotFound
	}
	before := len(t.pushes)
	t.pushes = slices.DeleteFunc(t.pushes, func(p *modelPush) bool { return p.id == id })
	t.st.Pushes -= int32(before - len(t.pushes)) //nolint:gosec // few
	return nil
}

func (m *model) due() string {
	var b strings.Builder
	m.claimed = nil
	for _, t := range m.tasks {
		for _, p := range t.pushes {
			if p.Due != 0 && p.Due <= m.now.UnixNano() {
				m.claims++
				p.Claim(m.claims, m.now.UnixNano(), time.Hour)
				copied := *p
				m.claimed = append(m.claimed, &copied)
			}
		}
	}
	slices.SortFunc(m.claimed, func(a, b *modelPush) int { return strings.Compare(a.of.Task+a.id, b.of.Task+b.id) })
	for _, p := range m.claimed {
		fmt.Fprintf(&b, "%s %s from %d to %d, attempt %d since %d; ", p.of.Task, p.id, p.Next, p.Until, p.Attempt, p.Since)
	}
	return b.String()
}

func (m *model) settle(s *step) error {
	if s.Push >= len(m.claimed) {
		return nil
	}
	d := m.claimed[s.Push]
	t := m.find(d.of.Key)
	if t == nil || t.push(d.id) == nil {
		return store.ErrLost
	}
	return t.push(d.id).Settle(d.Holder, taskstate.Outcome(s.outcome(d.Next)), t.st.Version, m.now.UnixNano())
}

func (m *model) sweep() {
	m.tasks = slices.DeleteFunc(m.tasks, func(t *modeled) bool {
		keep := m.limits.Ended
		if t.st.Rest() == taskstate.Parked {
			keep = m.limits.Parked
		}
		waits := slices.ContainsFunc(t.pushes, func(p *modelPush) bool { return p.Due != 0 })
		return t.st.Rest() != taskstate.Active && t.st.Rested < m.now.Add(-keep).UnixNano() && !waits
	})
	m.forget()
}

// reopen gives all back that is at work, and takes it over.
func (m *model) reopen() {
	m.claimed, m.last = nil, [differentTasks]func() error{}
	for _, t := range m.tasks {
		t.st.GiveBack(&t.st, 1)
		t.st.Claim(&t.st, 1, false)
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
		m.evict(t, func(o *modeled) bool { return o.Owner.Principal == t.Owner.Principal })
	}
	for ; !all.Fits(more); _, all = m.accounts(t) {
		heaviest := m.heaviest(t)
		m.evict(t, func(o *modeled) bool { return o.Owner.Principal == heaviest })
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

// evict drops the first task to go, of some.
func (m *model) evict(but *modeled, of func(*modeled) bool) {
	var first *modeled
	rests := func(t *modeled) taskstate.Resting {
		return taskstate.Resting{Rest: t.st.Rest(), Rested: t.st.Rested, Number: t.number}
	}
	for _, t := range m.tasks {
		if t != but && of(t) && t.st.Rest() != taskstate.Active && (first == nil || rests(t).Compare(rests(first)) < 0) {
			first = t
		}
	}
	m.tasks = slices.DeleteFunc(m.tasks, func(t *modeled) bool { return t == first })
	m.forget()
}

// forget drops the tickets of tasks that are gone.
func (m *model) forget() {
	m.tickets = slices.DeleteFunc(m.tickets, func(k modelTicket) bool { return m.find(k.of.Key) != k.of })
}

// agrees reports how a store differs from what the rules say.
func (m *model) agrees(side *side, s *step, want string, wantErr error, got string, gotErr error) error {
	text, _ := said(gotErr)
	if wanted, _ := said(wantErr); text != wanted {
		return fmt.Errorf("%s says %q, the rules %q", side.name, text, wanted)
	}
	if s.Op == opDue && got != want {
		return fmt.Errorf("%s has due %s, the rules %s", side.name, got, want)
	}
	if heads := m.heads(); heads != side.heads {
		return errors.Join(fmt.Errorf("%s has %s", side.name, side.heads), fmt.Errorf("the rules %s", heads))
	}
	return nil
}
