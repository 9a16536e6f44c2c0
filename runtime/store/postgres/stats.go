package postgres

import (
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/runtime/store"
)

// stats are what this process has done since it opened the store.
type stats struct {
	transactions, writes, conflicts atomic.Int64
	sent, received                  atomic.Int64 // notifications
	asked                           atomic.Int64 // when the last notification was sent, in nanoseconds after began
	lag                             atomic.Int64 // how long the last of its own was on its way, in nanoseconds; 0: none came
	began                           time.Time
}

// notified notes that a notification is about to be sent.
func (s *stats) notified() {
	s.sent.Add(1)
	s.asked.Store(int64(time.Since(s.began)))
}

// heardOwn notes that the last notification of this process has come back: it takes the way that those to others
// take, and one clock tells how long.
func (s *stats) heardOwn() { s.lag.Store(int64(time.Since(s.began)) - s.asked.Load()) }

// Stats implements [store.Counter]. What is held is what this process has read of it last.
func (s *Store) Stats() store.Stats {
	st := store.Stats{
		System:       "postgresql",
		Transactions: s.stats.transactions.Load(), Writes: s.stats.writes.Load(), Conflicts: s.stats.conflicts.Load(),
		Sent: s.stats.sent.Load(), Received: s.stats.received.Load(), Lag: time.Duration(s.stats.lag.Load()),
		Tasks: -1, Bytes: -1,
		Pools: []store.Pool{poolStats("read", s.pool), poolStats("write", s.senders), poolStats("control", s.self.control)},
	}
	if st.Lag == 0 {
		st.Lag = -1
	}
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	if all := s.ledger.all; !all.read.IsZero() {
		st.Tasks, st.Bytes = all.held.Tasks, all.held.Bytes
	}
	return st
}

func poolStats(name string, p *pgxpool.Pool) store.Pool {
	s := p.Stat()
	return store.Pool{
		Name: name, Used: int(s.AcquiredConns()), Idle: int(s.IdleConns()), Max: int(s.MaxConns()),
		Waited: s.EmptyAcquireWaitTime(), GaveUp: s.CanceledAcquireCount(),
	}
}
