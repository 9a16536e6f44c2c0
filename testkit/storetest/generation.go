package storetest

import (
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Generations is the part of the suite for a protocol with generations: what a store returns of a task has the number of
// its latest event, whether that was stored a moment ago, is read again, or was written before there were generations.
func Generations(t *testing.T, harness func(t *testing.T) Harness) {
	for name, run := range map[string]func(*suite){"Events": numbersOfEvents, "Views": numbersOfViews, "Heirs": numbersOfHeirs} {
		t.Run(name, func(t *testing.T) { run(&suite{T: t, Harness: harness(t)}) })
	}
}

// numbered checks the generation of a task or an update.
func (s *suite) numbered(what string, e runtime.Event, want int64) {
	s.Helper()
	if got := e.EventInfo().Generation; got != want {
		s.Errorf("%s has generation %d, want %d", what, got, want)
	}
	back, err := s.Protocol.Versions[0].ReadEvent([]byte(s.json(e)))
	if err != nil || back.EventInfo().Generation != want {
		s.Errorf("%s is written as %s: %v", what, s.json(e), err)
	}
}

// logged checks the generations of the events after the first, and of their bytes as far as those are kept.
func (s *suite) logged(in store.Store, k store.Key, last int64) {
	s.Helper()
	records, err := in.Events(ctx, k, 1, 0)
	if err != nil || int64(len(records)) != last-1 {
		s.Fatalf("%d events: %v", len(records), err)
	}
	for _, r := range records {
		e, err := r.Event()
		if err != nil {
			s.Fatal(err)
		}
		s.numbered("an event", e, r.Seq)
		if b := r.Encoded(0); b != nil && string(b) != s.json(e) {
			s.Errorf("event %d is kept as %s", r.Seq, b)
		}
	}
}

// numbersOfEvents: a task and its events have their numbers, those that are stored together as well.
func numbersOfEvents(s *suite) {
	in, k := s.open(), key("t")
	n := s.task("t")
	n.Then = []store.Change{{Event: s.status("t", runtime.StateWorking, time.Second).Event}}
	s.numbered("a new task", s.create(in, n, k).Task, 2)
	u := s.chunk("t", "a", "x")
	u.Then = []store.Change{{Event: s.chunk("t", "a", "y").Event}, {Event: s.said("t", runtime.StateInputRequired, "which?").Event}}
	s.numbered("a task after three events", s.apply(in, k, 2, u).Task, 5)
	s.logged(in, k, 5)
	s.numbered("a task that ends", s.apply(in, k, 5, s.said("t", runtime.StateCompleted, "done")).Task, 6)
	s.numbered("one that has ended", s.get(in, k).Task, 6)
	if u.Event.EventInfo().Generation != 0 {
		s.Error("the event of the caller was changed")
	}
	_, err := in.Apply(ctx, k, 5, s.chunk("t", "a", "z"), nil)
	s.refused("an update after the end", err, store.ErrEnded)
	s.numbered("a task after what was refused", s.get(in, k).Task, 6)
}

// numbersOfViews: no view of a task is without its number.
func numbersOfViews(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	s.apply(in, k, 1, s.chunk("t", "a", "x"))
	for _, v := range []store.View{store.Full, {}, {History: new(int)}, {History: new(int), Artifacts: true}} {
		snap, err := in.Get(ctx, k, v)
		if err != nil {
			s.Fatal(err)
		}
		s.numbered("a view", snap.Task, 2)
		page, err := in.List(ctx, k.Owner, store.Query{Size: 10, View: v})
		if err != nil || len(page.Tasks) != 1 {
			s.Fatalf("%d tasks, %v", len(page.Tasks), err)
		}
		s.numbered("a task of a page", page.Tasks[0], 2)
	}
	if err := in.SetPush(ctx, k, store.Push{ID: "p", Version: s.Protocol.Versions[0].Name, Tasks: true}); err != nil {
		s.Fatal(err)
	}
	s.apply(in, k, 2, s.chunk("t", "a", "y"))
	s.apply(in, k, 3, s.chunk("t", "a", "z"))
	snap, err := in.Get(ctx, k, store.View{Artifacts: true, At: 3})
	if err != nil {
		s.Fatal(err)
	}
	s.numbered("a task as it was", snap.Task, 3)
}

// numbersOfHeirs: an instance that goes on with a task goes on with its numbers.
func numbersOfHeirs(s *suite) {
	in, k := s.open(), key("t")
	n := s.task("t")
	n.Call = &store.Call{}
	s.create(in, n, k)
	s.apply(in, k, 1, s.chunk("t", "a", "x"))
	heir := s.heir(in)
	runs, err := heir.Claim(ctx, []string{"skill"}, 1)
	if err != nil || len(runs) != 1 {
		s.Fatalf("%d tasks are taken over: %v", len(runs), err)
	}
	s.numbered("a task that is taken over", runs[0].Task, 2)
	u := s.chunk("t", "a", "y")
	u.Epoch = runs[0].Epoch
	s.numbered("what the heir makes of it", s.apply(heir, k, 0, u).Task, 3)
	s.logged(heir, k, 3)
}
