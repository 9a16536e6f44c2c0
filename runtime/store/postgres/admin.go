package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Admin is a schema as people look at it: without an agent, or beside those that run. It has one connection.
type Admin struct {
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
	return &Admin{t, c}, nil
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

// query asks, and calls scan for each row of the answer.
func (a *Admin) query(ctx context.Context, sql string, scan func(pgx.Rows) error, args ...any) error {
	rows, err := a.c.Query(ctx, a.t.inSchema(sql), args...)
	if err != nil {
		return a.t.openFailed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return a.t.openFailed(err)
	}
	return nil
}

// clause is the condition of tasks in SQL, with its arguments.
type clause struct {
	where string
	args  []any
}

// and adds a condition with a value in its middle.
func (c *clause) and(before string, value any, after string) {
	c.args = append(c.args, value)
	c.where += " AND " + before + "$" + strconv.Itoa(len(c.args)) + after
}

// only adds the conditions of tasks that are meant.
func (c *clause) only(w *admin.Which) {
	if w.Principal != nil {
		c.and("a.principal=", *w.Principal, "")
	}
	if w.Tenant != nil {
		c.and("o.tenant=", *w.Tenant, "")
	}
	if w.ID != "" {
		c.and("t.id=", w.ID, "")
	}
	if w.Context != "" {
		c.and("t.context=", w.Context, "")
	}
	if len(w.States) > 0 {
		states := make([]int16, len(w.States))
		for i, s := range w.States {
			states[i] = int16(s)
		}
		c.and("t.state=ANY(", states, ")")
	}
}

const tasksOf = " FROM a2a.task t JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account WHERE "

// Tasks implements [admin.Store].
func (a *Admin) Tasks(ctx context.Context, w admin.Which) (rows []admin.TaskRow, err error) {
	c := &clause{where: "true"}
	c.only(&w)
	limit := "ALL"
	if w.Limit > 0 {
		limit = strconv.Itoa(w.Limit)
	}
	err = a.query(ctx, "SELECT t.n, o.tenant, a.principal, t.id, t.context, t.skill, t.state, t.at, t.calls-t.done, t.charged, t.version"+
		tasksOf+c.where+" ORDER BY t.at DESC, t.id LIMIT "+limit, func(row pgx.Rows) error {
		var r admin.TaskRow
		var state int16
		var at int64
		err := row.Scan(&r.N, &r.Tenant, &r.Principal, &r.ID, &r.Context, &r.Skill, &state, &at, &r.Open, &r.Bytes, &r.Version)
		r.State, r.At = runtime.State(state).String(), time.Unix(0, at).UTC() //nolint:gosec // there are few
		rows = append(rows, r)
		return err
	}, c.args...)
	return rows, err
}

// Task implements [admin.Store].
func (a *Admin) Task(ctx context.Context, row admin.TaskRow) (page admin.TaskPage, err error) {
	page.TaskRow = row
	err = a.query(ctx, "SELECT head, oldest, (SELECT doc FROM a2a.body WHERE task=n ORDER BY version DESC LIMIT 1) FROM a2a.task WHERE n=$1",
		func(row pgx.Rows) error { return row.Scan((*[]byte)(&page.Head), &page.Oldest, (*[]byte)(&page.Body)) }, row.N)
	if err != nil {
		return page, err
	}
	if page.Events, err = a.events(ctx, row.N); err != nil {
		return page, err
	}
	err = a.query(ctx, `SELECT c.n, CASE WHEN c.n=t.done+1 THEN t.attempt ELSE 0 END, c.input FROM a2a.call c JOIN a2a.task t ON t.n=c.task
		WHERE c.task=$1 ORDER BY c.n`, func(row pgx.Rows) error {
		var c admin.CallRow
		err := row.Scan(&c.N, &c.Attempt, (*[]byte)(&c.Input))
		page.Calls = append(page.Calls, c)
		return err
	}, row.N)
	if err != nil {
		return page, err
	}
	page.Pushes, err = a.pushes(ctx, "p.task=$1", row.N)
	return page, err
}

func (a *Admin) events(ctx context.Context, n int64) (list []admin.EventRow, err error) {
	err = a.query(ctx, `SELECT seq, kind, state, run, doc, messages, name FROM a2a.event e JOIN a2a.wire w ON w.n=e.wire WHERE task=$1 ORDER BY seq`,
		func(row pgx.Rows) error {
			var line stored.Line
			var kind, state int16
			var doc, messages []byte
			var protocol string
			if err := row.Scan(&line.Seq, &kind, &state, &line.Run, &doc, &messages, &protocol); err != nil {
				return err
			}
			line.Kind, line.State = runtime.EventKind(kind), runtime.State(state) //nolint:gosec // there are few
			events, err := line.Split(doc)
			for _, e := range events {
				list = append(list, admin.EventRow{Seq: e.Seq, Kind: admin.KindName(e.Kind), State: e.State.String(), Event: e.Doc, Protocol: protocol})
			}
			if err == nil {
				list[len(list)-1].Messages = messages
			}
			return err
		}, n)
	return list, err
}

// Deliveries implements [admin.Store].
func (a *Admin) Deliveries(ctx context.Context, dead bool) ([]admin.PushRow, error) {
	if dead {
		return a.pushes(ctx, "p.dead IS NOT NULL")
	}
	return a.pushes(ctx, "p.dead IS NOT NULL OR p.due IS NOT NULL")
}

func (a *Admin) pushes(ctx context.Context, where string, args ...any) (rows []admin.PushRow, err error) {
	err = a.query(ctx, `SELECT t.id, p.id, p.version, p.config, p.next, p.attempt, p.since, coalesce(p.due, 0), coalesce(p.dead, ''), t.version-p.next+1
		FROM a2a.push p JOIN a2a.task t ON t.n=p.task WHERE `+where+" ORDER BY t.id, p.id", func(row pgx.Rows) error {
		var p admin.PushRow
		var config []byte
		var since, due int64
		if err := row.Scan(&p.Task, &p.ID, &p.Version, &config, &p.Next, &p.Failed, &since, &due, &p.Dead, &p.Behind); err != nil {
			return err
		}
		p.Since, p.Due = admin.TimeOf(since), admin.TimeOf(due)
		var push store.Push // without what is secret
		err := stored.DecodePush(config, &push)
		p.URL = push.Config.URL
		rows = append(rows, p)
		return err
	}, args...)
	return rows, err
}

// nowSQL is the time by the database's clock, in nanoseconds.
const nowSQL = "(extract(epoch FROM clock_timestamp())*1000000000)::bigint"

// Prune implements [admin.Store]. What it drops counts in the first lane: only the sum of all of them matters. It
// passes over accounts that are being moved.
func (a *Admin) Prune(ctx context.Context, which admin.Which, rested time.Duration, dry bool) (n int, err error) {
	const lane = int16(0)
	c := &clause{where: "t.rest>0 AND NOT EXISTS(SELECT 1 FROM a2a.push p WHERE p.task=t.n AND p.due IS NOT NULL)", args: []any{lane}}
	c.and("t.rested<"+nowSQL+"-", rested.Nanoseconds(), "")
	c.only(&which)
	if dry {
		err = a.query(ctx, "SELECT count(*), $1::smallint"+tasksOf+c.where, func(row pgx.Rows) error { return row.Scan(&n, nil) }, c.args...)
		return n, err
	}
	found := "SELECT t.n, t.rev, t.rest, t.rested" + tasksOf + c.where + " ORDER BY t.rest, t.rested, t.n LIMIT " + strconv.Itoa(sweepAtOnce)
	for {
		dropped := 0
		err := a.query(ctx, fmt.Sprintf(droppingSQL, found, ""), func(pgx.Rows) error { dropped++; return nil }, c.args...)
		if n += dropped; err != nil || dropped == 0 {
			return n, err
		}
	}
}

// Replay implements [admin.Store].
func (a *Admin) Replay(ctx context.Context, task, id string) (n int, err error) {
	tag, err := a.c.Exec(ctx, a.t.inSchema(`UPDATE a2a.push SET dead=NULL, attempt=0, since=0, holder=0, due=`+nowSQL+` WHERE dead IS NOT NULL
		AND ($1='' OR task IN (SELECT n FROM a2a.task WHERE id=$1)) AND ($2='' OR id=$2)`), task, id)
	if err != nil {
		return 0, a.t.openFailed(err)
	}
	return int(tag.RowsAffected()), nil
}

// isServer matches URLs of a server, also misspelled ones, and what libpq takes in their place.
var isServer = regexp.MustCompile(`^postgres(?:ql)?:|(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=`)

// IsAddress reports whether an address is that of a server, not the path of a file.
func IsAddress(address string) bool { return isServer.MatchString(address) }
