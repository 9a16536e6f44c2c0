package storetest

import (
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Events that are stored together.

// then makes changes of updates.
func then(list ...store.Update) (changes []store.Change) {
	for _, u := range list {
		changes = append(changes, store.Change{Event: u.Event, Messages: u.Messages})
	}
	return changes
}

// answered is a task that is answered at once: its call is taken on and over.
func (s *suite) answered(id string) store.New {
	n := s.working(id)
	n.Then = then(s.whole(id, "a", "x"), s.chunk(id, "a", "y"), s.said(id, runtime.StateCompleted, "done"))
	n.Done = true
	return n
}

// createdWithItsEnd: a task may come with all that happens to it.
func createdWithItsEnd(s *suite) {
	in, k := s.open(), key("t")
	n := s.answered("t")
	want := []string{s.json(n.Then[0].Event), s.json(n.Then[1].Event), s.json(n.Then[2].Event)}
	snap := s.create(in, n, k)
	if snap.Version != 4 || snap.Run != nil || len(snap.Task.ArtifactList()) != 1 {
		s.Errorf("the task is %+v", snap)
	}
	again := s.create(in, n, k)
	if again.Version != 4 || again.Run != nil {
		s.Errorf("again it is %+v", again)
	}
	check := func(in store.Store) {
		s.Helper()
		h := s.head(in, k)
		if h.Version != 4 || h.State != runtime.StateCompleted || h.Calls != 1 || h.Done != 1 || h.Epoch != snap.Epoch {
			s.Errorf("the head is %+v", h)
		}
		s.same("the task", s.json(s.get(in, k).Task), s.json(snap.Task))
		s.same("the events", s.events(in, k, 1), want)
		s.same("the last events", s.events(in, k, 2), want[1:])
		if page := s.list(in, store.Owner{}, store.Query{Size: 5, State: runtime.StateCompleted}); page.Total != 1 {
			s.Errorf("listed are %d", page.Total)
		}
		if runs, err := in.Claim(ctx, []string{"skill"}, 9); err != nil || len(runs) > 0 {
			s.Errorf("there is work: %v, %v", runs, err)
		}
	}
	check(in)
	if s.Leave != nil {
		_ = in.Close()
		check(s.Leave(s.T, in))
	}
}

// parksAtOnce: a task that comes with a question has no call at work, and the next one begins.
func parksAtOnce(s *suite) {
	in, k := s.open(), key("t")
	n := s.working("t")
	n.Then, n.Done = then(s.said("t", runtime.StateInputRequired, "what?")), true
	if snap := s.create(in, n, k); snap.Version != 2 || snap.Run != nil {
		s.Errorf("the task is %+v", snap)
	}
	next := s.apply(in, k, 2, s.follow("t"))
	if next.Run == nil || next.Run.N != 2 || next.Run.Attempt != 1 {
		s.Errorf("the next call is %+v", next.Run)
	}
}

// together: the events of an update are all stored or none, and are read like others.
func together(s *suite) {
	in, k := s.Open(s.T, memory.Limits{TaskBytes: 50_000, Bytes: 1 << 20}), key("t")
	snap := s.create(in, s.working("t"), k)
	u := s.chunk("t", "a", "1")
	u.Epoch = snap.Epoch
	asks := s.said("t", runtime.StateInputRequired, "what?")
	asks.Messages = []runtime.Message{s.message("m2", "more")}
	u.Then = then(s.chunk("t", "a", "2"), asks, s.chunk("t", "b", "3"), s.status("t", runtime.StateWorking, 2*time.Second))
	after := s.apply(in, k, 0, u)
	if after.Version != 6 || after.Epoch != snap.Epoch {
		s.Errorf("the update made version %d in epoch %d", after.Version, after.Epoch)
	}
	if again := s.apply(in, k, 0, u); again.Version != 6 {
		s.Errorf("again it made version %d", again.Version)
	}
	wrong := s.chunk("t", "a", "x")
	wrong.Epoch = snap.Epoch
	for what, bad := range map[string]store.Update{
		"another task's": s.chunk("other", "a", "x"), "one after the end": s.chunk("t", "a", "x"),
		"a large one": s.chunk("t", "a", strings.Repeat("x", 60_000)),
	} {
		wrong.Stamp, wrong.Then = s.stamped(), then(s.chunk("t", "a", "x"), bad)
		want := store.ErrUnfit
		switch what {
		case "one after the end":
			wrong.Then = then(s.status("t", runtime.StateCompleted, 3*time.Second), bad)
		case "a large one":
			want = store.ErrTooLarge
		}
		_, err := in.Apply(ctx, k, 0, wrong, nil)
		s.refused(what, err, want)
	}
	check := func(in store.Store) {
		s.Helper()
		got := s.get(in, k)
		if got.Version != 6 || len(got.Task.ArtifactList()) != 2 || len(got.Task.HistoryList()) != 3 {
			s.Errorf("the task is %s at %d", s.json(got.Task), got.Version)
		}
		s.same("the task", s.json(got.Task), s.json(after.Task))
		for from := range int64(5) {
			if list := s.events(in, k, from+1); len(list) != int(5-from) {
				s.Errorf("after %d there are %q", from+1, list)
			}
		}
		if list, err := in.Events(ctx, k, 2, 2); err != nil || len(list) != 2 || list[0].Seq != 3 || list[1].Kind != runtime.EventStatus ||
			list[1].State != runtime.StateInputRequired || list[0].State != runtime.StateUnspecified {
			s.Errorf("two after the second: %v, %v", list, err)
		}
	}
	check(in)
	if s.Heir != nil {
		check(s.Heir(s.T, in))
	}
}
