package taskstate

import (
	"cmp"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
)

// LastWords is how many bytes of an update that ends a task have room in any case, in a full task and in a full store.
const LastWords = 4 << 10

// Event is what the rules know of an event.
type Event struct {
	Kind  runtime.EventKind
	State runtime.State // of a task and a status update
	Size  Size          // what it adds to the task, with the messages that come with it
}

// Update is a command to create a task or to change it.
type Update struct {
	By     int32   // instance that says it, from 1
	Expect int64   // version that the task must have; 0 of a handler: any
	Epoch  int64   // of the handler that says it; 0: not a handler
	Stamp  uint64  // the same for the same update; 0: none
	Events []Event // in order. Of a creation the first one is the task
	Call   bool    // it brings a call
	Done   int64   // number of the call that it ends; 0: none
	Redeem bool    // it uses up a ticket
	Ticket bool    // it brings a ticket
	Push   *Push   // it brings a push configuration

	Private   int // bytes of the private state afterwards; see Ends
	Log       int // bytes that the store keeps of the task's events afterwards, beside their content
	Artifacts int // of the task afterwards; needed with Call or Done
	Facts     *Facts
}

// Facts are reasons against an update that depend on its content or on other rows; nil is none. They are beside the
// Update, which may then stay on the stack of its store: errors go out again.
type Facts struct {
	Repeated error // the message was sent before, within its window
	Unfit    error // an event does not fit the task
	NoTicket error // the ticket to use up is not known, of another task, or too old
}

var noFacts Facts

// Push is a push configuration that comes to a task.
type Push struct {
	Bad  error // it is unfit or too large
	New  bool  // the task has none of its id
	Max  int   // how many the task may have; 0: any number
	Full bool  // the store, or its owner's share, has no room for another
}

// Limits are those of one task.
type Limits struct {
	Task  int // bytes of the content, with the private state
	Slack int // by how much a task may grow by artifacts before the account is charged
}

// Effects say what an update does, beside the new State.
type Effects struct {
	Again       bool  // it was made before: nothing changes, the answer is the task as it is
	Begin       int64 // number of the call that the caller is to begin now; 0: none
	Call        int64 // number of the call that the update brings; 0: none
	Moved       bool  // by a status update, or because the task rests or does no longer: lists and indexes change
	DropTickets bool  // all tickets of the task go; its own, if it brings one, stays
	Held        int   // bytes that the task takes afterwards
	Must        bool  // they have room in any case; others are still evicted where that helps
}

// Ends reports whether the update ends the task. It then keeps neither its input nor what was saved, and Private does
// not count them.
func (u *Update) Ends() bool {
	return len(u.Events) > 0 && u.Events[len(u.Events)-1].State.Terminal()
}

// Create decides on a new task, and writes its state to next. That there is none of its name is for the store to say,
// before: with ErrExists, or with the first answer if Stamped says that it is the same creation.
func Create(next *State, u *Update, now int64, l *Limits) (e Effects, err error) {
	switch f := cmp.Or(u.Facts, &noFacts); {
	case f.Repeated != nil:
		return e, f.Repeated
	case f.Unfit != nil:
		return e, f.Unfit
	case len(u.Events) == 0 || u.Events[0].Kind != runtime.EventTask:
		return e, fmt.Errorf("%w: a task does not begin with a task", ErrUnfit)
	}
	*next = State{Version: 1, Status: u.Events[0].State}
	next.Messages = u.Events[0].Size
	if err := next.fits(u.Events[1:], false); err != nil {
		return e, err
	}
	if u.Push != nil {
		if err := next.takes(u.Push); err != nil {
			return e, err
		}
	}
	return next.advance(&State{}, u, u.Events[1:], now, l)
}

// Apply decides on an update of a task, and writes its next state to next, which is not s. An error refuses the update,
// and so does the store that has no room for Held; then nothing has changed. After ErrTooLarge the store may count the
// artifacts anew and ask again.
func (s *State) Apply(next *State, u *Update, now int64, l *Limits) (Effects, error) {
	if s.Stamped(u.Stamp) {
		return s.again(u), nil
	}
	if err := s.refuses(u); err != nil {
		return Effects{}, err
	}
	*next = *s
	return next.advance(s, u, u.Events, now, l)
}

// again is the effect of an update that was made before: a call that it brought up is still to be begun by the instance
// that runs it.
func (s *State) again(u *Update) Effects {
	e := Effects{Again: true}
	if s.Open() && s.Began == u.Stamp && s.Runner == u.By {
		e.Begin = s.Done + 1
	}
	return e
}

// Again is what Apply says of a creation that was made before.
func (s *State) Again(by int32, stamp uint64) (Effects, bool) {
	return s.again(&Update{By: by, Stamp: stamp}), s.Stamped(stamp)
}

