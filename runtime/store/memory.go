package store

import (
	"context"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Memory is a [Store] in memory. Tasks are changed in place: an update costs the same however large the task has grown.
//
// The lock of a row guards its task; the lock of the index guards everything else and may be taken while a row is
// locked, never the other way round (eviction, which needs both, only tries the row).
type Memory struct {
	limits MemoryLimits

	mu       sync.Mutex
	rows     map[Key]*row
	groups   map[groupKey]*group // by owner, and by owner and context
	accounts map[string]*account // by principal
	heaviest heaviest
	held     holding // of all accounts
	rested   holding // of all accounts
	logs     []*row  // the last ended tasks with logs, a ring
	oldest   int     // index in logs of the one to go next
}

// NewMemory makes an empty store.
func NewMemory(l MemoryLimits) *Memory {
	return &Memory{limits: l.withDefaults(), rows: map[Key]*row{}, groups: map[groupKey]*group{}, accounts: map[string]*account{}}
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
	size    size
	counted int64 // version at which the size was counted anew

	// Guarded by the index lock; written with both locks held, so that either is enough to read.
	context string
	state   runtime.State
	at      time.Time // status timestamp: sort key
	groups  [2]*group // of its owner, and of its context unless that is ""
	links   [3]link
	account *account
	charged int    // bytes that the account holds for it: at most slack less than it takes
	resting *queue // the queue the row is in, nil while active
}

// Create implements [Store].
func (m *Memory) Create(_ context.Context, key Key, n New, view *View) (Snapshot, error) {
	info := n.Task.TaskInfo()
	r := &row{key: key, store: m, task: n.Task, version: 1, private: n.Private, context: info.ContextID, state: info.State, at: info.At}
	r.size = size{said: n.Size, private: n.Private.size()}
	bytes := r.size.held(nil)
	if bytes > m.limits.TaskBytes {
		return Snapshot{}, ErrTooLarge
	}
	snap := r.snapshot(view)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.rows[key]; ok {
		return Snapshot{}, ErrExists
	}
	r.account = m.account(key.Owner.Principal)
	if !m.makeRoom(r.account, nil, holding{1, bytes}) {
		return Snapshot{}, ErrFull
	}
	m.insert(r, bytes)
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
	if u.Size == (Size{}) {
		u.Size = SizeOf(u.Event, u.Messages)
	}
	info := u.Event.EventInfo()
	private := r.next(&u, info.State)
	grown, err := r.admit(&u, info, &private)
	if err != nil {
		return Snapshot{}, err
	}
	if err := r.task.Apply(u.Event); err != nil {
		return Snapshot{}, err
	}
	for _, msg := range u.Messages {
		r.task.AddMessage(msg)
	}
	r.private, r.size = private, grown
	r.record(&u)
	r.version++
	if info.Kind == runtime.EventStatus {
		r.store.moved(r)
	}
	return r.snapshot(view), nil
}

// next is the private state after an update: an ended task needs none.
func (r *row) next(u *Update, state runtime.State) Private {
	p := r.private
	u.keep(&p)
	if state.Terminal() {
		p.Input, p.Saved = nil, nil
	}
	return p
}

// record appends the update's event to the log, if somebody may read it.
func (r *row) record(u *Update) {
	if u.Unread {
		r.log = nil
		return
	}
	if r.log == nil {
		r.log = newEventLog(r.version)
	}
	r.log.append(u.Event, r.store.limits.Events)
}

// moved puts a task of another status into its place in the index. The caller holds its lock.
func (m *Memory) moved(r *row) {
	info := r.task.TaskInfo()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move(r, info.State, info.At)
	if info.State.Terminal() && r.log != nil {
		m.keepLog(r)
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
	r.settle()
	return r.log.records[after-r.log.trimmed:], nil // records are consecutive: one a version
}

// Sweep implements [Store].
func (m *Memory) Sweep(_ context.Context, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, a := range m.accounts {
		n += m.sweep(&a.ended, now.Add(-m.limits.Ended)) + m.sweep(&a.parked, now.Add(-m.limits.Parked))
	}
	return n, nil
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
	return m.held.bytes
}

func (m *Memory) lookup(key Key) *row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[key]
}

// snapshot returns the row as view asks. An ended task never changes again: the whole of it needs no copy.
func (r *row) snapshot(view *View) Snapshot {
	s := Snapshot{Version: r.version, Private: r.private}
	if view != nil {
		s.Bytes = r.size.of(*view)
	}
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
		if !old.gone {
			old.log = nil
			m.charge(old, holding{bytes: old.size.held(nil) - old.charged})
		}
		old.mu.Unlock()
	}
	m.logs[m.oldest] = r
	m.oldest = (m.oldest + 1) % len(m.logs)
}
