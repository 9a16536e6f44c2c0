package engine

import (
	"sync"

	"github.com/a2agen/a2agen/runtime"
)

// openings are the tasks that streams begin with: encoded once for all streams that are writing the same.
type openings struct {
	mu  sync.Mutex // held while one is encoded: who wants the same waits
	all map[openingKey]*opening
}

// openingKey is a version of the task in a coding.
type openingKey struct {
	task   int64
	coding int
}

// opening is the events that streams begin with.
type opening struct {
	key    openingKey
	events [][]byte
	size   int64 // taken from the budget of answers
	users  int   // guarded by openings.mu
}

// share passes a version of the task on, encoded once for all who do so at the same time.
func (st *Stream) share(task runtime.Task, version int64, write func(seq int64, event []byte) error) error {
	lent, err := st.borrow(task, version)
	if err != nil {
		return err
	}
	defer st.restore(lent)
	for _, e := range lent.events {
		if err := write(version, e); err != nil {
			return err
		}
	}
	return nil
}

// borrow returns the opening for a version of the task. Give it back with restore.
func (st *Stream) borrow(task runtime.Task, version int64) (*opening, error) {
	o, key := &st.live.openings, openingKey{version, st.r.Coding.Index}
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.lend(key); found != nil {
		return found, nil
	}
	made, err := st.encode(key, task)
	if err != nil {
		return nil, err
	}
	if answers := &st.r.e.answers; !answers.Try(made.size) {
		size := made.size
		made = nil // while waiting
		o.mu.Unlock()
		err := st.r.e.wait(st.r.Context, size)
		o.mu.Lock()
		if err != nil {
			return nil, err
		}
		if found := o.lend(key); found != nil {
			answers.Release(size)
			return found, nil
		}
		if made, err = st.encode(key, task); err != nil {
			answers.Release(size)
			return nil, err
		}
		answers.Add(made.size - size)
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
func (st *Stream) restore(lent *opening) {
	o := &st.live.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	if lent.users--; lent.users == 0 {
		delete(o.all, lent.key)
		st.r.e.answers.Release(lent.size)
	}
}

// encode makes the opening of a task, for one user.
func (st *Stream) encode(key openingKey, task runtime.Task) (*opening, error) {
	events, err := st.openingEvents(task)
	if err != nil {
		return nil, err
	}
	made := &opening{key: key, users: 1}
	for _, e := range events {
		b, err := st.r.appendEvent(nil, e)
		if err != nil {
			return nil, err
		}
		made.events = append(made.events, b)
		made.size += int64(cap(b))
	}
	return made, nil
}
