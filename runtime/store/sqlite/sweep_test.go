package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// accounts is how many accounts a store has.
func accounts(t *testing.T, s *Store) (n int64) {
	t.Helper()
	err := s.reading(t.Context(), func(c *conn) (err error) {
		n, _, err = c.one("SELECT count(*) FROM account")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestASweepSaysThatMoreEmptyAccountsWait(t *testing.T) {
	s := open(t, fresh(t), Options{})
	for i := range sweepAtOnce + 1 {
		owner := store.Owner{Principal: fmt.Sprint("p", i)}
		for _, value := range [][]byte{[]byte("a note"), nil} {
			if _, err := s.SetNote(t.Context(), owner, "c", value, store.AnyVersion); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, more := range []bool{true, false} {
		if _, got, err := s.Sweep(t.Context()); err != nil || got != more {
			t.Errorf("sweep %d says that more waits: %v, %v", i+1, got, err)
		}
	}
	if n := accounts(t, s); n != 0 {
		t.Errorf("%d accounts are left", n)
	}
}

// An account without tasks stays as long as one of its messages may be sent again. Sweeps that find nothing else leave
// the writer alone.
func TestAnEmptyAccountThatStaysCostsNoTransaction(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := open(t, fresh(t), Options{Ended: time.Minute, Clock: func() time.Time { return now }})
	key := store.Key{Owner: store.Owner{Principal: "p"}, Task: "t"}
	n := store.New{Task: a2a.Protocol().NewTask("t", "c", now), Repeat: &store.Repeat{Key: "k", For: time.Hour}}
	if _, err := s.Create(t.Context(), key, n, nil); err != nil {
		t.Fatal(err)
	}
	u := store.Update{Event: a2a.Protocol().NewStatus("t", "c", runtime.StateCompleted, nil, now), Stamp: 1}
	if _, err := s.Apply(t.Context(), key, 1, u, nil); err != nil {
		t.Fatal(err)
	}
	sweep := func() int64 {
		t.Helper()
		before := s.Stats().Transactions
		if _, _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.Stats().Transactions - before
	}
	now = now.Add(2 * time.Minute)
	if made := sweep(); made != 1 {
		t.Errorf("the sweep that drops the task makes %d transactions", made)
	}
	if made := sweep(); made != 0 || accounts(t, s) != 1 {
		t.Errorf("then a sweep makes %d transactions, and there are %d accounts", made, accounts(t, s))
	}
	now = now.Add(time.Hour)
	if made := sweep(); made != 1 || accounts(t, s) != 0 {
		t.Errorf("once the message counts no more, a sweep makes %d transactions, and there are %d accounts", made, accounts(t, s))
	}
}
