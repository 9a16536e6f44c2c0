package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Push notification configurations, and what is due to them.

func config(id string) store.Push {
	c := runtime.PushConfig{ID: id, URL: "https://example.com/" + id, Token: "t", Scheme: "Bearer", Credentials: "c"}
	return store.Push{ID: id, Version: "1.0", Config: c, Tasks: id == "p2"}
}

func (s *suite) set(in store.Store, k store.Key, p store.Push) {
	s.Helper()
	if err := in.SetPush(ctx, k, p); err != nil {
		s.Fatalf("set %s: %v", p.ID, err)
	}
}

// pushes: a task has configurations by id.
func pushes(s *suite) {
	in, k := s.open(), key("t")
	n := s.task("t")
	p := config("p1")
	n.Push = &p
	if snap := s.create(in, n, k); !snap.Pushed {
		s.Error("the new task does not say that it has a configuration")
	}
	u := s.status("t", runtime.StateWorking, time.Second)
	p3 := config("p3")
	u.Push = &p3
	if snap := s.apply(in, k, 1, u); !snap.Pushed {
		s.Error("the task does not say that it has configurations")
	}
	s.set(in, k, config("p2"))
	other := config("p1")
	other.Config.URL = "https://example.org"
	s.set(in, k, other)
	check := func(want ...store.Push) {
		s.Helper()
		got, err := in.Pushes(ctx, k)
		if err != nil {
			s.Fatal(err)
		}
		s.same("configurations", got, want)
	}
	check(other, config("p2"), config("p3"))
	if s.Durable && s.Heir != nil {
		in = s.heir(in)
		check(other, config("p2"), config("p3"))
	}
	for _, id := range []string{"p2", "p2", "none"} {
		if err := in.DeletePush(ctx, k, id); err != nil {
			s.Error(err)
		}
	}
	check(other, config("p3"))
	large := config("large")
	large.Config.Token = strings.Repeat("x", 100_000)
	s.refused("a large one", in.SetPush(ctx, k, large), store.ErrTooLarge)
	u = s.status("t", runtime.StateWorking, time.Second)
	u.Push = &large
	_, err := in.Apply(ctx, k, 2, u, nil)
	s.refused("a large one with a message", err, store.ErrTooLarge)
	in = s.Open(s.T, memory.Limits{Pushes: 2})
	s.create(in, s.task("t"), k)
	s.set(in, k, config("p1"))
	s.set(in, k, config("p2"))
	s.set(in, k, config("p2"))
	s.refused("one too many", in.SetPush(ctx, k, config("p3")), store.ErrFull)
	if err := in.DeletePush(ctx, k, "p1"); err != nil {
		s.Error(err)
	}
	s.set(in, k, config("p3"))
	in = s.Open(s.T, memory.Limits{Pushes: 4})
	for i, who := range []string{"a", "a", "a", "b", "b", "b"} { // one owner has half of them at most
		k := store.Key{Owner: store.Owner{Principal: who, Tenant: name(i)}, Task: "t"}
		s.create(in, s.task("t"), k)
		err := in.SetPush(ctx, k, config("p1"))
		if i%3 == 2 {
			s.refused("more than half", err, store.ErrFull)
		} else if err != nil {
			s.Errorf("%s: %v", who, err)
		}
	}
}

// due claims deliveries, and describes them.
func (s *suite) due(in store.Store, max int, hold time.Duration) (list []store.Delivery, next time.Duration) {
	s.Helper()
	list, next, err := in.Due(ctx, max, hold)
	if err != nil {
		s.Fatal(err)
	}
	return list, next
}

func (s *suite) settle(in store.Store, d store.Delivery, o store.Outcome) {
	s.Helper()
	if err := in.Settle(ctx, d, o); err != nil {
		s.Fatalf("settle %s of %s: %v", d.Push.ID, d.Key.Task, err)
	}
}

// deliveries: events after a configuration are due to it, in order, and claimed by one at a time.
func deliveries(s *suite) {
	in, k := s.open(), key("t")
	if list, next := s.due(in, 9, time.Minute); len(list) != 0 || next >= 0 {
		s.Errorf("at first are due %v, the next in %v", list, next)
	}
	s.create(in, s.task("t"), k)
	s.apply(in, k, 1, s.chunk("t", "a", "early"))
	s.set(in, k, config("p1"))
	if list, _ := s.due(in, 9, time.Minute); len(list) != 0 {
		s.Errorf("before anything was said are due %v", list)
	}
	s.apply(in, k, 2, s.chunk("t", "a", "x"))
	s.set(in, k, config("p2"))
	if snap := s.apply(in, k, 3, s.chunk("t", "a", "y")); !snap.Pushed {
		s.Error("the task does not say that it has configurations")
	}
	list, _ := s.due(in, 9, time.Minute)
	if len(list) != 2 {
		s.Fatalf("due are %v", list)
	}
	for _, d := range list {
		want := map[string]int64{"p1": 3, "p2": 4}[d.Push.ID]
		if d.Next != want || d.Attempt != 0 || d.Key != k || d.Holder == 0 || !d.Since.IsZero() {
			s.Errorf("due is %+v, want it from %d", d, want)
		}
		s.same("its configuration", d.Push, config(d.Push.ID))
	}
	if again, _ := s.due(in, 9, time.Minute); len(again) != 0 {
		s.Errorf("claimed twice are %v", again)
	}
	s.apply(in, k, 4, s.chunk("t", "a", "z")) // while it is on its way
	for _, d := range list {
		s.settle(in, d, store.Outcome{Sent: 4})
	}
	list, _ = s.due(in, 1, time.Minute)
	if len(list) != 1 || list[0].Next != 5 {
		s.Fatalf("then is due %v", list)
	}
	s.settle(in, list[0], store.Outcome{Sent: 5})
	list, _ = s.due(in, 9, time.Minute)
	if len(list) != 1 || list[0].Next != 5 {
		s.Fatalf("then is due %v", list)
	}
	s.settle(in, list[0], store.Outcome{Sent: 5})
	if list, _ := s.due(in, 9, time.Minute); len(list) != 0 {
		s.Errorf("when all is sent are due %v", list)
	}
	s.apply(in, k, 5, s.status("t", runtime.StateCompleted, time.Second))
	if list, _ = s.due(in, 9, time.Minute); len(list) != 2 || list[0].Next != 6 {
		s.Errorf("after the end are due %v", list)
	}
}

