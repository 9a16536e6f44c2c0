package server

// Leftovers returns how many tasks somebody works on or reads, and how many calls are admitted, for tests that wait until there are none.
func (s *Server) Leftovers() (live, running int) {
	l := s.engine.Load()
	return l.Tasks, l.Calls
}
