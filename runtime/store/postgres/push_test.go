package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// blocked waits until a statement of the schema waits for a lock, or until what waits for it is over.
func blocked(t *testing.T, s *Store, over <-chan error) {
	t.Helper()
	const waits = `SELECT EXISTS(SELECT 1 FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '%'||$1||'%')`
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && len(over) == 0; time.Sleep(time.Millisecond) {
		var is bool
		if _, err := s.one(bg, waits, []any{s.schema}, &is); err != nil {
			t.Fatal(err)
		}
		if is {
			return
		}
	}
}

func TestAClaimEndsAfterTheEventThatIsBeingWritten(t *testing.T) {
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	k := keyOf("p", "t")
	if err := begin(s, k, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPush(bg, k, store.Push{ID: "p", Version: "1.0"}); err != nil {
		t.Fatal(err)
	}
	e := a2a.Protocol().NewArtifact(k.Task, "c", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}})
	if _, err := s.Apply(bg, k, 1, store.Update{Event: e, Stamp: 2}, nil); err != nil {
		t.Fatal(err)
	}
	due, _, err := s.Due(bg, 1, time.Hour)
	if err != nil || len(due) != 1 {
		t.Fatalf("due are %v, %v", due, err)
	}
	tx, err := postgrestest.Connect(t, address).Begin(bg) // another replica, in the middle of an update
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"UPDATE a2a.task SET rev=rev+1, version=version+1", "UPDATE a2a.push SET due=1 WHERE due IS NULL"} {
		if _, err := tx.Exec(bg, s.sql(sql)); err != nil {
			t.Fatal(err)
		}
	}
	over := make(chan error, 1)
	go func() { over <- s.Settle(bg, due[0], store.Outcome{Sent: 2}) }()
	blocked(t, s, over)
	if err := tx.Commit(bg); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if due, _, err = s.Due(bg, 1, time.Hour); err != nil || len(due) != 1 || due[0].Next != 3 {
		t.Errorf("then are due %v, %v", due, err)
	}
}

func TestADeliveryThatIsSettledWhileAnEventComesLeavesNothingBehind(t *testing.T) {
	const events = 60
	all := replicas(t, 3, Options{})
	k := keyOf("p", "t")
	if err := begin(all[0], k, 1); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		id := fmt.Sprint("p", i)
		if err := all[0].SetPush(bg, k, store.Push{ID: id, Version: "1.0", Config: runtime.PushConfig{ID: id, URL: "https://example.com"}}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	var mu sync.Mutex
	next := map[string]int64{"p0": 2, "p1": 2, "p2": 2, "p3": 2}
	deliver := func(s *Store) (more bool) {
		due, wait, err := s.Due(bg, 10, time.Hour)
		if err != nil {
			t.Error(err)
		}
		for _, d := range due {
			mu.Lock()
			if next[d.Push.ID] != d.Next {
				t.Errorf("%s is due from %d, and was sent up to %d", d.Push.ID, d.Next, next[d.Push.ID])
			}
			next[d.Push.ID] = d.Next + 1
			mu.Unlock()
			if err := s.Settle(bg, d, store.Outcome{Sent: d.Next}); err != nil {
				t.Errorf("settle: %v", err)
			}
		}
		return len(due) > 0 || wait >= 0 && wait < time.Second // by the clocks of two instances, which differ a little
	}
	for _, s := range all[1:] {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					deliver(s)
				}
			}
		})
	}
	for i := range events {
		e := a2a.Protocol().NewArtifact(k.Task, "c", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}, Append: i > 0})
		if _, err := all[0].Apply(bg, k, int64(i+1), store.Update{Event: e, Stamp: uint64(i + 2)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
	for deliver(all[0]) {
	}
	for id, n := range next {
		if n != events+2 {
			t.Errorf("%s sleeps and was sent up to %d of %d", id, n-1, events+1)
		}
	}
}

// Claims hold for minutes, so that a receiver may take its time. Those of which nothing will come must not last so
// long.
func TestAClaimOfWhichNothingWillComeEndsBeforeItsTime(t *testing.T) {
	address := postgrestest.Server(t)
	s, dies := mustOpen(t, address, Options{Lease: time.Minute}), mustOpen(t, address, Options{Lease: time.Minute})
	k := keyOf("p", "t")
	if err := begin(s, k, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPush(bg, k, store.Push{ID: "p", Version: "1.0"}); err != nil {
		t.Fatal(err)
	}
	e := a2a.Protocol().NewArtifact(k.Task, "c", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}})
	if _, err := s.Apply(bg, k, 1, store.Update{Event: e, Stamp: 2}, nil); err != nil {
		t.Fatal(err)
	}
	claim := func(s *Store) (list []store.Delivery) {
		t.Helper()
		list, _, err := s.Due(bg, 1, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	eventually(t, "the event is due by the clock of the other instance, too", func() bool { return len(claim(dies)) == 1 })
	expire(t, address, dies)
	var list []store.Delivery
	eventually(t, "the claim of an instance that is not there is free", func() bool {
		s.ledger.claims.freed = time.Time{}
		list = claim(s)
		return len(list) == 1
	})
	if again := claim(s); len(again) != 0 {
		t.Fatalf("a claim is given twice: %v", again)
	}
	s.ledger.claims.lose(list[0].Holder, time.Now().Add(time.Hour))
	if again := claim(s); len(again) != 1 || again[0].Holder == list[0].Holder {
		t.Errorf("a claim whose answer was lost is not free: %v", again)
	}
	if err := s.Settle(bg, list[0], store.Outcome{Sent: 2}); err != store.ErrLost {
		t.Errorf("the first claim settles with %v", err)
	}
}
