package postgres

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// tx is the [relational.Tx] of one change, on its caller's goroutine.
type tx struct {
	*write
	of   relational.Ref
	r    *row // whose turn it has; nil: there is none
	then func() error
}

// changes is the [relational.DB] of a store.
type changes struct{ s *Store }

// Me is that of [relational.DB].
func (d changes) Me() int32 { return d.s.me() }

// Change is that of [relational.DB]. What is decided on a task from the cache is checked by the write itself, or, if nothing is written,
// by a look whether the task is still that one.
func (d changes) Change(ctx context.Context, of relational.Ref, prepare func(*stored.Row), decide relational.Decide) error {
	return relational.Rounds(ctx, func(again bool) (err error) {
		t := &tx{write: d.s.newWrite(), of: of}
		defer t.unlock()
		switch {
		case !of.New:
			t.r, err = d.s.tasks.locked(ctx, of, again)
		case again:
			d.s.ledger.forgetOwner(of.Key.Owner) // a sweep may have deleted it
			err = t.find(ctx)
		}
		if err != nil {
			return err
		}
		if prepare != nil {
			prepare(t.current())
		}
		return t.round(ctx, again, decide)
	})
}

// round decides and sends. fresh: the task is what it is, or is not there.
func (t *tx) round(ctx context.Context, fresh bool, decide relational.Decide) error {
	err := decide(ctx, t, t.current())
	if err != nil {
		t.settle(err)
	}
	sends := err == nil && (t.write.task.sql != "" || len(t.rest) > 0)
	switch {
	case sends:
		if err := t.s.send(ctx, t.write); err != nil {
			if t.r != nil && errors.Is(err, store.ErrUnknown) {
				t.s.tasks.forget(t.r)
			}
			return err
		}
	case fresh || errors.Is(err, relational.ErrStale):
	case t.of.New && err != nil && !store.Unsure(err):
		// That the task is there already comes before any other reason.
		if failed := t.find(ctx); failed != nil || t.r == nil {
			return cmp.Or(failed, err)
		}
		t.write = t.s.newWrite()
		return t.round(ctx, true, decide)
	case !t.of.New:
		if rev, failed := t.s.tasks.looks.rev(ctx, t.r.N); failed != nil || rev != t.r.rev {
			return cmp.Or(failed, relational.ErrStale)
		}
	}
	if err == nil && t.then != nil {
		t.publish(sends)
	}
	return err
}

// find looks for a task that is to be made.
func (t *tx) find(ctx context.Context) (err error) {
	if t.of.Key.Task == "" {
		return nil
	}
	if t.r, err = t.s.tasks.locked(ctx, t.of, true); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// current is the task as it is now, nil if there is none.
func (t *tx) current() *stored.Row {
	if t.r == nil {
		return nil
	}
	return t.r.Row
}

func (t *tx) unlock() {
	if t.r != nil {
		t.r.unlock()
	}
}

// Then is that of [relational.Tx].
func (t *tx) Then(r *stored.Row, publish func() error) {
	if t.then = publish; t.r == nil {
		t.r = newRow(relational.Loaded{Row: r}, t.server)
		t.r.turn <- struct{}{}
	}
}

// publish shows the change to readers. stored: there is a new revision.
func (t *tx) publish(stored bool) {
	r := t.r
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if err := t.then(); err != nil {
		t.s.options.Logger.Error("an event does not fit its task", "task", r.Key.Task, "error", err)
		r.dropped = true
	}
	if !stored {
		return
	}
	if r.rev++; r.dropped {
		t.s.tasks.cache.Drop(r.Key)
	} else {
		t.s.tasks.cache.Put(r.Key, r, r.Meta.Cost())
	}
}

// Base is that of [relational.Tx].
func (t *tx) Base() *relational.Base { return &t.s.base }

// confirmSQL is a transaction that changes nothing, and commits as one that does.
const confirmSQL = "SELECT pg_logical_emit_message(true, 'a2a', '')"

// Confirm is that of [relational.Tx]. A commit whose connection was lost while it waited for a standby is there for everybody to see,
// although the standby may not have it.
func (t *tx) Confirm(ctx context.Context) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	_, err := t.s.pool.Exec(ctx, confirmSQL)
	return writeFailed(err, false) // it is done again
}

