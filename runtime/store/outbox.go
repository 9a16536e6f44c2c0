package store

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// push is a configuration of a task in a [Memory]: a cursor in its log. The lock of the index guards it.
type push struct {
	Push
	row     *row
	next    int64     // first event that was not sent
	until   int64     // last one of those that travel with it
	attempt int       // failed ones for next
	since   time.Time // of the first failure
	holder  int64     // the claim; 0: nobody has it
	at      time.Time // when it is due, or its claim ends
	dead    string    // why it was given up
	place   int       // in the heap; -1: it sleeps
	// base is the task before next, for a configuration whose notifications show it; nil when that is not known. The
	// lock of the row guards it, too.
	base runtime.Task
}

// outbox are all configurations of a [Memory]: those that are due or claimed in a heap.
type outbox struct {
	n      int
	claims int64
	heap   pushHeap
}

// due wakes those that sleep.
func (o *outbox) due(pushes []*push, now time.Time) {
	for _, p := range pushes {
		if p.place < 0 && p.dead == "" {
			p.at = now
			heap.Push(&o.heap, p)
		}
	}
}

// waits reports whether one of them is due, or claimed.
func (o *outbox) waits(pushes []*push) bool {
	return slices.ContainsFunc(pushes, func(p *push) bool { return p.place >= 0 })
}

