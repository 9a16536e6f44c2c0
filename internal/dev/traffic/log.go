package traffic

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/internal/dev/live"
)

// Limits of a log.
const (
	MaxCalls  = 1000     // exchanges that are kept; the oldest make way
	MaxBytes  = 64 << 20 // of all that is kept
	MaxBody   = 24 << 20 // of one body, or one event
	MaxEvents = 10_000   // of one exchange

	callBytes  = 2 << 10 // what an exchange takes beside its bodies and headers
	eventBytes = 256     // what an event takes beside its bytes
)

// Log keeps the last exchanges. Its zero value is ready for use.
type Log struct {
	Feed *live.Feed // is told of every change: "call" with a *Summary, "event" with a *Change; nil: nobody is

	definitions atomic.Pointer[Definitions]

	mu    sync.Mutex
	calls []*call // the oldest first
	last  int64
	bytes int // kept
}

// Define has the messages of gRPC read by definitions from now on.
func (l *Log) Define(d *Definitions) { l.definitions.Store(d) }

// List returns the exchanges after a number, the oldest first, at most so many of the newest.
func (l *Log) List(after int64, most int) []Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Summary
	for _, c := range l.calls {
		if c.x.ID > after {
			list = append(list, c.x.Summary)
		}
	}
	return list[max(0, len(list)-most):]
}

// Get returns an exchange. It is no longer there when newer ones took its room.
func (l *Log) Get(id int64) (Exchange, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if c.x.ID == id {
			x := c.x
			x.Events = slices.Clone(x.Events)
			return x, true
		}
	}
	return Exchange{}, false
}

// Clear forgets all exchanges that have ended.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = slices.DeleteFunc(l.calls, func(c *call) bool {
		if c.x.State != Running {
			l.bytes -= c.bytes
			return true
		}
		return false
	})
}

// Bytes returns how much is kept.
func (l *Log) Bytes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// add begins to keep an exchange. It reports false if there are too many that have not ended.
func (l *Log) add(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) >= MaxCalls && !l.evict(nil) || !l.take(c, callBytes) {
		return false
	}
	l.last++
	c.x.ID = l.last
	l.calls = append(l.calls, c)
	return true
}

// take reserves room, for which the oldest exchanges that have ended make way. Callers must hold mu.
func (l *Log) take(c *call, n int) bool {
	for l.bytes+n > MaxBytes {
		if !l.evict(c) {
			return false
		}
	}
	l.bytes += n
	c.bytes += n
	return true
}

// evict forgets the oldest exchange that has ended, apart from one. Callers must hold mu.
func (l *Log) evict(but *call) bool {
	for i, c := range l.calls {
		if c != but && c.x.State != Running {
			l.bytes -= c.bytes
			l.calls = slices.Delete(l.calls, i, i+1)
			return true
		}
	}
	return false
}

// publish tells readers of a change.
func (l *Log) publish(kind string, what any) {
	if l.Feed != nil {
		l.Feed.Publish(kind, what)
	}
}
