package taskstate

import (
	"github.com/a2agen/a2agen/runtime"
)

// Cause is why a task gets another state.
type Cause uint8

// The causes.
const (
	Handler  Cause = iota // the handler at work says so, or returns
	Message               // the client sends a message for a handler
	Question              // the client sends a message that does not fit the skill's input: the runtime asks again
	Begin                 // a call that waited, or was taken over, is about to begin
	Cancel                // the client cancels the task
	GiveUp                // the call cannot be begun again after a crash
)

// states is a set of them.
type states uint16

func those(list ...runtime.State) (s states) {
	for _, one := range list {
		s |= 1 << one
	}
	return s
}

var (
	waiting = those(runtime.StateInputRequired, runtime.StateAuthRequired)
	ended   = those(runtime.StateCompleted, runtime.StateFailed, runtime.StateCanceled, runtime.StateRejected)
	open    = those(runtime.StateSubmitted, runtime.StateWorking) | waiting
)

// moves are all that may happen to the state of a task (A2A 1.0 §4.1.3). docs/tasks-and-stores.md shows them as a diagram. Nothing
// happens to a task that has ended.
var moves = [...]struct{ from, to states }{
	Handler:  {open, those(runtime.StateWorking) | waiting | ended},
	Message:  {open, those(runtime.StateWorking)},
	Question: {open, those(runtime.StateInputRequired)},
	Begin:    {waiting, those(runtime.StateWorking)},
	Cancel:   {open, those(runtime.StateCanceled)},
	GiveUp:   {open, those(runtime.StateFailed)},
}

// May reports whether a task may go from one state to another for that cause.
func May(from runtime.State, cause Cause, to runtime.State) bool {
	m := moves[cause]
	return m.from&(1<<from) != 0 && m.to&(1<<to) != 0
}

// Attempts is how often a handler is begun for a call, when the instances that ran it crashed.
const Attempts = 3

// Takeover is what becomes of a call that was taken over.
type Takeover uint8

// What becomes of it.
const (
	BeginAgain  Takeover = iota
	NotRepeated          // given up: its skill's handlers are not begun twice
	TooOften             // given up: it was begun Attempts times
)

// AfterCrash decides on a call that was claimed. attempt counts this one; retry says whether handlers of the skill may be
// begun again for the same call. A call that was given back, or never begun, is at its first attempt.
func AfterCrash(attempt int, retry bool) Takeover {
	switch {
	case attempt > 1 && !retry:
		return NotRepeated
	case attempt > Attempts:
		return TooOften
	}
	return BeginAgain
}

// Claim gives the task to an instance, if a call is open that nobody does, and reports whether it is so. orphan: the
// instance that runs it is gone, or its lease is over. Each claim is another attempt.
func (s *State) Claim(next *State, by int32, orphan bool) bool {
	if !s.Open() || s.Runner != 0 && !orphan {
		return false
	}
	*next = *s
	next.Runner, next.Began = by, 0
	next.Epoch++
	next.Attempt++
	return true
}

// GiveBack has an instance that shuts down leave the task to the next one: its attempt does not count. It reports
// whether the instance ran the task.
func (s *State) GiveBack(next *State, by int32) bool {
	if !s.Open() || s.Runner != by {
		return false
	}
	*next = *s
	next.Runner = 0
	next.Attempt = max(next.Attempt-1, 0)
	return true
}
