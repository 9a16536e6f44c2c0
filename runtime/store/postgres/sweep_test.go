package postgres

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store"
)

func TestSweepsOfReplicasDropEachTaskOnce(t *testing.T) {
	const tasks = 250
	var late atomic.Bool
	clock := func() time.Time {
		if late.Load() {
			return beginning.Add(30 * 24 * time.Hour)
		}
		return beginning
	}
	all := replicas(t, 3, Options{Clock: clock})
	for i := range tasks {
		k := keyOf(fmt.Sprint("p", i%5), fmt.Sprint("t", i))
		if err := begin(all[0], k, uint64(2*i+1)); err != nil {
			t.Fatal(err)
		}
		if err := conclude(all[0], k, uint64(2*i+2)); err != nil {
			t.Fatal(err)
		}
	}
	late.Store(true)
	var dropped atomic.Int64
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() {
			for more := true; more; {
				n, again, err := s.Sweep(bg)
				if more = again; err != nil {
					t.Error(err)
				}
				dropped.Add(int64(n))
			}
		})
	}
	wg.Wait()
	if n := dropped.Load(); n != tasks {
		t.Errorf("%d tasks were dropped, of %d", n, tasks)
	}
	for _, table := range []string{"task", "event", "body", "call"} {
		if n := all[0].rows(t, table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	sound(t, all[0])
}

// Tasks whose notifications are on their way stay. However many they are, what comes after them is found.
func TestASweepGoesOnBehindTasksThatStay(t *testing.T) {
	s := mustOpen(t, postgrestest.Server(t), Options{})
	for i := range 5 {
		k := keyOf("p", fmt.Sprint("t", i))
		if err := begin(s, k, uint64(2*i+1)); err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			if err := s.SetPush(bg, k, store.Push{ID: "p", Version: "1.0"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := conclude(s, k, uint64(2*i+2)); err != nil {
			t.Fatal(err)
		}
	}
	for round, want := range []int{0, 0, 1, 0} {
		n, err := s.sweepRested(bg, taskstate.Ended, time.Now().Add(time.Hour), 2)
		if err != nil || n != want {
			t.Errorf("sweep %d drops %d tasks, want %d: %v", round, n, want, err)
		}
	}
	sound(t, s)
}

func TestOwnersWithoutAnythingAreForgottenWhenNobodyKnowsThemAnyMore(t *testing.T) {
	now := beginning
	s := mustOpen(t, postgrestest.Server(t), Options{Clock: func() time.Time { return now }})
	sweep := func(want int64) {
		t.Helper()
		for more := true; more; {
			var err error
			if _, more, err = s.Sweep(bg); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.rows(t, "owner"); n != want {
			t.Errorf("there are %d owners, want %d", n, want)
		}
	}
	for i := range 3 {
		k := store.Key{Owner: store.Owner{Tenant: fmt.Sprint("x", i), Principal: "p"}, Task: "t"}
		if err := begin(s, k, uint64(2*i+1)); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if err := conclude(s, k, uint64(2*i+2)); err != nil {
				t.Fatal(err)
			}
		}
	}
	now = now.Add(30 * 24 * time.Hour)
	sweep(3) // the tasks go, and from now on two owners are empty
	now = now.Add(emptyFor / 2)
	s.ledger.forgetOwner(store.Owner{Tenant: "x1", Principal: "p"})
	k := store.Key{Owner: store.Owner{Tenant: "x1", Principal: "p"}, Task: "t"}
	if err := begin(s, k, 100); err != nil { // one comes back
		t.Fatal(err)
	}
	now = now.Add(emptyFor)
	sweep(2)
	if _, err := s.Head(bg, k); err != nil {
		t.Errorf("the task of the owner who came back: %v", err)
	}
	// A process that knows the number of an owner that is gone makes it anew.
	gone := store.Key{Owner: store.Owner{Tenant: "x2", Principal: "p"}, Task: "t"}
	if err := begin(s, gone, 101); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Head(bg, gone); err != nil {
		t.Errorf("the task of the owner who was gone: %v", err)
	}
	if page, err := s.List(bg, gone.Owner, store.Query{Size: 5}); err != nil || page.Total != 1 || len(page.Tasks) != 1 {
		t.Errorf("listed are %+v, %v", page, err)
	}
	sound(t, s)
}

// The first task of an owner may be on its way for however long when a sweep finds the owner without anything.
func TestAnOwnerWhoseFirstTaskIsOnItsWayStays(t *testing.T) {
	now := beginning
	address, clock := postgrestest.Server(t), Options{Clock: func() time.Time { return now }}
	s := mustOpen(t, address, clock)
	old := keyOf("p", "old")
	if err := begin(s, old, 1); err != nil {
		t.Fatal(err)
	}
	if err := conclude(s, old, 2); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * 24 * time.Hour)
	if n, _, err := s.Sweep(bg); n != 1 || err != nil {
		t.Fatalf("%d tasks are dropped: %v", n, err)
	}
	now = now.Add(2 * emptyFor)
	tx, err := s.pool.Begin(bg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(bg) }()
	if _, err := tx.Exec(bg, s.sql("SELECT 1 FROM a2a.usage FOR UPDATE")); err != nil { // the last that a batch changes
		t.Fatal(err)
	}
	begun := make(chan error, 1)
	go func() { begun <- begin(s, keyOf("p", "new"), 3) }()
	eventually(t, "the task waits to be committed", func() bool {
		var n int
		_, err := s.one(bg, "SELECT count(*) FROM pg_locks WHERE NOT granted", nil, &n)
		return err == nil && n > 0
	})
	if _, err := s.sweepOwners(bg, now); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback(bg); err != nil {
		t.Error(err)
	}
	if err := <-begun; err != nil {
		t.Error(err)
	}
	if _, err := mustOpen(t, address, clock).Head(bg, keyOf("p", "new")); err != nil {
		t.Errorf("the task that was on its way: %v", err)
	}
	sound(t, s)
}

func TestAccountsWithALaneBelowZeroAreFoldedAndKeepTheirSums(t *testing.T) {
	s := mustOpen(t, postgrestest.Server(t), Options{})
	if err := begin(s, keyOf("p", "t"), 1); err != nil {
		t.Fatal(err)
	}
	const shift = `INSERT INTO a2a.usage AS l(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
		SELECT account, x.lane, 0, x.by, 0, 0, x.by, 0 FROM (SELECT max(n) AS account FROM a2a.account) a, (VALUES (13, 500), (14, -500)) x(lane, by) ` + addToUsage
	if _, err := s.pool.Exec(bg, s.sql(shift)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Sweep(bg); err != nil {
		t.Fatal(err)
	}
	var below, full int64
	const left = "SELECT count(*) FILTER (WHERE below), count(*) FILTER (WHERE bytes<>0 AND account>0) FROM a2a.usage"
	if _, err := s.one(bg, left, nil, &below, &full); err != nil || below != 0 || full != 1 {
		t.Errorf("%d lanes are below zero, %d are not empty: %v", below, full, err)
	}
	sound(t, s)
}
