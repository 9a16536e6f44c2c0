package memory

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// The index keeps rows in intrusive lists: every move is O(1), and a page costs what it shows, not what the store
// holds.

// index is what a [Store] knows of all tasks together. Its lock is the store's mu, which callers of the methods must hold;
// the first three fields never change.
type index struct {
	limits Limits
	task   taskstate.Limits
	clock  func() time.Time

	owners   map[store.Owner]*owned
	rows     map[rowKey]*row
	contexts map[groupKey]*group
	ledger   ledger
	made     int64  // tasks, so far
	logs     []*row // the last ended tasks with logs, a ring
	oldest   int    // index in logs of the one to go next
	repeats  repeats
	outbox   outbox
	tickets  tickets
	notes    notes
	sharing
}

// Slots of row.links.
const (
	ownerSlot = iota
	contextSlot
	restSlot
)

type link struct{ prev, next *row }

// queue is a list of rows through one slot of their links.
type queue struct {
	slot        int
	front, back *row
}

// insertBefore puts r before at; nil is the end.
func (q *queue) insertBefore(r, at *row) {
	l := &r.links[q.slot]
	if at == nil {
		l.prev, l.next = q.back, nil
		q.back = r
	} else {
		l.prev, l.next = at.links[q.slot].prev, at
		at.links[q.slot].prev = r
	}
	if l.prev == nil {
		q.front = r
	} else {
		l.prev.links[q.slot].next = r
	}
}

func (q *queue) remove(r *row) {
	l := &r.links[q.slot]
	if l.prev == nil {
		q.front = l.next
	} else {
		l.prev.links[q.slot].next = l.next
	}
	if l.next == nil {
		q.back = l.prev
	} else {
		l.next.links[q.slot].prev = l.prev
	}
	*l = link{}
}

func (q *queue) next(r *row) *row { return r.links[q.slot].next }

// owned are the tasks of an owner. There is one for an owner as long as there are tasks, so that it stands for the owner
// in keys: those are looked up for every task, and are small and quickly compared then.
type owned struct {
	owner store.Owner
	store *Store
	all   group
	tally counts
}

// rowKey names a task.
type rowKey struct {
	of   *owned
	task string
}

// groupKey names the tasks of one context.
type groupKey struct {
	of      *owned
	context string
}

// group lists tasks, the most recent status first. Only that of an owner counts them by state: there are as many
// contexts as conversations, and each has few tasks.
type group struct {
	queue
	n      int
	counts *counts
}

// counts are numbers of tasks by state.
type counts [runtime.StateAuthRequired + 1]int

// add inserts r. New times are nearly always the newest: the search begins at the front.
func (g *group) add(r *row) {
	at := g.front
	for at != nil && before(at.at, at.id, r.at, r.id) {
		at = g.next(at)
	}
	g.insertBefore(r, at)
	g.n++
	if g.counts != nil {
		g.counts[r.state]++
	}
}

func (g *group) drop(r *row) {
	g.remove(r)
	g.n--
	if g.counts != nil {
		g.counts[r.state]--
	}
}

// before is the order of lists: status time descending, then task id (R15).
func before(at int64, id string, than int64, thanID string) bool {
	if at != than {
		return at > than
	}
	return cmp.Less(id, thanID)
}

// row returns the task of that key; nil if there is none.
func (x *index) row(key store.Key) *row {
	if o := x.owners[key.Owner]; o != nil {
		return x.rows[rowKey{o, key.Task}]
	}
	return nil
}

// group returns the list of an owner's context, or with "" that of all the owner's tasks; nil if there are none.
func (x *index) group(owner store.Owner, context string) *group {
	o := x.owners[owner]
	switch {
	case o == nil:
		return nil
	case context == "":
		return &o.all
	}
	return x.contexts[groupKey{o, context}]
}

