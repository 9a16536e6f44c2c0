package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// TestAfterAFailoverNothingIsBelievedThatTheServerDoesNotKnow: the last commits are gone with a primary that did not
// wait for its standby. What was decided on them is decided anew, and the numbers that they had are given again.
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

// TestWhatIsFoundToBeStoredIsAcknowledgedWhenTheStandbyHasIt: a commit whose connection was lost while it waited for a standby is visible, and
// would be lost with its server.
func TestWhatIsFoundToBeStoredIsAcknowledgedWhenTheStandbyHasIt(t *testing.T) {
	withoutLibpq(t)
	c := postgrestest.New(t, postgrestest.Options{})
	s := mustOpen(t, c.Address(), Options{})
	n := working("t")
	n.Repeat = &store.Repeat{Key: "key", For: time.Hour}
	if _, err := s.Create(t.Context(), keyed("t"), n, nil); err != nil {
		t.Fatal(err)
	}
	synchronize := func(names string) {
		t.Helper()
		execute(t, c.Address(), "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
		execute(t, c.Address(), "SELECT pg_reload_conf()")
		admin := postgrestest.Connect(t, c.Address())
		eventually(t, "the server knows its standbys", func() bool {
			var is string
			return admin.QueryRow(t.Context(), "SHOW synchronous_standby_names").Scan(&is) == nil && is == names
		})
	}
	other := working("other")
	other.Repeat = n.Repeat
	synchronize("nobody")
	for name, try := range map[string]func(context.Context) error{
		"made before": func(ctx context.Context) error { _, err := s.Create(ctx, keyed("t"), n, nil); return err },
		"sent before": func(ctx context.Context) error { _, err := s.Create(ctx, keyed("other"), other, nil); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := try(ctx); !store.Unsure(err) {
			t.Errorf("%s, without its standby: %v", name, err)
		}
		cancel()
	}
	synchronize("")
	if _, err := s.Create(t.Context(), keyed("t"), n, nil); err != nil {
		t.Errorf("then: %v", err)
	}
	if _, err := s.Create(t.Context(), keyed("other"), other, nil); store.Unsure(err) || err == nil {
		t.Errorf("then the one that was sent before: %v", err)
	}
}
