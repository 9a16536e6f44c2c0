package server

import (
	"sync"
	"time"
)

// How many refusals are logged in which time: who sends wrong credentials all the time must not fill the log (R225).
const (
	refusalsLogged = 60
	refusalsWithin = time.Minute
)

// refusals counts those that are logged, and those that are not.
type refusals struct {
	mu      sync.Mutex
	since   time.Time
	n       int
	leftOut int // since the last one that was logged
}

// another reports whether one more is to be logged, and how many before it were not.
func (r *refusals) another(now time.Time) (ok bool, leftOut int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := now.Sub(r.since); d >= refusalsWithin || d < 0 {
		r.since, r.n = now, 0
	}
	if r.n++; r.n > refusalsLogged {
		r.leftOut++
		return false, 0
	}
	leftOut, r.leftOut = r.leftOut, 0
	return true, leftOut
}
