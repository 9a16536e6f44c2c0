package postgres

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// What principals hold is kept in lanes: an account has a row for each lane, and holds the sum of them. A writer adds
// to the rows of its own lane, once in a batch, so that replicas do not wait for each other. See docs/decisions/13.
//
// A process reads the sums of an account when it needs them, at most once a second, and counts its own changes beside
// them. With one instance they are exact, with several they are a second old.

// lanes is how many rows an account has at most.
const lanes = 16

// laneOf is the lane of a writer.
func (s *Store) laneOf(writer int) int16 { return int16((int(s.me())*writers + writer) % lanes) } //nolint:gosec // below 16

// sumColumns are the sums of rows of usage, in the order of [relational.Sums.Fields].
const sumColumns = `coalesce(sum(tasks),0)::bigint, coalesce(sum(bytes),0)::bigint, coalesce(sum(restedtasks),0)::bigint,
	coalesce(sum(restedbytes),0)::bigint, coalesce(sum(pushes),0)::bigint, coalesce(sum(notes),0)::bigint`

// ledger has the owners and the accounts that this process knows, and says what has room.
type ledger struct {
	db     *database
	limits *relational.Limits
	// drop drops tasks that rest by a statement made of droppingSQL, and returns how many.
	drop func(ctx context.Context, sql string, args ...any) (int, error)

	mu       sync.Mutex
	owners   map[store.Owner]knownOwner
	accounts map[string]*account // by principal
	all      *account            // of everybody
	claims   claims
	walked   atomic.Int64 // number of the owner at which the last sweep stopped
	// passed is the task at which it stopped, by how they rest; nil: it came to the end.
	passed [taskstate.Parked + 1]atomic.Pointer[rested]
}

// everybody is the number of the account of all.
const everybody = 0

func (l *ledger) init(db *database, o *relational.Limits) {
	l.db, l.limits = db, o
	l.owners, l.accounts, l.all = map[store.Owner]knownOwner{}, map[string]*account{}, &account{limit: o.All()}
}

// account is what one principal holds, in all tenants. The mutex of the ledger guards it.
type account struct {
	limit     taskstate.Holding
	held      relational.Sums // as they were read, and what this process has changed since
	unwritten relational.Sums // of held: what is on its way into the database
	since     relational.Sums // what held has beside what is being read
	read      time.Time       // when that began; zero: they must be read
	reading   chan struct{}   // closed when they were read; nil: nobody reads
	repeats   relational.Repeats
}

// sumsLast is for how long sums are used that were read.
const sumsLast = time.Second

// add counts a change that is to be written.
func (a *account) add(by relational.Sums) {
	a.held, a.unwritten, a.since = a.held.Plus(by), a.unwritten.Plus(by), a.since.Plus(by)
}

// written ends that: the change is in the database, or it is not and counts no more.
func (a *account) written(by relational.Sums, is bool) {
	if a.unwritten = a.unwritten.Minus(by); !is {
		a.held, a.since = a.held.Minus(by), a.since.Minus(by)
	}
}

// mostKnown is how many owners, and how many accounts, a process remembers.
const mostKnown = 10_000

// account returns that of a principal.
func (l *ledger) account(principal string) *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[principal]
	if a == nil {
		if len(l.accounts) >= mostKnown {
			clear(l.accounts)
		}
		a = &account{limit: l.limits.Share(principal)}
		l.accounts[principal] = a
	}
	return a
}

// delta is a change that is reserved before it is written, and written with the change.
type delta struct {
	relational.Delta
	// counted is the account that it was counted in: by the time it is settled the owner may have another one in memory.
	counted *account
	// first is called before a task is dropped for the change: with an error the change is not made, and nothing is
	// dropped. nil: it is known that it can be made.
	first func(ctx context.Context) error
}

// count adds a delta to what this process knows.
func (l *ledger) count(d *delta) {
	a := l.account(d.Owner.Of.Principal)
	l.mu.Lock()
	defer l.mu.Unlock()
	d.counted = a
	a.add(d.Sums)
	l.all.add(d.Sums)
}

// settled ends what reserve began: with nil the change is stored, with [store.ErrUnknown] it may be, and the sums
// must be read anew; with any other error it is not.
func (l *ledger) settled(d *delta, err error) {
	unknown := errors.Is(err, store.ErrUnknown)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range []*account{d.counted, l.all} {
		if a.written(d.Sums, err == nil || unknown); unknown {
			a.read = time.Time{}
		}
	}
}

