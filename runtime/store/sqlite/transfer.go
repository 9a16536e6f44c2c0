package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// Whole is the file of a store without an agent: its tasks are copied to another store, or come from one. As long as it is
// open, no agent can open the file.
type Whole struct {
	relational.Whole
	path string
	lock lock
	db   *filler
}

// filler is the driver of a Whole.
type filler struct {
	only
	base relational.Base // reads tasks, for no instance
}

var _ transfer.Empty = (*Whole)(nil)

// OpenWhole opens the file of a store to copy it. A file that is not there is made if fresh is set. It fails with *InUse while an agent
// works on the file.
func OpenWhole(path string, p *runtime.Protocol, fresh bool) (*Whole, error) {
	path, _, err := parsePath(path, Options{})
	if err != nil {
		return nil, err
	}
	w := &Whole{path: path, db: new(filler)}
	w.Whole = relational.Whole{DB: w.db, Rows: w.db.rows}
	if err := w.open(p, fresh); err != nil {
		_ = w.Close()
		return nil, cannotOpen(path, err)
	}
	return w, nil
}

func (w *Whole) open(p *runtime.Protocol, fresh bool) error {
	real, err := realPath(w.path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(real); err != nil && !fresh {
		return err
	}
	if w.lock, err = acquire(real); err != nil {
		return err
	}
	w.path = real
	if w.db.c, err = connect(real, "rwc", "busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-32768)"); err != nil {
		return err
	}
	format, err := formatOf(w.db.c)
	if err != nil {
		return err
	}
	if err := fitFormat(format, fresh); err != nil {
		return err
	}
	if err := migrate(w.db.c, steps); err != nil {
		return err
	}
	w.db.base.Driver = w.db.only
	return w.db.base.NameWires(context.Background(), p, w.db.c.do)
}

// fitFormat says why a file of a format cannot be copied. A copy does not change its source.
func fitFormat(format int, fresh bool) error {
	switch {
	case format == 0 && !fresh:
		return errors.New("it is empty")
	case format != 0 && format != len(steps):
		return wrongFormat(format)
	}
	return nil
}

// Close lets go of the file.
func (w *Whole) Close() error {
	var err error
	if w.db.c != nil {
		err = w.db.c.close()
	}
	w.lock.release()
	return err
}

// Name is the path of the file.
func (w *Whole) Name() string { return w.path }

// Unused implements [transfer.Whole]: nobody can use the file.
func (w *Whole) Unused(context.Context) error { return nil }

// rows reads the rows of tasks.
func (d *filler) rows(ctx context.Context, list []transfer.Task) error {
	for i := range list {
		t := &list[i]
		r, err := load(&d.base, relational.ByNumber(t.N))
		if err != nil {
			return fmt.Errorf("task %q: %w", t.ID, cmp.Or(context.Cause(ctx), err))
		}
		var head transfer.Doc
		if err := d.c.query("SELECT name, head FROM task JOIN wire ON wire.n=task.wire WHERE task.n=?", func(v []value) error {
			head = transfer.Doc{Wire: text(v[0]), JSON: blob(v[1])}
			return nil
		}, t.N); err != nil {
			return err
		}
		relational.Take(t, &r.Meta, head)
	}
	return context.Cause(ctx)
}

// NextTasks is that of [relational.Filler].
func (d *filler) NextTasks(relational.FillTx, int) (n int64, err error) {
	n, _, err = d.c.one("SELECT coalesce(max(n),0)+1 FROM task")
	return n, err
}

// Change is that of [relational.Filler].
func (d *filler) Change(ctx context.Context, do func(relational.FillTx) error) error {
	if _, err := d.c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do(fillTx{ctx, d.c})
	if err == nil {
		_, err = d.c.exec("COMMIT")
	}
	if err != nil {
		_ = d.c.script("ROLLBACK")
	}
	return err
}

// fillTx is a transaction of a filler. It fails as soon as its context has ended.
type fillTx struct {
	ctx context.Context
	c   *conn
}

func (t fillTx) Query(q relational.Question) error { return t.c.ask(&q) }

func (t fillTx) Exec(sql string, args ...any) error { return t.c.do(sql, args...) }

func (t fillTx) Insert(table, columns string, rows [][]any) error {
	list := strings.Fields(columns)
	sql := "INSERT INTO " + table + "(" + strings.Join(list, ",") + ") VALUES(?" + strings.Repeat(",?", len(list)-1) + ")"
	for _, row := range rows {
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		if err := t.Exec(sql, row...); err != nil {
			return err
		}
	}
	return nil
}

// A file that is being filled has the table "copying", with the name of the store whose tasks come into it.

// copying returns from where the file is being filled, "" if it is not.
func copying(c *conn) (from string, err error) {
	_, found, err := c.one("SELECT 1 FROM sqlite_master WHERE name='copying'")
	if err != nil || !found {
		return "", err
	}
	err = c.query("SELECT source FROM copying", func(v []value) error { from = text(v[0]); return nil })
	return from, err
}

// Ready implements [transfer.Empty].
func (w *Whole) Ready(ctx context.Context, from string) error {
	filling, err := copying(w.db.c)
	if err != nil {
		return err
	}
	return w.Free(ctx, w.path, from, filling, "a file that is not there")
}

// Fill implements [transfer.Empty].
func (w *Whole) Fill(ctx context.Context, from string) error {
	return w.db.Change(ctx, func(tx relational.FillTx) error {
		if err := tx.Exec("CREATE TABLE IF NOT EXISTS copying(source TEXT PRIMARY KEY)"); err != nil {
			return err
		}
		return tx.Exec("INSERT OR IGNORE INTO copying(source) VALUES(?)", from)
	})
}

// Filled implements [transfer.Empty].
func (w *Whole) Filled(ctx context.Context) error {
	return w.db.Change(ctx, func(tx relational.FillTx) error {
		if err := w.Count(tx); err != nil {
			return err
		}
		return w.db.c.script("DROP TABLE copying")
	})
}