// failedDeliveries: they are counted and tried again, or given up, until the configuration is set anew.
func failedDeliveries(s *suite) {
	in, k := s.open(), key("t")
	s.create(in, s.task("t"), k)
	s.set(in, k, config("p1"))
	s.apply(in, k, 1, s.chunk("t", "a", "x"))
	next := func(what string, attempt int) store.Delivery {
		s.Helper()
		var list []store.Delivery
		s.eventually(what, func() bool {
			list, _ = s.due(in, 9, time.Minute)
			return len(list) == 1
		})
		if d := list[0]; d.Next != 2 || d.Attempt != attempt || d.Since.IsZero() != (attempt == 0) {
			s.Errorf("%s: due is %+v", what, d)
		}
		return list[0]
	}
	d := next("at first", 0)
	s.settle(in, d, store.Outcome{Again: time.Hour})
	if list, wait := s.due(in, 9, time.Minute); len(list) != 0 || wait <= 0 || wait > time.Hour {
		s.Errorf("after a failure are due %v, the next in %v", list, wait)
	}
	s.refused("what was settled", in.Settle(ctx, d, store.Outcome{Sent: 2}), store.ErrLost)
	s.apply(in, k, 2, s.chunk("t", "a", "y")) // makes nothing due before its time
	if list, _ := s.due(in, 9, time.Minute); len(list) != 0 {
		s.Errorf("an event makes due %v", list)
	}
	s.set(in, k, config("p1"))
	d = next("set anew", 0)
	s.settle(in, d, store.Outcome{Later: time.Hour})
	if list, wait := s.due(in, 9, time.Minute); len(list) != 0 || wait <= 0 || wait > time.Hour {
		s.Errorf("of what is due later are due %v, the next in %v", list, wait)
	}
	s.set(in, k, config("p1"))
	d = next("set anew", 0)
	s.settle(in, d, store.Outcome{Later: time.Millisecond})
	d = next("later", 0)
	for attempt := 1; attempt <= 3; attempt++ {
		s.settle(in, d, store.Outcome{Again: time.Millisecond})
		d = next("again", attempt)
	}
	s.settle(in, d, store.Outcome{Dead: "nobody is there"})
	s.apply(in, k, 3, s.chunk("t", "a", "z"))
	if list, _ := s.due(in, 9, time.Minute); len(list) != 0 {
		s.Errorf("of what is dead are due %v", list)
	}
	s.set(in, k, config("p1"))
	d = next("after its death", 0)
	s.settle(in, d, store.Outcome{Sent: 3, Until: 4, Again: time.Nanosecond})
	s.eventually("some arrived", func() bool {
		list, _ := s.due(in, 9, time.Minute)
		if len(list) == 1 && (list[0].Next != 4 || list[0].Until != 4 || list[0].Attempt != 1) {
			s.Errorf("after some arrived is due %+v", list[0])
		}
		return len(list) == 1
	})
}

// lostDeliveries: a claim that was not settled in time is over.
func lostDeliveries(s *suite) {
	in := s.open()
	for i := range 3 {
		n := s.task(name(i))
		s.create(in, n, key(name(i)))
		s.set(in, key(name(i)), config("p1"))
		s.apply(in, key(name(i)), 1, s.chunk(name(i), "a", "x"))
	}
	first, _ := s.due(in, 9, 20*time.Millisecond)
	if len(first) != 3 {
		s.Fatalf("due are %d", len(first))
	}
	seen := map[string]store.Delivery{}
	s.eventually("the claims are over", func() bool {
		list, _ := s.due(in, 9, time.Hour)
		for _, d := range list {
			seen[d.Key.Task] = d
		}
		return len(seen) == 3
	})
	for _, d := range first {
		s.refused("the old claim", in.Settle(ctx, d, store.Outcome{Sent: 2}), store.ErrLost)
		s.settle(in, seen[d.Key.Task], store.Outcome{Sent: 2})
	}
	gone := store.Delivery{Key: key("none"), Push: config("p1"), Holder: 1}
	s.refused("a task that is not there", in.Settle(ctx, gone, store.Outcome{Sent: 2}), store.ErrLost)
	s.apply(in, key(name(0)), 2, s.chunk(name(0), "a", "y"))
	list, _ := s.due(in, 9, time.Hour)
	if len(list) != 1 || list[0].Next != 3 {
		s.Fatalf("due is %v", list)
	}
	if err := in.DeletePush(ctx, list[0].Key, "p1"); err != nil {
		s.Fatal(err)
	}
	s.refused("one that was deleted", in.Settle(ctx, list[0], store.Outcome{Sent: 3}), store.ErrLost)
	if s.Durable && s.Heir != nil {
		s.apply(in, key(name(1)), 2, s.chunk(name(1), "a", "y"))
		in = s.heir(in)
		list, _ := s.due(in, 9, time.Hour)
		if len(list) != 1 || list[0].Next != 3 || fmt.Sprint(list[0].Key) != fmt.Sprint(key(name(1))) {
			s.Errorf("in the next process is due %v", list)
		}
	}
}
