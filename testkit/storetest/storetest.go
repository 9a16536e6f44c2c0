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
	for i := range scripts {
		t.Run(scripts[i].name, func(t *testing.T) { (&suite{T: t, Harness: harness(t)}).play(&scripts[i]) })
	}
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"Content", content}, {"Requests", requests}, {"Private", private}, {"Views", views}, {"At", at}, {"Trim", trim},
		{"Pages", pages}, {"PagesUnderWrites", pagesUnderWrites}, {"Cursors", cursors}, {"PageBytes", pageBytes}, {"Owners", owners},
		{"ManyTasks", manyTasks}, {"AtOnce", atOnce}, {"RepeatsAreBounded", repeatsAreBounded}, {"ManySwept", manySwept}, {"Contexts", contexts}, {"Closed", closed},
		{"Crashes", crashes}, {"Differential", differential},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&suite{T: t, Harness: harness(t)}) })
	}
}

var ctx = context.Background()

// start is the time of the first status.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// suite is one test.
type suite struct {
	*testing.T
	Harness
	stamp    atomic.Uint64
	numbered bool // the protocol has generations
}

func (s *suite) open() store.Store { return s.Open(s.T, memory.Limits{}) }

// stamped returns a new stamp.
func (s *suite) stamped() uint64 { return s.stamp.Add(1) }

// message makes a message of the user's.
func (s *suite) message(id string, parts ...runtime.Part) runtime.Message {
	return s.Protocol.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: id, User: true}, Parts: parts})
}

// call makes a call.
func (s *suite) call(said string) *store.Call {
	quoted := fmt.Appendf(nil, "%q", said)
	return &store.Call{Input: quoted, Value: quoted, Request: &runtime.SendRequest{Message: s.message("r", runtime.Text(said))}}
}

// task makes one with a message.
func (s *suite) task(id string) store.New { return s.creation(&step{Task: id}, start, s.stamped()) }

// working makes a task with a call.
func (s *suite) working(id string) store.New {
	return s.creation(&step{Task: id, words: words{Call: true}}, start, s.stamped())
}

// status makes an update to a state, at a time after the start, with a message of the agent's if something is said.
func (s *suite) status(id string, state runtime.State, after time.Duration, said ...runtime.Part) store.Update {
	var m runtime.Message
	if len(said) > 0 {
		m = s.Protocol.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "a"}, Parts: said})
	}
	return store.Update{Event: s.Protocol.NewStatus(id, contextOf(id), state, m, start.Add(after)), Stamp: s.stamped()}
}

// chunk makes an update that appends text to an artifact.
func (s *suite) chunk(id, said string) store.Update {
	data := runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text(said)}, Append: true}
	return store.Update{Event: s.Protocol.NewArtifact(id, contextOf(id), data), Stamp: s.stamped()}
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

// successor is the instance after one that closes and leaves some tasks, or that crashes.
func (s *suite) successor(in store.Store, crash bool, left ...store.Key) store.Store {
	s.Helper()
	if crash {
		return s.Heir(s.T, in)
	}
	if err := in.Close(left...); err != nil {
		s.Fatal(err)
	}
	return s.Leave(s.T, in)
}

// heir is the next instance after a crash, if there is one that knows what was stored, else the same.
func (s *suite) heir(of store.Store) store.Store {
	if s.Heir == nil {
		return of
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
