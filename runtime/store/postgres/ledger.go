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
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
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

// sums are what an account holds, or by how much that changes.
type sums struct{ tasks, bytes, restedTasks, restedBytes, pushes, notes int64 }

func (s sums) plus(o sums) sums {
	return sums{
		s.tasks + o.tasks, s.bytes + o.bytes, s.restedTasks + o.restedTasks, s.restedBytes + o.restedBytes,
		s.pushes + o.pushes, s.notes + o.notes,
	}
}

func (s sums) minus(o sums) sums {
	return s.plus(sums{-o.tasks, -o.bytes, -o.restedTasks, -o.restedBytes, -o.pushes, -o.notes})
}

// sumColumns are the sums of rows of usage, in the order of fields.
const sumColumns = `coalesce(sum(tasks),0)::bigint, coalesce(sum(bytes),0)::bigint, coalesce(sum(restedtasks),0)::bigint,
	coalesce(sum(restedbytes),0)::bigint, coalesce(sum(pushes),0)::bigint, coalesce(sum(notes),0)::bigint`

func (s *sums) fields() []any {
	return []any{&s.tasks, &s.bytes, &s.restedTasks, &s.restedBytes, &s.pushes, &s.notes}
}

// ledger has the owners and the accounts that this process knows, and says what has room.
type ledger struct {
	db      *database
	options *Options
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

func (l *ledger) init(db *database, o *Options) {
	l.db, l.options = db, o
	l.owners, l.accounts, l.all = map[store.Owner]knownOwner{}, map[string]*account{}, &account{limit: o.all()}
}

// account is what one principal holds, in all tenants. The mutex of the ledger guards it.
type account struct {
	limit     taskstate.Holding
	held      sums          // as they were read, and what this process has changed since
	unwritten sums          // of held: what is on its way into the database
	since     sums          // what held has beside what is being read
	read      time.Time     // when that began; zero: they must be read
	reading   chan struct{} // closed when they were read; nil: nobody reads
	repeats   repeats
}

// sumsLast is for how long sums are used that were read.
const sumsLast = time.Second

// state is the account as the rules know it.
func (a *account) state() taskstate.Account {
	return taskstate.Account{
		Held: taskstate.Holding{Tasks: a.held.tasks, Bytes: a.held.bytes}, Limit: a.limit,
		Rested: taskstate.Holding{Tasks: a.held.restedTasks, Bytes: a.held.restedBytes},
	}
}

// add counts a change that is to be written.
func (a *account) add(by sums) {
	a.held, a.unwritten, a.since = a.held.plus(by), a.unwritten.plus(by), a.since.plus(by)
}

// written ends that: the change is in the database, or it is not and counts no more.
func (a *account) written(by sums, is bool) {
	if a.unwritten = a.unwritten.minus(by); !is {
		a.held, a.since = a.held.minus(by), a.since.minus(by)
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
		a = &account{limit: l.options.share(principal)}
		l.accounts[principal] = a
	}
	return a
}

// delta is by how much a change moves the sums of an owner. It is reserved before it is written, and written with the
// change.
type delta struct {
	owner owner
	task  int64 // that changes; 0: a new one, or none
	// counted is the account that reserve has counted it in: by the time it is settled the owner may have another one
	// in memory.
	counted *account
	sums
	states [16]int8 // tasks by state
	// first is called before a task is dropped for the change: with an error the change is not made, and nothing is
	// dropped. nil: it is known that it can be made.
	first func(ctx context.Context) error
}

// move counts a task that goes from one version to the next; a Version of 0 is a task that does not exist. It does not
// count push configurations.
func (d *delta) move(from, to *stored.Meta) {
	d.sums = d.plus(holds(to)).minus(holds(from))
	if from.Version != 0 {
		d.states[from.Status&15]--
	}
	if to.Version != 0 {
		d.states[to.Status&15]++
	}
}

// holds is what an account holds for a task.
func holds(m *stored.Meta) sums {
	switch {
	case m.Version == 0:
		return sums{}
	case m.Rest() == taskstate.Active:
		return sums{tasks: 1, bytes: m.Charged}
	}
	return sums{tasks: 1, bytes: m.Charged, restedTasks: 1, restedBytes: m.Charged}
}

// count adds a delta to what this process knows.
func (l *ledger) count(d *delta) {
	a := l.account(d.owner.of.Principal)
	l.mu.Lock()
	defer l.mu.Unlock()
	d.counted = a
	a.add(d.sums)
	l.all.add(d.sums)
}

// settled ends what reserve began: with nil the change is stored, with [store.ErrUnknown] it may be, and the sums
// must be read anew; with any other error it is not.
func (l *ledger) settled(d *delta, err error) {
	unknown := errors.Is(err, store.ErrUnknown)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range []*account{d.counted, l.all} {
		if a.written(d.sums, err == nil || unknown); unknown {
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
	var read sums
	var err error
	if n != everybody || a == l.all { // one without rows holds nothing yet
		_, err = l.db.one(ctx, "SELECT "+sumColumns+" FROM a2a.usage WHERE account=$1", []any{n}, read.fields()...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		a.held, a.read = read.plus(a.since), began
	}
	a.reading = nil
	close(done)
	return err
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
	accounts, usage := map[int64]sums{}, map[counted]int64{}
	for _, d := range deltas {
		if d.sums != (sums{}) {
			accounts[d.owner.account] = accounts[d.owner.account].plus(d.sums)
			accounts[everybody] = accounts[everybody].plus(d.sums)
		}
		for state, by := range d.states {
			if by != 0 {
				usage[counted{d.owner.n, int16(state)}] += int64(by) //nolint:gosec // below 16
			}
		}
	}
	maps.DeleteFunc(accounts, func(_ int64, by sums) bool { return by == sums{} })
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

func usageArgs(lane int16, accounts map[int64]sums) []any {
	var columns [7][]int64
	for _, n := range slices.Sorted(maps.Keys(accounts)) {
		by := accounts[n]
		for i, v := range []int64{n, by.tasks, by.bytes, by.restedTasks, by.restedBytes, by.pushes, by.notes} {
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