// Owner is that of [relational.Tx].
func (t *tx) Owner(ctx context.Context, of store.Owner) (relational.Owner, error) {
	return t.s.ledger.owner(ctx, of)
}

// Open is that of [relational.Tx].
func (t *tx) Open(ctx context.Context, o relational.Owner) (relational.Owner, error) {
	err := t.s.ledger.makeOwner(ctx, &o)
	for _, d := range t.sums {
		d.Owner = o
	}
	return o, err
}

// Held is that of [relational.Tx].
func (t *tx) Held(ctx context.Context, o relational.Owner) (own, all relational.Sums, err error) {
	return t.s.ledger.heldBy(ctx, o)
}

// Reserve is that of [relational.Tx].
func (t *tx) Reserve(ctx context.Context, of relational.Delta) error {
	d := &delta{Delta: of, first: t.sure}
	if !d.Asked {
		t.s.ledger.count(d)
	} else if err := t.s.ledger.reserve(ctx, d); err != nil {
		return err
	}
	t.sums = append(t.sums, d)
	return nil
}

// sure returns an error if the change cannot be made any more: no task must be evicted for it then.
func (t *tx) sure(ctx context.Context) error {
	if t.r != nil {
		rev, err := t.s.tasks.looks.rev(ctx, t.r.N)
		if err == nil && rev != t.r.rev {
			err = relational.ErrStale
		}
		return err
	}
	if t.of.Key.Task == "" {
		return nil
	}
	n, err := t.s.base.Number(ctx, t.of.Key)
	if err == nil && n != 0 {
		err = store.ErrExists
	}
	return err
}

// Repeats is that of [relational.Tx].
func (t *tx) Repeats(o relational.Owner) *relational.Repeats {
	t.repeats = &t.s.ledger.account(o.Of.Principal).repeats
	return t.repeats
}

// EvictNote is that of [relational.Tx].
func (t *tx) EvictNote(ctx context.Context, but int64) (dropped int, err error) {
	return t.s.dropNotes(ctx, mostNotesSQL, but)
}

// Number is that of [relational.Tx].
func (t *tx) Number(ctx context.Context) (int64, error) { return t.s.nextNumber(ctx) }

// insertSQL makes the row of a task, unless there is one of its name or its owner was deleted meanwhile. It locks the owner,
// so that no sweep deletes it before the task is there for all to see.
var insertSQL = strings.TrimSuffix(strings.Replace(dialect.InsertTask(), "VALUES(", "SELECT ", 1), ")") +
	" FROM a2a.owner o WHERE o.n=$3 FOR KEY SHARE ON CONFLICT (owner, id) DO NOTHING"

// These set the content, as most chunks of an artifact do; the state, too; and a new status.
var (
	chunkSQL  = dialect.UpdateTask("rev=rev+1, ", "charged", 3, "n=$1 AND rev=$2")
	updateSQL = dialect.UpdateTask("rev=rev+1, ", "rested", 3, "n=$1 AND rev=$2")
	statusSQL = dialect.UpdateTask("rev=rev+1, ", "head", 3, "n=$1 AND rev=$2")
)

