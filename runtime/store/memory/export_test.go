package memory

import (
	"context"
	"time"
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
