package storetest

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// What many do at the same time.

// crowd calls f sixteen times at once.
func (s *suite) crowd(f func()) {
	var all sync.WaitGroup
	for range 16 {
		all.Go(f)
	}
	all.Wait()
}

// insist calls f until it does not conflict with another.
func (s *suite) insist(f func() error) error {
	for {
		if err := f(); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// atOnce: of what is done at the same time to one version one succeeds, and the others conflict.
func atOnce(s *suite) {
	const each = 10
	in, k := s.open(), keyOf("t")
	s.create(in, s.task("t"), k)
	apply := func(u store.Update) error {
		h, err := in.Head(ctx, k)
		if err == nil {
			_, err = in.Apply(ctx, k, h.Version, u, nil)
		}
		return err
	}
	count := func() error {
		n, err := in.Note(ctx, store.Owner{}, "c")
		if err == nil {
			count, _ := strconv.Atoi(string(n.Value))
			_, err = in.SetNote(ctx, store.Owner{}, "c", []byte(strconv.Itoa(count+1)), n.Version)
		}
		return err
	}
	s.crowd(func() {
		for range each {
			err := s.insist(func() error { return apply(s.chunk("t", "x")) })
			if err = errors.Join(err, s.insist(count)); err != nil {
				s.Error(err)
			}
		}
	})
	snap := s.get(in, k)
	parts, events := snap.Task.ArtifactList()[0].Parts, s.events(in, k, 1)
	if snap.Version != 16*each+1 || len(parts) != 16*each || len(events) != 16*each {
		s.Errorf("%d updates made version %d with %d parts and %d events", 16*each, snap.Version, len(parts), len(events))
	}
	if n, err := in.Note(ctx, store.Owner{}, "c"); err != nil || string(n.Value) != strconv.Itoa(16*each) {
		s.Errorf("%s of %d were counted: %v", n.Value, 16*each, err)
	}

	u := s.status("t", runtime.StateAuthRequired, time.Second)
	u.Ticket = &store.Ticket{Hash: hashOf(1), For: time.Hour, Request: s.call("a ticket").Request}
	s.apply(in, k, snap.Version, u)
	var used atomic.Int64
	s.crowd(func() {
		u, hash := s.status("t", runtime.StateWorking, time.Second), hashOf(1)
		u.Redeem, u.Call = &hash, s.call("once")
		if err := s.insist(func() error { return apply(u) }); err == nil {
			used.Add(1)
		} else {
			s.refused("the others", err, store.ErrTicket)
		}
	})
	if used.Load() != 1 {
		s.Errorf("a ticket was used %d times", used.Load())
	}
}

// repeatsAreBounded: a client may choose as many keys as it likes, in as many tenants; the store knows the last ones.
func repeatsAreBounded(s *suite) {
	in := s.Open(s.T, memory.Limits{Tasks: 100_000})
	send := func(principal string, i int, task string, since time.Time) error {
		k := store.Key{Owner: store.Owner{Tenant: strconv.Itoa(i % 3), Principal: principal}, Task: task}
		n := s.task(task)
		n.Repeat = &store.Repeat{Key: name(i), For: time.Hour, Since: since}
		_, err := in.Create(ctx, k, n, nil)
		return err
	}
	first := func(principal string, i int) {
		if err := send(principal, i, name(i), time.Time{}); err != nil {
			s.Errorf("message %d: %v", i, err)
		}
	}
	opened := time.Now()
	first("p", 0)
	first("q", 0)
	time.Sleep(time.Millisecond) // so that they are later by the store's clock
	var next atomic.Int64
	next.Store(store.MaxRepeats)
	s.crowd(func() {
		for i := next.Add(-1); i > 0; i = next.Add(-1) {
			first("p", int(i))
		}
	})
	time.Sleep(time.Millisecond)
	first("p", store.MaxRepeats)
	var r *store.Repeated
	if err := send("p", store.MaxRepeats, "again", time.Time{}); !errors.As(err, &r) {
		s.Errorf("the last one again: %v", err)
	}
	if err := send("q", 0, "again", time.Time{}); !errors.As(err, &r) {
		s.Errorf("another principal's again: %v", err)
	}
	if err := send("p", 0, "again", opened); !errors.Is(err, store.ErrForgotten) || store.Unsure(err) {
		s.Errorf("the first one again, which it must not take for new: %v", err)
	}
	if err := send("q", 1, "another", opened); err != nil {
		s.Errorf("one that never came, of a principal with few: %v", err)
	}
	if err := send("p", 0, "again", time.Time{}); err != nil {
		s.Errorf("the first one again: %v", err)
	}
}
