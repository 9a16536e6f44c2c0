package sqlite

import (
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/store"
)

// stats are what this process has written since it opened the file. The writer sets them.
type stats struct {
	transactions, writes atomic.Int64
	tasks, bytes         atomic.Int64 // that are kept, and one more: 0 is not known yet
}

// committed notes a transaction, and what is kept after it; nil: that is not known.
func (s *stats) committed(done []*job, all *account) {
	s.transactions.Add(1)
	s.writes.Add(int64(len(done)))
	if all != nil {
		s.tasks.Store(all.held.Tasks + 1)
		s.bytes.Store(all.held.Bytes + 1)
	}
}

// Stats implements [store.Counter].
func (s *Store) Stats() store.Stats {
	return store.Stats{
		System:       "sqlite",
		Transactions: s.stats.transactions.Load(), Writes: s.stats.writes.Load(),
		Conflicts: -1, Sent: -1, Received: -1, Lag: -1,
		Tasks: s.stats.tasks.Load() - 1, Bytes: s.stats.bytes.Load() - 1,
	}
}
