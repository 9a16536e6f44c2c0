package storetest

import (
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Generations is the part of the suite for a protocol with generations: what a store returns of a task has the number of
// its latest event, whether that was stored a moment ago, is read again, or was written before there were generations.
func Generations(t *testing.T, harness func(t *testing.T) Harness) {
	for i := range scripts {
		switch scripts[i].name {
		case "Together", "AnsweredAtOnce", "Claim":
			t.Run(scripts[i].name, func(t *testing.T) { (&suite{T: t, Harness: harness(t), numbered: true}).play(&scripts[i]) })
		}
	}
	t.Run("Views", func(t *testing.T) { numbersOfViews(&suite{T: t, Harness: harness(t), numbered: true}) })
}

// number checks the generation of a task or an event, where there are any.
func (s *suite) number(e runtime.Event, want int64) {
	s.Helper()
	if !s.numbered {
		return
	}
	back, err := s.Protocol.Versions[0].ReadEvent([]byte(s.json(e)))
	if err != nil || back.EventInfo().Generation != want || e.EventInfo().Generation != want {
		s.Errorf("version %d has generation %d, and is written as %s: %v", want, e.EventInfo().Generation, s.json(e), err)
	}
}

// numbersOfViews: no view of a task is without its number.
func numbersOfViews(s *suite) {
	in, k := s.open(), keyOf("t")
	s.create(in, s.task("t"), k)
	s.apply(in, k, 1, s.chunk("t", "x"))
	for _, v := range []store.View{store.Full, {}, {History: new(int)}, {History: new(int), Artifacts: true}} {
		snap, err := in.Get(ctx, k, v)
		if err != nil {
			s.Fatal(err)
		}
		s.number(snap.Task, 2)
		page := s.list(in, k.Owner, store.Query{Size: 10, View: v})
		if len(page.Tasks) != 1 {
			s.Fatalf("%d tasks", len(page.Tasks))
		}
		s.number(page.Tasks[0], 2)
	}
	if err := in.SetPush(ctx, k, store.Push{ID: "p", Version: s.Protocol.Versions[0].Name, Tasks: true}); err != nil {
		s.Fatal(err)
	}
	u := s.chunk("t", "y")
	s.apply(in, k, 2, u)
	s.apply(in, k, 3, s.chunk("t", "z"))
	if u.Event.EventInfo().Generation != 0 {
		s.Error("the event of the caller was changed")
	}
	snap, err := in.Get(ctx, k, store.View{Artifacts: true, At: 3})
	if err != nil {
		s.Fatal(err)
	}
	s.number(snap.Task, 3)
}
