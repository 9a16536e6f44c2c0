package binding

import (
	"sync"
	"time"
)

// How many denials are logged in which time: a client that sends wrong credentials all the time must not fill the log
// (R225).
const (
	denialsLogged = 60
	denialsWithin = time.Minute
)

// denialLog decides which denials are logged.
type denialLog struct {
	mu      sync.Mutex
	since   time.Time
	n       int // since then
	leftOut int // since the last one that was logged
}

// another reports whether one more is to be logged, and how many before it were not.
func (l *denialLog) another(now time.Time) (ok bool, leftOut int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := now.Sub(l.since); d >= denialsWithin || d < 0 {
		l.since, l.n = now, 0
	}
	if l.n++; l.n > denialsLogged {
		l.leftOut++
		return false, 0
	}
	leftOut, l.leftOut = l.leftOut, 0
	return true, leftOut
}
