package relational

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Store is the part of a [store.Store] that is the same in all databases: what a change reads, decides and writes. When that happens is
// for its database to say.
type Store struct {
	Reads
	db     DB
	limits Limits
	logger *slog.Logger
	claims claims
}

// NewStore makes a store. The logger gets errors that no caller is told of.
func NewStore(r Reads, db DB, l Limits, logger *slog.Logger) Store {
	return Store{Reads: r, db: db, limits: l, logger: logger}
}

// DB changes the tables of a [Store].
type DB interface {
	// Me is the number of this instance.
	Me() int32
	// Change has a change decided, and makes it. prepare, unless it is nil, is called on the caller's goroutine with the task as it was
	// a moment ago; decide with the task as it is, in whose turn it is, or nil for none. Both may be called again when another was faster.
	Change(ctx context.Context, of Ref, prepare func(*stored.Row), decide Decide) error
	// Orphans returns at most max tasks of some skills, but not some of them, with open calls that no instance runs which is there: by
	// number, with who ran them; 0: nobody.
	Orphans(ctx context.Context, skills []string, but []int64, max int) (map[int64]int32, error)
	// Settle changes the configuration of a delivery of a task by a statement, while no event comes to the task, and returns how many rows
	// it has changed.
	Settle(ctx context.Context, task int64, sql string, args []any) (int64, error)
	// Running returns the tasks with open calls that this instance runs.
	Running(ctx context.Context) ([]int64, error)
}

// Ref names a task: by its number, or by its key if that is 0. Without an id it is none, but something of the owner's.
type Ref struct {
	Key store.Key
	N   int64
	New bool // it is to be made
}

// Decide decides on a change of a task, nil if there is none, and puts into tx what is to be written.
type Decide func(ctx context.Context, tx Tx, task *stored.Row) error

// Tx is where a change is decided. In SQLite that is the transaction of the writer: what is read is what it has written, and what is
// added is written at once. In PostgreSQL it is the caller's goroutine: what is added is sent in the end, with what others send, and
// nothing of it is made if the task is no longer what it was. A change that is refused has added nothing.
type Tx interface {
	Out
	Base() *Base
	// Confirm returns when what was found to be stored is where commits have to be.
	Confirm(ctx context.Context) error
	// Owner returns an owner, and Open makes its rows if it has none.
	Owner(ctx context.Context, of store.Owner) (Owner, error)
	Open(ctx context.Context, o Owner) (Owner, error)
	// Held is what an owner's account holds, and everybody's.
	Held(ctx context.Context, o Owner) (own, all Sums, err error)
	// Reserve makes room for a change, and counts it in.
	Reserve(ctx context.Context, d Delta) error
	// Repeats counts the messages of an owner's account that may be sent again.
	Repeats(o Owner) *Repeats
	// EvictNote drops the note that was written longest ago of the account with the most bytes of notes, but not a certain one.
	EvictNote(ctx context.Context, but int64) (dropped int, err error)
	// Number returns the number of a new task.
	Number(ctx context.Context) (int64, error)
	// PutTask writes the row of a task. The change has all its events by then.
	PutTask(c *Change)
	// Then calls publish, with the lock of the row, when the change is stored. An error says that the row is wrong.
	Then(r *stored.Row, publish func() error)
}

// Owner is a principal in a tenant, with the numbers of its rows; 0: there is none yet.
type Owner struct {
	N, Account int64
	Of         store.Owner
	Idle       bool // a sweep has found it empty, and may delete it
}

// Limits are what a store keeps at most, as its options say.
type Limits struct {
	Tasks      int
	Bytes      int64
	TaskBytes  int64
	OwnerTasks int
	OwnerBytes int64
	Events     int
	Pushes     int
}

// All is what everybody may hold together, and Share what the owner with the given principal may.
func (l *Limits) All() taskstate.Holding {
	return taskstate.Holding{Tasks: int64(l.Tasks), Bytes: l.Bytes}
}

func (l *Limits) Share(principal string) taskstate.Holding {
	return taskstate.Share(l.All(), taskstate.Holding{Tasks: int64(l.OwnerTasks), Bytes: l.OwnerBytes}, principal != "")
}