// keepLog keeps the log of r, which has ended, and drops the log of the task that ended longest ago if there are too many.
func (x *index) keepLog(r *row) {
	if len(x.logs) < x.limits.Logs {
		x.logs = append(x.logs, r)
		return
	}
	old := x.logs[x.oldest]
	if old.mu.TryLock() {
		if !old.gone && !x.outbox.pending(old.pushes()) {
			old.log = nil
			x.ledger.charge(old, taskstate.Holding{Bytes: int64(old.held() - old.charged)})
		}
		old.mu.Unlock()
	}
	x.logs[x.oldest] = r
	x.oldest = (x.oldest + 1) % len(x.logs)
}

// attach puts a row into all lists of its status: those of its owner and of its context and, if it rests, the queue for
// eviction. Callers must hold both locks, unless the row is new.
func (x *index) attach(r *row) {
	r.owner.all.add(r)
	if r.group != nil {
		r.group.add(r)
	}
	switch a := r.account; r.st.Rest() {
	case taskstate.Active:
		return
	case taskstate.Ended:
		r.resting = &a.ended
	case taskstate.Parked:
		r.resting = &a.parked
	}
	r.rested = r.st.Rested
	var at *row // its time of rest is nearly always the latest
	goes := taskstate.Resting{Rested: r.rested, Number: r.number}
	for p := r.resting.back; p != nil; p = p.links[restSlot].prev {
		if goes.Compare(taskstate.Resting{Rested: p.rested, Number: p.number}) >= 0 {
			break
		}
		at = p
	}
	r.resting.insertBefore(r, at)
	x.ledger.add(r.account, taskstate.Holding{}, taskstate.Holding{Tasks: 1, Bytes: int64(r.charged)})
}

// detach takes r out of all lists. An empty list stays: discard drops it.
func (x *index) detach(r *row) {
	r.owner.all.drop(r)
	if r.group != nil {
		r.group.drop(r)
	}
	if r.resting != nil {
		r.resting.remove(r)
		r.resting = nil
		x.ledger.add(r.account, taskstate.Holding{}, taskstate.Holding{Tasks: -1, Bytes: -int64(r.charged)})
	}
}

// sweep evicts at most max tasks from the front of q that have rested since before deadline, and skips those that are locked,
// and those with notifications to be sent.
func (x *index) sweep(q *queue, deadline time.Time, max int) int {
	n := 0
	for r := q.front; r != nil && r.rested < deadline.UnixNano() && n < max; {
		next := q.next(r)
		if !x.outbox.pending(r.pushes()) && x.discard(r) {
			n++
		}
		r = next
	}
	return n
}

// discard drops r, with the notifications that were not sent: receivers that are away must not keep the store full. It
// reports false if the row is locked. Whoever still has the row keeps nothing of the task by it.
func (x *index) discard(r *row) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	x.outbox.remove(r.pushes())
	x.tickets.dropAll(r)
	x.detach(r)
	x.ledger.charge(r, taskstate.Holding{Tasks: -1, Bytes: -int64(r.charged)})
	r.gone, r.extra, r.call = true, nil, nil
	r.task, r.packed, r.log, r.input, r.saved, r.trace = nil, nil, nil, nil, nil, ""
	delete(x.rows, rowKey{r.owner, r.id})
	if r.group != nil && r.group.n == 0 {
		delete(x.contexts, groupKey{r.owner, r.context})
	}
	if r.owner.all.n == 0 {
		delete(x.owners, r.owner.owner)
	}
	return true
}

// account is what one principal holds, in all tenants. The lock of the index guards it.
type account struct {
	principal string
	taskstate.Account
	ended  queue // ended tasks, the longest ended first
	parked queue // interrupted tasks without work, the longest waiting first
	index  int   // among the heaviest; -1: nothing may be evicted
	pushes int   // push notification configurations
	noted  noted // notes, whose bytes are in Held
}

// ledger has the accounts of all principals. The lock of the index guards it.
type ledger struct {
	limits   *Limits
	accounts map[string]*account // by principal
	heaviest heaviest
	all      taskstate.Account // the sum of all accounts
}

