package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// Whole is the schema of an agent as something that is copied or filled: without an instance.
type Whole struct {
	relational.Whole
	db *filler
}

var _ transfer.Empty = (*Whole)(nil)

// wholeConns is how many connections a Whole has at most.
const wholeConns = 4

// OpenWhole opens the schema of an address. The tables are made if fresh is set.
func OpenWhole(ctx context.Context, address string, fresh bool) (*Whole, error) {
	t, err := reach(ctx, address, "")
	if err != nil {
		return nil, err
	}
	if fresh {
		err = t.migrate(ctx, "")
	} else {
		err = t.connected(ctx, func(c *pgx.Conn) error { return t.current(ctx, c) })
	}
	if missing, ok := errors.AsType[*missingError](err); ok {
		return nil, &missingError{fmt.Sprintf("PostgreSQL at %s: %s", t.where, missing.text)}
	}
	if err != nil {
		return nil, t.openFailed(err)
	}
	config := t.pool.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = wholeConns, 0, 0
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, t.openFailed(err)
	}
	db := &filler{t, pool}
	return &Whole{relational.Whole{DB: db, Rows: db.readRows}, db}, nil
}

// missingError is the error of a schema that is not there.
type missingError struct{ text string }

func (e *missingError) Error() string        { return e.text }
func (e *missingError) Is(target error) bool { return target == fs.ErrNotExist }

// current says why a schema is not one of the newest format.
func (t *target) current(ctx context.Context, c *pgx.Conn) error {
	m, err := t.meta(ctx, c)
	switch {
	case err != nil:
		return err
	case m.format == 0:
		return &missingError{fmt.Sprintf("there is no schema %s: the address may name another with %s=NAME", t.schema, paramSchema)}
	case m.format < len(t.steps):
		return fmt.Errorf(`schema %s has format %d, and this program knows format %d: run "a2agen tasks migrate" first`,
			t.schema, m.format, len(t.steps))
	}
	return m.check("", t.steps)
}

// Close ends the connections.
func (w *Whole) Close() error {
	w.db.pool.Close()
	return nil
}

// Name is host, port and database, and the schema if that is not the default one.
func (w *Whole) Name() string {
	name := strings.ReplaceAll(w.db.target.where, " ", "")
	if w.db.target.schema != defaultSchema {
		name += "/" + w.db.target.schema
	}
	return name
}

// Unused implements [transfer.Whole].
func (w *Whole) Unused(ctx context.Context) error {
	var names []string
	err := w.db.Ask(ctx, relational.Question{SQL: "SELECT name FROM a2a.instance WHERE lease>clock_timestamp() ORDER BY name",
		Row: func(row relational.Row) error {
			names = append(names, "")
			return row.Scan(&names[len(names)-1])
		}})
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s is in use by %s: stop the agent first; what was killed is taken to be there for some seconds",
			w.Name(), strings.Join(names, ", "))
	}
	return err
}

// filler is the driver of a Whole.
type filler struct {
	target *target
	pool   *pgxpool.Pool
}

func (d *filler) Ask(ctx context.Context, questions ...relational.Question) error {
	return readFailed(ask(ctx, d.pool, d.target.inSchema, questions))
}

func (d *filler) Dialect() *relational.Dialect { return &dialect }

func (d *filler) Change(ctx context.Context, do func(relational.FillTx) error) error {
	return writeFailed(pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return do(&fillTx{ctx, d.target, tx}) }), true)
}

// fillTx is a transaction of a filler.
type fillTx struct {
	ctx    context.Context
	target *target
	tx     pgx.Tx
}

func (f *fillTx) Query(q relational.Question) error {
	return ask(f.ctx, f.tx, f.target.inSchema, []relational.Question{q})
}

func (f *fillTx) Exec(sql string, args ...any) error {
	_, err := f.tx.Exec(f.ctx, f.target.inSchema(sql), args...)
	return err
}

func (f *fillTx) Insert(table, columns string, rows [][]any) error {
	_, err := f.tx.CopyFrom(f.ctx, pgx.Identifier{f.target.schema, table}, strings.Fields(columns), pgx.CopyFromRows(rows))
	return err
}

// NextTasks takes blocks of numbers, of which those that are left over are lost.
func (d *filler) NextTasks(tx relational.FillTx, some int) (first int64, err error) {
	const sql = "SELECT setval('a2a.block', nextval('a2a.block')+$1)-$1"
	err = tx.Query(relational.Question{SQL: sql, Args: []any{int64(some / blockOf)},
		Row: func(row relational.Row) error { return row.Scan(&first) }})
	return first * blockOf, err
}

// readRows reads the rows of tasks.
func (d *filler) readRows(ctx context.Context, list []transfer.Task) error {
	ns, of := make([]int64, len(list)), make(map[int64]*transfer.Task, len(list))
	for i := range list {
		ns[i] = list[i].N
		of[list[i].N] = &list[i]
	}
	const sql = "SELECT " + relational.MetaColumns + ", w.name, t.head FROM a2a.task t JOIN a2a.wire w ON w.n=t.wire WHERE t.n=ANY($1)"
	return d.Ask(ctx, relational.Question{SQL: sql, Args: []any{ns}, Row: func(row relational.Row) error {
		var n, rev int64
		var m stored.Meta
		var head transfer.Doc
		err := new(relational.Base).ScanMeta(row, &n, &rev, &m, &head.Wire, &head.JSON)
		if err == nil {
			relational.Take(of[n], &m, head)
		}
		return err
	}})
}
