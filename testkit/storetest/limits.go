package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Limits and retention.

// taskBytes: a task grows up to its limit, and can always end.
func taskBytes(s *suite) {
	in, k := s.Open(s.T, memory.Limits{Bytes: 1 << 20, TaskBytes: 100_000}), key("t")
	s.create(in, s.task("t"), k)
	big := strings.Repeat("x", 30_000)
	var err error
	version := int64(1)
	for ; err == nil && version < 100; version++ {
		_, err = in.Apply(ctx, k, version, s.chunk("t", "a", big), nil)
	}
	if !errors.Is(err, store.ErrTooLarge) || version > 6 {
		s.Fatalf("at version %d: %v", version, err)
	}
	version--
	s.apply(in, k, version, s.whole("t", "a", "x")) // what is replaced counts no more
	for range 2 {
		version++
		s.apply(in, k, version, s.chunk("t", "a", big))
	}
	_, err = in.Apply(ctx, k, version+1, s.said("t", runtime.StateCompleted, strings.Repeat("y", 90_000)), nil)
	s.refused("a long answer", err, store.ErrTooLarge)
	s.apply(in, k, version+1, s.said("t", runtime.StateFailed, strings.Repeat("y", 1000)))
	n := s.task("large")
	n.Private.Input = []byte(strings.Repeat("1", 200_000))
	_, err = in.Create(ctx, key("large"), n, nil)
	s.refused("a large task", err, store.ErrTooLarge)
}

// end ends a task at a time.
func (s *suite) end(in store.Store, id string, after time.Duration) {
	s.Helper()
	s.apply(in, key(id), s.head(in, key(id)).Version, s.status(id, runtime.StateCompleted, after))
}

func (s *suite) has(in store.Store, id string) bool {
	s.Helper()
	_, err := in.Head(ctx, key(id))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.Error(err)
	}
	return err == nil
}

// eviction: the longest ended task makes room, then the one that has waited longest, never one that is at work.
func eviction(s *suite) {
	in := s.Open(s.T, memory.Limits{Tasks: 4})
	s.create(in, s.working("works"), key("works"))
	for i, id := range []string{"ended1", "ended2", "parked"} {
		s.create(in, s.task(id), key(id))
		state := runtime.StateCompleted
		if id == "parked" {
			state = runtime.StateInputRequired
		}
		s.apply(in, key(id), 1, s.status(id, state, time.Duration(i)*time.Second))
		time.Sleep(time.Millisecond) // so that it is later by the store's clock
	}
	for i, goes := range []string{"ended1", "ended2", "parked"} {
		if !s.has(in, goes) {
			s.Errorf("%s is gone too early", goes)
		}
		s.create(in, s.working(name(i)), key(name(i)))
		if s.has(in, goes) {
			s.Errorf("%s is still there", goes)
		}
		_, err := in.Get(ctx, key(goes), store.Full)
		s.refused("what is gone", err, store.ErrNotFound)
	}
	_, err := in.Create(ctx, key("more"), s.task("more"), nil)
	s.refused("a store full of work", err, store.ErrFull)
	if page := s.list(in, store.Owner{}, store.Query{Size: 10}); page.Total != 4 || len(page.Tasks) != 4 {
		s.Errorf("listed are %d of %d", len(page.Tasks), page.Total)
	}
}

// sized makes a task whose message has so many bytes.
func (s *suite) sized(id string, bytes int) store.New {
	n := s.task(id)
	m := s.message("large", strings.Repeat("x", bytes))
	m.Bind("context-of-"+id, id)
	n.Task.AddMessage(m)
	n.Size.Bytes += bytes
	return n
}

