package store

import (
	"context"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// MemoryLimits say what a [Memory] keeps. A zero field means the default in brackets.
type MemoryLimits struct {
	Tasks  int           // tasks at most: the longest ended makes room for a new one [20,000]
	Events int           // events that the log of one task keeps at least; older ones are trimmed [10,000]
	Logs   int           // ended tasks that keep their logs for readers that come back: the last ones [1,000]
	Ended  time.Duration // how long an ended task is kept [1 h]
	Parked time.Duration // how long a task waits for its client before it is dropped [24 h]
}

func (l MemoryLimits) withDefaults() MemoryLimits {
	if l.Tasks == 0 {
		l.Tasks = 20_000
	}
	if l.Events == 0 {
		l.Events = 10_000
	}
	if l.Logs == 0 {
		l.Logs = 1000
	}
	if l.Ended == 0 {
		l.Ended = time.Hour
	}
	if l.Parked == 0 {
		l.Parked = 24 * time.Hour
	}
	return l
}

// Memory is a [Store] in memory. Tasks are changed in place: an update costs the same however large the task has grown.
//
// The lock of a row guards its task; the lock of the index guards everything else and may be taken while a row is locked, never the
// other way round (eviction, which needs both, only tries the row).
type Memory struct {
	limits MemoryLimits

	mu     sync.Mutex
	rows   map[Key]*row
	groups map[groupKey]*group // by owner, and by owner and context
	ended  queue               // ended tasks, the longest ended first
	parked queue               // interrupted tasks, the longest waiting first
	logs   []*row              // the last ended tasks with logs, a ring
	oldest int                 // index in logs of the one to go next
}

// NewMemory makes an empty store.
func NewMemory(l MemoryLimits) *Memory {
	return &Memory{limits: l.withDefaults(), rows: map[Key]*row{}, groups: map[groupKey]*group{}, ended: queue{slot: restSlot}, parked: queue{slot: restSlot}}
}

// row is one task.
type row struct {
	key   Key
	store *Memory

	mu      sync.Mutex // guards the fields up to the blank line
	task    runtime.Task
	version int64
	private Private
	log     *eventLog // nil while nobody reads the events, and when they are no longer kept
	gone    bool      // evicted

	// Guarded by the index lock; written with both locks held, so that either is enough to read.
	context string
	state   runtime.State
	at      time.Time // status timestamp: sort key
	groups  [2]*group // of its owner, and of its context unless that is ""
	links   [3]link
	resting *queue // the queue the row is in, nil while active
}

// Create implements [Store].
func (m *Memory) Create(_ context.Context, key Key, t runtime.Task, p Private, view *View) (Snapshot, error) {
	info := t.TaskInfo()
	r := &row{key: key, store: m, task: t, version: 1, private: p, context: info.ContextID, state: info.State, at: info.At}
	snap := r.snapshot(view)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.rows[key]; ok {
		return Snapshot{}, ErrExists
	}
	if !m.makeRoom(info.At) {
		return Snapshot{}, ErrFull
	}
	m.rows[key] = r
	m.insert(r)
	return snap, nil
}

// Apply implements [Store].
func (m *Memory) Apply(ctx context.Context, key Key, expect int64, u Update, view *View) (Snapshot, error) {
	r := m.lookup(key)
	if r == nil {
		return Snapshot{}, ErrNotFound
	}
	return r.Apply(ctx, expect, u, view)
}

// Apply implements [Ref].
func (r *row) Apply(_ context.Context, expect int64, u Update, view *View) (Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.gone:
		return Snapshot{}, ErrNotFound
	case r.version != expect:
		return Snapshot{}, ErrConflict
	case r.state.Terminal():
		return Snapshot{}, ErrEnded
	}
	if err := r.task.Apply(u.Event); err != nil {
		return Snapshot{}, err
	}
	for _, msg := range u.Messages {
		r.task.AddMessage(msg)
	}
	u.keep(&r.private)
	m := r.store
	if u.Unread {
		r.log = nil
	} else {
		if r.log == nil {
			r.log = newEventLog(r.version)
		}
		r.log.append(u.Event, m.limits.Events)
	}
	r.version++
	if u.Event.EventInfo().Kind == runtime.EventStatus {
		info := r.task.TaskInfo()
		m.mu.Lock()
		m.move(r, info.State, info.At)
		if info.State.Terminal() && r.log != nil {
			m.keepLog(r)
		}
		m.mu.Unlock()
	}
	return r.snapshot(view), nil
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
	return r.snapshot(&view), nil
}

// Events implements [Store].
func (m *Memory) Events(ctx context.Context, key Key, after int64) ([]*Record, error) {
	r := m.lookup(key)
	if r == nil {
		return nil, ErrNotFound
	}
	return r.Events(ctx, after)
}

// Events implements [Ref].
func (r *row) Events(_ context.Context, after int64) ([]*Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.gone:
		return nil, ErrNotFound
	case after >= r.version:
		return nil, nil
	case r.log == nil || after < r.log.trimmed:
		return nil, ErrTrimmed
	}
	return r.log.records[after-r.log.trimmed:], nil // records are consecutive: one a version
}

// Sweep implements [Store].
func (m *Memory) Sweep(_ context.Context, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sweep(&m.ended, now.Add(-m.limits.Ended)) + m.sweep(&m.parked, now.Add(-m.limits.Parked)), nil
}

// Len returns the number of tasks kept.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows)
}

func (m *Memory) lookup(key Key) *row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[key]
}

// snapshot returns the row as view asks. An ended task never changes again: the whole of it needs no copy.
func (r *row) snapshot(view *View) Snapshot {
	s := Snapshot{Version: r.version, Private: r.private}
	switch {
	case view == nil:
	case view.History == nil && view.Artifacts && r.task.TaskInfo().State.Terminal():
		s.Task = r.task
	default:
		s.Task = r.task.View(view.History, view.Artifacts)
	}
	return s
}

// keepLog notes that r ended with a log, and drops the log of the one that did so longest ago.
func (m *Memory) keepLog(r *row) {
	if len(m.logs) < m.limits.Logs {
		m.logs = append(m.logs, r)
		return
	}
	old := m.logs[m.oldest]
	if old.mu.TryLock() {
		old.log = nil
		old.mu.Unlock()
	}
	m.logs[m.oldest] = r
	m.oldest = (m.oldest + 1) % len(m.logs)
}
