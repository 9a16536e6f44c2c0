// Package memory is a store of tasks in memory.
package memory

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Store is a [store.Store] in memory, for one instance; [Store.Instance] makes others for tests. Tasks are changed in place:
// an update costs the same however large the task has grown.
//
// The lock of a row guards its task; the lock of the index guards everything else and may be taken while a row is locked,
// never the other way round (eviction, which needs both, only tries the row). Methods of Store take the locks, those of the
// index do not unless their comments say otherwise.
type Store struct {
	*index
	lease time.Duration // of one of several instances
	life  atomic.Pointer[life]
}

// New makes an empty store.
func New(l Limits) *Store { return NewAt(l, time.Now) }

// NewFirst is New for an agent that runs for the first time, as in a test: it accepts messages with any [store.Repeat]. A store of New
// does not accept a message that may have come before the store was made (docs/decisions/17).
func NewFirst(l Limits) *Store {
	m := New(l)
	m.since = time.Time{}
	return m
}

// NewAt is New with a clock, for deliveries that are due and for retention.
func NewAt(l Limits, clock func() time.Time) *Store {
	l = l.withDefaults()
	m := &Store{index: &index{
		limits: l, clock: clock, task: taskstate.Limits{Task: l.TaskBytes, Slack: slack},
		owners: map[store.Owner]*owned{}, rows: map[name]*row{}, contexts: map[name]*group{},
		waiting: map[*row][]*store.Call{}, accounts: map[string]*account{}, all: taskstate.Account{Limit: l.all()},
		heaviest: ranking[*account]{before: heavier, place: func(a *account) *int { return &a.place }},
		tickets:  tickets{of: map[*row][]*ticket{}, byHash: map[[32]byte]*ticket{}},
		repeats:  repeats{since: clock(), known: map[store.Key]*repeated{}, of: map[string][]*repeated{}},
		outbox: outbox{
			pushes: map[*row]map[string]*push{}, due: ranking[*push]{before: sooner, place: func(p *push) *int { return &p.place }},
		},
		notes: notes{
			noted:     map[store.Key]*note{},
			mostNoted: ranking[*account]{before: moreNoted, place: func(a *account) *int { return &a.placeOfNotes }},
		},
	}}
	m.life.Store(&life{number: 1})
	return m
}

// lookup returns a task, or ErrNotFound.
func (m *Store) lookup(key store.Key) (*row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.row(key); r != nil {
		return r, nil
	}
	return nil, store.ErrNotFound
}

// locked returns a task with its lock held, or ErrNotFound.
func (m *Store) locked(key store.Key) (*row, error) {
	r, err := m.lookup(key)
	if err != nil {
		return nil, err
	}
	return r, r.lock()
}

// Get implements [store.Store].
func (m *Store) Get(_ context.Context, key store.Key, view store.View) (store.Snapshot, error) {
	r, err := m.locked(key)
	if err != nil {
		return store.Snapshot{}, err
	}
	defer r.mu.Unlock()
	if view.At != 0 && view.At != r.st.Version {
		return m.past(r, view)
	}
	return r.snapshot(&view)
}

// Head implements [store.Store].
func (m *Store) Head(_ context.Context, key store.Key) (store.Head, error) {
	r, err := m.locked(key)
	if err != nil {
		return store.Head{}, err
	}
	defer r.mu.Unlock()
	return store.Head{
		Context: r.context, State: r.st.Status, Version: r.st.Version, Epoch: r.st.Epoch, Calls: r.st.Calls, Done: r.st.Done,
		Skill: r.Skill, ClientID: r.ClientID, Trace: r.Trace,
	}, nil
}

// Find implements [store.Finder], but for one of several instances: a row does not know who writes.
func (m *Store) Find(key store.Key) store.Ref {
	if r, err := m.lookup(key); err == nil && !m.shared {
		return r
	}
	return nil
}

// Events implements [store.Store].
func (m *Store) Events(ctx context.Context, key store.Key, after int64, max int) ([]*store.Record, error) {
	r, err := m.lookup(key)
	if err != nil {
		return nil, err
	}
	return r.Events(ctx, after, max)
}

// Events implements [store.Ref].
func (r *row) Events(_ context.Context, after int64, max int) ([]*store.Record, error) {
	if err := r.lock(); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	switch {
	case after >= r.st.Version:
		return nil, nil
	case r.log == nil || after < r.log.trimmed:
		return nil, store.ErrTrimmed
	}
	r.chargeEncoded()
	records := r.log.after(after)
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
	for principal := range m.repeats.of {
		m.sweepRepeats(principal, now)
	}
	for _, a := range m.accounts {
		dropped += m.drop(&a.resting[taskstate.Ended], now.Add(-m.limits.Ended).UnixNano(), sweepAtOnce-dropped, true)
		dropped += m.drop(&a.resting[taskstate.Parked], now.Add(-m.limits.Parked).UnixNano(), sweepAtOnce-dropped, true)
	}
	notes := m.sweepNotes(now.Add(-m.limits.Parked), sweepAtOnce)
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
	return int(m.all.Held.Bytes)
}
