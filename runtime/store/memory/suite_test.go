package memory_test

import (
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

func TestMemoryIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2a.Protocol(),
			Open:     func(_ *testing.T, l memory.Limits) store.Store { return memory.New(l) },
			OpenAt: func(_ *testing.T, l memory.Limits, clock func() time.Time) store.Store {
				return memory.NewAt(l, clock)
			},
		}
	})
}

// shared is an instance beside others on the same memory.
type shared struct {
	store.Store
	heirs []store.Store
}

// lease is that of all instances: one that does not renew it is dead soon.
const lease = 20 * time.Millisecond

func TestMemoryIsAStoreOfSeveralInstances(t *testing.T) {
	leave := func(t *testing.T, s store.Store) store.Store {
		heirs := s.(*shared).heirs
		if _, err := heirs[0].Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		return &shared{heirs[0], heirs[1:]}
	}
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2a.Protocol(),
			Open: func(_ *testing.T, l memory.Limits) store.Store {
				m := memory.New(l)
				s := &shared{Store: m.Instance(lease)}
				for range 4 {
					s.heirs = append(s.heirs, m.Instance(lease))
				}
				return s
			},
			Heir: func(t *testing.T, s store.Store) store.Store {
				time.Sleep(2 * lease)
				return leave(t, s)
			},
			Leave: leave, Durable: true,
		}
	})
}
