package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// sweepAtOnce is how many tasks a sweep drops in one transaction, for which other changes wait.
const sweepAtOnce = 100

// idle is the condition of a task that a sweep may drop: none of its notifications is on the way.
const idle = "NOT EXISTS(SELECT 1 FROM push WHERE push.task=task.n AND push.due IS NOT NULL)"

// dueForSweep finds tasks that have rested for too long.
const dueForSweep = "SELECT n FROM task INDEXED BY task_rest WHERE rest=? AND rest>0 AND rested<? AND " + idle +
	" ORDER BY rested LIMIT ?"

// emptyAccounts finds accounts that hold nothing, and of which no message may still be sent again.
const emptyAccounts = `SELECT a.n FROM account a INDEXED BY account_empty WHERE a.tasks=0 AND a.notes=0 AND NOT EXISTS(
	SELECT 1 FROM owner o JOIN repeat r ON r.owner=o.n WHERE o.account=a.n) LIMIT ?`

// Sweep implements [store.Store].
func (s *Store) Sweep(ctx context.Context) (dropped int, more bool, err error) {
	_ = s.checkPath() // logs a file that is gone; the writer acts on it
	some := false
	o, now := &s.options, s.options.Clock()
	err = s.reading(ctx, func(c *conn) error {
		for _, sql := range []struct {
			text string
			args []any
		}{
			{dueForSweep, []any{int64(taskstate.Ended), now.Add(-o.Ended).UnixNano(), 1}},
			{dueForSweep, []any{int64(taskstate.Parked), now.Add(-o.Parked).UnixNano(), 1}},
			{"SELECT 1 FROM repeat INDEXED BY repeat_until WHERE until<=? LIMIT 1", []any{now.UnixNano()}},
			{emptyAccounts, []any{1}},
			{"SELECT 1 FROM note INDEXED BY note_at WHERE at<? LIMIT 1", []any{now.Add(-o.Parked).UnixNano()}},
		} {
			_, found, err := c.one(sql.text, sql.args...)
			if some = some || found; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !some {
		return 0, false, err
	}
	var gone struct{ tasks, others int }
	did, err := relational.Answer(&gone, s.write(ctx, func(w *writer) (err error) {
		gone.tasks, gone.others, err = w.sweep()
		return err
	}))
	return did.tasks, did.tasks == sweepAtOnce || did.others == sweepAtOnce, err
}

// sweep returns how many tasks it has dropped, and how many it has of what it has most of beside them.
func (w *writer) sweep() (dropped, others int, err error) {
	o := &w.s.options
	for _, due := range []struct {
		class  taskstate.Rest
		before int64
	}{{taskstate.Ended, w.now.Add(-o.Ended).UnixNano()}, {taskstate.Parked, w.now.Add(-o.Parked).UnixNano()}} {
		n, err := w.dropAll(dueForSweep, int64(due.class), due.before, sweepAtOnce-dropped)
		if dropped += n; err != nil {
			return dropped, 0, err
		}
	}
	n, err := w.exec(`DELETE FROM repeat WHERE (owner, key) IN
		(SELECT owner, key FROM repeat INDEXED BY repeat_until WHERE until<=? LIMIT ?)`, w.now.UnixNano(), sweepAtOnce)
	if err != nil {
		return dropped, 0, err
	}
	notes, err := w.dropNotes(oldNotesSQL, w.now.Add(-o.Parked).UnixNano(), sweepAtOnce)
	if err != nil {
		return dropped, 0, err
	}
	owners, err := w.forgetOwners()
	return dropped, max(int(n), notes, owners), err
}

// dropAll drops the tasks that a query finds, but not those that the transaction has changed.
func (w *writer) dropAll(sql string, args ...any) (dropped int, err error) {
	var tasks []int64
	err = w.query(sql, func(v []value) error {
		if _, ok := w.changed[num(v[0])]; !ok {
			tasks = append(tasks, num(v[0]))
		}
		return nil
	}, args...)
	for _, n := range tasks {
		if err != nil {
			break
		}
		err = w.drop(n)
		dropped++
	}
	return dropped, err
}

// forgetOwners deletes accounts that are empty, with their owners.
func (w *writer) forgetOwners() (forgotten int, err error) {
	if err := w.ledger.flush(w); err != nil {
		return 0, err
	}
	var list []int64
	err = w.query(emptyAccounts, func(v []value) error {
		list = append(list, num(v[0]))
		return nil
	}, sweepAtOnce)
	for _, n := range list {
		for _, sql := range []string{
			"DELETE FROM usage WHERE owner IN (SELECT n FROM owner WHERE account=?)", "DELETE FROM owner WHERE account=?",
			"DELETE FROM account WHERE n=?",
		} {
			if err == nil {
				_, err = w.exec(sql, n)
			}
		}
	}
	if len(list) > 0 {
		w.ledger.shrink()
	}
	return len(list), err
}
