package memory

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// The index keeps rows in intrusive lists: every move is O(1), and a page costs what it shows, not what the store
// holds.

// index is what a [Store] knows of all tasks together. Callers of its methods must hold mu.
type index struct {
	limits Limits
	task   taskstate.Limits
	clock  func() time.Time
	coding atomic.Pointer[Coding]

	mu       sync.Mutex // guards what follows
	owners   map[store.Owner]*owned
	rows     map[name]*row
	contexts map[name]*group
	made     int64                  // tasks, so far
	logs     []*row                 // the last ended tasks with logs, a ring
	oldest   int                    // index in logs of the one to go next
	waiting  map[*row][]*store.Call // calls after the one at work
	accounts map[string]*account    // by principal
	all      taskstate.Account      // the sum of all accounts
	heaviest ranking[*account]      // of which something may be evicted
	tickets
	repeats
	outbox
	notes
	sharing
}

// Slots of row.links.
const (
	restSlot = iota
	ownerSlot
	contextSlot
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
	owner   store.Owner
	store   *Store
	account *account
	all     group
}

// name is that of a task, or of a context, of an owner.
type name struct {
	of *owned
	id string
}

// group lists tasks, the most recent status first. Only that of an owner counts them by state: there are as many
// contexts as conversations, and each has few tasks.
type group struct {
	queue
	n      int
	counts []int // by state; nil: they are not counted
}

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
	return cmp.Or(cmp.Compare(than, at), cmp.Compare(id, thanID)) < 0
}

// row returns the task of that key; nil if there is none.
func (x *index) row(key store.Key) *row {
	if o := x.owners[key.Owner]; o != nil {
		return x.rows[name{o, key.Task}]
	}
	return nil
}

// attach puts a row into all lists of its status: those of its owner and of its context and, if it rests, the queue for
// eviction. Callers must hold both locks.
func (x *index) attach(r *row) {
	r.state, r.at = r.st.Status, r.task.TaskInfo().At.UnixNano()
	r.owner.all.add(r)
	if r.group != nil {
		r.group.add(r)
	}
	rest := r.st.Rest()
	if rest == taskstate.Active {
		return
	}
	r.resting, r.rested = &r.owner.account.resting[rest], r.st.Rested
	var at *row // its time of rest is nearly always the latest
	goes := taskstate.Resting{Rested: r.rested, Number: r.number}
	for p := r.resting.back; p != nil; p = p.links[restSlot].prev {
		if goes.Compare(taskstate.Resting{Rested: p.rested, Number: p.number}) >= 0 {
			break
		}
		at = p
	}
	r.resting.insertBefore(r, at)
	x.add(r.owner.account, taskstate.Holding{}, r.yields())
}

// detach takes r out of all lists. An empty list stays: discard drops it.
func (x *index) detach(r *row) {
	r.owner.all.drop(r)
	if r.group != nil {
		r.group.drop(r)
	}
	if r.resting != nil {
		x.add(r.owner.account, taskstate.Holding{}, taskstate.Holding{}.Minus(r.yields()))
		r.resting.remove(r)
		r.resting = nil
	}
}

// keepLog keeps the log of r, which has ended, and drops the log of the task that ended longest ago if there are too many.
func (x *index) keepLog(r *row) {
	if len(x.logs) < x.limits.Logs {
		x.logs = append(x.logs, r)
		return
	}
	old := x.logs[x.oldest]
	if old.mu.TryLock() {
		if !old.gone && !x.pending(old) {
			old.log = nil
			x.recharge(old)
		}
		old.mu.Unlock()
	}
	x.logs[x.oldest] = r
	x.oldest = (x.oldest + 1) % len(x.logs)
}

// drop discards at most max tasks from the front of q that have rested since before deadline. It skips those that are locked
// and, with onlySent, those with notifications to be sent.
func (x *index) drop(q *queue, deadline int64, max int, onlySent bool) (dropped int) {
	for r := q.front; r != nil && r.rested < deadline && dropped < max; {
		next := q.next(r)
		if !(onlySent && x.pending(r)) && x.discard(r) {
			dropped++
		}
		r = next
	}
	return dropped
}

// discard drops r, with the notifications that were not sent: receivers that are away must not keep the store full. It
// reports false if the row is locked. Whoever still has the row keeps nothing of the task by it.
func (x *index) discard(r *row) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	for _, p := range x.pushes[r] {
		x.removePush(p)
	}
	delete(x.pushes, r)
	x.dropTickets(r)
	delete(x.waiting, r)
	x.detach(r)
	x.charge(r, taskstate.Holding{Tasks: -1, Bytes: -int64(r.charged)})
	r.gone, r.task, r.packed, r.log, r.call, r.Private = true, nil, nil, nil, nil, store.Private{}
	delete(x.rows, name{r.owner, r.id})
	if r.group != nil && r.group.n == 0 {
		delete(x.contexts, name{r.owner, r.context})
	}
	if r.owner.all.n == 0 {
		delete(x.owners, r.owner.owner)
	}
	return true
}
