package memory_test

import (
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// foreign is a store that is no [memory.Store].
type foreign struct{ store.Store }

func TestARefIsTheTaskOfItsKey(t *testing.T) {
	for name, wrap := range map[string]func(m *memory.Store) store.Store{
		"of a memory":      func(m *memory.Store) store.Store { return m },
		"of another store": func(m *memory.Store) store.Store { return foreign{m} },
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Limits{})
			s := wrap(m)
			ref := store.Find(s, create(t, m, store.Owner{}, "t", "c", start))
			if snap, err := ref.Apply(ctx, 1, chunk("t", "a"), &store.Full); err != nil || snap.Version != 2 || texts(snap.Task) != "a" {
				t.Errorf("applied: version %d, %v", snap.Version, err)
			}
			if _, err := ref.Apply(ctx, 1, chunk("t", "b"), nil); !errors.Is(err, store.ErrConflict) {
				t.Errorf("a lost race gives %v", err)
			}
			if recs, err := ref.Events(ctx, 1, 0); err != nil || len(recs) != 1 || recs[0].Seq != 2 {
				t.Errorf("events %v, %v", recs, err)
			}
			if _, err := ref.Apply(ctx, 2, status("t", runtime.StateCompleted, start), nil); err != nil {
				t.Error(err)
			}
			if _, err := ref.Apply(ctx, 3, chunk("t", "c"), nil); !errors.Is(err, store.ErrEnded) {
				t.Errorf("an update of an ended task gives %v", err)
			}
		})
	}
}

func TestARefToATaskThatIsNotThereSaysSo(t *testing.T) {
	m := memory.New(memory.Limits{Tasks: 1})
	evicted := store.Find(m, create(t, m, store.Owner{}, "old", "c", start))
	if _, err := evicted.Apply(ctx, 1, status("old", runtime.StateCompleted, start), nil); err != nil {
		t.Fatal(err)
	}
	create(t, m, store.Owner{}, "new", "c", start)
	for name, ref := range map[string]store.Ref{
		"never made": store.Find(m, store.Key{Task: "none"}),
		"of another": store.Find(m, store.Key{Owner: store.Owner{Principal: "eve"}, Task: "new"}),
		"evicted":    evicted,
	} {
		if _, err := ref.Apply(ctx, 1, chunk("none", "a"), nil); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: apply gives %v", name, err)
		}
		if _, err := ref.Events(ctx, 0, 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: events give %v", name, err)
		}
	}
}
