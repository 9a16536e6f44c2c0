package spread

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/a2adraft"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

// two makes a store of two others, of the given names.
func two(t testing.TB, names string, a, b store.Store) *Store {
	t.Helper()
	place := func(name string, of store.Store) Place {
		return Place{Name: name, Open: func(context.Context) (Database, error) { return Database{Store: of}, nil }}
	}
	s, err := New([]Place{place(names[:1], a), place(names[1:], b)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTwoMemoriesAreAStore: "" and "ann" are in one of them, "bob" and "p" in the other.
func TestTwoMemoriesAreAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2a.Protocol(),
			Apart:    true,
			Open:     func(t *testing.T, l memory.Limits) store.Store { return two(t, "ab", memory.New(l), memory.New(l)) },
			OpenAt: func(t *testing.T, l memory.Limits, clock func() time.Time) store.Store {
				// The owners of the differential test share limits and tickets: under these names they are in one place.
				return two(t, "ef", memory.NewAt(l, clock), memory.NewAt(l, clock))
			},
		}
	})
}

func TestTwoMemoriesHaveGenerations(t *testing.T) {
	storetest.Generations(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Protocol: a2adraft.Protocol(), Open: func(_ *testing.T, l memory.Limits) store.Store {
			return two(t, "ab", memory.New(l), memory.New(l))
		}}
	})
}
