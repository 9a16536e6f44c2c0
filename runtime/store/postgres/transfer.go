package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/runtime/store/internal/stored"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// Whole is the schema of an agent as something that is copied or filled: without an instance.
type Whole struct {
	target *target
	pool   *pgxpool.Pool
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
	return &Whole{t, pool}, nil
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
	w.pool.Close()
	return nil
}

// Name is host, port and database, and the schema if that is not the default one.
func (w *Whole) Name() string {
	name := strings.ReplaceAll(w.target.where, " ", "")
	if w.target.schema != defaultSchema {
		name += "/" + w.target.schema
	}
	return name
}

func (w *Whole) sql(text string) string { return w.target.inSchema(text) }

// query calls scan for each row.
func (w *Whole) query(ctx context.Context, sql string, scan func(rows pgx.Rows) error, args ...any) error {
	rows, err := w.pool.Query(ctx, w.sql(sql), args...)
	if err != nil {
		return readFailed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return readFailed(rows.Err())
}

// one reads a row.
func (w *Whole) one(ctx context.Context, sql string, args []any, dest ...any) error {
	return readFailed(w.pool.QueryRow(ctx, w.sql(sql), args...).Scan(dest...))
}

// Unused implements [transfer.Whole].
func (w *Whole) Unused(ctx context.Context) error {
	var names []string
	err := w.one(ctx, "SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM a2a.instance WHERE lease>clock_timestamp()", nil, &names)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s is in use by %s: stop the agent first; what was killed is taken to be there for some seconds",
			w.Name(), strings.Join(names, ", "))
	}
	return err
}

// Accounts implements [transfer.Source].
func (w *Whole) Accounts(ctx context.Context, after int64, max int) (list []transfer.Owner, err error) {
	err = w.query(ctx, "SELECT n, principal FROM a2a.account WHERE n>$1 AND n>0 ORDER BY n LIMIT $2", func(rows pgx.Rows) error {
		var o transfer.Owner
		err := rows.Scan(&o.N, &o.Principal)
		list = append(list, o)
		return err
	}, after, int64(max))
	return list, err
}

// tenant is one in which a principal has something.
type tenant struct {
	n    int64
	name string
}

// after calls do for each tenant of a principal from a key on, with the id after which things come there (nil: the
// first), until it returns false.
func (w *Whole) after(ctx context.Context, principal string, key *transfer.Key, do func(t tenant, id *string) (bool, error)) error {
	from := ""
	if key != nil {
		from = key.Tenant
	}
	var list []tenant
	err := w.query(ctx, `SELECT o.n, o.tenant FROM a2a.account a JOIN a2a.owner o ON o.account=a.n WHERE a.principal=$1 AND o.tenant>=$2
		ORDER BY o.tenant`, func(rows pgx.Rows) error {
		var t tenant
		err := rows.Scan(&t.n, &t.name)
		list = append(list, t)
		return err
	}, principal, from)
	for _, t := range list {
		if err != nil {
			return err
		}
		var id *string
		if key != nil && t.name == key.Tenant {
			id = &key.ID
		}
		var more bool
		if more, err = do(t, id); err == nil && !more {
			return nil
		}
	}
	return err
}

// pageTasks is how many tasks are read at once, at most.
const pageTasks = 256

// Tasks implements [transfer.Source].
func (w *Whole) Tasks(ctx context.Context, principal string, after *transfer.Key, bytes int64) (list []transfer.Task, err error) {
	var ns []int64
	err = w.after(ctx, principal, after, func(in tenant, id *string) (bool, error) {
		const sql = "SELECT n, charged FROM a2a.task WHERE owner=$1 AND ($2::text IS NULL OR id>$2) ORDER BY id LIMIT $3"
		err := w.query(ctx, sql, func(rows pgx.Rows) error {
			var n, charged int64
			err := rows.Scan(&n, &charged)
			if bytes -= charged; bytes >= 0 || len(ns) == 0 {
				ns = append(ns, n)
			}
			return err
		}, in.n, id, int64(pageTasks-len(ns)))
		return bytes > 0 && len(ns) < pageTasks, err
	})
	if err != nil || len(ns) == 0 {
		return nil, err
	}
	byN, err := w.read(ctx, ns)
	if err != nil {
		return nil, err
	}
	for _, n := range ns {
		if t := byN[n]; t != nil {
			list = append(list, *t)
		}
	}
	return list, nil
}

// read reads tasks with all their rows, in one round trip.
func (w *Whole) read(ctx context.Context, ns []int64) (map[int64]*transfer.Task, error) {
	all := make(map[int64]*transfer.Task, len(ns))
	var b pgx.Batch
	queue := func(sql string, scan func(rows pgx.Rows) error) {
		b.Queue(w.sql(sql), ns).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := scan(rows); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	}
	queue("SELECT "+metaColumns+`, o.tenant, a.principal, t.id, w.name, t.head FROM a2a.task t JOIN a2a.owner o ON o.n=t.owner
		JOIN a2a.account a ON a.n=t.account JOIN a2a.wire w ON w.n=t.wire WHERE t.n=ANY($1)`, func(rows pgx.Rows) error {
		t, err := scanWhole(rows)
		all[t.N] = t
		return err
	})
	w.queueParts(queue, all)
	if err := w.pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, readFailed(err)
	}
	return all, nil
}

