package postgres

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// database makes statements in the schema of a store.
type database struct {
	schema string        // as statements name it, with a dot
	pool   *pgxpool.Pool // for reads
	texts  texts         // statements, with the schema
	fences texts
	events texts
}

// sql puts the name of the schema into a statement.
func (d *database) sql(text string) string { return d.texts.get(text, d.inSchema) }

// fenced is sql for a statement that must change a row.
func (d *database) fenced(text string) string {
	return d.fences.get(text, func(text string) string {
		return d.inSchema("WITH changed AS (" + text + " RETURNING 1) SELECT CASE WHEN count(*)=0 THEN a2a.fence() END FROM changed")
	})
}

// withEvent is fenced for a statement that changes one task, whose number is n and which has so many arguments. An event
// of the task is inserted with it, whose columns after the number are the next arguments: one statement is cheaper than
// two.
func (d *database) withEvent(text string, arguments int) string {
	return d.events.get(text, func(text string) string {
		events := strings.Fields(dialect.Event())
		sql := "WITH changed AS (" + text + " RETURNING n) INSERT INTO a2a.event(" + strings.Join(events, ", ") + ") VALUES(coalesce((SELECT n FROM changed), a2a.fence())"
		for i := range events[1:] {
			sql += ",$" + strconv.Itoa(arguments+i+1)
		}
		return d.inSchema(sql + ")")
	})
}

// texts remembers what statements were made of others.
type texts struct{ m sync.Map }

func (t *texts) get(text string, make func(string) string) string {
	if made, ok := t.m.Load(text); ok {
		return made.(string)
	}
	made := make(text)
	t.m.Store(text, made)
	return made
}

// inSchema puts the name of the schema into a statement, which has that of the default one.
func (d *database) inSchema(text string) string {
	if d.schema == defaultSchema+"." {
		return text
	}
	return strings.ReplaceAll(text, defaultSchema+".", d.schema)
}

// readTime is how long a read may take whose caller has no deadline.
const readTime = 30 * time.Second

// limited gives a read a deadline.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, readTime)
}

// query asks, and calls scan for each row of the answer.
func (d *database) query(ctx context.Context, sql string, scan func(relational.Row) error, args ...any) error {
	return driver{d}.Ask(ctx, relational.Question{SQL: sql, Args: args, Row: scan})
}

// driver is the [relational.Driver] of a store.
type driver struct{ db *database }

func (d driver) Ask(ctx context.Context, questions ...relational.Question) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	return readFailed(ask(ctx, d.db.pool, d.db.sql, questions))
}

func (d driver) Dialect() *relational.Dialect { return &dialect }

// asker is a connection, or a pool of them.
type asker interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// ask asks questions of one moment, in one round trip.
func ask(ctx context.Context, c asker, inSchema func(string) string, questions []relational.Question) error {
	if len(questions) == 1 {
		rows, err := c.Query(ctx, inSchema(questions[0].SQL), questions[0].Args...)
		if err != nil {
			return err
		}
		return eachRow(rows, questions[0].Row)
	}
	var b pgx.Batch
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	for _, q := range questions {
		b.Queue(inSchema(q.SQL), q.Args...).Query(func(rows pgx.Rows) error { return eachRow(rows, q.Row) })
	}
	b.Queue("COMMIT")
	return c.SendBatch(ctx, &b).Close()
}

func eachRow(rows pgx.Rows, do func(relational.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one asks for one row.
func (d *database) one(ctx context.Context, sql string, args []any, dest ...any) (found bool, err error) {
	return relational.One(ctx, driver{d}, sql, args, dest...)
}
