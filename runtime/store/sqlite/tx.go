package sqlite

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// A change is decided by the writer, within its transaction: what it reads is what the file has, and nobody is faster. What it adds is
// written at once. See [relational.Store].

// database is the [relational.DB] of a store.
type database struct{ s *Store }

// Me is that of [relational.DB].
func (d database) Me() int32 { return int32(d.s.me) } //nolint:gosec // instances are few

// Change is that of [relational.DB]. What is prepared is encoded on the caller's goroutine, so that the writer has less to do.
func (d database) Change(ctx context.Context, of relational.Ref, prepare func(*stored.Row), decide relational.Decide) error {
	var read *stored.Row // when the task was not in the cache
	switch {
	case prepare == nil:
	case of.New:
		prepare(nil)
	default:
		r := d.s.cache.Get(of.Key)
		if r == nil {
			var err error
			if r, err = load(&d.s.base, relational.ByKey(of.Key)); err != nil {
				return err
			}
			read = r
		}
		prepare(r)
	}
	return d.s.write(ctx, func(w *writer) error {
		r, err := w.taskOf(of, read)
		if err != nil {
			return err
		}
		return decide(context.Background(), w, r)
	})
}

// taskOf returns the task that is to be changed; nil: there is none, and none is needed.
func (w *writer) taskOf(of relational.Ref, read *stored.Row) (r *stored.Row, err error) {
	switch key := of.Key; {
	case of.N != 0:
		if key, err = w.base.KeyOf(context.Background(), of.N); err != nil {
			return nil, err
		}
		return w.row(key, of.N, nil)
	case !of.New:
		return w.row(key, 0, read)
	case key.Task == "":
		return nil, nil
	default:
		o, err := w.ledger.owner(w, key.Owner)
		if err != nil {
			return nil, err
		}
		if n, found, err := w.one("SELECT n FROM task WHERE owner=? AND id=?", o.n, key.Task); !found || err != nil {
			return nil, err
		} else {
			return w.row(key, n, nil)
		}
	}
}

// row returns a task for a change, from the cache if it is there. It fails with errLater for one that the transaction has
// changed already. read is the row that the caller has read, if any.
func (w *writer) row(key store.Key, n int64, read *stored.Row) (*stored.Row, error) {
	r := w.s.cache.Get(key)
	if r == nil {
		var err error
		if r, err = w.fetch(key, n, read); err != nil {
			return nil, err
		}
		w.s.cache.Put(key, r, r.Meta.Cost())
	}
	if _, ok := w.changed[r.N]; ok {
		return nil, errLater
	}
	return r, nil
}

// fetch reads a task from the file, without its content if the caller has read that at the same version.
func (w *writer) fetch(key store.Key, n int64, read *stored.Row) (*stored.Row, error) {
	if n == 0 && read != nil {
		n = read.N
	}
	which := relational.ByNumber(n)
	if n == 0 {
		which = relational.ByKey(key)
	}
	n, _, m, err := w.base.MetaOf(context.Background(), which)
	if err != nil {
		return nil, err
	}
	if _, ok := w.changed[n]; ok {
		return nil, errLater
	}
	if read == nil || read.N != n || read.Meta.Version != m.Version {
		return load(&w.base, relational.ByNumber(n))
	}
	m.Since, m.Log, m.Content = read.Meta.Since, read.Meta.Log, read.Meta.Content
	read.Meta = m
	return read, stamps(&w.base, n, &read.Meta)
}

// Base is that of [relational.Tx]: it asks within the transaction.
func (w *writer) Base() *relational.Base { return &w.base }

// Add implements [relational.Out]: it makes the statement at once, unless one has failed. A failure is that of the transaction.
func (w *writer) Add(sql string, args ...any) {
	if w.failed == nil {
		_, _ = w.exec(sql, args...)
	}
}

// Fenced implements [relational.Out]. The writer decides within the transaction, so that it finds what it decided on.
func (w *writer) Fenced(sql string, args ...any) {
	if w.failed != nil {
		return
	}
	if n, err := w.exec(sql, args...); err == nil && n == 0 {
		_ = w.fail(fmt.Errorf("%w: %s", relational.ErrStale, sql))
	}
}

