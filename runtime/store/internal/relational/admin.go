package relational

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Admin is a store as people look at it: without an agent, or beside those that run. It is the part of [admin.Store] that changes
// nothing.
type Admin struct{ DB Driver }

// Condition is a condition in SQL with its arguments.
type Condition struct {
	Where string
	Args  []any
}

// And adds a condition, in which ? stands for each of the arguments.
func (c *Condition) And(condition string, args ...any) {
	if c.Where != "" {
		c.Where += " AND "
	}
	for _, arg := range args {
		c.Args = append(c.Args, arg)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(c.Args)), 1)
	}
	c.Where += condition
}

// Only adds the conditions of tasks that are meant.
func (c *Condition) Only(w *admin.Which) {
	if w.Principal != nil {
		c.And("a.principal=?", *w.Principal)
	}
	if w.Tenant != nil {
		c.And("o.tenant=?", *w.Tenant)
	}
	if w.ID != "" {
		c.And("t.id=?", w.ID)
	}
	if w.Context != "" {
		c.And("t.context=?", w.Context)
	}
	if len(w.States) > 0 {
		states := make([]int16, len(w.States))
		for i, s := range w.States {
			states[i] = int16(s)
		}
		c.And("t.state=ANY(?)", states)
	}
}

// TasksOf is a task t with its owner o and its account a, and the beginning of a condition.
const TasksOf = " FROM a2a.task t JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account WHERE "

// Tasks is that of [admin.Store].
func (a *Admin) Tasks(ctx context.Context, w admin.Which) (rows []admin.TaskRow, err error) {
	var c Condition
	c.And("true")
	c.Only(&w)
	limit := ""
	if w.Limit > 0 {
		limit = " LIMIT " + strconv.Itoa(w.Limit)
	}
	err = a.DB.Ask(ctx, Question{"SELECT t.n, o.tenant, a.principal, t.id, t.context, t.skill, t.state, t.at, t.calls-t.done, t.charged, " +
		a.DB.Dialect().Version + TasksOf + c.Where + " ORDER BY t.at DESC, t.id" + limit, c.Args, func(row Row) error {
		var r admin.TaskRow
		var state, at int64
		err := row.Scan(&r.N, &r.Tenant, &r.Principal, &r.ID, &r.Context, &r.Skill, &state, &at, &r.Open, &r.Bytes, &r.Version)
		r.State, r.At = stateOf(state).String(), time.Unix(0, at).UTC()
		rows = append(rows, r)
		return err
	}})
	return rows, err
}

// Task is that of [admin.Store].
func (a *Admin) Task(ctx context.Context, row admin.TaskRow) (page admin.TaskPage, err error) {
	page.TaskRow = row
	n := []any{row.N}
	err = a.DB.Ask(ctx,
		Question{"SELECT head, oldest, (SELECT doc FROM a2a.body WHERE task=n ORDER BY version DESC LIMIT 1) FROM a2a.task WHERE n=$1", n,
			func(row Row) error {
				return row.Scan((*[]byte)(&page.Head), &page.Oldest, (*[]byte)(&page.Body))
			}},
		Question{"SELECT e.seq, e.kind, e.state, e.run, e.doc, e.messages, w.name FROM a2a.event e JOIN a2a.wire w ON w.n=e.wire WHERE e.task=$1 ORDER BY e.seq",
			n, func(row Row) error {
				events, err := readEvents(row)
				page.Events = append(page.Events, events...)
				return err
			}},
		Question{"SELECT c.n, " + a.DB.Dialect().Attempt + ", c.input FROM a2a.call c JOIN a2a.task t ON t.n=c.task WHERE c.task=$1 ORDER BY c.n", n,
			func(row Row) error {
				var c admin.CallRow
				err := row.Scan(&c.N, &c.Attempt, (*[]byte)(&c.Input))
				page.Calls = append(page.Calls, c)
				return err
			}},
		a.pushes("p.task=$1", n, &page.Pushes))
	return page, err
}

// readEvents reads the events of a row of the log.
func readEvents(row Row) (list []admin.EventRow, err error) {
	var line stored.Line
	var kind, state int64
	var doc, messages []byte
	var protocol string
	if err := row.Scan(&line.Seq, &kind, &state, &line.Run, &doc, &messages, &protocol); err != nil {
		return nil, err
	}
	line.Kind, line.State = runtime.EventKind(kind), stateOf(state) //nolint:gosec // there are few
	events, err := line.Split(doc)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		list = append(list, admin.EventRow{Seq: e.Seq, Kind: admin.KindName(e.Kind), State: e.State.String(), Event: e.Doc, Protocol: protocol})
	}
	list[len(list)-1].Messages = messages
	return list, nil
}

