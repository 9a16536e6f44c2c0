package server

import (
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
)

// openings are the tasks that streams begin with: encoded once for all streams that are writing the same.
type openings struct {
	mu  sync.Mutex // held while one is encoded: who wants the same waits
	all map[openingKey]*opening
}

// openingKey is a version of the task, in the words of a version of the protocol.
type openingKey struct {
	task    int64
	version int
}

// opening is the events that streams begin with.
type opening struct {
	key    openingKey
	events [][]byte
	size   int64 // taken from the budget of answers
	users  int   // guarded by openings.mu
}

// borrow returns the opening for a version of the task. Give it back with restore.
func (st *stream) borrow(task runtime.Task, version int64) (*opening, error) {
	o, key := &st.l.openings, openingKey{version, st.q.version.index}
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.lend(key); found != nil {
		return found, nil
	}
	made, err := st.encode(key, task)
	if err != nil {
		return nil, err
	}
	if answers := &st.q.s.answers; !answers.try(made.size) {
		size := made.size
		made = nil // while waiting
		o.mu.Unlock()
		err := st.q.s.wait(st.q.r.Context(), size)
		o.mu.Lock()
		if err != nil {
			return nil, err
		}
		if found := o.lend(key); found != nil {
			answers.release(size)
			return found, nil
		}
		if made, err = st.encode(key, task); err != nil {
			answers.release(size)
			return nil, err
		}
		answers.add(made.size - size)
	}
	if o.all == nil {
		o.all = map[openingKey]*opening{}
	}
	o.all[key] = made
	return made, nil
}

// lend returns an opening that is there. The caller holds mu.
func (o *openings) lend(key openingKey) *opening {
	found := o.all[key]
	if found != nil {
		found.users++
	}
	return found
}

// restore gives an opening back. The last user's is dropped.
func (st *stream) restore(lent *opening) {
	o := &st.l.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	if lent.users--; lent.users == 0 {
		delete(o.all, lent.key)
		st.q.s.answers.release(lent.size)
	}
}

// encode makes the opening of a task, for one user.
func (st *stream) encode(key openingKey, task runtime.Task) (*opening, error) {
	events, err := st.openingEvents(task)
	if err != nil {
		return nil, err
	}
	made := &opening{key: key, users: 1}
	for _, e := range events {
		b, err := st.q.version.AppendEvent(nil, e)
		if err != nil {
			return nil, err
		}
		made.events = append(made.events, oneLine(b))
		made.size += int64(cap(b))
	}
	return made, nil
}

// writeOpening writes the task as it was at a version, without a flush.
func (st *stream) writeOpening(task runtime.Task, version int64) error {
	lent, err := st.borrow(task, version)
	if err != nil {
		return err
	}
	defer st.restore(lent)
	if st.seq == 0 {
		st.q.streamHeader()
	}
	var frame []byte
	for _, e := range lent.events {
		frame = st.q.beginFrame(sse.BeginSeq(frame[:0], uint64(version)))
		if err := st.send(frame); err != nil {
			return err
		}
		if err := st.send(e); err != nil {
			return err
		}
		if err := st.send(st.q.endFrame(frame[:0])); err != nil {
			return err
		}
	}
	return nil
}
