package taskstate

import "cmp"

// Holding is a number of tasks, and of their bytes.
type Holding struct{ Tasks, Bytes int64 }

// Plus and Minus add and subtract.
func (h Holding) Plus(o Holding) Holding  { return Holding{h.Tasks + o.Tasks, h.Bytes + o.Bytes} }
func (h Holding) Minus(o Holding) Holding { return Holding{h.Tasks - o.Tasks, h.Bytes - o.Bytes} }

// Share is what one principal may hold of a store, over all tenants: what the store's limits for owners say, else half of
// all, and all for callers without a principal.
func Share(all, ofOwner Holding, named bool) Holding {
	share := all
	if named {
		share = Holding{max(all.Tasks/2, 1), all.Bytes / 2}
	}
	return Holding{cmp.Or(ofOwner.Tasks, share.Tasks), cmp.Or(ofOwner.Bytes, share.Bytes)}
}

// Account is what somebody holds: a principal, or all together.
type Account struct {
	Held   Holding
	Rested Holding // of Held, what may be evicted
	Limit  Holding
}

// Fits reports whether there is room for more.
func (a *Account) Fits(more Holding) bool {
	return a.Held.Tasks+more.Tasks <= a.Limit.Tasks && a.Held.Bytes+more.Bytes <= a.Limit.Bytes
}

// fitsAtLast reports whether there is room for more once all that rests is gone, but for what stays.
func (a *Account) fitsAtLast(stays, more Holding) bool {
	return a.Fits(more.Plus(stays).Minus(a.Rested))
}

// Verdict is whether there is room.
type Verdict uint8

// The verdicts.
const (
	Fits  Verdict = iota
	Evict         // there will be: while own does not fit, its first task goes; while all do not, that of the heaviest
	Full          // there cannot be: nothing is evicted for it
)

// Room decides whether a principal may hold more. stays is the task that grows, if it rests itself: it does not go for
// its own sake.
func Room(own, all *Account, stays, more Holding) Verdict {
	switch {
	case more.Tasks <= 0 && more.Bytes <= 0, own.Fits(more) && all.Fits(more):
		return Fits
	case own.fitsAtLast(stays, more) && all.fitsAtLast(stays, more):
		return Evict
	}
	return Full
}

// taskWeight is what a task weighs beside its bytes: about its share of a full store, so that many small ones count.
const taskWeight = 6 << 10

// Weigh is the weight of what a principal holds: in a full store, of those who have a task that rests the heaviest loses
// one.
func Weigh(h Holding) int64 { return h.Bytes + h.Tasks*taskWeight }
