package push

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Gap says that notifications of a task are missing: those of the events First to Last did not come in time.
type Gap struct {
	TaskID, Config string
	First, Last    uint64
}

// mostGaps is how many gaps a lane remembers. Notifications of older ones count as doubles.
const mostGaps = 64

// laneKey is what has an order of its own.
type laneKey struct{ task, config string }

// lane puts the notifications of one configuration of one task in order: one is handed over after the other.
type lane struct {
	key     laneKey
	begun   bool   // next counts
	next    uint64 // number of the event that comes next
	gaps    []Gap  // what is before next and never came, as far as known
	content [sha256.Size]byte
	task    runtime.Task // as it was when it last came as a whole
	weight  int64        // of task, in bytes
	busy    *arrival     // being handed over
	waiting []*arrival   // in order of arrival
	used    time.Time
	place   *list.Element // in the receiver's order
}

// arrival is a notification on its way to the functions.
type arrival struct {
	note    *Notification
	event   runtime.Event
	size    int // of the body, in bytes
	content [sha256.Size]byte
	overdue bool          // it has waited long enough
	gap     *Gap          // what is missing before it
	turn    chan bool     // true: hand it over; false: it turned out to be a double
	done    chan struct{} // closed when err says how it ended
	err     error
}

func newArrival(n *Notification, e runtime.Event, body []byte) *arrival {
	return &arrival{
		note: n, event: e, size: len(body), content: sha256.Sum256(bytes.TrimSpace(body)),
		turn: make(chan bool, 1), done: make(chan struct{}),
	}
}

// end tells the repeats of a notification how it ended.
func (a *arrival) end(err error) {
	a.err = err
	close(a.done)
}

// same reports whether two notifications are one and a repeat of it.
func (a *arrival) same(b *arrival) bool {
	switch n, m := a.note, b.note; {
	case n.ID != "" || m.ID != "":
		return n.ID == m.ID
	case n.Numbered || m.Numbered:
		return n.Numbered && m.Numbered && n.First == m.First && n.Last == m.Last
	}
	return a.content == b.content && !appends(a.event)
}

// appends reports whether an event means more when it comes twice: a chunk, which may well have the text of the one
// before.
func appends(e runtime.Event) bool {
	u, ok := e.(runtime.ArtifactUpdate)
	return ok && u.ArtifactUpdate().Append
}

// pick returns the place of the waiting notification whose turn it is: of those with nothing missing before them, or
// that have waited long enough with it, the first by its number. -1: none.
func (l *lane) pick() int {
	best, overdue := -1, uint64(0)
	for _, a := range l.waiting {
		if a.overdue {
			overdue = max(overdue, a.note.First)
		}
	}
	for i, a := range l.waiting {
		n := a.note
		ready := !n.Numbered || !l.begun || n.First <= l.next || n.First <= overdue
		if ready && (best < 0 || n.First < l.waiting[best].note.First) {
			best = i
		}
	}
	return best
}

// reach moves on to a notification whose turn it is, and returns what is missing before it, nil for nothing. What was
// before the first one that came is not missed: a configuration may begin in the middle of a task, and so may the
// receiver. Should it come nevertheless, it is late and no double.
func (l *lane) reach(n *Notification) *Gap {
	if !n.Numbered || l.begun && n.First <= l.next {
		return nil
	}
	from, begun := l.next, l.begun
	l.begun, l.next = true, n.First
	if n.First == 0 {
		return nil
	}
	gap := Gap{l.key.task, l.key.config, from, n.First - 1}
	l.gaps = append(l.gaps[max(0, len(l.gaps)-mostGaps+1):], gap)
	if !begun {
		return nil
	}
	return &gap
}

// pass notes that a notification was handed over.
func (l *lane) pass(a *arrival) {
	n := a.note
	l.content = a.content
	if !n.Numbered {
		return
	}
	l.next = max(l.next, n.Last+1)
	if i := l.gapOf(n); i >= 0 {
		g := l.gaps[i]
		var left []Gap
		if g.First < n.First {
			left = append(left, Gap{g.TaskID, g.Config, g.First, n.First - 1})
		}
		if n.Last < g.Last {
			left = append(left, Gap{g.TaskID, g.Config, n.Last + 1, g.Last})
		}
		l.gaps = append(l.gaps[:i:i], append(left, l.gaps[i+1:]...)...)
	}
}

// gapOf returns the place of the gap that a notification is missing in, -1 if in none.
func (l *lane) gapOf(n *Notification) int {
	for i, g := range l.gaps {
		if g.First <= n.First && n.Last <= g.Last {
			return i
		}
	}
	return -1
}

// passed reports whether a notification was handed over before, by its number, or from senders that have neither
// numbers nor ids by its content. It marks one that comes after it was given up as late.
func (l *lane) passed(a *arrival) bool {
	n := a.note
	switch {
	case n.Numbered && l.begun && n.Last < l.next:
		n.Late = l.gapOf(n) >= 0
		return !n.Late
	case n.ID == "" && !n.Numbered:
		return a.content == l.content && !appends(a.event)
	}
	return false
}

// twin returns the notification on its way that a repeats, or nil.
func (l *lane) twin(a *arrival) *arrival {
	if l.busy != nil && l.busy.same(a) {
		return l.busy
	}
	for _, w := range l.waiting {
		if w.same(a) {
			return w
		}
	}
	return nil
}