// Event implements [relational.Out].
func (w *writer) Event(row []any) { w.Add(dialect.InsertEvent(), row...) }

// Confirm is that of [relational.Tx]: what is in the file stays there.
func (w *writer) Confirm(context.Context) error { return nil }

// Number is that of [relational.Tx].
func (w *writer) Number(context.Context) (int64, error) {
	w.nextN++
	return w.nextN - 1, nil
}

// PutTask is that of [relational.Tx]. After most chunks of an artifact the row is not changed.
func (w *writer) PutTask(c *relational.Change) {
	w.changed[c.N] = struct{}{}
	m, wire := &c.Next, w.s.base.Codec.Wire
	if c.New != nil {
		w.Add(dialect.InsertTask(), taskRow(c.N, c.Owner, c.Account, c.Key.Task, m, wire, c.Head)...)
		return
	}
	if c.OnlyContent() && m.Charged == c.Was.Charged {
		return
	}
	args := appendState([]any{c.N}, m)
	if !c.Effects.Moved {
		w.Add(updateSQL, args...)
		return
	}
	args = append(args, int64(m.Rest()), m.Rested)
	if c.Head == nil {
		w.Add(restSQL, args...)
		return
	}
	w.Add(statusSQL, append(args, int64(m.Status), m.At, wire, c.Head)...)
}

// These set the state; since when it rests, too; and a new status.
var (
	updateSQL = dialect.UpdateTask("", "saved", 2, "n=$1")
	restSQL   = dialect.UpdateTask("", "rested", 2, "n=$1")
	statusSQL = dialect.UpdateTask("", "head", 2, "n=$1")
)

// taskRow is a row of task, in the order of the dialect's columns.
func taskRow(n, owner, account int64, id string, m *stored.Meta, wire int64, head []byte) []any {
	row := appendState([]any{n, owner, account, id, m.Context, m.Skill, m.ClientID, m.Trace}, m)
	return append(row, int64(m.Rest()), m.Rested, int64(m.Status), m.At, wire, head)
}

// appendState adds the columns that most changes set.
func appendState(row []any, m *stored.Meta) []any {
	return append(row, m.Version, m.Oldest, m.Epoch, orNull(int64(m.Runner)), m.Calls, m.Done, m.Messages.Bytes, m.LastStatus.Bytes,
		m.Artifacts.Bytes, m.Log, m.Charged, m.Asked, m.Input, m.Saved)
}

func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// Then is that of [relational.Tx]: only when the transaction is in the file may readers see it.
func (w *writer) Then(r *stored.Row, publish func() error) {
	w.then(func() {
		r.Mu.Lock()
		defer r.Mu.Unlock()
		if err := publish(); err != nil {
			w.s.options.Logger.Error("an event does not fit its task", "task", r.Key.Task, "error", err)
			w.s.cache.Drop(r.Key)
			return
		}
		w.s.cache.Put(r.Key, r, r.Meta.Cost())
	})
}

// orphansSQL finds the first open calls of the tasks that no living instance runs. One process at a time works on the file, so a task
// with open calls whose runner is another instance has no runner.
const orphansSQL = `SELECT t.n FROM call c CROSS JOIN task t ON t.n=c.task WHERE (t.runner IS NULL OR t.runner<>$1)
	AND t.skill=ANY($2) AND t.n<>ALL($3) GROUP BY c.task ORDER BY c.task LIMIT $4`

// Orphans is that of [relational.DB].
func (d database) Orphans(ctx context.Context, skills []string, but []int64, max int) (map[int64]int32, error) {
	ns := map[int64]int32{}
	return ns, d.s.base.Ask(ctx, relational.Question{SQL: orphansSQL, Args: []any{d.s.me, skills, but, max}, Row: func(row relational.Row) error {
		var n int64
		err := row.Scan(&n)
		ns[n] = 0
		return err
	}})
}

// Running is that of [relational.DB]. It asks behind what waits to be written.
func (d database) Running(ctx context.Context) (ns []int64, err error) {
	return ns, d.s.write(ctx, func(w *writer) error {
		return w.query("SELECT DISTINCT c.task FROM call c CROSS JOIN task t ON t.n=c.task WHERE t.runner=?", func(v []value) error {
			ns = append(ns, num(v[0]))
			return nil
		}, d.s.me)
	})
}
