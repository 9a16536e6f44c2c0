package postgres

import (
	"context"
	"testing"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

func TestPostgreSQLHasGenerations(t *testing.T) {
	open := func(t *testing.T, address string) store.Store {
		s, err := Open(context.Background(), address, a2amore.Protocol(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return &tested{s, address, Options{}}
	}
	storetest.Generations(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2amore.Protocol(),
			Open:     func(t *testing.T, _ memory.Limits) store.Store { return open(t, postgrestest.Server(t)) },
			Heir: func(t *testing.T, s store.Store) store.Store {
				old := s.(*tested)
				orphan(t, old)
				return open(t, old.address)
			},
		}
	})
}
