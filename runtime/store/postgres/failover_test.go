package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// TestAfterAFailoverNothingIsBelievedThatTheServerDoesNotKnow: the last commits are gone with a primary that did not wait for its standby. What
// was decided on them is decided anew, and the numbers that they had are given again.
func TestAfterAFailoverNothingIsBelievedThatTheServerDoesNotKnow(t *testing.T) {
	withoutLibpq(t)
	primary := postgrestest.New(t, postgrestest.Options{})
	standby := primary.Standby(t)
	both := strings.Replace(primary.Address(), primary.HostPort(), primary.HostPort()+","+standby.HostPort(), 1)
	s := mustOpen(t, both, Options{})
	snap := create(t, s, "t")
	is := postgrestest.Connect(t, standby.Address())
	eventually(t, "the standby has the task", func() bool {
		var n int
		return is.QueryRow(t.Context(), "SELECT count(*) FROM a2a.task").Scan(&n) == nil && n == 1
	})
	if err := standby.Stop(postgrestest.Fast); err != nil {
		t.Fatal(err)
	}
	work := func() {
		t.Helper()
		u := says("t", snap.Epoch, runtime.StateWorking)
		eventually(t, "the task is written", func() bool {
			_, err := s.Apply(t.Context(), keyed("t"), 0, u, nil)
			if err != nil && !store.Unsure(err) {
				t.Fatal(err)
			}
			return err == nil
		})
	}
	work()
	work()
	create(t, s, "lost")
	if err := errors.Join(primary.Kill(), standby.Start(), standby.Promote()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new primary is used", func() bool {
		_, err := s.Renew(context.Background())
		return err == nil
	})
	if got, err := s.Get(t.Context(), keyed("t"), store.Full); err != nil || got.Version != 1 {
		t.Errorf("the task is of version %d: %v", got.Version, err)
	}
	if _, err := s.Get(t.Context(), keyed("lost"), store.Full); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a task that is lost: %v", err)
	}
	work()
	if list, err := s.Events(t.Context(), keyed("t"), 1, 9); err != nil || len(list) != 1 {
		t.Errorf("there are %d events: %v", len(list), err)
	}
	create(t, s, "lost")
	create(t, s, "new")
}
