package spread

import "github.com/a2agen/a2agen/runtime/store"

// Stats implements [store.Counter]: the sums of all places, as far as they can be reached and say it. A pool has the name of its
// place before its own.
func (s *Store) Stats() store.Stats {
	all := store.Stats{Transactions: -1, Writes: -1, Conflicts: -1, Sent: -1, Received: -1, Lag: -1, Tasks: -1, Bytes: -1}
	for _, p := range s.places {
		p.mu.Lock()
		db := p.db
		p.mu.Unlock()
		if db == nil {
			continue
		}
		c, ok := db.Store.(store.Counter)
		if !ok {
			continue
		}
		one := c.Stats()
		all.System = one.System
		for sum, n := range map[*int64]int64{
			&all.Transactions: one.Transactions, &all.Writes: one.Writes, &all.Conflicts: one.Conflicts, &all.Sent: one.Sent,
			&all.Received: one.Received, &all.Tasks: one.Tasks, &all.Bytes: one.Bytes,
		} {
			if n >= 0 {
				*sum = max(*sum, 0) + n
			}
		}
		all.Lag = max(all.Lag, one.Lag)
		for _, pool := range one.Pools {
			pool.Name = p.name + " " + pool.Name
			all.Pools = append(all.Pools, pool)
		}
	}
	return all
}
