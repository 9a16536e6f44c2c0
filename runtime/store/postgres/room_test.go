package postgres

import (
	"fmt"
	"testing"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

func TestATaskThatIsChangedWhileItIsAboutToGoStays(t *testing.T) {
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	k := keyOf("p", "t")
	if err := begin(s, k, 1); err != nil {
		t.Fatal(err)
	}
	if err := conclude(s, k, 2); err != nil {
		t.Fatal(err)
	}
	o, err := s.ledger.owner(bg, k.Owner)
	if err != nil {
		t.Fatal(err)
	}
	held := postgrestest.Connect(t, address)
	if _, err := held.Exec(bg, "SELECT pg_advisory_lock(770077)"); err != nil {
		t.Fatal(err)
	}
	slow := fmt.Sprintf(droppingSQL, "SELECT n, rev, rest, rested FROM a2a.task, (SELECT pg_advisory_xact_lock(770077)) AS x WHERE account=$2", "LIMIT 1")
	over, dropped := make(chan error, 1), 0
	go func() {
		var err error
		dropped, err = s.drop(bg, slow, o.Account)
		over <- err
	}()
	blocked(t, s, over)
	if err := s.SetPush(bg, k, store.Push{ID: "p", Version: "1.0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(bg, "SELECT pg_advisory_unlock(770077)"); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil || dropped != 0 {
		t.Fatalf("%d tasks are dropped: %v", dropped, err)
	}
	if n, err := s.ledger.evict(bg, &delta{Delta: relational.Delta{Owner: o}}, true); n != 1 || err != nil {
		t.Errorf("%d tasks make room: %v", n, err)
	}
	if n := s.rows(t, "push"); n != 0 {
		t.Errorf("%d configurations of no task are left", n)
	}
	sound(t, s)
}