// account returns what the principal holds. One that holds nothing yet is not kept before its first task is there.
func (l *ledger) account(principal string) *account {
	if a := l.accounts[principal]; a != nil {
		return a
	}
	own := taskstate.Holding{Tasks: int64(l.limits.OwnerTasks), Bytes: int64(l.limits.OwnerBytes)}
	return &account{
		principal: principal, Account: taskstate.Account{Limit: taskstate.Share(l.limits.all(), own, principal != "")},
		ended: queue{slot: restSlot}, parked: queue{slot: restSlot}, index: -1,
	}
}

// add adds to what an account holds, and to what of it may be evicted.
func (l *ledger) add(a *account, held, rested taskstate.Holding) {
	for _, sum := range []*taskstate.Account{&a.Account, &l.all} {
		sum.Held, sum.Rested = sum.Held.Plus(held), sum.Rested.Plus(rested)
	}
	l.weigh(a)
}

// charge adds to what r holds. Callers must hold both locks, unless r is new.
func (l *ledger) charge(r *row, more taskstate.Holding) {
	r.charged += int(more.Bytes)
	var rested taskstate.Holding
	if r.resting != nil {
		rested = more
	}
	l.add(r.account, more, rested)
}

// grow charges r for the bytes that it is going to take, if there is room, or room can be made, or it must be charged.
func (x *index) grow(r *row, bytes int, must bool) bool {
	more := taskstate.Holding{Bytes: int64(bytes - r.charged)}
	if !x.makeRoom(r.account, r, more) && !must {
		return false
	}
	x.ledger.charge(r, more)
	return true
}

// makeRoom evicts tasks until a may hold more. It evicts nothing when that cannot be enough. The row that wants more,
// nil if it is new, cannot go.
func (x *index) makeRoom(a *account, r *row, more taskstate.Holding) bool {
	var stays taskstate.Holding
	if r != nil && r.resting != nil {
		stays = taskstate.Holding{Tasks: 1, Bytes: int64(r.charged)}
	}
	switch taskstate.Room(&a.Account, &x.ledger.all, stays, more) {
	case taskstate.Fits:
		return true
	case taskstate.Full:
		return false
	}
	for !a.Fits(more) {
		if !x.evict(a) {
			return false
		}
	}
	for !x.ledger.all.Fits(more) {
		if !x.evictOfHeaviest() {
			return false
		}
	}
	return true
}

// evict drops the task of an account that has been ended for longest, else the one that has waited for longest. It
// skips tasks that are locked.
func (x *index) evict(a *account) bool {
	for _, q := range []*queue{&a.ended, &a.parked} {
		for r := q.front; r != nil; r = q.next(r) {
			if x.discard(r) {
				return true
			}
		}
	}
	return false
}

// evictOfHeaviest drops a task of the heaviest account that has one to drop.
func (x *index) evictOfHeaviest() bool {
	var busy []*account
	done := false
	for !done && len(x.ledger.heaviest) > 0 {
		a := x.ledger.heaviest[0]
		if done = x.evict(a); !done {
			heap.Remove(&x.ledger.heaviest, a.index)
			busy = append(busy, a)
		}
	}
	for _, a := range busy {
		x.ledger.weigh(a)
	}
	return done
}

// weigh moves an account to its position among the heaviest, and forgets one that is empty.
func (l *ledger) weigh(a *account) {
	switch yields := a.Rested.Tasks > 0; {
	case yields && a.index < 0:
		heap.Push(&l.heaviest, a)
	case yields:
		heap.Fix(&l.heaviest, a.index)
	case a.index >= 0:
		heap.Remove(&l.heaviest, a.index)
	}
	if a.Held.Tasks == 0 && a.noted.index == 0 {
		delete(l.accounts, a.principal)
	}
}

// heaviest is a heap of accounts of which something may be evicted, with the heaviest at its top.
type heaviest []*account

func (a *account) weight() int64 { return taskstate.Weigh(a.Held) }

// The methods of [heap.Interface].

func (h heaviest) Len() int           { return len(h) }
func (h heaviest) Less(i, j int) bool { return h[i].weight() > h[j].weight() }

func (h heaviest) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *heaviest) Push(x any) {
	a := x.(*account)
	a.index = len(*h)
	*h = append(*h, a)
}

func (h *heaviest) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.index = -1
	return a
}
