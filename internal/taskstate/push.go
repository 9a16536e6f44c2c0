package taskstate

import (
	"fmt"
	"time"
)

// takes says why a push configuration cannot be added.
func (s *State) takes(p *Push) error {
	switch {
	case p.Bad != nil:
		return p.Bad
	case p.New && p.Max != 0 && int(s.Pushes) >= p.Max:
		return fmt.Errorf("%w, %d", ErrPushes, p.Max)
	case p.New && p.Full:
		return ErrFull
	}
	return nil
}

// AddPush adds a push configuration to a task, also to one that has ended, or says why it cannot.
func (s *State) AddPush(p *Push) error {
	err := s.takes(p)
	if err == nil && p.New {
		s.Pushes++
	}
	return err
}

// PushRoom reports whether there is room for another push configuration, of an owner who has some, in a store that has
// some and takes at most that many. Owners with a name have half of that each.
func PushRoom(own, all, most int, named bool) bool {
	share := most
	if named {
		share = max(most/2, 1)
	}
	return all < most && own < share
}

// Cursor is how far the notifications of a push configuration are. Times are nanoseconds since 1970.
type Cursor struct {
	Next    int64  // first event that was not sent
	Until   int64  // last one of those that travel with it; 0: it travels alone
	Attempt int    // failed ones for Next
	Since   int64  // of the first failure; 0: none
	Due     int64  // when it is to be sent, or its claim ends; 0: it sleeps
	Holder  int64  // the claim; 0: nobody has it
	Dead    string // why it was given up; "": it was not
}

// Outcome is what a delivery came to.
type Outcome struct {
	Sent  int64         // the last event that arrived; 0: none did
	Until int64         // the next Cursor.Until, if Sent is set
	Again time.Duration // after a failure; 0: there was none
	Later time.Duration // it waits so long, without a failure; 0: it need not
	Dead  string        // why it was given up; "": it was not
}

// NewCursor is that of a configuration that comes when the task has a version: it gets what happens from then on.
func NewCursor(version int64) Cursor { return Cursor{Next: version + 1} }

// Replace is for a configuration that takes the place of another: it goes on where that was, as if nothing had failed.
func (c *Cursor) Replace(version, now int64) {
	*c = Cursor{Next: c.Next, Until: c.Until}
	c.wakeIfBehind(version, now)
}

// Wake makes a configuration due that sleeps: there is another event. It reports whether that changed anything.
func (c *Cursor) Wake(now int64) bool {
	if c.Due != 0 || c.Dead != "" {
		return false
	}
	c.Due = now
	return true
}

func (c *Cursor) wakeIfBehind(version, now int64) {
	if version >= c.Next {
		c.Wake(now)
	}
}

// Claim gives the delivery to a holder for a while.
func (c *Cursor) Claim(holder, now int64, hold time.Duration) {
	c.Holder, c.Due = holder, now+int64(hold)
}

// Settle ends the claim of a holder, or returns ErrLost when it is over. Then the delivery is tried again after a while,
// or is dead, or due if there is an event that was not sent, or sleeps.
func (c *Cursor) Settle(holder int64, o Outcome, version, now int64) error {
	if holder == 0 || c.Holder != holder {
		return ErrLost
	}
	c.Holder, c.Due, c.Dead = 0, 0, o.Dead
	if o.Sent >= c.Next {
		c.Next, c.Until, c.Attempt, c.Since = o.Sent+1, o.Until, 0, 0
	}
	switch {
	case o.Dead != "":
	case o.Again > 0:
		if c.Attempt++; c.Since == 0 {
			c.Since = now
		}
		c.Due = now + int64(o.Again)
	default:
		c.wakeIfBehind(version, now+int64(o.Later))
	}
	return nil
}