func (o *outbox) sleep(p *push) {
	if p.place >= 0 {
		heap.Remove(&o.heap, p.place)
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

// fits says why there is no room for a configuration; nil for none. The caller holds the lock of the row.
func (r *row) fits(p *Push) error {
	if p == nil {
		return nil
	}
	if err := p.Check(); err != nil {
		return err
	}
	m := r.store()
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, _ := r.find(p.ID); old == nil && !m.takesPush(r.account) {
		return ErrFull
	}
	return nil
}

// takesPush reports whether there is room for one more of an owner's. The caller holds the lock of the index.
func (m *Memory) takesPush(a *account) bool {
	most := m.limits.Pushes
	if a.principal != "" {
		most = max(most/2, 1)
	}
	return m.outbox.n < m.limits.Pushes && a.pushes < most
}

// addPush adds a configuration, or replaces the one with its id. The caller holds both locks, or the row is new.
func (r *row) addPush(p Push) {
	o := &r.store().outbox
	old, i := r.find(p.ID)
	if old == nil {
		added := &push{Push: p, row: r, next: r.version + 1, place: -1}
		added.rebase(r.version)
		r.also().pushes = slices.Insert(r.pushes(), i, added)
		o.n++
		r.account.pushes++
		return
	}
	o.sleep(old)
	*old = push{Push: p, row: r, next: old.next, until: old.until, place: -1, base: old.base}
	old.rebase(old.next - 1)
	if r.version >= old.next {
		o.due([]*push{old}, r.store().clock())
	}
}

// rebase brings the base to a version, if that can be done. The caller holds both locks, or the row is new.
func (p *push) rebase(version int64) {
	r := p.row
	switch {
	case !p.Tasks, version == r.version && r.state.Terminal(): // there is nothing to show any more
		p.base = nil
	case version == r.version:
		p.base = nil
		if task, err := r.whole(); err == nil {
			p.base = task.View(nil, true)
		}
	case p.base != nil && !r.replay(p.base, p.next-1, version):
		p.base = nil
	}
}

// replay brings a task from one version to a later one by the log. It reports whether the log has all that is needed.
func (r *row) replay(task runtime.Task, from, to int64) bool {
	if from == to {
		return true
	}
	if r.log == nil || from < r.log.trimmed || to > r.version {
		return false
	}
	for _, rec := range r.log.records[from-r.log.trimmed : to-r.log.trimmed] {
		if task.Apply(rec.event) != nil {
			return false
		}
		for _, m := range rec.messages {
			task.AddMessage(m)
		}
	}
	return true
}

// past is a view of the task as it was at a version, which a configuration still has to show. The caller holds the lock
// of the row.
func (r *row) past(view View) (Snapshot, error) {
	for _, p := range r.pushes() {
		if p.base == nil || view.At < p.next-1 {
			continue
		}
		task := p.base.View(nil, true)
		if r.replay(task, p.next-1, view.At) {
			snap, err := r.snapshot(nil)
			snap.Version, snap.Bytes = view.At, r.size.of(view)
			snap.Task = task.View(view.History, view.Artifacts)
			return snap, err
		}
	}
	return Snapshot{}, ErrTrimmed
}

// both locks a task and the index, and returns the unlocking; nil for a task that is not there.
func (m *Memory) both(key Key) (r *row, unlock func()) {
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

// SetPush implements [Store].
func (m *Memory) SetPush(_ context.Context, key Key, p Push) error {
	r := m.lookup(key)
	if r == nil {
		return ErrNotFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return ErrNotFound
	}
	if err := r.fits(&p); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r.addPush(p)
	return nil
}

// Pushes implements [Store].
func (m *Memory) Pushes(_ context.Context, key Key) ([]Push, error) {
	r, unlock := m.both(key)
	if r == nil {
		return nil, ErrNotFound
	}
	defer unlock()
	all := make([]Push, len(r.pushes()))
	for i, p := range r.pushes() {
		all[i] = p.Push
	}
	return all, nil
}

// DeletePush implements [Store].
func (m *Memory) DeletePush(_ context.Context, key Key, id string) error {
	r, unlock := m.both(key)
	if r == nil {
		return ErrNotFound
	}
	defer unlock()
	if p, i := r.find(id); p != nil {
		m.outbox.remove([]*push{p})
		r.beside.pushes = slices.Delete(r.beside.pushes, i, i+1)
	}
	return nil
}

// Due implements [Store].
func (m *Memory) Due(_ context.Context, max int, hold time.Duration) (due []Delivery, next time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, now := &m.outbox, m.clock()
	for len(o.heap) > 0 && len(due) < max && !o.heap[0].at.After(now) {
		p := o.heap[0]
		o.claims++
		p.holder, p.at = o.claims, now.Add(hold)
		heap.Fix(&o.heap, 0)
		due = append(due, Delivery{p.row.key(), p.Push, p.next, p.until, p.attempt, p.since, p.holder})
	}
	if len(o.heap) == 0 {
		return due, -1, nil
	}
	return due, o.heap[0].at.Sub(now), nil
}

// Settle implements [Store].
func (m *Memory) Settle(_ context.Context, d Delivery, out Outcome) error {
	r, unlock := m.both(d.Key)
	if r == nil {
		return ErrLost
	}
	defer unlock()
	p, _ := r.find(d.Push.ID)
	if p == nil || p.holder != d.Holder || d.Holder == 0 {
		return ErrLost
	}
	o, now := &m.outbox, m.clock()
	o.sleep(p)
	p.holder, p.dead = 0, out.Dead
	if out.Sent >= p.next {
		p.rebase(out.Sent)
		p.next, p.until, p.attempt, p.since = out.Sent+1, out.Until, 0, time.Time{}
	}
	switch {
	case out.Dead != "":
	case out.Again > 0:
		if p.attempt++; p.since.IsZero() {
			p.since = now
		}
		p.at = now.Add(out.Again)
		heap.Push(&o.heap, p)
	case r.version >= p.next:
		o.due([]*push{p}, now)
	}
	return nil
}

// pushHeap has what is due first at its top.
type pushHeap []*push

// The methods of [heap.Interface].

func (h pushHeap) Len() int           { return len(h) }
func (h pushHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h pushHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *pushHeap) Push(x any) {
	p := x.(*push)
	p.place = len(*h)
	*h = append(*h, p)
}

func (h *pushHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	p.place = -1
	return p
}