// PutTask is that of [relational.Tx]. The row is that of the revision on which was decided, or the write is undone.
func (t *tx) PutTask(c *relational.Change) {
	m, wire := &c.Next, t.s.base.Codec.Wire
	t.n, t.key, t.next = c.N, c.Key, &m.State
	if c.New != nil {
		t.fence(insertSQL, taskRow(c.N, c.Owner, c.Account, c.Key.Task, m, wire, c.Head)...)
		return
	}
	t.server, t.runner, t.rev = t.r.server, c.Was.Runner, t.r.rev
	args := appendContent([]any{c.N, t.rev}, m)
	if c.OnlyContent() {
		t.fence(chunkSQL, args...)
		return
	}
	args = appendState(args, m)
	if c.Head == nil {
		t.fence(updateSQL, args...)
		return
	}
	t.fence(statusSQL, append(args, int16(m.Status), m.At, int32(wire), c.Head)...) //nolint:gosec // few
}

// taskRow is a row of task, in the order of the dialect's columns.
func taskRow(n, owner, account int64, id string, m *stored.Meta, wire int64, head []byte) []any {
	row := appendContent([]any{n, int64(1), owner, account, id, m.Context, m.Skill, m.ClientID, m.Trace}, m)
	return append(appendState(row, m), int16(m.Status), m.At, int32(wire), head) //nolint:gosec // few
}

// appendContent adds the columns that chunks change.
func appendContent(row []any, m *stored.Meta) []any {
	return append(row, m.Version, relational.Stamps(&m.State), int64(m.Artifacts.Bytes), int32(m.Artifacts.Parts), m.Log, m.Since, m.Charged) //nolint:gosec // few
}

// appendState adds those that follow, before the status.
func appendState(row []any, m *stored.Meta) []any {
	return append(row,
		int64(m.Messages.Bytes), int32(m.Messages.Parts), int64(m.LastStatus.Bytes), int32(m.LastStatus.Parts), m.Oldest, m.Snapshot, m.Body, //nolint:gosec // few
		m.Epoch, m.Calls, m.Done, m.Runner, m.Attempt, m.Made, int64(m.Began), m.Pushes, m.Ticketed, m.Asked, m.Input, m.Saved, //nolint:gosec // bits
		int16(m.Rest()), m.Rested)
}

// orphansSQL finds tasks with open calls that no instance runs which is there, and that this program can read. A
// lease that is over is never renewed, so that this does not change before they are claimed. The runners are few: the
// index is looked at once for each.
const orphansSQL = `WITH RECURSIVE runner(n) AS (
	SELECT min(runner) FROM a2a.task WHERE done<calls
	UNION ALL SELECT (SELECT min(t.runner) FROM a2a.task t WHERE t.done<t.calls AND t.runner>runner.n) FROM runner WHERE runner.n IS NOT NULL)
	SELECT n, runner FROM a2a.task t WHERE done<calls AND skill=ANY($1) AND n<>ALL($2) AND wire<>ALL($4)
		AND NOT EXISTS(SELECT 1 FROM a2a.call c WHERE c.task=t.n AND c.wire=ANY($4)) AND runner=ANY(ARRAY(
		SELECT r.n FROM runner r WHERE NOT EXISTS(SELECT 1 FROM a2a.instance i WHERE i.n=r.n AND i.lease>clock_timestamp())))
	ORDER BY n LIMIT $3`

// Orphans is that of [relational.DB].
func (d changes) Orphans(ctx context.Context, skills []string, but []int64, most int) (map[int64]int32, error) {
	runners := map[int64]int32{}
	err := d.s.query(ctx, orphansSQL, func(row relational.Row) error {
		var n int64
		var runner int32
		err := row.Scan(&n, &runner)
		runners[n] = runner
		return err
	}, skills, but, int64(most), append([]int64{}, d.s.base.Codec.Foreign()...)) // not NULL
	return runners, err
}

// Running is that of [relational.DB].
func (d changes) Running(ctx context.Context) (ns []int64, err error) {
	err = d.s.query(ctx, "SELECT n FROM a2a.task WHERE runner=$1 AND done<calls", func(row relational.Row) error {
		var n int64
		err := row.Scan(&n)
		ns = append(ns, n)
		return err
	}, d.s.me())
	return ns, err
}
