package memory

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// SweepAt is Sweep, to its end, at a time.
func (m *Store) SweepAt(now time.Time) (dropped int, err error) {
	clock := m.clock
	m.clock = func() time.Time { return now }
	defer func() { m.clock = clock }()
	for more := true; more && err == nil; {
		var n int
		n, more, err = m.Sweep(context.Background())
		dropped += n
	}
	return dropped, err
}

// Repeated asks for a message that may have come before.
func (m *Store) Repeated(r *store.Repeat) error { return m.repeats.find(store.Key{}, r, time.Now()) }
