// Package taskstate has the rules of a task, for all stores: who may change it and when, what an update makes of it, how
// large it may become, when its notifications are due, and which task goes when a store is full.
//
// The functions are pure: no clock, no lock, no content, no other task. A store calls them with the [State] that it keeps
// for a task and an [Update], inside its lock or transaction, and then stores what they return. What depends on other
// rows, as whether a ticket is known, comes in as a fact: a field of the Update that the store fills in when the update
// has that part.
package taskstate

import (
	"cmp"
	"errors"

	"github.com/a2agen/a2agen/runtime"
)

// Errors that the rules find. Package store exports them.
var (
	ErrConflict = errors.New("the task has changed meanwhile")
	ErrEnded    = errors.New("the task has ended")
	ErrFull     = errors.New("the store is full of unfinished tasks")
	ErrTooLarge = errors.New("the task would be larger than the store keeps")
	ErrUnfit    = errors.New("the content cannot be stored")     // it has no form in the protocol, or does not fit the task
	ErrLost     = errors.New("the task is run by somebody else") // another epoch: the handler is to stop
	ErrTicket   = errors.New("the ticket is not good")           // used, too old, or never given
	ErrPushes   = errors.New("the task has as many push notification configurations as it may have")
)

// State is what the rules know of a task. It is small, because the store in memory keeps it for every task. The zero
// State is that of a task that does not exist.
type State struct {
	Status   runtime.State
	Ticketed bool  // it has tickets, which may be too old by now
	Runner   int32 // instance that runs the task; 0: none
	Pushes   int32 // push configurations
	Version  int64 // number of the last event, 1 after creation
	Epoch    int64 // grows whenever another runs the task, or nobody any more
	Calls    int64 // calls taken on; the open ones are those after Done
	Done     int64 // calls that are over. The first open one is at work, the others wait
	Attempt  int32 // of the call at work: how often a handler was begun for it
	Made     int32 // artifacts of the task when that call's first handler began
	// Began is the stamp of the update that brought up the call at work: known as long as the call is.
	Began  uint64
	Stamps [8]uint64 // of the last updates, the newest first
	Content
	Rested int64 // since when the task rests, in nanoseconds since 1970; 0: it does not
}

// Size is how large a piece of content is.
type Size struct {
	Bytes int // about how long it is as JSON
	Parts int // of which it consists: each takes room of its own
}

// Plus returns the sum of two sizes.
func (s Size) Plus(o Size) Size { return Size{s.Bytes + o.Bytes, s.Parts + o.Parts} }

// Held is how many bytes content of the size takes.
func (s Size) Held() int { return s.Bytes + s.Parts*PartFrame }

// What things take beside their content, in bytes: measured in memory and rounded up.
const (
	TaskFrame  = 1184 // a task, with its entries in indexes
	PartFrame  = 128  // a part
	EventFrame = 256  // an event in a log
)

// Content is what a task consists of. An artifact that was replaced counts until the store counts the artifacts anew.
type Content struct {
	Messages   Size // the history's, and that of the status
	LastStatus Size // of Messages: what came with the last status
	Artifacts  Size
}

// Held is how many bytes the content takes, with the task itself.
func (c *Content) Held() int { return TaskFrame + c.Messages.Held() + c.Artifacts.Held() }

// JSON is about how long the task is as JSON, rather more, with or without its history and its artifacts.
func (c *Content) JSON(history, artifacts bool) int {
	n := TaskFrame + c.LastStatus.Bytes
	if history {
		n = TaskFrame + c.Messages.Bytes
	}
	if artifacts {
		n += c.Artifacts.Bytes
	}
	return n
}

// Stamped reports whether the update of that stamp was made: one of the last eight, or the one that brought up the call
// at work.
func (s *State) Stamped(stamp uint64) bool {
	if stamp == 0 {
		return false
	}
	for _, known := range &s.Stamps {
		if known == stamp {
			return true
		}
	}
	return stamp == s.Began
}

// Open reports whether a call is at work, or to be taken over.
func (s *State) Open() bool { return s.Calls > s.Done }

// Rest is whether a task may be dropped: to make room, or after a while.
type Rest uint8

// The kinds of rest.
const (
	Active Rest = iota
	Ended
	Parked // it waits for its client, and no call is open
)

// Rest returns that of the task.
func (s *State) Rest() Rest {
	switch {
	case s.Status.Terminal():
		return Ended
	case s.Status.Interrupted() && !s.Open():
		return Parked
	}
	return Active
}

// Resting is a task that rests, for the order in which tasks go.
type Resting struct {
	Rest   Rest
	Rested int64
	Number int64 // of the task: tasks made later have larger ones
}

// Compare is negative when a goes before b: ended tasks go before parked ones, then those that have rested longer, then
// those that were made earlier. A task that somebody is changing at that moment is passed over.
func (a Resting) Compare(b Resting) int {
	return cmp.Or(cmp.Compare(a.Rest, b.Rest), cmp.Compare(a.Rested, b.Rested), cmp.Compare(a.Number, b.Number))
}

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
