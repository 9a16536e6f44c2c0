package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Tickets: somebody who is not the task's owner may bring a call, once.

// ticket is one that is good for an hour, for whoever knows a word.
func (s *suite) ticket(word string) *store.Ticket {
	c := s.call("for " + word)
	return &store.Ticket{Hash: sha256.Sum256([]byte(word)), For: time.Hour, Request: c.Request}
}

// park makes a task that waits, with a ticket.
func (s *suite) park(in store.Store, k store.Key, t *store.Ticket) store.Snapshot {
	s.Helper()
	snap := s.create(in, s.working(k.Task), k)
	u := s.status(k.Task, runtime.StateAuthRequired, time.Second)
	u.Epoch, u.Done, u.Ticket = snap.Epoch, snap.Run.N, t
	return s.apply(in, k, 0, u)
}

// redeem makes the update that uses a ticket up.
func (s *suite) redeem(id, word string) store.Update {
	u := s.status(id, runtime.StateWorking, 2*time.Second)
	hash := sha256.Sum256([]byte(word))
	u.Redeem, u.Call = &hash, s.call("for "+word)
	u.Call.Value = []byte(`"` + word + `"`)
	return u
}

// good reports whether a ticket is good.
func (s *suite) good(in store.Store, word string) bool {
	s.Helper()
	_, _, err := in.Ticket(ctx, sha256.Sum256([]byte(word)))
	if err != nil {
		s.refused(word, err, store.ErrTicket)
	}
	return err == nil
}

// tickets: a ticket is good once, for its own task; the next process knows the call that it brought.
func tickets(s *suite) {
	in := s.open()
	k := store.Key{Owner: store.Owner{Tenant: "acme", Principal: "key|ann"}, Task: "t"}
	parked := s.park(in, k, s.ticket("w"))
	other := s.park(in, key("u"), nil)
	at, got, err := in.Ticket(ctx, sha256.Sum256([]byte("w")))
	if err != nil || at != k || textOf(got.Request) != "for w" {
		s.Fatalf("the ticket is %+v of %+v: %v", got, at, err)
	}
	if s.good(in, "v") {
		s.Error("a word that nobody gave out is good")
	}
	_, err = in.Apply(ctx, k, parked.Version, s.redeem("t", "v"), nil)
	s.refused("a word that nobody gave out", err, store.ErrTicket)
	_, err = in.Apply(ctx, key("u"), other.Version, s.redeem("u", "w"), nil)
	s.refused("the ticket of another task", err, store.ErrTicket)
	_, err = in.Apply(ctx, k, parked.Version-1, s.redeem("t", "w"), nil)
	s.refused("another version", err, store.ErrConflict)
	u := s.redeem("t", "w")
	first := s.apply(in, k, parked.Version, u)
	if first.Run == nil || string(first.Run.Value) != `"w"` || first.Version != parked.Version+1 {
		s.Fatalf("the ticket brings %+v at %d", first.Run, first.Version)
	}
	if again := s.apply(in, k, parked.Version, u); again.Version != first.Version || again.Run == nil {
		s.Errorf("the same update again makes version %d, and runs %v", again.Version, again.Run)
	}
	if s.good(in, "w") {
		s.Error("a used ticket is good")
	}
	_, err = in.Apply(ctx, k, first.Version, s.redeem("t", "w"), nil)
	s.refused("a used ticket", err, store.ErrTicket)
	if s.Durable && s.Heir != nil {
		in = s.heir(in)
		runs, err := in.Claim(ctx, []string{"skill"}, 9)
		if err != nil || len(runs) != 1 || string(runs[0].Call.Value) != `"w"` || textOf(runs[0].Call.Request) != "for w" {
			s.Errorf("the next process takes over %+v: %v", runs, err)
		}
	}
}

func textOf(r *runtime.SendRequest) string {
	if r == nil || r.Message == nil || len(r.Message.Contents()) == 0 {
		return ""
	}
	return r.Message.Contents()[0].Text
}

