// Package storetest is a suite of tests that every [store.Store] must pass.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Harness { return storetest.Harness{…} })
//	}
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Harness makes the stores that are tested. Each test asks for its own.
type Harness struct {
	// Protocol is any generated one: the suite makes its tasks and events with it.
	Protocol *runtime.Protocol
	// Open makes an empty store. Whatever it opens is closed at the end of the test.
	Open func(t *testing.T, l memory.Limits) store.Store
	// Heir makes an instance after a crash of s: when it returns, the tasks that s ran have no runner. nil: the store knows
	// no other instances.
	Heir func(t *testing.T, s store.Store) store.Store
	// Leave makes an instance after s was closed. nil: the store knows no other instances.
	Leave func(t *testing.T, s store.Store) store.Store
	// OpenAt is Open with a clock. nil: the store has none that can be set. Wrong compares what a store has counted with its
	// rows, and returns what differs; nil: it cannot.
	OpenAt func(t *testing.T, l memory.Limits, clock func() time.Time) store.Store
	Wrong  func(s store.Store) ([]string, error)
	// Durable: what an instance stored is there for the instances of Heir and Leave.
	Durable bool
	// Crash opens an empty store and runs a script on it. The process ends before the n-th write (from 1), and later calls
	// fail. It returns the store as the next process finds it, and whether there was an n-th write. nil: nothing outlives
	// the process.
	Crash func(t *testing.T, n int, script func(s store.Store)) (left store.Store, crashed bool)
}

// Run runs the suite.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"Order", order}, {"Conflict", conflict}, {"Conflicts", conflicts}, {"Ended", ended}, {"Unfit", unfit},
		{"Epochs", epochs}, {"Stamps", stampsOfCreate}, {"StampsOfUpdates", stampsOfUpdates}, {"Calls", calls},
		{"CallsEnd", callsEnd}, {"Claim", claim}, {"Attempts", attempts}, {"GiveBack", giveBack}, {"Requests", requests},
		{"Private", private}, {"Content", content}, {"Views", views}, {"At", at},
		{"Pages", pages}, {"PagesUnderWrites", pagesUnderWrites}, {"Filters", filters}, {"Cursors", cursors},
		{"PageBytes", pageBytes}, {"Owners", owners},
		{"TaskBytes", taskBytes}, {"Eviction", eviction}, {"Growing", growing}, {"RoomForNothing", roomForNothing}, {"KeptToBeSent", keptToBeSent}, {"Full", full}, {"OwnerShare", ownerShare}, {"Trim", trim},
		{"Retention", retention}, {"Pushes", pushes}, {"Deliveries", deliveries}, {"FailedDeliveries", failedDeliveries},
		{"LostDeliveries", lostDeliveries}, {"Repeats", repeats}, {"RepeatsAreBounded", repeatsAreBounded}, {"Tickets", tickets}, {"TicketsAreFew", ticketsAreFew}, {"OneTicket", oneTicket}, {"TicketsAreFast", ticketsAreFast}, {"Contexts", contexts}, {"Closed", closed},
		{"Notes", notes}, {"NotesConflict", notesConflict}, {"NoteShares", noteShares}, {"NotesAreCharged", notesAreCharged},
		{"CreatedWithItsEnd", createdWithItsEnd}, {"ParksAtOnce", parksAtOnce}, {"Together", together},
		{"Checks", checks}, {"OneCall", oneCall}, {"PushSize", pushSize}, {"FullBesideATicket", fullBesideATicket},
		{"LastWords", lastWords}, {"PartsCount", partsCount}, {"RestsSince", restsSince}, {"OwnClock", ownClock},
		{"EightStamps", eightStamps}, {"FirstTicketGoes", firstTicketGoes}, {"FirstOfEqualGoes", firstOfEqualGoes},
		{"NoteRetention", noteRetention}, {"ManyTasks", manyTasks}, {"Crashes", crashes}, {"Differential", differential},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := harness(t)
			test.run(&suite{T: t, Harness: h})
		})
	}
}

var ctx = context.Background()

// start is the time of the first status.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// suite is one test.
type suite struct {
	*testing.T
	Harness
	stamp atomic.Uint64
}

func (s *suite) open() store.Store { return s.Open(s.T, memory.Limits{}) }

// stamped returns a new stamp.
func (s *suite) stamped() uint64 { return s.stamp.Add(1) }

func key(id string) store.Key { return store.Key{Task: id} }

// text makes parts of a text.
func text(s string) []runtime.Part { return []runtime.Part{runtime.Text(s)} }

// message makes a message of the user's.
func (s *suite) message(id, said string) runtime.Message {
	m := s.Protocol.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: id, User: true},
		Parts: text(said)})
	return m
}

