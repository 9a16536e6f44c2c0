// Package memory is a store of tasks in memory.
package memory

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Store is a [store.Store] in memory, for one instance; [Store.Instance] makes others for tests. Tasks are changed in index:
// an update costs the same however large the task has grown.
//
// The lock of a row guards its task; mu, the lock of the index, guards everything else and may be taken while a row is
// locked, never the other way round (eviction, which needs both, only tries the row). Methods of Store take the locks,
// those of the index and of what it has do not.
type Store struct {
	self   holder // the only instance
	coding atomic.Pointer[Coding]

	mu sync.Mutex
	index
}

// New makes an empty store.
func New(l Limits) *Store { return NewAt(l, time.Now) }

// NewFirst is New for an agent that was never there before, as in a test: it knows each message that ever came. One that New
// makes takes no message that may have come before it was made (docs/decisions/17).
func NewFirst(l Limits) *Store {
	m := New(l)
	m.repeats.since = time.Time{}
	return m
}

// NewAt is New with a clock: the time that rules what is due and what is dropped.
func NewAt(l Limits, clock func() time.Time) *Store {
	l = l.withDefaults()
	m := &Store{self: holder{number: 1}}
	m.index = index{
		limits: l, clock: clock, task: taskstate.Limits{Task: l.TaskBytes, Slack: slack},
		owners: map[store.Owner]*owned{}, rows: map[rowKey]*row{}, contexts: map[groupKey]*group{},
		repeats: repeats{since: clock()},
	}
	m.ledger = ledger{limits: &m.limits, accounts: map[string]*account{}, all: taskstate.Account{Limit: l.all()}}
	m.notes.ledger = &m.ledger
	return m
}

// Get implements [store.Store].
func (m *Store) Get(_ context.Context, key store.Key, view store.View) (store.Snapshot, error) {
	r := m.lookup(key)
	if r == nil {
		return store.Snapshot{}, store.ErrNotFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return store.Snapshot{}, store.ErrNotFound
	}
	if view.At != 0 && view.At != r.st.Version {
		return r.past(view)
	}
	return r.snapshot(&view)
}

// Head implements [store.Store].
func (m *Store) Head(_ context.Context, key store.Key) (store.Head, error) {
	r := m.lookup(key)
	if r == nil {
		return store.Head{}, store.ErrNotFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return store.Head{}, store.ErrNotFound
	}
	return store.Head{
		Context: r.context, State: r.st.Status, Version: r.st.Version, Epoch: r.st.Epoch, Calls: r.st.Calls, Done: r.st.Done,
		Skill: r.skill, ClientID: r.clientID, Trace: r.trace,
	}, nil
}

// Find implements [store.Finder].
func (m *Store) Find(key store.Key) store.Ref {
	if r := m.lookup(key); r != nil {
		return r
	}
	return nil
}

// Events implements [store.Store].
func (m *Store) Events(ctx context.Context, key store.Key, after int64, max int) ([]*store.Record, error) {
	r := m.lookup(key)
	if r == nil {
		return nil, store.ErrNotFound
	}
	return r.Events(ctx, after, max)
}

// Events implements [store.Ref].
func (r *row) Events(_ context.Context, after int64, max int) ([]*store.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.gone:
		return nil, store.ErrNotFound
	case after >= r.st.Version:
		return nil, nil
	case r.log == nil || after < r.log.trimmed:
		return nil, store.ErrTrimmed
	}
	r.settle()
	records := r.log.records[after-r.log.trimmed:] // they are consecutive: one a version
	if max > 0 && len(records) > max {
		records = records[:max:max]
	}
	return records, nil
}

// sweepAtOnce is how many tasks a sweep drops at most: the index is locked meanwhile.
const sweepAtOnce = 1000

// Sweep implements [store.Store].
func (m *Store) Sweep(context.Context) (dropped int, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	for principal := range m.repeats.order {
		m.repeats.sweep(principal, now)
	}
	for _, a := range m.ledger.accounts {
		dropped += m.sweep(&a.ended, now.Add(-m.limits.Ended), sweepAtOnce-dropped)
		dropped += m.sweep(&a.parked, now.Add(-m.limits.Parked), sweepAtOnce-dropped)
	}
	notes := m.notes.sweep(now.Add(-m.limits.Parked), sweepAtOnce)
	return dropped, dropped == sweepAtOnce || notes == sweepAtOnce, nil
}

// Len returns the number of tasks kept.
func (m *Store) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows)
}

// Bytes returns about how many bytes the tasks take.
func (m *Store) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(m.ledger.all.Held.Bytes)
}

func (m *Store) lookup(key store.Key) *row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.row(key)
}