// slack is by how much a task may grow by chunks of artifacts before its account is charged.
const slack = 64 << 10

// task are the limits of one task.
func (l *Limits) task() *taskstate.Limits {
	return &taskstate.Limits{Task: int(min(l.TaskBytes, math.MaxInt)), Slack: slack}
}

// Answer returns what a change has made, unless its outcome is unknown: then it may still be at work.
func Answer[T any](made *T, err error) (T, error) {
	if errors.Is(err, store.ErrUnknown) {
		var nothing T
		return nothing, err
	}
	return *made, err
}

// mostRounds is how often a change is decided anew when others are faster.
const mostRounds = 100

// errBusy: the task changes all the time.
var errBusy = fmt.Errorf("%w: too many others change the task", store.ErrUnavailable)

// Rounds calls do until nobody was faster. again: it is not the first time.
func Rounds(ctx context.Context, do func(again bool) error) error {
	for i := range mostRounds {
		if err := do(i > 0); !errors.Is(err, ErrStale) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
		}
	}
	return errBusy
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	c := &Change{Key: key, view: view}
	task := n.Task.View(nil, true) // a copy, since a caller that gets no answer sends its own again
	start := stored.NewMeta(&n)
	prepare := func(*stored.Row) { c.Change = stored.ForNew(s.Base.Codec, &n, s.db.Me()) }
	return Answer(&c.snap, s.db.Change(ctx, Ref{Key: key, New: true}, prepare, func(ctx context.Context, tx Tx, r *stored.Row) error {
		if r != nil {
			effects, again := r.Meta.Again(c.Rules.By, c.Rules.Stamp)
			if !again {
				return store.ErrExists
			}
			return c.again(ctx, tx, r, effects)
		}
		c.N, c.Was = 0, &start
		return s.create(ctx, tx, c, task)
	}))
}

// create makes a task that is not there.
func (s *Store) create(ctx context.Context, tx Tx, c *Change, task runtime.Task) error {
	owner, err := s.decide(ctx, tx, c, nil)
	if err == nil {
		err = s.reserve(ctx, tx, c, owner)
	}
	if err == nil {
		owner, err = tx.Open(ctx, owner)
	}
	if err == nil {
		c.N, err = tx.Number(ctx)
	}
	if err == nil {
		err = s.write(ctx, tx, c, owner)
	}
	if err != nil {
		return err
	}
	tx.PutTask(c)
	c.publish(s.Base.Codec, tx, &stored.Row{N: c.N, Key: c.Key, Task: task})
	return nil
}

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, key store.Key, expect int64, u store.Update, view *store.View) (store.Snapshot, error) {
	c := &Change{Key: key, view: view}
	prepare := func(r *stored.Row) {
		r.Mu.Lock()
		after := r.Task.View(new(int), false)
		r.Mu.Unlock()
		c.Change = stored.ForUpdate(s.Base.Codec, &u, expect, s.db.Me(), after)
	}
	return Answer(&c.snap, s.db.Change(ctx, Ref{Key: key}, prepare, func(ctx context.Context, tx Tx, r *stored.Row) error {
		c.N, c.Was = r.N, &r.Meta
		return s.apply(ctx, tx, c, r)
	}))
}

// apply makes an update of a task.
func (s *Store) apply(ctx context.Context, tx Tx, c *Change, r *stored.Row) error {
	owner, err := s.decide(ctx, tx, c, r.Task)
	if err == nil && c.Effects.Again {
		return c.again(ctx, tx, r, c.Effects)
	}
	if err == nil {
		err = s.reserve(ctx, tx, c, owner)
	}
	if err == nil {
		err = s.write(ctx, tx, c, owner)
	}
	if err == nil {
		err = tx.Base().Compact(ctx, c, r, tx, s.limits.Events, s.limits.TaskBytes)
	}
	if err != nil {
		return err
	}
	tx.PutTask(c)
	c.publish(s.Base.Codec, tx, r)
	return nil
}