// task makes one with a message.
func (s *suite) task(id string) store.New {
	task := s.Protocol.NewTask(id, "context-of-"+id, start)
	m := s.message("m-"+id, "hello")
	m.Bind("context-of-"+id, id)
	task.AddMessage(m)
	return store.New{Task: task, Private: store.Private{Skill: "skill"}, Size: store.SizeOfMessage(m, m.Contents()),
		Stamp: s.stamped()}
}

// status makes an update to a state, at a time after the start.
func (s *suite) status(id string, state runtime.State, after time.Duration) store.Update {
	return store.Update{Event: s.Protocol.NewStatus(id, "context-of-"+id, state, nil, start.Add(after)),
		Stamp: s.stamped()}
}

// said is status with a message of the agent's.
func (s *suite) said(id string, state runtime.State, said string) store.Update {
	m := s.Protocol.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "a-" + said[:min(8, len(said))]},
		Parts: text(said)})
	return store.Update{Event: s.Protocol.NewStatus(id, "context-of-"+id, state, m, start.Add(time.Second)),
		Stamp: s.stamped()}
}

// chunk makes an update that appends text to an artifact.
func (s *suite) chunk(id, artifact, said string) store.Update {
	data := runtime.ArtifactData{ID: artifact, Parts: text(said), Append: true}
	return store.Update{Event: s.Protocol.NewArtifact(id, "context-of-"+id, data), Stamp: s.stamped()}
}

// whole makes an update that adds or replaces an artifact.
func (s *suite) whole(id, artifact, said string) store.Update {
	data := runtime.ArtifactData{ID: artifact, Parts: text(said)}
	return store.Update{Event: s.Protocol.NewArtifact(id, "context-of-"+id, data), Stamp: s.stamped()}
}

// create makes a task, which must succeed.
func (s *suite) create(in store.Store, n store.New, k store.Key) store.Snapshot {
	s.Helper()
	snap, err := in.Create(ctx, k, n, &store.Full)
	if err != nil {
		s.Fatalf("create %s: %v", k.Task, err)
	}
	return snap
}

// apply makes an update, which must succeed.
func (s *suite) apply(in store.Store, k store.Key, expect int64, u store.Update) store.Snapshot {
	s.Helper()
	snap, err := in.Apply(ctx, k, expect, u, &store.Full)
	if err != nil {
		s.Fatalf("apply to %s at %d: %v", k.Task, expect, err)
	}
	return snap
}

// refused checks an error; want may be nil.
func (s *suite) refused(what string, got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (s *suite) get(in store.Store, k store.Key) store.Snapshot {
	s.Helper()
	snap, err := in.Get(ctx, k, store.Full)
	if err != nil {
		s.Fatalf("get %s: %v", k.Task, err)
	}
	return snap
}

func (s *suite) head(in store.Store, k store.Key) store.Head {
	s.Helper()
	h, err := in.Head(ctx, k)
	if err != nil {
		s.Fatalf("head of %s: %v", k.Task, err)
	}
	return h
}

// json is a task, or another event, as clients of the newest version get it.
func (s *suite) json(e runtime.Event) string {
	s.Helper()
	b, err := s.Protocol.Versions[0].AppendEvent(nil, e)
	if err != nil {
		s.Fatal(err)
	}
	return string(b)
}

// events are the records after a version, as clients get them.
func (s *suite) events(in store.Store, k store.Key, after int64) (list []string) {
	s.Helper()
	records, err := in.Events(ctx, k, after, 0)
	if err != nil {
		s.Fatalf("events of %s after %d: %v", k.Task, after, err)
	}
	for i, r := range records {
		if r.Seq != after+int64(i)+1 {
			s.Errorf("record %d after %d has the number %d", i, after, r.Seq)
		}
		e, err := r.Event()
		if err != nil {
			s.Fatal(err)
		}
		list = append(list, s.json(e))
	}
	return list
}

// same compares values by their JSON.
func (s *suite) same(what string, got, want any) {
	s.Helper()
	g, err1 := json.Marshal(got)
	w, err2 := json.Marshal(want)
	if err := errors.Join(err1, err2); err != nil {
		s.Fatal(err)
	}
	if string(g) != string(w) {
		s.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// eventually waits until something is so.
func (s *suite) eventually(what string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("it did not come to pass: %s", what)
		}
	}
}

// heir is Harness.Heir for a test that needs one.
func (s *suite) heir(of store.Store) store.Store {
	s.Helper()
	if s.Heir == nil {
		s.Skip("the store knows no other instances")
	}
	return s.Heir(s.T, of)
}

// ids are those of tasks.
func ids(tasks []runtime.Task) []string {
	list := make([]string, 0, len(tasks))
	for _, t := range tasks {
		list = append(list, t.TaskInfo().ID)
	}
	return list
}

func name(i int) string { return fmt.Sprintf("t%06d", i) }