// queueParts reads what belongs to tasks beside their rows.
func (w *Whole) queueParts(queue func(sql string, scan func(rows pgx.Rows) error), all map[int64]*transfer.Task) {
	var n int64
	queue(`SELECT e.task, w.name, e.doc, e.seq, e.kind, e.state, e.run, e.messages FROM a2a.event e JOIN a2a.wire w ON w.n=e.wire
		WHERE e.task=ANY($1) ORDER BY e.task, e.seq`, func(rows pgx.Rows) error {
		var e transfer.Event
		err := rows.Scan(&n, &e.Doc.Wire, &e.Doc.JSON, &e.Seq, &e.Kind, &e.State, &e.Run, &e.Messages)
		all[n].Events = append(all[n].Events, e)
		return err
	})
	queue(`SELECT b.task, w.name, b.doc, b.version FROM a2a.body b JOIN a2a.wire w ON w.n=b.wire WHERE b.task=ANY($1)
		ORDER BY b.task, b.version`, func(rows pgx.Rows) error {
		var d transfer.Body
		err := rows.Scan(&n, &d.Doc.Wire, &d.Doc.JSON, &d.Version)
		all[n].Bodies = append(all[n].Bodies, d)
		return err
	})
	queue(`SELECT c.task, w.name, c.request, c.n, c.input, c.value FROM a2a.call c JOIN a2a.wire w ON w.n=c.wire WHERE c.task=ANY($1)
		ORDER BY c.task, c.n`, func(rows pgx.Rows) error {
		var c transfer.Call
		err := rows.Scan(&n, &c.Request.Wire, &c.Request.JSON, &c.N, &c.Input, &c.Value)
		all[n].Calls = append(all[n].Calls, c)
		return err
	})
	queue(`SELECT k.task, w.name, k.request, k.hash, k.until, k.made FROM a2a.ticket k JOIN a2a.wire w ON w.n=k.wire WHERE k.task=ANY($1)
		ORDER BY k.task, k.hash`, func(rows pgx.Rows) error {
		var k transfer.Ticket
		err := rows.Scan(&n, &k.Request.Wire, &k.Request.JSON, &k.Hash, &k.Until, &k.Made)
		all[n].Tickets = append(all[n].Tickets, k)
		return err
	})
	queue(`SELECT task, id, version, config, tasks, next, until, attempt, since, coalesce(due, 0), coalesce(dead, '')
		FROM a2a.push WHERE task=ANY($1) ORDER BY task, id`, func(rows pgx.Rows) error {
		var p transfer.Push
		c := &p.Cursor
		err := rows.Scan(&n, &p.ID, &p.Version, &p.Config, &p.Tasks, &c.Next, &c.Until, &c.Attempt, &c.Since, &c.Due, &c.Dead)
		all[n].Pushes = append(all[n].Pushes, p)
		return err
	})
}

// scanWhole reads the row of a task.
func scanWhole(rows pgx.Rows) (*transfer.Task, error) {
	var m stored.Meta
	t := &transfer.Task{}
	var rev int64
	err := scanMeta(rows, &t.N, &rev, &m, &t.Owner.Tenant, &t.Owner.Principal, &t.ID, &t.Head.Wire, &t.Head.JSON)
	t.Context, t.Skill, t.Trace, t.ClientID, t.Asked = m.Context, m.Skill, m.Trace, m.ClientID, m.Asked
	t.State, t.At, t.Oldest, t.Log, t.Charged, t.Input, t.Saved = m.State, m.At, m.Oldest, m.Log, m.Charged, m.Input, m.Saved
	t.State.Runner = 0
	return t, err
}

// Notes implements [transfer.Source].
func (w *Whole) Notes(ctx context.Context, principal string, after *transfer.Key, max int) (list []transfer.Note, err error) {
	err = w.after(ctx, principal, after, func(in tenant, id *string) (bool, error) {
		const sql = "SELECT context, version, at, value FROM a2a.note WHERE owner=$1 AND ($2::text IS NULL OR context>$2) ORDER BY context LIMIT $3"
		err := w.query(ctx, sql, func(rows pgx.Rows) error {
			n := transfer.Note{Tenant: in.name}
			err := rows.Scan(&n.Context, &n.Version, &n.At, &n.Value)
			list = append(list, n)
			return err
		}, in.n, id, int64(max-len(list)))
		return len(list) < max, err
	})
	return list, err
}

// Repeats implements [transfer.Source].
func (w *Whole) Repeats(ctx context.Context, principal string) (list []transfer.Repeat, err error) {
	err = w.query(ctx, `SELECT o.tenant, r.key, r.task, r.call, r.digest, r.until FROM a2a.account a JOIN a2a.owner o ON o.account=a.n
		JOIN a2a.repeat r ON r.owner=o.n WHERE a.principal=$1`, func(rows pgx.Rows) error {
		var r transfer.Repeat
		err := rows.Scan(&r.Tenant, &r.Key, &r.Task, &r.Call, &r.Digest, &r.Until)
		list = append(list, r)
		return err
	}, principal)
	return list, err
}
