package sqlite

import (
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

// openFor opens a store for a protocol.
func openFor(t *testing.T, path string, p *runtime.Protocol) *Store {
	t.Helper()
	s, err := Open(path, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSQLiteHasGenerations(t *testing.T) {
	storetest.Generations(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2amore.Protocol(),
			Open: func(t *testing.T, _ memory.Limits) store.Store {
				return openFor(t, fresh(t), a2amore.Protocol())
			},
			Heir: func(t *testing.T, s store.Store) store.Store {
				return openFor(t, left(t, s.(*Store).path), a2amore.Protocol())
			},
		}
	})
}

// What was stored before there were generations has them.
func TestOlderEventsHaveGenerations(t *testing.T) {
	path, k, old := fresh(t), store.Key{Task: "t"}, a2a.Protocol()
	before := openFor(t, path, old)
	if _, err := before.Create(t.Context(), k, store.New{Task: old.NewTask("t", "c", time.Now())}, nil); err != nil {
		t.Fatal(err)
	}
	u := store.Update{Event: old.NewStatus("t", "c", runtime.StateWorking, nil, time.Now())}
	if _, err := before.Apply(t.Context(), k, 1, u, nil); err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	now := openFor(t, path, a2amore.Protocol())
	snap, err := now.Get(t.Context(), k, store.Full)
	if err != nil || snap.Task.EventInfo().Generation != 2 {
		t.Errorf("the task is %+v, %v", snap.Task, err)
	}
	records, err := now.Events(t.Context(), k, 1, 0)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d events, %v", len(records), err)
	}
	if e, err := records[0].Event(); err != nil || e.EventInfo().Generation != 2 || records[0].Encoded(0) != nil {
		t.Errorf("the event is %+v, written as %s: %v", e, records[0].Encoded(0), err)
	}
}
