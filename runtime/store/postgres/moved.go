package postgres

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/spread"
)

// An account that is moved to another database counts the steps of its moves in account.moved; see the constants of
// package spread for what they mean. After each step the revisions of its tasks grow: what replicas know of them is
// read again, with the new step, and no write that was decided before passes its fence. What inserts asks for the
// step itself.

var _ spread.Movable = (*Whole)(nil)

// errMoved is the error of what an account does not allow where it is.
var errMoved = spread.ErrMoved

// staying is a condition of statements on a table with a column account, which must not touch what is copied at the
// moment.
const staying = " AND (SELECT y.moved%4 FROM a2a.account y WHERE y.n=account)<2"

// restingDue is added to when a delivery is due while its account is copied, so that nobody claims it: two hundred
// years from now.
const (
	restingDue    = 4_000_000_000_000_000_000
	restingDueSQL = "4000000000000000000"
)

// allows says why what does not come from a handler, or what does, may not write to a task of an account.
func allows(moved int64, handler bool) error {
	switch moved % 4 {
	case spread.Here:
		return nil
	case spread.Draining:
		if handler {
			return nil
		}
	}
	return errMoved
}

// isHere says that an account is elsewhere, or has not arrived yet.
func isHere(moved int64) error {
	if moved%4 == spread.Away {
		return errMoved
	}
	return nil
}

// Find implements [spread.Ledger].
func (w *Whole) Find(ctx context.Context, principal string) (stand spread.Stand, err error) {
	var steps *int64
	err = w.one(ctx, `SELECT (SELECT moved FROM a2a.account WHERE principal=$1),
		CASE WHEN places='' AND EXISTS(SELECT 1 FROM a2a.account WHERE n>0) THEN $2 ELSE places END FROM a2a.meta`, []any{principal, w.Name()},
		&steps, &stand.List)
	if steps != nil {
		stand.Known, stand.Steps = true, *steps
	}
	return stand, err
}

// Admit implements [spread.Ledger].
func (w *Whole) Admit(ctx context.Context, principal, list string) error {
	return w.made(pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		// The row of meta is locked, so that the list stays as it is until the account is there.
		var places string
		var some bool
		const look = "SELECT places, EXISTS(SELECT 1 FROM a2a.account WHERE n>0) FROM a2a.meta FOR UPDATE"
		if err := tx.QueryRow(ctx, w.sql(look)).Scan(&places, &some); err != nil {
			return err
		}
		switch {
		case places == list, places == "" && some && list == w.Name():
		case places == "" && !some:
			if _, err := tx.Exec(ctx, w.sql("UPDATE a2a.meta SET places=$1"), list); err != nil {
				return err
			}
		default:
			return errMoved
		}
		_, err := tx.Exec(ctx, w.sql("INSERT INTO a2a.account(principal) VALUES($1) ON CONFLICT DO NOTHING"), principal)
		return err
	}))
}

func (w *Whole) made(err error) error { return writeFailed(err, true) }

// SetList implements [spread.Movable].
func (w *Whole) SetList(ctx context.Context, from, to string) error {
	done, err := w.pool.Exec(ctx, w.sql("UPDATE a2a.meta SET places=$2 WHERE places=$1 OR places='' AND $1=$3"), from, to, w.Name())
	if err == nil && done.RowsAffected() == 0 {
		return fmt.Errorf("%s: somebody else changes the list of databases", w.Name())
	}
	return w.made(err)
}

// Arrive implements [spread.Movable].
func (w *Whole) Arrive(ctx context.Context, principal string) (steps int64, err error) {
	err = w.one(ctx, `INSERT INTO a2a.account(principal, moved) VALUES($1, 3) ON CONFLICT (principal) DO UPDATE SET idle=0 RETURNING moved`,
		[]any{principal}, &steps)
	return steps, err
}

// Quiet implements [spread.Movable].
func (w *Whole) Quiet(ctx context.Context, principal string) (quiet bool, err error) {
	err = w.one(ctx, `SELECT NOT EXISTS(SELECT 1 FROM a2a.task t JOIN a2a.account a ON a.n=t.account JOIN a2a.instance i ON i.n=t.runner
			WHERE t.done<t.calls AND a.principal=$1 AND i.lease>clock_timestamp())
		AND NOT EXISTS(SELECT 1 FROM a2a.push p JOIN a2a.task t ON t.n=p.task JOIN a2a.account a ON a.n=t.account
			WHERE p.due IS NOT NULL AND p.due>`+clockSQL+` AND p.due<`+restingDueSQL+` AND p.holder<>0 AND a.principal=$1)`, []any{principal}, &quiet)
	return quiet, err
}

// Step implements [spread.Movable].
func (w *Whole) Step(ctx context.Context, principal string, from, to int64) error {
	var account int64
	const sql = "UPDATE a2a.account SET moved=$3, idle=0 WHERE principal=$1 AND moved IN ($2, $3) RETURNING n"
	if err := w.one(ctx, sql, []any{principal, from, to}, &account); errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%s: somebody else moves %q", w.Name(), principal)
	} else if err != nil {
		return err
	}
	if err := w.barrier(ctx); err != nil {
		return err
	}
	return w.eachChunk(ctx, principal, func(tx pgx.Tx, ns []int64) error { return w.bump(ctx, tx, ns, to) })
}