// decide asks the rules, with what they must know of other rows. task is the task as it is, nil if it is new.
func (s *Store) decide(ctx context.Context, tx Tx, c *Change, task runtime.Task) (owner Owner, err error) {
	if owner, err = tx.Owner(ctx, c.Key.Owner); err != nil {
		return owner, err
	}
	base, u, r := tx.Base(), c.U, &c.Rules
	c.Run = nil
	if u.Repeat != nil {
		if r.Facts.Repeated = repeated(ctx, tx, owner, u.Repeat); store.Unsure(r.Facts.Repeated) {
			return owner, r.Facts.Repeated
		}
	}
	if u.Redeem != nil {
		if r.Facts.NoTicket = base.Admits(ctx, c.N, *u.Redeem); store.Unsure(r.Facts.NoTicket) {
			return owner, r.Facts.NoTicket
		}
	}
	if u.Push != nil {
		if err := s.pushFacts(ctx, tx, owner, c.N, u.Push, r.Push); err != nil {
			return owner, err
		}
	}
	c.Ask(c.Was, task)
	return owner, c.Decide(c.Was, task, base.Now().UnixNano(), s.limits.task())
}

// reserve makes room for the next version, and counts the change in.
func (s *Store) reserve(ctx context.Context, tx Tx, c *Change, owner Owner) error {
	d := Delta{Owner: owner, Task: c.N}
	if more, ok := c.Charge(c.Was, s.limits.task()); ok {
		c.Next.Charged = int64(c.Effects.Held)
		d.More, d.Asked, d.Must = more, true, c.Effects.Must
		if c.Was.Rest() != taskstate.Active {
			d.Stays = c.Was.Holding()
		}
	}
	d.Move(c.Was, &c.Next)
	if c.Rules.Push != nil && c.Rules.Push.New {
		d.Pushes++
	}
	return tx.Reserve(ctx, d)
}

// write writes all of the change but the row of its task.
func (s *Store) write(ctx context.Context, tx Tx, c *Change, owner Owner) error {
	c.Owner, c.Account = owner.N, owner.Account
	base := tx.Base()
	if err := base.Write(ctx, c, tx); err != nil || c.U.Repeat == nil {
		return err
	}
	tx.Repeats(owner).room(base, tx, owner.Account)
	base.AddRepeat(c, tx)
	return nil
}

// publish shows the change to readers, and makes the answer.
func (c *Change) publish(codec *stored.Codec, tx Tx, r *stored.Row) {
	tx.Then(r, func() error {
		err := c.Publish(codec, r) // it fitted when it was prepared
		c.snap = r.Snapshot(c.view)
		c.snap.Run = c.Run
		return err
	})
}

// again answers a change that was made before, with the task as it is now and the call that the caller must begin.
func (c *Change) again(ctx context.Context, tx Tx, r *stored.Row, e taskstate.Effects) (err error) {
	if err := tx.Confirm(ctx); err != nil {
		return err
	}
	c.Run = nil
	if e.Begin != 0 {
		if c.Run, err = tx.Base().Began(ctx, r.N, &r.Meta); err != nil {
			return err
		}
	}
	tx.Then(r, func() error {
		c.snap = r.Snapshot(c.view)
		c.snap.Run = c.Run
		return nil
	})
	return nil
}

// change changes a task without an event. decide makes next what it becomes, and reports whether that is anything else.
func (s *Store) change(ctx context.Context, of Ref, decide func(ctx context.Context, tx Tx, r *stored.Row, next *stored.Meta) (bool, error)) error {
	return s.db.Change(ctx, of, nil, func(ctx context.Context, tx Tx, r *stored.Row) error {
		c := &Change{Change: &stored.Change{Next: r.Meta}, Key: r.Key, N: r.N, Was: &r.Meta}
		if changed, err := decide(ctx, tx, r, &c.Next); err != nil || !changed {
			return err
		}
		if m := &c.Next; m.Attempt != r.Meta.Attempt || m.Began != r.Meta.Began {
			tx.Base().begin(c, tx, m.Done+1)
		}
		tx.PutTask(c)
		tx.Then(r, func() error {
			r.Meta = c.Next
			return nil
		})
		return nil
	})
}
