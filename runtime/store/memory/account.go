package memory

import (
	"cmp"
	"container/list"
	"math"
	"slices"

	"github.com/a2agen/a2agen/internal/taskstate"
)

// account is what one principal holds, in all tenants. The lock of the index guards it.
type account struct {
	principal string
	taskstate.Account
	resting [taskstate.Parked + 1]queue // those that have rested longest first
	place   int                         // among the heaviest
	pushes  int                         // push notification configurations

	notes        list.List // the one that was written longest ago first
	noteBytes    int       // which are in Held
	placeOfNotes int       // among those with most notes
}

// heavier is the order in which accounts lose tasks when the store is full.
func heavier(a, b *account) bool { return taskstate.Weigh(a.Held) > taskstate.Weigh(b.Held) }

// account returns what the principal holds. One that holds nothing yet is not kept before its first task or note is there.
func (x *index) account(principal string) *account {
	if a := x.accounts[principal]; a != nil {
		return a
	}
	own := taskstate.Holding{Tasks: int64(x.limits.OwnerTasks), Bytes: int64(x.limits.OwnerBytes)}
	limit := taskstate.Share(x.limits.all(), own, principal != "")
	return &account{principal: principal, Account: taskstate.Account{Limit: limit}}
}

// add adds to what an account holds, and to what of it may be evicted. An account that holds nothing is dropped.
func (x *index) add(a *account, held, rested taskstate.Holding) {
	for _, sum := range []*taskstate.Account{&a.Account, &x.all} {
		sum.Held, sum.Rested = sum.Held.Plus(held), sum.Rested.Plus(rested)
	}
	x.heaviest.move(a, a.Rested.Tasks > 0)
	if a.Held.Tasks == 0 && a.notes.Len() == 0 {
		delete(x.accounts, a.principal)
	}
}

// charge adds to what r holds. Callers must hold both locks.
func (x *index) charge(r *row, more taskstate.Holding) {
	r.charged += int(more.Bytes)
	var rested taskstate.Holding
	if r.resting != nil {
		rested = more
	}
	x.add(r.owner.account, more, rested)
}

// recharge charges r for what it holds. Callers must hold both locks.
func (x *index) recharge(r *row) { x.charge(r, taskstate.Holding{Bytes: int64(r.held() - r.charged)}) }

// grow charges r for the bytes that it is going to take, if there is room, or room can be made, or it must be charged.
// Callers must hold both locks.
func (x *index) grow(r *row, bytes int, must bool) bool {
	more := taskstate.Holding{Bytes: int64(bytes - r.charged)}
	if !x.makeRoom(r.owner.account, r.yields(), more) && !must {
		return false
	}
	x.charge(r, more)
	return true
}

// makeRoom evicts tasks until an account may hold more, or nothing when that cannot be enough. stays is the task that
// grows, if it rests itself.
func (x *index) makeRoom(a *account, stays, more taskstate.Holding) bool {
	if verdict := taskstate.Room(&a.Account, &x.all, stays, more); verdict != taskstate.Evict {
		return verdict == taskstate.Fits
	}
	for !a.Fits(more) {
		if !x.evict(a) {
			return false
		}
	}
	for !x.all.Fits(more) {
		if !x.evictOfHeaviest() {
			return false
		}
	}
	return true
}

// evict drops the task of an account that has been ended for longest, else the one that has waited for longest. It
// skips tasks that are locked.
func (x *index) evict(a *account) bool {
	for _, rest := range []taskstate.Rest{taskstate.Ended, taskstate.Parked} {
		if x.drop(&a.resting[rest], math.MaxInt64, 1, false) > 0 {
			return true
		}
	}
	return false
}

// evictOfHeaviest drops a task of the heaviest account that has one to drop.
func (x *index) evictOfHeaviest() bool {
	list := x.heaviest.items
	if len(list) == 0 || x.evict(list[0]) {
		return len(list) > 0
	}
	others := slices.Clone(list[1:]) // the tasks of the heaviest are all locked
	slices.SortFunc(others, func(a, b *account) int {
		return cmp.Compare(taskstate.Weigh(b.Held), taskstate.Weigh(a.Held))
	})
	return slices.ContainsFunc(others, x.evict)
}