// barrier waits until all transactions have ended that have begun to write.
func (w *Whole) barrier(ctx context.Context) error {
	const tries = 20
	var err error
	for range tries {
		err = pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout='500ms'"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, w.sql("LOCK TABLE a2a.task, a2a.note, a2a.repeat, a2a.push IN SHARE ROW EXCLUSIVE MODE"))
			return err
		})
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pg.Code != codeLocked {
			break
		}
		if !sleep(ctx, 200*time.Millisecond) {
			break
		}
	}
	return w.made(err)
}

// codeLocked: a lock was not to be had in time.
const codeLocked = "55P03"

// chunk is how many tasks are changed in a transaction.
const chunk = 500

// eachChunk calls do for the tasks of an account, some at a time, each in a transaction that has locked them, and
// wakes who watches them.
func (w *Whole) eachChunk(ctx context.Context, principal string, do func(tx pgx.Tx, ns []int64) error) error {
	return w.after(ctx, principal, nil, func(in tenant, _ *string) (bool, error) {
		for last := ""; ; {
			var ns []int64
			var hashes []byte
			err := w.query(ctx, "SELECT n, id FROM a2a.task WHERE owner=$1 AND id>$2 ORDER BY id LIMIT $3", func(rows pgx.Rows) error {
				var n int64
				err := rows.Scan(&n, &last)
				ns = append(ns, n)
				key := store.Key{Owner: store.Owner{Tenant: in.name, Principal: principal}, Task: last}
				hashes = base64.RawURLEncoding.AppendEncode(hashes, binary.BigEndian.AppendUint64(nil, hashOf(key)))
				return err
			}, in.n, last, int64(chunk))
			if err != nil || len(ns) == 0 {
				return true, err
			}
			if err := w.transaction(ctx, ns, string(hashes), do); err != nil {
				return false, err
			}
		}
	})
}

// transaction changes tasks, in the order in which all lock them.
func (w *Whole) transaction(ctx context.Context, ns []int64, hashes string, do func(tx pgx.Tx, ns []int64) error) error {
	const tries = 5
	var err error
	for range tries {
		err = pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, w.sql("SELECT 1 FROM a2a.task WHERE n=ANY($1) ORDER BY n FOR UPDATE"), ns); err != nil {
				return err
			}
			if err := do(tx, ns); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "SELECT pg_notify($1, $2)", channelOf(w.target.schema), "0:"+hashes)
			return err
		})
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || !strings.HasPrefix(pg.Code, "40") { // deadlocks
			break
		}
	}
	return w.made(err)
}

// bump has tasks read anew. When the account closes, nobody runs them any more and nobody sends their notifications;
// when it is here, that begins again.
func (w *Whole) bump(ctx context.Context, tx pgx.Tx, ns []int64, to int64) error {
	task, push := "UPDATE a2a.task SET rev=rev+1 WHERE n=ANY($1)", ""
	switch to % 4 {
	case spread.Closed:
		task = "UPDATE a2a.task SET rev=rev+1, epoch=epoch+CASE WHEN runner<>0 THEN 1 ELSE 0 END, runner=0 WHERE n=ANY($1)"
		push = "UPDATE a2a.push SET holder=0, due=due+" + restingDueSQL + " WHERE task=ANY($1) AND due<" + restingDueSQL
	case spread.Here:
		push = "UPDATE a2a.push SET due=due-" + restingDueSQL + " WHERE task=ANY($1) AND due>=" + restingDueSQL
	}
	if _, err := tx.Exec(ctx, w.sql(task), ns); err != nil || push == "" {
		return err
	}
	_, err := tx.Exec(ctx, w.sql(push), ns)
	return err
}

// Clear implements [spread.Movable].
func (w *Whole) Clear(ctx context.Context, principal string) error {
	err := w.after(ctx, principal, nil, func(in tenant, _ *string) (bool, error) {
		for {
			var ns []int64
			err := w.query(ctx, "SELECT n FROM a2a.task WHERE owner=$1 LIMIT $2", func(rows pgx.Rows) error {
				var n int64
				err := rows.Scan(&n)
				ns = append(ns, n)
				return err
			}, in.n, int64(chunk))
			if err != nil || len(ns) == 0 {
				return true, err
			}
			if err := w.change(ctx, principal, func(f *filled) error {
				if f.steps%4 != spread.Away {
					return fmt.Errorf("%s: somebody else moves %q", w.Name(), principal)
				}
				return f.drop(ctx, ns)
			}); err != nil {
				return false, err
			}
		}
	})
	if err != nil {
		return err
	}
	return w.DropRest(ctx, principal)
}

// Wake implements [spread.Movable].
func (w *Whole) Wake(ctx context.Context, principal string) error {
	return w.eachChunk(ctx, principal, func(pgx.Tx, []int64) error { return nil })
}