// Deliveries is that of [admin.Store].
func (a *Admin) Deliveries(ctx context.Context, dead bool) (rows []admin.PushRow, err error) {
	where := "p.dead IS NOT NULL OR p.due IS NOT NULL"
	if dead {
		where = "p.dead IS NOT NULL"
	}
	err = a.DB.Ask(ctx, a.pushes(where, nil, &rows))
	return rows, err
}

func (a *Admin) pushes(where string, args []any, rows *[]admin.PushRow) Question {
	return Question{"SELECT t.id, p.id, p.version, p.config, p.next, p.attempt, p.since, coalesce(p.due, 0), coalesce(p.dead, ''), " +
		a.DB.Dialect().Version + "-p.next+1 FROM a2a.push p JOIN a2a.task t ON t.n=p.task WHERE " + where + " ORDER BY t.id, p.id", args,
		func(row Row) error {
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
			*rows = append(*rows, p)
			return err
		}}
}

// ReplaySQL has notifications sent again from a time on, in SQL, that were given up: see [admin.Store].
func ReplaySQL(now string) string {
	return "UPDATE a2a.push SET dead=NULL, attempt=0, since=0, holder=0, due=" + now + ` WHERE dead IS NOT NULL
		AND ($1='' OR task IN (SELECT n FROM a2a.task WHERE id=$1)) AND ($2='' OR id=$2)`
}

// Check is a question about what is wrong: each row that it finds is something wrong, and has what the sentence says, in its order.
type Check struct {
	SQL, Says string
	State     int // which column is a state, from 1; 0: none
}

// mostWrong is how many sentences one question leads to at most.
const mostWrong = 100

// checks are asked in this order: what comes first may explain the rest.
func (a *Admin) checks() []Check {
	version := a.DB.Dialect().Version
	list := []Check{
		{SQL: `SELECT t.id, coalesce(e.n, 0), coalesce(e.first, 0), coalesce(e.last, 0), t.oldest+1, ` + version + ` FROM a2a.task t LEFT JOIN
			(SELECT task, sum(coalesce(length(run)/2, 1))::bigint AS n, min(seq-coalesce(length(run)/2, 1)+1) AS first, max(seq) AS last
			FROM a2a.event GROUP BY task) AS e ON e.task=t.n
			WHERE coalesce(e.n, 0)<>` + version + `-t.oldest OR e.n>0 AND (e.first<=t.oldest OR e.last<>` + version + ")",
			Says: "task %q has %d events from %d to %d, and should have all from %d to %d"},
		{SQL: `SELECT id FROM a2a.task t WHERE oldest>0 AND NOT EXISTS(SELECT 1 FROM a2a.body WHERE task=t.n AND version>=t.oldest)`,
			Says: "task %q: its first events are gone, and what they made of it"},
		{SQL: `SELECT id, calls-done, there FROM (SELECT t.id, t.calls, t.done, (SELECT count(*) FROM a2a.call c WHERE c.task=t.n AND c.n>t.done
			AND c.n<=t.calls) AS there, (SELECT count(*) FROM a2a.call c WHERE c.task=t.n) AS rows FROM a2a.task t) AS x
			WHERE there<>calls-done OR there<>rows`,
			Says: "task %q has %d messages to be worked off, of which %d are there"},
	}
	for _, table := range []string{"event", "body", "call", "ticket", "push"} {
		list = append(list, Check{
			SQL:  "SELECT count(*), '" + table + "', task FROM a2a." + table + " x WHERE NOT EXISTS(SELECT 1 FROM a2a.task t WHERE t.n=x.task) GROUP BY task",
			Says: "%d rows of %q belong to task number %d, which is not there"})
	}
	list = append(list, Check{
		SQL: `SELECT t.id FROM a2a.task t WHERE NOT EXISTS(SELECT 1 FROM a2a.owner o JOIN a2a.account a ON a.n=o.account
			WHERE o.n=t.owner AND a.n=t.account)`,
		Says: "task %q: it is nobody's"})
	return append(list, a.DB.Dialect().Checks...)
}

// Questions are what [admin.Store].Check asks; the sentences about what is wrong are added to a list.
func (a *Admin) Questions(wrong *[]string) (list []Question) {
	for _, check := range a.checks() {
		list = append(list, Question{fmt.Sprintf("%s LIMIT %d", check.SQL, mostWrong), nil, func(row Row) error {
			values, err := row.Values()
			if err != nil {
				return err
			}
			if check.State > 0 {
				values[check.State-1] = asState(values[check.State-1])
			}
			*wrong = append(*wrong, fmt.Sprintf(check.Says, values...))
			return nil
		}})
	}
	return list
}

// asState makes a state of a number as a driver returns it.
func asState(v any) any {
	switch n := v.(type) {
	case int16:
		return stateOf(int64(n))
	case int64:
		return stateOf(n)
	}
	return v
}