// growing: a task that rests and grows has others evicted, never itself.
func growing(s *suite) {
	in := s.Open(s.T, memory.Limits{OwnerBytes: 100_000})
	for _, id := range []string{"grows", "next", "last"} {
		s.create(in, s.sized(id, 25_000), key(id))
		s.apply(in, key(id), 1, s.status(id, runtime.StateInputRequired, time.Second))
		time.Sleep(time.Millisecond) // so that it is later by the store's clock
	}
	u := s.status("grows", runtime.StateInputRequired, 2*time.Second)
	u.Messages = []runtime.Message{s.message("more", strings.Repeat("y", 36_000))}
	if snap := s.apply(in, key("grows"), 2, u); snap.Version != 3 {
		s.Errorf("it grows to version %d", snap.Version)
	}
	if !s.has(in, "grows") || s.has(in, "next") || !s.has(in, "last") {
		s.Errorf("there are: grows %t, next %t, last %t", s.has(in, "grows"), s.has(in, "next"), s.has(in, "last"))
	}
	if page := s.list(in, store.Owner{}, store.Query{Size: 10}); page.Total != 2 || len(page.Tasks) != 2 {
		s.Errorf("listed are %d of %d", len(page.Tasks), page.Total)
	}
	s.create(in, s.sized("new", 3_000), key("new")) // there is room: what is counted is what is there
	if !s.has(in, "grows") || !s.has(in, "last") {
		s.Error("more is counted than there is")
	}
}

// roomForNothing: an update that is refused has evicted nothing.
func roomForNothing(s *suite) {
	in := s.Open(s.T, memory.Limits{Tasks: 2, Pushes: 1})
	s.create(in, s.task("ended"), key("ended"))
	s.end(in, "ended", time.Second)
	s.create(in, s.working("works"), key("works"))
	s.set(in, key("works"), config("p"))
	n := s.task("new")
	p := config("p")
	n.Push = &p
	_, err := in.Create(ctx, key("new"), n, nil)
	s.refused("a configuration too many", err, store.ErrFull)
	if !s.has(in, "ended") {
		s.Error("a task went for one that was refused for its configuration")
	}

	in = s.Open(s.T, memory.Limits{Bytes: 100_000, TaskBytes: 90_000})
	s.create(in, s.sized("ended", 20_000), key("ended"))
	s.end(in, "ended", time.Second)
	asks := s.sized("asks", 40_000)
	asks.Call = s.call("asks")
	epoch := s.create(in, asks, key("asks")).Epoch
	u := s.status("asks", runtime.StateInputRequired, time.Second) // its call is still open
	u.Epoch = epoch
	s.apply(in, key("asks"), 0, u)
	_, err = in.Create(ctx, key("new"), s.sized("new", 60_000), nil)
	s.refused("more than can go", err, store.ErrFull)
	if !s.has(in, "ended") || !s.has(in, "asks") {
		s.Errorf("for one that was refused went: ended %t, asks %t", !s.has(in, "ended"), !s.has(in, "asks"))
	}
	u = s.chunk("asks", "a", "the end of its call")
	u.Epoch, u.Done = epoch, 1
	s.apply(in, key("asks"), 0, u) // now it waits for its client alone
	s.create(in, s.sized("new", 60_000), key("new"))
	if s.has(in, "asks") {
		s.Error("a task that rests did not make room")
	}
}

// full: bytes are limited as tasks are, and a task at work can end.
func full(s *suite) {
	in := s.Open(s.T, memory.Limits{Bytes: 400_000, TaskBytes: 300_000})
	said := strings.Repeat("x", 50_000)
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		if _, err = in.Create(ctx, key(name(n)), s.working(name(n)), nil); err == nil {
			_, err = in.Apply(ctx, key(name(n)), 1, s.said(name(n), runtime.StateWorking, said), nil)
		}
	}
	if !errors.Is(err, store.ErrFull) || n < 3 {
		s.Fatalf("after %d tasks: %v", n, err)
	}
	for i := range n - 1 {
		s.end(in, name(i), time.Second)
	}
	for i := 0; s.has(in, name(0)); i++ {
		id := name(100 + i)
		s.create(in, s.working(id), key(id))
		s.apply(in, key(id), 1, s.said(id, runtime.StateWorking, said))
	}
}

