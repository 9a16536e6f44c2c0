package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Memory is a [Store] in memory, for one instance; [Memory.Instance] makes others for tests. Tasks are changed in place:
// an update costs the same however large the task has grown.
//
// The lock of a row guards its task; the lock of the index guards everything else and may be taken while a row is
// locked, never the other way round (eviction, which needs both, only tries the row).
type Memory struct {
	limits MemoryLimits
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
	held     holding // of all accounts
	rested   holding // of all accounts
	logs     []*row  // the last ended tasks with logs, a ring
	oldest   int     // index in logs of the one to go next
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
	return &Memory{
		limits: l.withDefaults(), clock: clock,
		owners: map[Owner]*owned{}, rows: map[rowKey]*row{}, contexts: map[groupKey]*group{}, accounts: map[string]*account{},
	}
}

// row is one task. It is small, and has few pointers: the garbage collector looks at all rows again and again, and one by
// one at what has more than 512 bytes.
type row struct {
	id    string
	skill string

	mu      sync.Mutex // guards the fields up to the blank line
	task    runtime.Task
	packed  []byte // in place of task; nil: it is not packed
	version int64
	private Private
	log     *eventLog // nil while nobody reads the events, and when they are no longer kept
	size    size
	counted int64 // version at which the size was counted anew
	stamps  stamps
	work    work
	gone    bool // evicted
	given   bool // back, by the instance that ran it

	// Guarded by the index lock; written with both locks held, so that either is enough to read.
	state   runtime.State
	context string
	at      int64  // status timestamp in Unix nanoseconds: sort key
	owner   *owned // nil before the row is in the index
	group   *group // of its context; nil if that is ""
	links   [3]link
	account *account
	charged int     // bytes that the account holds for it: at most slack less than it takes
	resting *queue  // the queue the row is in, nil while active
	beside  *beside // nil: there is nothing
}

// beside is what few tasks have.
type beside struct {
	pushes  []*push // by id
	tickets []*ticket
}

// key is the task's, once it is in the index.
func (r *row) key() Key { return Key{r.owner.owner, r.id} }

// store is where the row is, once it is in the index.
func (r *row) store() *Memory { return r.owner.store }

// pushes are the configurations of push notifications.
func (r *row) pushes() []*push {
	if r.beside == nil {
		return nil
	}
	return r.beside.pushes
}

func (r *row) tickets() []*ticket {
	if r.beside == nil {
		return nil
	}
	return r.beside.tickets
}

// also returns what the task has beside, to put something there.
func (r *row) also() *beside {
	if r.beside == nil {
		r.beside = new(beside)
	}
	return r.beside
}

// stamps are those of the last updates, by version.
type stamps [8]uint64

func (s *stamps) set(version int64, stamp uint64) { s[version&7] = stamp }

// stamped reports whether an update was made already, which expected a version (0: any). The one that brought up the
// call at work is known for as long, however many there were since.
func (r *row) stamped(stamp uint64, expect int64) bool {
	if stamp == 0 {
		return false
	}
	if stamp == r.work.began {
		return true
	}
	for _, s := range r.stamps {
		if s == stamp {
			return true
		}
	}
	if r.log == nil || expect < r.log.trimmed || expect >= r.version || expect == 0 {
		return false
	}
	return r.log.records[expect-r.log.trimmed].stamp == stamp
}

// Create implements [Store].
func (m *Memory) Create(_ context.Context, key Key, n New, view *View) (Snapshot, error) {
	return m.create(&m.self, key, n, view)
}

