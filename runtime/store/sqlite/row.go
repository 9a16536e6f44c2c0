package sqlite

import (
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// row is a task as it is in the file, decoded. The writer changes it when a change is in the file; everybody reads it.
type row struct {
	n   int64
	key store.Key

	mu     sync.Mutex
	meta   meta
	task   runtime.Task // the whole of it
	tail   []*store.Record
	stamps stamps
	gone   bool // dropped
}

// meta is what a task has beside its content.
type meta struct {
	context     string
	skill       string
	clientID    bool
	trace       string
	state       runtime.State
	at          int64
	version     int64
	oldest      int64 // events up to this one are gone
	epoch       int64
	runner      int64 // instance; 0: nobody runs it
	calls, done int64
	size        size
	charged     int64 // bytes that the account holds for it
	rest        rest
	rested      int64
	asked       bool
	input       []byte
	saved       []byte
	pushed      bool // it has push configurations
	tickets     bool
	// snapshot is the version of the body, 0 for none, and since how many bytes of events came after it.
	snapshot, since int64
}

// rest is whether a task may be dropped for room, or after a while.
type rest int64

const (
	active rest = iota
	ended
	parked // it waits for its client
)

// size is how large a task is: its content about as long as it is in JSON, and what else there is of it in the file.
type size struct {
	said   int64 // messages: the history's and that of the status
	status int64 // of said: what came with the last status
	made   int64 // artifacts; what was replaced counts until it is counted anew
	log    int64 // events in the file
	body   int64
	head   int64
}

// What a task and an event take in the file beside their content, indexes included: measured and rounded up.
const (
	rowBytes   = 1 << 10
	eventBytes = 64
)

// of is about how long a view of the task is as JSON.
func (s *size) of(v store.View) int {
	n := rowBytes + s.status
	if v.History == nil || *v.History > 0 {
		n = rowBytes + s.said
	}
	if v.Artifacts {
		n += s.made
	}
	return int(n)
}

func (m *meta) private() store.Private {
	return store.Private{Skill: m.skill, Input: m.input, Saved: m.saved, Asked: m.asked, ClientID: m.clientID, Trace: m.trace}
}

// content is how long the task with its private state is.
func (m *meta) content() int64 {
	return rowBytes + m.size.said + m.size.made + int64(len(m.input)+len(m.saved)+len(m.trace))
}

// held is how much of the file the task takes.
func (m *meta) held() int64 {
	return rowBytes + m.size.head + m.size.log + m.size.body + int64(len(m.input)+len(m.saved)+len(m.trace))
}

// settle finds out whether the task rests.
func (m *meta) settle(now time.Time) {
	was := m.rest
	switch {
	case m.state.Terminal():
		m.rest = ended
	case m.state.Interrupted() && m.calls == m.done:
		m.rest = parked
	default:
		m.rest, m.rested = active, 0
		return
	}
	if m.rest != was || m.rest == parked {
		m.rested = now.UnixNano()
	}
}

// stamps are the last stamps of a task with the versions that they made.
type stamps struct {
	list []stamp
}

type stamp struct {
	version int64
	stamp   uint64
}

// mostStamps is how many are remembered: a writer repeats itself before it says anything else, and others are few.
const mostStamps = 64

func (s *stamps) add(version int64, with uint64) {
	if with == 0 {
		return
	}
	if len(s.list) == mostStamps {
		s.list = append(s.list[:0], s.list[mostStamps/2:]...)
	}
	s.list = append(s.list, stamp{version, with})
}

// made reports whether an update was made before, which expected a version (0: any).
func (s *stamps) made(with uint64) bool {
	if with == 0 {
		return false
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].stamp == with {
			return true
		}
	}
	return false
}

// mostTail is how many records are kept at hand for readers, all of which share what was encoded for one of them.
const mostTail = 64

// publish takes an event over that is in the file. The caller holds the lock.
func (r *row) publish(m meta, rec *store.Record, with uint64) {
	r.meta = m
	r.stamps.add(m.version, with)
	if rec == nil {
		return
	}
	if len(r.tail) >= 2*mostTail {
		r.tail = append(make([]*store.Record, 0, 2*mostTail), r.tail[mostTail:]...)
	}
	r.tail = append(r.tail, rec)
}

// snapshot is the task as view asks. An ended task never changes again: the whole of it needs no copy. The caller holds
// the lock.
func (r *row) snapshot(view *store.View) store.Snapshot {
	s := store.Snapshot{Version: r.meta.version, Private: r.meta.private(), Epoch: r.meta.epoch, Pushed: r.meta.pushed}
	if view == nil {
		return s
	}
	s.Bytes = r.meta.size.of(*view)
	if view.History == nil && view.Artifacts && r.meta.state.Terminal() {
		s.Task = r.task
	} else {
		s.Task = r.task.View(view.History, view.Artifacts)
	}
	return s
}

func (r *row) head() store.Head {
	m := &r.meta
	return store.Head{
		Context: m.context, State: m.state, Version: m.version, Epoch: m.epoch, Calls: m.calls, Done: m.done,
		Running: m.runner != 0, Skill: m.skill, ClientID: m.clientID, Trace: m.trace,
	}
}