// ticketsAreFew: tickets end with their task, with the use of another, with their time, and when there are too many; other
// updates do not end them.
func ticketsAreFew(s *suite) {
	in, k := s.open(), key("t")
	at := s.park(in, k, s.ticket("w")).Version
	more := func(word string, good time.Duration) {
		u := s.status("t", runtime.StateAuthRequired, time.Second)
		u.Ticket = s.ticket(word)
		u.Ticket.For = good
		at = s.apply(in, k, at, u).Version
	}
	more("old", -time.Second)
	if s.good(in, "old") || !s.good(in, "w") {
		s.Error("a ticket outlives its time, or takes another along")
	}
	_, err := in.Apply(ctx, k, at, s.redeem("t", "old"), nil)
	s.refused("an old ticket", err, store.ErrTicket)
	for i := range store.MaxTickets {
		more(fmt.Sprint("w", i), time.Hour+time.Duration(i+1)*time.Minute)
	}
	if s.good(in, "w") || !s.good(in, "w0") {
		s.Error("of too many the wrong ones are forgotten")
	}
	at = s.apply(in, k, at, s.follow("t")).Version
	if !s.good(in, "w1") {
		s.Error("a message takes a ticket along")
	}
	if s.Durable && s.Heir != nil {
		in = s.heir(in)
		if !s.good(in, "w1") {
			s.Error("a ticket does not outlive its process")
		}
	}
	waits := s.apply(in, k, at, s.redeem("t", "w1"))
	if waits.Run != nil || s.good(in, "w0") || s.good(in, "w1") {
		s.Errorf("while a call is at work a ticket runs %v; others stay: %t", waits.Run, s.good(in, "w0"))
	}
	other := s.park(in, key("u"), s.ticket("x"))
	s.apply(in, key("u"), other.Version, s.status("u", runtime.StateCanceled, time.Second))
	if s.good(in, "x") {
		s.Error("a ticket outlives its task")
	}
	_, err = in.Apply(ctx, key("u"), other.Version+1, s.redeem("u", "x"), nil)
	s.refused("the ticket of an ended task", err, store.ErrEnded)
}

// oneTicket: of two with one hash the later one counts, and what happens to the task of the first does not matter to it.
func oneTicket(s *suite) {
	in := s.open()
	s.park(in, key("t"), s.ticket("w"))
	s.park(in, key("u"), s.ticket("w"))
	of := func() string {
		k, _, err := in.Ticket(ctx, sha256.Sum256([]byte("w")))
		if err != nil {
			s.Errorf("the ticket: %v", err)
		}
		return k.Task
	}
	if got := of(); got != "u" {
		s.Errorf("it is one of %s", got)
	}
	at := s.head(in, key("t")).Version
	_, err := in.Apply(ctx, key("t"), at, s.redeem("t", "w"), nil)
	s.refused("the ticket of another task", err, store.ErrTicket)
	s.apply(in, key("t"), at, s.status("t", runtime.StateCanceled, 2*time.Second))
	if got := of(); got != "u" {
		s.Errorf("when the other task has ended, it is one of %q", got)
	}
	at = s.head(in, key("u")).Version
	again := s.status("u", runtime.StateAuthRequired, time.Second)
	again.Ticket = s.ticket("w")
	s.apply(in, key("u"), at, again)
	s.apply(in, key("u"), at+1, s.redeem("u", "w"))
	if s.good(in, "w") {
		s.Error("a used ticket is good")
	}
}

// ticketsAreFast: of several uses at the same time one succeeds.
func ticketsAreFast(s *suite) {
	in, k := s.open(), key("t")
	s.park(in, k, s.ticket("w"))
	var used atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for {
				u := s.redeem("t", "w")
				_, err := in.Apply(ctx, k, s.head(in, k).Version, u, nil)
				switch {
				case err == nil:
					used.Add(1)
					return
				case errors.Is(err, store.ErrConflict):
					continue
				}
				s.refused("the others", err, store.ErrTicket)
				return
			}
		})
	}
	all.Wait()
	if used.Load() != 1 {
		s.Errorf("the ticket was used %d times", used.Load())
	}
}