func (m *Memory) create(by *holder, key Key, n New, view *View) (Snapshot, error) {
	info := n.Task.TaskInfo()
	r := &row{
		id: key.Task, skill: n.Private.Skill, task: n.Task, version: 1, private: n.Private,
		context: info.ContextID, state: info.State, at: info.At.UnixNano(),
	}
	r.size = size{said: n.Size}
	r.stamps.set(1, n.Stamp)
	bytes := r.size.held(&r.private, nil)
	if bytes > m.limits.TaskBytes {
		return Snapshot{}, ErrTooLarge
	}
	if n.Push != nil {
		if err := n.Push.Check(); err != nil {
			return Snapshot{}, err
		}
	}
	snap, err := r.snapshot(view)
	if err != nil {
		return snap, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.row(key); old != nil {
		return old.again(by, n.Stamp, view)
	}
	if err := m.repeats.find(key, n.Repeat, m.clock); err != nil {
		return Snapshot{}, err
	}
	r.account = m.account(key.Owner.Principal)
	// The push first: room is made for what is taken alone.
	if n.Push != nil && !m.takesPush(r.account) || !m.makeRoom(r.account, nil, holding{1, bytes}) {
		return Snapshot{}, ErrFull
	}
	if n.Call != nil {
		r.work.number(n.Call)
		snap.Run = r.take(by, n.Call, n.Stamp)
		if m.shared {
			by.runs[r] = struct{}{}
		}
	}
	m.insert(key.Owner, r, bytes)
	m.repeats.add(key, n.Repeat, n.Call, m.clock)
	if n.Push != nil {
		r.addPush(*n.Push)
	}
	snap.Epoch, snap.Pushed = r.work.epoch, n.Push != nil
	return snap, nil
}

// again is what is returned for a task that is there already. The caller holds the lock of the index.
func (r *row) again(by *holder, stamp uint64, view *View) (Snapshot, error) {
	m := r.store()
	m.mu.Unlock() // that of the row goes first
	defer m.mu.Lock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone || !r.stamped(stamp, 0) {
		return Snapshot{}, ErrExists
	}
	snap, err := r.snapshot(view)
	snap.Run = r.work.begun(by, stamp)
	return snap, err
}

// Apply implements [Store].
func (m *Memory) Apply(_ context.Context, key Key, expect int64, u Update, view *View) (Snapshot, error) {
	return m.apply(&m.self, key, expect, u, view)
}

func (m *Memory) apply(by *holder, key Key, expect int64, u Update, view *View) (Snapshot, error) {
	r := m.lookup(key)
	if r == nil {
		return Snapshot{}, ErrNotFound
	}
	return r.apply(by, expect, u, view)
}

// Apply implements [Ref].
func (r *row) Apply(_ context.Context, expect int64, u Update, view *View) (Snapshot, error) {
	return r.apply(&r.store().self, expect, u, view)
}

func (r *row) apply(by *holder, expect int64, u Update, view *View) (Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gone && r.stamped(u.Stamp, expect) {
		snap, err := r.snapshot(view)
		snap.Run = r.work.begun(by, u.Stamp)
		return snap, err
	}
	if err := r.allows(by, expect, &u); err != nil {
		return Snapshot{}, err
	}
	if u.Size == (Size{}) {
		u.Size = SizeOf(u.Event, u.Messages)
	}
	info := u.Event.EventInfo()
	if info.TaskID != r.id || info.Kind != runtime.EventStatus && info.Kind != runtime.EventArtifact {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrUnfit, runtime.Mismatch(r.task, u.Event))
	}
	private := r.next(&u, info.State)
	grown, err := r.admit(&u, info, &private)
	if err != nil {
		return Snapshot{}, err
	}
	if err := r.task.Apply(u.Event); err != nil { // it is incomplete
		return Snapshot{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	for _, msg := range u.Messages {
		r.task.AddMessage(msg)
	}
	r.private, r.size = private, grown
	r.record(&u, info)
	r.version++
	r.stamps.set(r.version, u.Stamp)
	run := r.hand(by, &u, info.State)
	if info.Kind == runtime.EventStatus || r.rests() != (r.resting != nil) {
		r.store().moved(r)
	}
	if u.Ticket != nil || len(r.tickets()) > 0 {
		r.punch(&u, info.State)
	}
	if u.Push != nil || u.Repeat != nil || len(r.pushes()) > 0 || r.store().shared {
		r.told(by, &u)
	}
	snap, err := r.snapshot(view)
	snap.Run = run
	if info.State.Terminal() {
		r.pack()
	}
	return snap, err
}

// allows says why an update cannot be made, as far as that does not depend on its size.
func (r *row) allows(by *holder, expect int64, u *Update) error {
	if r.gone {
		return ErrNotFound
	}
	if err := r.repeated(u); err != nil {
		return err
	}
	switch {
	case r.state.Terminal():
		return ErrEnded
	case u.Epoch != 0 && (r.work.epoch != u.Epoch || r.work.holder != by):
		return ErrLost
	case (u.Epoch == 0 || expect != 0) && r.version != expect:
		return ErrConflict
	case u.Redeem != nil && !r.admits(*u.Redeem):
		return ErrTicket
	}
	return r.fits(u.Push)
}

func (r *row) repeated(u *Update) error {
	if u.Repeat == nil {
		return nil
	}
	m := r.store()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.repeats.find(r.key(), u.Repeat, m.clock)
}

// told passes on what an update means to others. The caller holds the lock of the row.
func (r *row) told(by *holder, u *Update) {
	m := r.store()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repeats.add(r.key(), u.Repeat, u.Call, m.clock)
	m.outbox.due(r.pushes(), m.clock())
	if u.Push != nil {
		r.addPush(*u.Push)
	}
	m.wake(r.key(), by)
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
func (r *row) record(u *Update, info runtime.EventInfo) {
	if r.unread(u) {
		r.log = nil
		return
	}
	if r.log == nil {
		r.log = newEventLog(r.version)
	}
	r.log.append(u, info, r.store().limits.Events)
}

// unread reports whether nobody will ask for the update's event.
func (r *row) unread(u *Update) bool { return u.Unread && len(r.pushes()) == 0 && !r.store().shared }

// moved puts a task of another status into its place in the index. The caller holds its lock.
func (m *Memory) moved(r *row) {
	info := r.task.TaskInfo()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move(r, info.State, info.At.UnixNano())
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
	if view.At != 0 && view.At != r.version {
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
		Context: r.context, State: r.state, Version: r.version, Epoch: r.work.epoch, Calls: r.work.calls, Done: r.work.done,
		Running: r.work.holder != nil, Skill: r.private.Skill, ClientID: r.private.ClientID, Trace: r.private.Trace,
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
	case after >= r.version:
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
	return m.held.bytes
}

func (m *Memory) lookup(key Key) *row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.row(key)
}

// snapshot returns the row as view asks. An ended task never changes again: the whole of it needs no copy.
func (r *row) snapshot(view *View) (Snapshot, error) {
	s := Snapshot{Version: r.version, Private: r.private, Epoch: r.work.epoch, Pushed: len(r.pushes()) > 0}
	if view == nil {
		return s, nil
	}
	s.Bytes = r.size.of(*view)
	task, err := r.whole()
	switch {
	case err != nil:
	case view.History == nil && view.Artifacts && r.state.Terminal():
		s.Task = task
	default:
		s.Task = task.View(view.History, view.Artifacts)
	}
	return s, err
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
			m.charge(old, holding{bytes: old.size.held(&old.private, nil) - old.charged})
		}
		old.mu.Unlock()
	}
	m.logs[m.oldest] = r
	m.oldest = (m.oldest + 1) % len(m.logs)
}
