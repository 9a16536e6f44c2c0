package memory

import (
	"container/heap"

	"github.com/a2agen/a2agen/internal/taskstate"
)

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
