package server

// Leftovers returns how many tasks somebody works on or reads, and how many calls are admitted, for tests that wait until there are none.
func (s *Server) Leftovers() (live, running int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live), len(s.running)
}
