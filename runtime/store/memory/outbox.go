package memory

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// push is a configuration of a task in a [Store]: a cursor in its log. The lock of the index guards it.
type push struct {
	store.Push
	taskstate.Cursor
	row   *row
	index int // in the heap; -1: it sleeps
	// base is the task before Next, for a configuration whose notifications show it; nil when that is not known. The
	// lock of the row guards it, too.
	base runtime.Task
}

// outbox are all configurations of a [Store]: those that are due or claimed in a heap.
type outbox struct {
	n      int
	claims int64
	heap   pushHeap
}

// due wakes those that sleep.
func (o *outbox) due(pushes []*push, now time.Time) {
	for _, p := range pushes {
		if p.Wake(now.UnixNano()) {
			heap.Push(&o.heap, p)
		}
	}
}

// pending reports whether one of them is due, or claimed.
func (o *outbox) pending(pushes []*push) bool {
	return slices.ContainsFunc(pushes, func(p *push) bool { return p.index >= 0 })
}

// schedule adds a configuration to the heap that is due or claimed.
func (o *outbox) schedule(p *push) {
	if p.Due != 0 {
		heap.Push(&o.heap, p)
	}
}

func (o *outbox) sleep(p *push) {
	if p.index >= 0 {
		heap.Remove(&o.heap, p.index)
	}
}

func (o *outbox) remove(pushes []*push) {
	for _, p := range pushes {
		o.sleep(p)
		o.n--
		p.row.account.pushes--
	}
}

// find returns the configuration of an id, and where it is or belongs.
func (r *row) find(id string) (*push, int) {
	i, ok := slices.BinarySearchFunc(r.pushes(), id, func(p *push, id string) int { return cmp.Compare(p.ID, id) })
	if !ok {
		return nil, i
	}
	return r.pushes()[i], i
}

// pushFacts are what the rules need to know of a configuration that comes to a task. Callers must hold both locks.
func (x *index) pushFacts(r *row, p *store.Push) *taskstate.Push {
	old, _ := r.find(p.ID)
	room := taskstate.PushRoom(r.account.pushes, x.outbox.n, x.limits.Pushes, r.account.principal != "")
	return &taskstate.Push{Bad: p.Check(), New: old == nil, Max: p.Max, Full: !room}
}

// addPush adds a configuration that the rules have taken, or replaces the one with its id. Callers must hold both locks.
func (x *index) addPush(r *row, p store.Push, now time.Time) {
	o, version := &x.outbox, r.st.Version
	p.Max = 0
	old, i := r.find(p.ID)
	if old == nil {
		added := &push{Push: p, Cursor: taskstate.NewCursor(version), row: r, index: -1}
		added.rebase(version)
		has := r.more()
		has.pushes = slices.Insert(has.pushes, i, added)
		o.n++
		r.account.pushes++
		return
	}
	o.sleep(old)
	old.Push = p
	old.rebase(old.Next - 1)
	old.Replace(version, now.UnixNano())
	o.schedule(old)
}

// rebase brings the base to a version, if that can be done. Callers must hold both locks, unless the row is new.
func (p *push) rebase(version int64) {
	r := p.row
	switch {
	case !p.Tasks, version == r.st.Version && r.st.Status.Terminal(): // there is nothing to show any more
		p.base = nil
	case version == r.st.Version:
		p.base = nil
		if task, err := r.whole(); err == nil {
			p.base = task.View(nil, true)
		}
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
	for _, rec := range r.log.records[from-r.log.trimmed : to-r.log.trimmed] {
		if e, err := rec.Event(); err != nil || task.Apply(e) != nil {
			return false
		}
		for _, m := range rec.Messages {
			task.AddMessage(m)
		}
	}
	return true
}

// past is a view of the task as it was at a version, which a configuration still has to show. Callers must hold the lock
// of the row.
func (r *row) past(view store.View) (store.Snapshot, error) {
	for _, p := range r.pushes() {
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

// both locks a task and the index, and returns the unlocking; nil for a task that is not there.
func (m *Store) both(key store.Key) (r *row, unlock func()) {
	if r = m.lookup(key); r == nil {
		return nil, nil
	}
	r.mu.Lock()
	if r.gone {
		r.mu.Unlock()
		return nil, nil
	}
	m.mu.Lock()
	return r, func() { m.mu.Unlock(); r.mu.Unlock() }
}

// SetPush implements [store.Store].
func (m *Store) SetPush(_ context.Context, key store.Key, p store.Push) error {
	r, unlock := m.both(key)
	if r == nil {
		return store.ErrNotFound
	}
	defer unlock()
	if err := r.st.AddPush(m.pushFacts(r, &p)); err != nil {
		return err
	}
	m.addPush(r, p, m.clock())
	return nil
}

// Pushes implements [store.Store].
func (m *Store) Pushes(_ context.Context, key store.Key) ([]store.Push, error) {
	r, unlock := m.both(key)
	if r == nil {
		return nil, store.ErrNotFound
	}
	defer unlock()
	all := make([]store.Push, len(r.pushes()))
	for i, p := range r.pushes() {
		all[i] = p.Push
	}
	return all, nil
}

// DeletePush implements [store.Store].
func (m *Store) DeletePush(_ context.Context, key store.Key, id string) error {
	r, unlock := m.both(key)
	if r == nil {
		return store.ErrNotFound
	}
	defer unlock()
	if p, i := r.find(id); p != nil {
		m.outbox.remove([]*push{p})
		r.extra.pushes = slices.Delete(r.extra.pushes, i, i+1)
		r.st.Pushes--
	}
	return nil
}

// Due implements [store.Store].
func (m *Store) Due(_ context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, now := &m.outbox, m.clock().UnixNano()
	for len(o.heap) > 0 && len(due) < max && o.heap[0].Due <= now {
		p := o.heap[0]
		o.claims++
		p.Claim(o.claims, now, hold)
		heap.Fix(&o.heap, 0)
		d := store.Delivery{Key: p.row.key(), Push: p.Push, Next: p.Next, Until: p.Until, Attempt: p.Attempt, Holder: p.Holder}
		if p.Since != 0 {
			d.Since = time.Unix(0, p.Since)
		}
		due = append(due, d)
	}
	if len(o.heap) == 0 {
		return due, -1, nil
	}
	return due, time.Duration(o.heap[0].Due - now), nil
}

// Settle implements [store.Store].
func (m *Store) Settle(_ context.Context, d store.Delivery, out store.Outcome) error {
	r, unlock := m.both(d.Key)
	if r == nil {
		return store.ErrLost
	}
	defer unlock()
	p, _ := r.find(d.Push.ID)
	if p == nil {
		return store.ErrLost
	}
	next := p.Cursor
	if err := next.Settle(d.Holder, taskstate.Outcome(out), r.st.Version, m.clock().UnixNano()); err != nil {
		return err
	}
	m.outbox.sleep(p)
	if next.Next != p.Next {
		p.rebase(next.Next - 1)
	}
	p.Cursor = next
	m.outbox.schedule(p)
	return nil
}

// pushHeap has what is due first at its top.
type pushHeap []*push

// The methods of [heap.Interface].

func (h pushHeap) Len() int { return len(h) }

func (h pushHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.row.number, b.row.number), cmp.Compare(a.ID, b.ID)) < 0
}

func (h pushHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *pushHeap) Push(x any) {
	p := x.(*push)
	p.index = len(*h)
	*h = append(*h, p)
}

func (h *pushHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	p.index = -1
	return p
}
