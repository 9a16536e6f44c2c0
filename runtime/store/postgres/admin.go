package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime/store/admin"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// Admin is a schema as people look at it: without an agent, or beside those that run. It has one connection.
type Admin struct {
	relational.Admin
	t *target
	c *pgx.Conn
}

var _ admin.Store = (*Admin)(nil)

// OpenAdmin opens a schema to look at, and to tidy up. It changes no tables.
func OpenAdmin(ctx context.Context, address string) (*Admin, error) {
	t, err := reach(ctx, address, "")
	if err != nil {
		return nil, err
	}
	c, err := pgx.ConnectConfig(ctx, t.pool.ConnConfig)
	if err != nil {
		return nil, t.openFailed(err)
	}
	m, err := t.meta(ctx, c)
	if err == nil {
		err = m.checkWhole(t.schema)
	}
	if err != nil {
		_ = c.Close(ctx)
		return nil, t.openFailed(err)
	}
	return &Admin{relational.Admin{DB: &adminDriver{t, c}}, t, c}, nil
}

// checkWhole refuses a schema whose tables are not those that this program knows.
func (m *meta) checkWhole(schema string) error {
	switch {
	case m.format == 0:
		return fmt.Errorf("the schema %s has no tasks: an agent makes it when it starts, or \"a2agen tasks migrate\"", schema)
	case m.format < len(steps):
		return fmt.Errorf("the schema %s has format %d, and this program knows format %d: \"a2agen tasks migrate\" brings it up to date", schema, m.format, len(steps))
	case strings.HasPrefix(m.places, filling):
		return errFilling(m.places)
	}
	return m.check("", steps)
}

// Close ends the connection.
func (a *Admin) Close() error { return a.c.Close(context.Background()) }

// adminDriver asks on the connection of an Admin, and says what is wrong as the opening of a store does.
type adminDriver struct {
	t *target
	c *pgx.Conn
}

func (d *adminDriver) Ask(ctx context.Context, questions ...relational.Question) error {
	return d.t.failed(ask(ctx, d.c, d.t.inSchema, questions))
}

func (d *adminDriver) Dialect() *relational.Dialect { return &dialect }

// nowSQL is the time by the database's clock, in nanoseconds.
const nowSQL = "(extract(epoch FROM clock_timestamp())*1000000000)::bigint"

// Prune implements [admin.Store]. What it drops counts in the first lane: only the sum of all of them matters.
func (a *Admin) Prune(ctx context.Context, which admin.Which, rested time.Duration, dry bool) (n int, err error) {
	const lane = int16(0)
	c := relational.Condition{Where: "t.rest>0 AND NOT EXISTS(SELECT 1 FROM a2a.push p WHERE p.task=t.n AND p.due IS NOT NULL)", Args: []any{lane}}
	c.And("t.rested<"+nowSQL+"-?", rested.Nanoseconds())
	c.Only(&which)
	if dry {
		err = a.DB.Ask(ctx, relational.Question{SQL: "SELECT count(*), $1::smallint" + relational.TasksOf + c.Where, Args: c.Args,
			Row: func(row relational.Row) error { return row.Scan(&n, nil) }})
		return n, err
	}
	found := "SELECT t.n, t.rev, t.rest, t.rested" + relational.TasksOf + c.Where + " ORDER BY t.rest, t.rested, t.n LIMIT " + strconv.Itoa(sweepAtOnce)
	for {
		dropped := 0
		err := a.DB.Ask(ctx, relational.Question{SQL: fmt.Sprintf(droppingSQL, found, ""), Args: c.Args,
			Row: func(relational.Row) error { dropped++; return nil }})
		if n += dropped; err != nil || dropped == 0 {
			return n, err
		}
	}
}

// Check implements [admin.Store]. All questions are asked of one snapshot, so that agents may go on. Damaged pages
// are for the extension amcheck to find.
func (a *Admin) Check(ctx context.Context) (tasks int, wrong []string, err error) {
	questions := append(a.Questions(&wrong), relational.Question{SQL: "SELECT count(*) FROM a2a.task",
		Row: func(row relational.Row) error { return row.Scan(&tasks) }})
	if err = a.DB.Ask(ctx, questions...); err != nil || len(wrong) > 0 {
		tasks = 0
	}
	return tasks, wrong, err
}

// Replay implements [admin.Store].
func (a *Admin) Replay(ctx context.Context, task, id string) (n int, err error) {
	tag, err := a.c.Exec(ctx, a.t.inSchema(relational.ReplaySQL(nowSQL)), task, id)
	return int(tag.RowsAffected()), a.t.failed(err)
}

// isServer matches URLs of a server, also misspelled ones, and what libpq takes in their place.
var isServer = regexp.MustCompile(`^postgres(?:ql)?:|(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=`)

// IsAddress reports whether an address is that of a server, not the path of a file.
func IsAddress(address string) bool { return isServer.MatchString(address) }
