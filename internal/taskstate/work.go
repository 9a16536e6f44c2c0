package taskstate

// Claim gives the task to an instance, if a call is open that nobody does, and reports whether it is so. orphan: the
// instance that runs it is gone, or its lease is over. Each claim is another attempt.
func (s *State) Claim(next *State, by int32, orphan bool) bool {
	if !s.Open() || s.Runner != 0 && !orphan {
		return false
	}
	*next = *s
	next.Runner, next.Began = by, 0
	next.Epoch++
	next.Attempt++
	return true
}

// GiveBack has an instance that shuts down leave the task to the next one: its attempt does not count. It reports
// whether the instance ran the task.
func (s *State) GiveBack(next *State, by int32) bool {
	if !s.Open() || s.Runner != by {
		return false
	}
	*next = *s
	next.Runner = 0
	next.Attempt = max(next.Attempt-1, 0)
	return true
}