// ownerShare: an owner over its share loses tasks of its own.
func ownerShare(s *suite) {
	in := s.Open(s.T, memory.Limits{Tasks: 100, OwnerTasks: 3})
	greedy, other := store.Owner{Principal: "greedy"}, store.Owner{Principal: "other"}
	make := func(o store.Owner, id string) error {
		k := store.Key{Owner: o, Task: id}
		if _, err := in.Create(ctx, k, s.task(id), nil); err != nil {
			return err
		}
		_, err := in.Apply(ctx, k, 1, s.status(id, runtime.StateCompleted, time.Second), nil)
		time.Sleep(time.Millisecond)
		return err
	}
	for i := range 3 {
		if err := make(other, name(i)); err != nil {
			s.Fatal(err)
		}
	}
	for i := range 6 {
		o := greedy
		o.Tenant = []string{"", "t"}[i%2] // a tenant is a name that anybody may choose
		if err := make(o, name(i)); err != nil {
			s.Fatal(err)
		}
	}
	count := func(o store.Owner) int { return s.list(in, o, store.Query{Size: 100}).Total }
	tenant := store.Owner{Tenant: "t", Principal: "greedy"}
	if got := count(greedy) + count(tenant); got != 3 || count(other) != 3 {
		s.Errorf("the greedy owner has %d tasks, the other %d", got, count(other))
	}
	if _, err := in.Head(ctx, store.Key{Owner: tenant, Task: name(5)}); err != nil {
		s.Errorf("the newest is gone: %v", err)
	}
}

// sweep sweeps until there is no more.
func (s *suite) sweep(in store.Store) (dropped int) {
	s.Helper()
	for {
		n, more, err := in.Sweep(ctx)
		if err != nil {
			s.Fatal(err)
		}
		if dropped += n; !more {
			return dropped
		}
	}
}

// retention: tasks that have rested for too long are dropped, and no others.
func retention(s *suite) {
	in := s.Open(s.T, memory.Limits{Ended: time.Millisecond, Parked: time.Hour})
	for i := range 250 {
		s.create(in, s.task(name(i)), key(name(i)))
		s.apply(in, key(name(i)), 1, s.status(name(i), runtime.StateCompleted, time.Second))
	}
	s.create(in, s.working("works"), key("works"))
	s.create(in, s.task("parked"), key("parked"))
	s.apply(in, key("parked"), 1, s.status("parked", runtime.StateInputRequired, time.Second))
	time.Sleep(5 * time.Millisecond)
	if n := s.sweep(in); n != 250 {
		s.Errorf("%d tasks were dropped", n)
	}
	if s.has(in, name(0)) || !s.has(in, "works") || !s.has(in, "parked") {
		s.Error("the wrong ones were dropped")
	}
	if page := s.list(in, store.Owner{}, store.Query{Size: 10}); page.Total != 2 || len(page.Tasks) != 2 {
		s.Errorf("listed are %d of %d", len(page.Tasks), page.Total)
	}
	if n := s.sweep(in); n != 0 {
		s.Errorf("then %d tasks were dropped", n)
	}
	s.create(in, s.task(name(0)), key(name(0))) // its id is free
	in = s.Open(s.T, memory.Limits{Ended: time.Hour, Parked: time.Millisecond})
	s.create(in, s.task("parked"), key("parked"))
	s.apply(in, key("parked"), 1, s.status("parked", runtime.StateAuthRequired, time.Second))
	time.Sleep(5 * time.Millisecond)
	if n := s.sweep(in); n != 1 {
		s.Errorf("%d tasks were dropped", n)
	}
}

// keptToBeSent: a task with notifications to be sent stays beyond its time, but not when its room is needed.
func keptToBeSent(s *suite) {
	in := s.Open(s.T, memory.Limits{Tasks: 2, Ended: time.Millisecond})
	for _, id := range []string{"a", "b"} {
		s.create(in, s.task(id), key(id))
		s.set(in, key(id), config("p"))
		s.end(in, id, time.Now().Add(-time.Hour).Sub(start))
		time.Sleep(5 * time.Millisecond)
	}
	if n := s.sweep(in); n != 0 {
		s.Fatalf("%d are swept", n)
	}
	due, _ := s.due(in, 2, time.Minute)
	if len(due) != 2 {
		s.Fatalf("due are %v", due)
	}
	s.create(in, s.task("c"), key("c"))
	if s.has(in, "a") {
		s.Error("the longest ended one is still there")
	}
	for _, d := range due {
		if d.Key.Task == "b" {
			s.settle(in, d, store.Outcome{Sent: 2})
		}
	}
	if n := s.sweep(in); n != 1 {
		s.Errorf("%d are swept when all is sent", n)
	}
}
