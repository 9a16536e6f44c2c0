package taskstate

import (
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

const (
	me, other = 1, 2
	noon      = 1_000_000
)

var (
	limits = Limits{Task: 100_000, Slack: 4 << 10}
	errTry = errors.New("a fact")
)

func status(s runtime.State) Event { return Event{Kind: runtime.EventStatus, State: s} }
func artifact(bytes int) Event {
	return Event{Kind: runtime.EventArtifact, Size: Size{Bytes: bytes, Parts: 1}}
}

// made is a new task with a call at work on it, of stamp 1, in epoch 1.
func made(t *testing.T) State {
	t.Helper()
	var s State
	u := Update{By: me, Stamp: 1, Call: true, Events: []Event{{Kind: runtime.EventTask, State: runtime.StateSubmitted}}}
	if e, err := Create(&s, &u, noon, &limits); err != nil || e.Begin != 1 || e.Call != 1 {
		t.Fatalf("created: %+v, %v", e, err)
	}
	return s
}

// after is the state after an update that must be taken.
func after(t *testing.T, s State, u Update) State {
	t.Helper()
	var next State
	if _, err := s.Apply(&next, &u, noon, &limits); err != nil {
		t.Fatalf("%+v: %v", u, err)
	}
	return next
}

func TestAnUpdateIsRefusedForTheFirstReason(t *testing.T) {
	// Everything is wrong with it; then one reason after the other is mended.
	u := Update{
		By: other, Expect: 7, Epoch: 9, Stamp: 1, Events: []Event{artifact(0)}, Redeem: true,
		Facts: &Facts{Repeated: errTry, Unfit: ErrUnfit, NoTicket: ErrTicket}, Push: &Push{Bad: ErrTooLarge, New: true, Full: true, Max: 1},
	}
	open := made(t)
	open.Pushes = 1
	state := open
	state.Status = runtime.StateCompleted
	for _, step := range []struct {
		name string
		want error
		mend func()
	}{
		{"made before", nil, func() { u.Stamp = 2 }},
		{"repeated", errTry, func() { u.Facts.Repeated = nil }},
		{"ended", ErrEnded, func() { state = open }},
		{"lost to another epoch", ErrLost, func() { u.Epoch = 1 }},
		{"lost to another instance", ErrLost, func() { u.By = me }},
		{"conflict", ErrConflict, func() { u.Expect = 0 }},
		{"unfit", ErrUnfit, func() { u.Facts.Unfit = nil }},
		{"ticket", ErrTicket, func() { u.Facts = nil }},
		{"push too large", ErrTooLarge, func() { u.Push.Bad = nil }},
		{"too many pushes of the task", ErrPushes, func() { u.Push.Max = 2 }},
		{"no room for the push", ErrFull, func() { u.Push.Full = false }},
		{"too large", ErrTooLarge, nil},
	} {
		if step.mend == nil {
			u.Private = limits.Task
		}
		was := state
		var next State
		e, err := state.Apply(&next, &u, noon, &limits)
		if !errors.Is(err, step.want) || e.Again != (step.want == nil) {
			t.Errorf("%s: %+v, %v", step.name, e, err)
		}
		if state != was {
			t.Errorf("%s: a refused update has changed the state", step.name)
		}
		if step.mend != nil {
			step.mend()
		}
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	s := made(t)
	for name, u := range map[string]Update{
		"no event":                          {},
		"a whole task":                      {Events: []Event{{Kind: runtime.EventTask}}},
		"an event after the end":            {Events: []Event{status(runtime.StateCompleted), artifact(1)}},
		"a call beside the end of one":      {Events: []Event{artifact(1)}, Call: true, Done: 1},
		"a call for a task that ends":       {Events: []Event{status(runtime.StateFailed)}, Call: true},
		"a handler that submits":            {Events: []Event{status(runtime.StateSubmitted)}, Epoch: 1},
		"a handler that says nothing of it": {Events: []Event{status(runtime.StateUnspecified)}, Epoch: 1},
	} {
		u.By, u.Expect = me, 1
		var next State
		if _, err := s.Apply(&next, &u, noon, &limits); !errors.Is(err, ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeveralEventsAreOneUpdate(t *testing.T) {
	s := made(t)
	var next State
	u := Update{By: me, Epoch: 1, Stamp: 2, Done: 1, Events: []Event{artifact(100), artifact(50), status(runtime.StateCompleted)}}
	e, err := s.Apply(&next, &u, noon, &limits)
	if err != nil || next.Version != 4 || next.Status != runtime.StateCompleted || !e.Moved || e.Held != TaskFrame+150+2*PartFrame {
		t.Errorf("%+v, %+v, %v", next, e, err)
	}
	if next.Stamps[0] != 2 || next.Stamps[1] != 1 {
		t.Errorf("stamps %v: an update has one", next.Stamps)
	}
}

func TestATaskThatAnswersAtOnceIsMadeAndEndedInOne(t *testing.T) {
	var s State
	task := Event{Kind: runtime.EventTask, State: runtime.StateSubmitted}
	u := Update{By: me, Stamp: 1, Call: true, Events: []Event{task, artifact(10), status(runtime.StateCompleted)}}
	e, err := Create(&s, &u, noon, &limits)
	want := State{Status: runtime.StateCompleted, Version: 3, Epoch: 2, Calls: 1, Done: 1, Stamps: [8]uint64{1}, Rested: noon}
	want.Artifacts = Size{10, 1}
	if err != nil || s != want || e.Begin != 0 || e.Call != 1 {
		t.Errorf("%+v, %+v, %v", s, e, err)
	}
	u.Events[2].State, u.Done = runtime.StateInputRequired, 1
	if e, err = Create(&s, &u, noon, &limits); err != nil || s.Open() || s.Runner != 0 || s.Rest() != Parked || e.Begin != 0 {
		t.Errorf("that waits for its client: %+v, %+v, %v", s, e, err)
	}
}

func TestCallsAreDoneOneAfterTheOther(t *testing.T) {
	s := made(t)
	message := Update{By: other, Expect: 1, Stamp: 2, Call: true, Events: []Event{status(runtime.StateWorking)}}
	s = after(t, s, message)
	if s.Calls != 2 || s.Runner != me || s.Epoch != 1 {
		t.Fatalf("a message for a task at work: %+v", s)
	}
	var next State
	end := Update{By: me, Epoch: 1, Stamp: 3, Done: 1, Artifacts: 4, Events: []Event{status(runtime.StateInputRequired)}}
	e, err := s.Apply(&next, &end, noon, &limits)
	if err != nil || e.Begin != 2 || next.Made != 4 || next.Attempt != 1 || next.Epoch != 1 || next.Rest() != Active {
		t.Fatalf("the end of the first: %+v, %+v, %v", next, e, err)
	}
	if again, err := next.Apply(&State{}, &end, noon, &limits); err != nil || !again.Again || again.Begin != 2 {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	if again, _ := next.Again(other, 3); again.Begin != 0 {
		t.Error("another instance begins the call")
	}
	last := Update{By: me, Epoch: 1, Stamp: 4, Done: 2, Events: []Event{artifact(1)}}
	next = after(t, next, last)
	if next.Open() || next.Runner != 0 || next.Epoch != 2 || next.Rest() != Parked || next.Rested != noon {
		t.Errorf("the end of the last: %+v", next)
	}
	fresh := Update{By: other, Expect: 4, Call: true, Events: []Event{status(runtime.StateWorking)}}
	if next = after(t, next, fresh); next.Runner != other || next.Epoch != 3 || next.Attempt != 1 || next.Rested != 0 {
		t.Errorf("a message for a task that waits: %+v", next)
	}
}

func TestTheEndOfATaskEndsItsCalls(t *testing.T) {
	s := after(t, made(t), Update{By: me, Expect: 1, Call: true, Events: []Event{status(runtime.StateWorking)}})
	s.Ticketed = true
	var next State
	u := Update{By: other, Expect: 2, Ticket: true, Events: []Event{status(runtime.StateCanceled)}}
	e, err := s.Apply(&next, &u, noon, &limits)
	if err != nil || next.Open() || next.Done != 2 || next.Runner != 0 || next.Epoch != 2 || !e.DropTickets || next.Ticketed {
		t.Errorf("%+v, %+v, %v", next, e, err)
	}
}

func TestACallIsTakenOverOrGivenBack(t *testing.T) {
	s := made(t)
	var next State
	if s.Claim(&next, other, false) {
		t.Error("a task is claimed that somebody runs")
	}
	if !s.Claim(&next, other, true) || next.Runner != other || next.Epoch != 2 || next.Attempt != 2 || next.Began != 0 {
		t.Errorf("taken over: %+v", next)
	}
	if s.GiveBack(&next, other) {
		t.Error("somebody gives back what another runs")
	}
	var back State
	if !s.GiveBack(&back, me) || back.Runner != 0 || back.Epoch != 1 {
		t.Errorf("given back: %+v", back)
	}
	if _, err := back.Apply(&next, &Update{By: me, Epoch: 1, Events: []Event{artifact(1)}}, noon, &limits); !errors.Is(err, ErrLost) {
		t.Errorf("a handler goes on that was given back: %v", err)
	}
	if !back.Claim(&next, other, false) || next.Attempt != 1 {
		t.Errorf("taken over after that: %+v", next)
	}
}

func TestATaskRestsSinceItCameToRest(t *testing.T) {
	for _, c := range []struct {
		name string
		was  State
		u    Update
		want int64
	}{
		{"an artifact restarts nothing", State{Status: runtime.StateInputRequired, Rested: 5}, Update{Events: []Event{artifact(1)}}, 5},
		{"a status does", State{Status: runtime.StateInputRequired, Rested: 5}, Update{Events: []Event{status(runtime.StateAuthRequired)}}, noon},
		{"a question while a call is open", State{Status: runtime.StateWorking, Calls: 1, Runner: me}, Update{Events: []Event{status(runtime.StateInputRequired)}}, 0},
		{"the end of that call", State{Status: runtime.StateInputRequired, Calls: 1, Runner: me}, Update{Done: 1, Events: []Event{artifact(1)}}, noon},
		{"work again", State{Status: runtime.StateInputRequired, Rested: 5}, Update{Events: []Event{status(runtime.StateWorking)}}, 0},
	} {
		c.was.Version, c.u.Expect = 1, 1
		if s := after(t, c.was, c.u); s.Rested != c.want {
			t.Errorf("%s: since %d, want %d", c.name, s.Rested, c.want)
		}
	}
}

func TestLastWordsHaveRoom(t *testing.T) {
	full := State{Version: 1, Status: runtime.StateWorking}
	full.Artifacts.Bytes = limits.Task
	for _, c := range []struct {
		name string
		e    Event
		want error
	}{
		{"another artifact", artifact(1), ErrTooLarge},
		{"few words at the end", Event{runtime.EventStatus, runtime.StateFailed, Size{LastWords - PartFrame, 1}}, nil},
		{"many parts at the end", Event{runtime.EventStatus, runtime.StateFailed, Size{60, LastWords/PartFrame + 1}}, ErrTooLarge},
	} {
		var next State
		e, err := full.Apply(&next, &Update{Expect: 1, Events: []Event{c.e}}, noon, &limits)
		if !errors.Is(err, c.want) || err == nil && !e.Must {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
}

func TestAnAccountIsChargedForAStatusAndForMuch(t *testing.T) {
	s := State{Version: 1, Status: runtime.StateWorking}
	for _, c := range []struct {
		name    string
		e       Event
		charged bool
	}{
		{"a chunk", artifact(100), false},
		{"a large one", artifact(limits.Slack), true},
		{"a status", status(runtime.StateWorking), true},
	} {
		var next State
		e, err := s.Apply(&next, &Update{Expect: 1, Events: []Event{c.e}}, noon, &limits)
		if err != nil || e.Charge(TaskFrame, &limits) != c.charged {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
}

func TestEightStampsAreKnownAndTheOneThatBegan(t *testing.T) {
	s := made(t)
	for stamp := uint64(2); stamp <= 20; stamp++ {
		s = after(t, s, Update{By: me, Epoch: 1, Stamp: stamp, Events: []Event{artifact(1)}})
	}
	for stamp := uint64(0); stamp <= 21; stamp++ {
		if want := stamp == 1 || stamp >= 13 && stamp <= 20; s.Stamped(stamp) != want {
			t.Errorf("stamp %d: %t", stamp, !want)
		}
	}
	s.Claim(&s, me, true)
	if s.Stamped(1) {
		t.Error("the stamp of a call that was taken over is still known")
	}
}
