package postgres

import "time"

// reading is the database's clock, as it was read at a moment of this process's.
type reading struct {
	at time.Time // by the monotonic clock
	db int64     // nanoseconds since 1970
}

// now is the time by the database's clock: all instances agree on it, whatever their own clocks say.
func (s *Store) now() time.Time {
	if s.options.Clock != nil {
		return s.options.Clock()
	}
	r := s.self.clock.Load()
	return time.Unix(0, r.db+int64(time.Since(r.at)))
}

// setClock notes what the database's clock said between begin and now.
func (s *Store) setClock(begin time.Time, db int64) {
	s.self.clock.Store(&reading{at: begin.Add(time.Since(begin) / 2), db: db})
}