// refuses says why an update cannot be made, as far as that does not depend on the room for it.
func (s *State) refuses(u *Update) error {
	facts := cmp.Or(u.Facts, &noFacts)
	switch {
	case facts.Repeated != nil:
		return facts.Repeated
	case s.Status.Terminal():
		return ErrEnded
	case u.Epoch != 0 && (s.Epoch != u.Epoch || s.Runner != u.By):
		return ErrLost
	case (u.Epoch == 0 || u.Expect != 0) && s.Version != u.Expect:
		return ErrConflict
	case facts.Unfit != nil:
		return facts.Unfit
	case len(u.Events) == 0:
		return fmt.Errorf("%w: an update without an event", ErrUnfit)
	case u.Call && (u.Done != 0 || u.Ends()):
		return fmt.Errorf("%w: an update brings a call, and ends one", ErrUnfit)
	}
	if err := s.fits(u.Events, u.Epoch != 0); err != nil {
		return err
	}
	if u.Redeem && facts.NoTicket != nil {
		return facts.NoTicket
	}
	if u.Push != nil {
		return s.takes(u.Push)
	}
	return nil
}

// fits refuses events that are no updates, those that come after the end, and states that a handler cannot give a task.
func (s *State) fits(events []Event, handler bool) error {
	now := s.Status
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind != runtime.EventStatus && e.Kind != runtime.EventArtifact:
			return fmt.Errorf("%w: an event that is no update", ErrUnfit)
		case now.Terminal():
			return fmt.Errorf("%w: an event after the end of the task", ErrUnfit)
		case e.Kind == runtime.EventArtifact:
		case handler && !May(now, Handler, e.State):
			return fmt.Errorf("%w: a handler cannot make the task %s", ErrUnfit, e.State)
		default:
			now = e.State
		}
	}
	return nil
}

// advance makes the next version of a task, or a new task, and says what that does.
func (s *State) advance(was *State, u *Update, events []Event, now int64, l *Limits) (e Effects, err error) {
	if u.Stamp != 0 {
		copy(s.Stamps[1:], s.Stamps[:])
		s.Stamps[0] = u.Stamp
	}
	var added Size
	status := was.Version == 0 // there is a new status
	for i := range events {
		event := &events[i]
		added = added.Plus(event.Size)
		s.Version++
		if event.Kind != runtime.EventStatus {
			s.Artifacts = s.Artifacts.Plus(event.Size)
			continue
		}
		s.Messages, s.LastStatus, s.Status = s.Messages.Plus(event.Size), event.Size, event.State
		status = true
	}
	if u.Push != nil && u.Push.New {
		s.Pushes++
	}
	s.work(u, &e)
	switch {
	case s.Rest() == Active:
		s.Rested = 0
	case status || was.Rested == 0: // since its last status, or since the end of its last call
		s.Rested = now
	}
	e.Moved = status || s.Rested != was.Rested
	e.DropTickets = s.Ticketed && (u.Redeem || s.Status.Terminal())
	s.Ticketed = !s.Status.Terminal() && (u.Ticket || s.Ticketed && !u.Redeem)
	e.Must = was.Version != 0 && s.Status.Terminal() && added.Held() <= LastWords
	content := s.Content.Held() + u.Private
	if content > l.Task && !e.Must {
		return e, ErrTooLarge
	}
	e.Held = content + u.Log
	return e, nil
}

// work hands the work over: it takes a call on, ends one, or all of them with the task.
func (s *State) work(u *Update, e *Effects) {
	begins, over := false, s.Status.Terminal() // the first open call begins; there is none any more
	if u.Call {
		s.Calls++
		e.Call = s.Calls
		if begins = s.Calls == s.Done+1; begins { // no other call is open
			s.Epoch++
			s.Runner = u.By
		}
	}
	switch {
	case over:
		s.Done = s.Calls
	case u.Done != 0 && u.Done == s.Done+1 && s.Runner != 0:
		s.Done++
		begins, over = s.Open(), !s.Open()
	}
	switch {
	case over:
		s.Epoch++
		s.Runner, s.Attempt, s.Made, s.Began = 0, 0, 0, 0
	case begins:
		s.Attempt, s.Made, s.Began = 1, int32(u.Artifacts), u.Stamp //nolint:gosec // a task has not that many
		e.Begin = s.Done + 1
	}
}

// Charge reports whether the account of a task, which was charged for some bytes, must be charged for what the task holds
// by now: after a status update, and when that is more or less by the slack.
func (e *Effects) Charge(charged int, l *Limits) bool {
	more := e.Held - charged
	return e.Moved || more >= l.Slack || -more >= l.Slack
}
