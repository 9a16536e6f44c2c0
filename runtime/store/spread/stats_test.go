package spread

import (
	"slices"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// counted is a store with numbers.
type counted struct {
	store.Store
	stats store.Stats
}

func (c *counted) Stats() store.Stats { return c.stats }

func TestTheNumbersOfAllPlacesAreAdded(t *testing.T) {
	one, two := newFake("one"), newFake("two")
	s := over(t, one, two)
	of := func(p *place, stats store.Stats) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.db.Store = &counted{p.db.Store, stats}
	}
	of(s.places[0], store.Stats{System: "postgresql", Writes: 2, Sent: -1, Tasks: 7, Lag: time.Second, Pools: []store.Pool{{Name: "read", Max: 4}}})
	of(s.places[1], store.Stats{System: "postgresql", Writes: 3, Sent: -1, Tasks: -1, Lag: time.Minute, Pools: []store.Pool{{Name: "read", Max: 2}}})
	got := s.Stats()
	if got.System != "postgresql" || got.Writes != 5 || got.Sent != -1 || got.Tasks != 7 || got.Lag != time.Minute {
		t.Errorf("the sums are %+v", got)
	}
	if want := []store.Pool{{Name: s.places[0].name + " read", Max: 4}, {Name: s.places[1].name + " read", Max: 2}}; !slices.Equal(got.Pools, want) {
		t.Errorf("the pools are %+v", got.Pools)
	}
}