// know has the sums of an account read if those that are known are from before a time.
func (l *ledger) know(ctx context.Context, a *account, n int64, before time.Time) error {
	for {
		l.mu.Lock()
		if a.read.After(before) {
			l.mu.Unlock()
			return nil
		}
		wait := a.reading
		if wait == nil {
			break
		}
		l.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return readFailed(context.Cause(ctx))
		}
	}
	done, began := make(chan struct{}), time.Now()
	a.reading, a.since = done, a.unwritten
	l.mu.Unlock()
	var read relational.Sums
	var err error
	if n != everybody || a == l.all { // one without rows holds nothing yet
		_, err = l.db.one(ctx, "SELECT "+sumColumns+" FROM a2a.usage WHERE account=$1", []any{n}, read.Fields()...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		a.held, a.read = read.Plus(a.since), began
	}
	a.reading = nil
	close(done)
	return err
}

// heldBy is what an owner's account holds, and everybody's, as it was a second ago at most.
func (l *ledger) heldBy(ctx context.Context, o relational.Owner) (own, all relational.Sums, err error) {
	a, after := l.account(o.Of.Principal), time.Now().Add(-sumsLast)
	if err := l.know(ctx, a, o.Account, after); err != nil {
		return own, all, err
	}
	if err := l.know(ctx, l.all, everybody, after); err != nil {
		return own, all, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.held, l.all.held, nil
}

const addUsageSQL = `INSERT INTO a2a.usage AS l(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
	SELECT x.account, $1, x.tasks, x.bytes, x.restedtasks, x.restedbytes, x.pushes, x.notes
	FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
	WITH ORDINALITY AS x(account, tasks, bytes, restedtasks, restedbytes, pushes, notes, i) ORDER BY x.i
	` + addToUsage

// addToUsage ends a statement that inserts into lane.
const addToUsage = `ON CONFLICT (account, lane) DO UPDATE SET tasks=l.tasks+excluded.tasks, bytes=l.bytes+excluded.bytes,
	restedtasks=l.restedtasks+excluded.restedtasks, restedbytes=l.restedbytes+excluded.restedbytes,
	pushes=l.pushes+excluded.pushes, notes=l.notes+excluded.notes`

const addCountsSQL = `INSERT INTO a2a.counts AS u(owner, state, lane, tasks)
	SELECT x.owner, x.state, $1, x.tasks FROM unnest($2::bigint[], $3::smallint[], $4::bigint[])
	WITH ORDINALITY AS x(owner, state, tasks, i) ORDER BY x.i
	` + addToCounts

// addToCounts ends a statement that inserts into usage.
const addToCounts = `ON CONFLICT (owner, state, lane) DO UPDATE SET tasks=u.tasks+excluded.tasks`

// queueSums puts the statements of a lane into a batch: one row for each account and for everybody, and one
// for each state in which an owner has more or fewer tasks, in one order for all writers.
func (l *ledger) queueSums(b *pgx.Batch, lane int16, deltas []*delta) {
	accounts, usage := map[int64]relational.Sums{}, map[counted]int64{}
	for _, d := range deltas {
		if d.Sums != (relational.Sums{}) {
			accounts[d.Owner.Account] = accounts[d.Owner.Account].Plus(d.Sums)
			accounts[everybody] = accounts[everybody].Plus(d.Sums)
		}
		for state, by := range d.States {
			if by != 0 {
				usage[counted{d.Owner.N, int16(state)}] += int64(by) //nolint:gosec // below 16
			}
		}
	}
	maps.DeleteFunc(accounts, func(_ int64, by relational.Sums) bool { return by == relational.Sums{} })
	maps.DeleteFunc(usage, func(_ counted, by int64) bool { return by == 0 })
	if len(accounts) > 0 {
		b.Queue(l.db.sql(addUsageSQL), usageArgs(lane, accounts)...)
	}
	if len(usage) > 0 {
		b.Queue(l.db.sql(addCountsSQL), countsArgs(lane, usage)...)
	}
}

// counted is a row of counts.
type counted struct {
	owner int64
	state int16
}

func usageArgs(lane int16, accounts map[int64]relational.Sums) []any {
	var columns [7][]int64
	for _, n := range slices.Sorted(maps.Keys(accounts)) {
		by := accounts[n]
		for i, v := range []int64{n, by.Tasks, by.Bytes, by.RestedTasks, by.RestedBytes, by.Pushes, by.Notes} {
			columns[i] = append(columns[i], v)
		}
	}
	args := []any{lane}
	for _, column := range columns {
		args = append(args, column)
	}
	return args
}

func countsArgs(lane int16, usage map[counted]int64) []any {
	keys := slices.SortedFunc(maps.Keys(usage), func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.state, b.state))
	})
	var owners, tasks []int64
	var states []int16
	for _, k := range keys {
		owners, states, tasks = append(owners, k.owner), append(states, k.state), append(tasks, usage[k])
	}
	return []any{lane, owners, states, tasks}
}
