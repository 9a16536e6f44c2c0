package store

import "container/heap"

// holding is a number of tasks, and of their bytes.
type holding struct{ tasks, bytes int }

func (h holding) plus(o holding) holding  { return holding{h.tasks + o.tasks, h.bytes + o.bytes} }
func (h holding) minus(o holding) holding { return holding{h.tasks - o.tasks, h.bytes - o.bytes} }
func (h holding) within(o holding) bool   { return h.tasks <= o.tasks && h.bytes <= o.bytes }

// account is what one principal holds, in all tenants. The lock of the index guards it.
type account struct {
	principal string
	share     holding // what it may hold
	held      holding
	rested    holding // of held, what may be evicted
	ended     queue   // ended tasks, the longest ended first
	parked    queue   // interrupted tasks without work, the longest waiting first
	place     int     // among the heaviest; -1: nothing may be evicted
	pushes    int     // push notification configurations
	noted     noted   // notes, whose bytes are in held
}

// account returns what the principal holds. One that holds nothing yet is not kept before its first task is there.
func (m *Memory) account(principal string) *account {
	if a := m.accounts[principal]; a != nil {
		return a
	}
	return &account{principal: principal, share: m.limits.share(principal), ended: queue{slot: restSlot}, parked: queue{slot: restSlot}, place: -1}
}

// charge adds to what r holds. The caller holds both locks, or r is new.
func (m *Memory) charge(r *row, more holding) {
	a := r.account
	r.charged += more.bytes
	a.held, m.held = a.held.plus(more), m.held.plus(more)
	if r.resting != nil {
		a.rested, m.rested = a.rested.plus(more), m.rested.plus(more)
	}
	m.weigh(a)
}

// rests reports whether a task has ended, or waits for its client with no work left.
func (r *row) rests() bool { return r.state.Terminal() || r.state.Interrupted() && r.work.at == nil }

// rest queues a task that rests for eviction. The caller holds both locks, or the row is new.
func (m *Memory) rest(r *row) {
	a := r.account
	switch {
	case !r.rests():
		return
	case r.state.Terminal():
		r.resting = &a.ended
	default:
		r.resting = &a.parked
	}
	r.resting.insertBefore(r, nil)
	h := holding{1, r.charged}
	a.rested, m.rested = a.rested.plus(h), m.rested.plus(h)
	m.weigh(a)
}

// rouse takes a task out of its queue for eviction.
func (m *Memory) rouse(r *row) {
	if r.resting == nil {
		return
	}
	r.resting.remove(r)
	r.resting = nil
	h := holding{1, r.charged}
	r.account.rested, m.rested = r.account.rested.minus(h), m.rested.minus(h)
	m.weigh(r.account)
}

// makeRoom evicts tasks until a may hold more. It evicts nothing when that cannot be enough. The row that wants more,
// nil if it is new, cannot go.
func (m *Memory) makeRoom(a *account, r *row, more holding) bool {
	total := holding{m.limits.Tasks, m.limits.Bytes}
	var stays holding
	if r != nil && r.resting != nil {
		stays = holding{1, r.charged}
	}
	least := stays.plus(more)
	if !a.held.minus(a.rested).plus(least).within(a.share) || !m.held.minus(m.rested).plus(least).within(total) {
		return false
	}
	for !a.held.plus(more).within(a.share) {
		if !m.evict(a) {
			return false
		}
	}
	for !m.held.plus(more).within(total) {
		if !m.evictOfHeaviest() {
			return false
		}
	}
	return true
}

// evict drops the task of an account that has been ended for longest, else the one that has waited for longest. It
// passes over tasks that somebody is at work on.
func (m *Memory) evict(a *account) bool {
	for _, q := range []*queue{&a.ended, &a.parked} {
		for r := q.front; r != nil; r = q.next(r) {
			if m.discard(r) {
				return true
			}
		}
	}
	return false
}

// evictOfHeaviest drops a task of the account that holds most of those that have one to drop.
func (m *Memory) evictOfHeaviest() bool {
	var busy []*account
	done := false
	for !done && len(m.heaviest) > 0 {
		a := m.heaviest[0]
		if done = m.evict(a); !done {
			heap.Remove(&m.heaviest, a.place)
			busy = append(busy, a)
		}
	}
	for _, a := range busy {
		m.weigh(a)
	}
	return done
}

// weigh puts an account in its place among the heaviest, and forgets one that is empty.
func (m *Memory) weigh(a *account) {
	switch yields := a.rested.tasks > 0; {
	case yields && a.place < 0:
		heap.Push(&m.heaviest, a)
	case yields:
		heap.Fix(&m.heaviest, a.place)
	case a.place >= 0:
		heap.Remove(&m.heaviest, a.place)
	}
	if a.held.tasks == 0 && a.noted.place == 0 {
		delete(m.accounts, a.principal)
	}
}

// heaviest is a heap of accounts of which something may be evicted, with the one that holds most at its top. A task
// weighs its bytes and its share of a full store, so that many small ones count, too.
type heaviest []*account

// emptyTask is the share of one task: that of the default limits.
const emptyTask = (256 << 20) / 20_000

func (a *account) weight() int { return a.held.bytes + a.held.tasks*emptyTask }

// The methods of [heap.Interface].

func (h heaviest) Len() int           { return len(h) }
func (h heaviest) Less(i, j int) bool { return h[i].weight() > h[j].weight() }

func (h heaviest) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *heaviest) Push(x any) {
	a := x.(*account)
	a.place = len(*h)
	*h = append(*h, a)
}

func (h *heaviest) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.place = -1
	return a
}
