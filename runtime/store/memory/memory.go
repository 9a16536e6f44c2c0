package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/taskstate"
)

// Memory is a [Store] in memory, for one instance; [Memory.Instance] makes others for tests. Tasks are changed in place:
// an update costs the same however large the task has grown.
//
// The lock of a row guards its task; the lock of the index guards everything else and may be taken while a row is
// locked, never the other way round (eviction, which needs both, only tries the row).
type Memory struct {
	limits MemoryLimits
	task   taskstate.Limits
	clock  func() time.Time
	shared bool   // there are several instances
	self   holder // the only instance
	coding atomic.Pointer[Coding]

	mu       sync.Mutex
	owners   map[Owner]*owned
	rows     map[rowKey]*row
	contexts map[groupKey]*group
	accounts map[string]*account // by principal
	heaviest heaviest
	all      taskstate.Account // the sum of all accounts
	made     int64             // tasks, so far
	logs     []*row            // the last ended tasks with logs, a ring
	oldest   int               // index in logs of the one to go next
	repeats  repeats
	outbox   outbox
	tickets  map[[32]byte]*ticket // by hash
	notes    notes
	sharing
}

// NewMemory makes an empty store.
func NewMemory(l MemoryLimits) *Memory { return NewMemoryAt(l, time.Now) }

// NewMemoryAt is NewMemory with a clock: the time that rules what is due and what is dropped.
func NewMemoryAt(l MemoryLimits, clock func() time.Time) *Memory {
	l = l.withDefaults()
	return &Memory{
		limits: l, clock: clock, self: holder{number: 1}, task: taskstate.Limits{Task: l.TaskBytes, Slack: slack},
		owners: map[Owner]*owned{}, rows: map[rowKey]*row{}, contexts: map[groupKey]*group{}, accounts: map[string]*account{},
		all: taskstate.Account{Limit: l.all()},
	}
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key Key, view View) (Snapshot, error) {
	r := m.lookup(key)
	if r == nil {
		return Snapshot{}, ErrNotFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return Snapshot{}, ErrNotFound
	}
	if view.At != 0 && view.At != r.st.Version {
		return r.past(view)
	}
	return r.snapshot(&view)
}

// Head implements [Store].
func (m *Memory) Head(_ context.Context, key Key) (Head, error) {
	r := m.lookup(key)
	if r == nil {
		return Head{}, ErrNotFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return Head{}, ErrNotFound
	}
	return Head{
		Context: r.context, State: r.st.Status, Version: r.st.Version, Epoch: r.st.Epoch, Calls: r.st.Calls, Done: r.st.Done,
		Running: r.st.Runner != 0, Skill: r.skill, ClientID: r.clientID, Trace: r.trace,
	}, nil
}

// Find implements [Finder].
func (m *Memory) Find(key Key) Ref {
	if r := m.lookup(key); r != nil {
		return r
	}
	return nil
}

// Events implements [Store].
func (m *Memory) Events(ctx context.Context, key Key, after int64, max int) ([]*Record, error) {
	r := m.lookup(key)
	if r == nil {
		return nil, ErrNotFound
	}
	return r.Events(ctx, after, max)
}

// Events implements [Ref].
func (r *row) Events(_ context.Context, after int64, max int) ([]*Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.gone:
		return nil, ErrNotFound
	case after >= r.st.Version:
		return nil, nil
	case r.log == nil || after < r.log.trimmed:
		return nil, ErrTrimmed
	}
	r.settle()
	records := r.log.records[after-r.log.trimmed:] // they are consecutive: one a version
	if max > 0 && len(records) > max {
		records = records[:max:max]
	}
	return records, nil
}

// sweepAtOnce is how many tasks a sweep drops: nobody else has the index meanwhile.
const sweepAtOnce = 1000

// Sweep implements [Store].
func (m *Memory) Sweep(context.Context) (dropped int, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	m.repeats.sweepAll(now)
	for _, a := range m.accounts {
		dropped += m.sweep(&a.ended, now.Add(-m.limits.Ended), sweepAtOnce-dropped)
		dropped += m.sweep(&a.parked, now.Add(-m.limits.Parked), sweepAtOnce-dropped)
	}
	notes := m.sweepNotes(now.Add(-m.limits.Parked), sweepAtOnce)
	return dropped, dropped == sweepAtOnce || notes == sweepAtOnce, nil
}

// Len returns the number of tasks kept.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows)
}

// Bytes returns about how many bytes the tasks take.
func (m *Memory) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(m.all.Held.Bytes)
}

func (m *Memory) lookup(key Key) *row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.row(key)
}

// keepLog notes that r ended with a log, and drops the log of the one that did so longest ago.
func (m *Memory) keepLog(r *row) {
	if len(m.logs) < m.limits.Logs {
		m.logs = append(m.logs, r)
		return
	}
	old := m.logs[m.oldest]
	if old.mu.TryLock() {
		if !old.gone && !m.outbox.waits(old.pushes()) {
			old.log = nil
			m.charge(old, taskstate.Holding{Bytes: int64(old.held() - old.charged)})
		}
		old.mu.Unlock()
	}
	m.logs[m.oldest] = r
	m.oldest = (m.oldest + 1) % len(m.logs)
}
