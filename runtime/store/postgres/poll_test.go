package postgres

import (
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
)

func TestAChangeOfWhichNobodyTellsWakesItsWatchers(t *testing.T) {
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	if lease, err := s.Renew(bg); err != nil || !lease.Wakes {
		t.Fatalf("readers must look for themselves: %+v, %v", lease, err)
	}
	k := keyOf("p", "t")
	if err := begin(s, k, 1); err != nil {
		t.Fatal(err)
	}
	woken := make(chan struct{}, 1)
	defer s.Watch(k, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})()
	for _, change := range []string{ // the first may be because the connection for notifications was made
		"UPDATE a2a.task SET rev=rev+1", "UPDATE a2a.task SET rev=rev+1", "DELETE FROM a2a.task", "SELECT",
	} {
		select {
		case <-woken:
		case <-time.After(time.Minute):
			t.Fatalf("nobody is woken before %q", change)
		}
		if _, err := postgrestest.Connect(t, address).Exec(bg, s.sql(change)); err != nil {
			t.Fatal(err)
		}
	}
}
