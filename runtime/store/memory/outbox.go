package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// outbox are the configurations of push notifications of all tasks.
type outbox struct {
	pushes map[*row]map[string]*push // of a task, by id; those of one task are guarded by its lock, too
	n      int
	claims int64
	due    ranking[*push] // or claimed
}

// push is a configuration of a task: a cursor in its log.
type push struct {
	store.Push
	taskstate.Cursor
	row   *row
	place int // among those that are due
	// base is the task before Next, for a configuration whose notifications show it; nil when that is not known. The
	// lock of the row guards it, too.
	base runtime.Task
}

// sooner is the order in which notifications are sent.
func sooner(a, b *push) bool {
	return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.row.number, b.row.number), cmp.Compare(a.ID, b.ID)) < 0
}

// pending reports whether a notification of the task is due, or claimed.
func (o *outbox) pending(r *row) bool {
	for _, p := range o.pushes[r] {
		if p.Due != 0 {
			return true
		}
	}
	return false
}

// pushFacts are what the rules need to know of a configuration that comes to a task.
func (x *index) pushFacts(r *row, p *store.Push) *taskstate.Push {
	a := r.owner.account
	room := taskstate.PushRoom(a.pushes, x.outbox.n, x.limits.Pushes, a.principal != "")
	return &taskstate.Push{Bad: p.Check(), New: x.pushes[r][p.ID] == nil, Max: p.Max, Full: !room}
}

// addPush adds a configuration that the rules have taken, or replaces the one with its id. Callers must hold both locks.
func (x *index) addPush(r *row, config *store.Push, now time.Time) {
	kept := *config
	kept.Max = 0
	version, p := r.st.Version, x.pushes[r][kept.ID]
	if p != nil {
		p.Push = kept
		p.rebase(p.Next - 1)
		p.Replace(version, now.UnixNano())
		x.due.move(p, p.Due != 0)
		return
	}
	p = &push{Push: kept, Cursor: taskstate.NewCursor(version), row: r}
	p.rebase(version)
	if x.pushes[r] == nil {
		x.pushes[r] = map[string]*push{}
	}
	x.pushes[r][p.ID] = p
	x.outbox.n++
	r.owner.account.pushes++
}

// removePush removes a configuration. Callers must hold both locks.
func (x *index) removePush(p *push) {
	x.due.move(p, false)
	delete(x.pushes[p.row], p.ID)
	x.outbox.n--
	p.row.owner.account.pushes--
}

// rebase brings the base to a version, if that can be done. Callers must hold both locks.
func (p *push) rebase(version int64) {
	r := p.row
	switch {
	case !p.Tasks, version == r.st.Version && r.st.Status.Terminal(): // there is nothing to show any more
		p.base = nil
	case version == r.st.Version:
		p.base = r.task.View(nil, true)
	case p.base != nil && !r.replay(p.base, p.Next-1, version):
		p.base = nil
	}
}

// replay brings a task from one version to a later one by the log. It reports whether the log has all that is needed.
func (r *row) replay(task runtime.Task, from, to int64) bool {
	if from == to {
		return true
	}
	if r.log == nil || from < r.log.trimmed || to > r.st.Version {
		return false
	}
	for _, rec := range r.log.after(from)[:to-from] {
		e, err := rec.Event()
		c := store.Change{Event: e, Messages: rec.Messages}
		if err != nil || c.Apply(task) != nil {
			return false
		}
	}
	return true
}

// past is a view of the task as it was at a version, which a configuration still has to show. Callers must hold the lock
// of the row.
func (m *Store) past(r *row, view store.View) (store.Snapshot, error) {
	m.mu.Lock()
	pushes := m.pushes[r]
	m.mu.Unlock()
	for _, p := range pushes {
		if p.base == nil || view.At < p.Next-1 {
			continue
		}
		task := p.base.View(nil, true)
		if r.replay(task, p.Next-1, view.At) {
			snap, err := r.snapshot(nil)
			snap.Version, snap.Bytes = view.At, r.json(view)
			snap.Task = view.Of(task, view.At, false)
			return snap, err
		}
	}
	return store.Snapshot{}, store.ErrTrimmed
}

// SetPush implements [store.Store].
func (m *Store) SetPush(_ context.Context, key store.Key, p store.Push) error {
	r, err := m.locked(key)
	if err != nil {
		return err
	}
	defer r.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := r.st.AddPush(m.pushFacts(r, &p)); err != nil {
		return err
	}
	m.addPush(r, &p, m.clock())
	return nil
}

// Pushes implements [store.Store].
func (m *Store) Pushes(_ context.Context, key store.Key) ([]store.Push, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.row(key)
	if r == nil {
		return nil, store.ErrNotFound
	}
	all := make([]store.Push, 0, len(m.pushes[r]))
	for _, p := range m.pushes[r] {
		all = append(all, p.Push)
	}
	slices.SortFunc(all, func(a, b store.Push) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// DeletePush implements [store.Store].
func (m *Store) DeletePush(_ context.Context, key store.Key, id string) error {
	r, err := m.locked(key)
	if err != nil {
		return err
	}
	defer r.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.pushes[r][id]; p != nil {
		m.removePush(p)
		r.st.Pushes--
	}
	return nil
}

// Due implements [store.Store].
func (m *Store) Due(_ context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock().UnixNano()
	for len(m.due.items) > 0 {
		p := m.due.items[0]
		if p.Due > now || len(due) == max {
			return due, time.Duration(p.Due - now), nil
		}
		m.claims++
		p.Claim(m.claims, now, hold)
		m.due.move(p, true)
		d := store.Delivery{Key: p.row.key(), Push: p.Push, Next: p.Next, Until: p.Until, Attempt: p.Attempt, Holder: p.Holder}
		if p.Since != 0 {
			d.Since = time.Unix(0, p.Since)
		}
		due = append(due, d)
	}
	return due, -1, nil
}

// Settle implements [store.Store].
func (m *Store) Settle(_ context.Context, d store.Delivery, out store.Outcome) error {
	r, err := m.locked(d.Key)
	if err != nil {
		return store.ErrLost
	}
	defer r.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pushes[r][d.Push.ID]
	if p == nil {
		return store.ErrLost
	}
	next := p.Cursor
	if err := next.Settle(d.Holder, taskstate.Outcome(out), r.st.Version, m.clock().UnixNano()); err != nil {
		return err
	}
	if next.Next != p.Next {
		p.rebase(next.Next - 1)
	}
	p.Cursor = next
	m.due.move(p, p.Due != 0)
	return nil
}
