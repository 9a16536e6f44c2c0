package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// Whole is the file of a store without an agent: its tasks are copied to another store, or come from one. As long as it is
// open, no agent can open the file.
type Whole struct {
	path  string
	lock  lock
	c     *conn
	store Store // reads tasks, for no instance
}

var _ transfer.Empty = (*Whole)(nil)

// OpenWhole opens the file of a store to copy it. A file that is not there is made if fresh is set. It fails with *InUse while an agent
// works on the file.
func OpenWhole(path string, p *runtime.Protocol, fresh bool) (*Whole, error) {
	path, _, err := parsePath(path, Options{})
	if err != nil {
		return nil, err
	}
	w := &Whole{path: path}
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
	if w.c, err = connect(real, "rwc", "busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-32768)"); err != nil {
		return err
	}
	format, err := formatOf(w.c)
	if err != nil {
		return err
	}
	if err := fitFormat(format, fresh); err != nil {
		return err
	}
	if err := migrate(w.c, steps); err != nil {
		return err
	}
	w.store.codec, err = newCodec(w.c, p)
	return err
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
	if w.c != nil {
		err = w.c.close()
	}
	w.lock.release()
	return err
}

// Name is the path of the file.
func (w *Whole) Name() string { return w.path }

// Unused implements [transfer.Whole]: nobody can use the file.
func (w *Whole) Unused(context.Context) error { return nil }

// Accounts implements [transfer.Source].
func (w *Whole) Accounts(_ context.Context, after int64, max int) (list []transfer.Owner, err error) {
	err = w.c.query("SELECT n, principal FROM account WHERE n>? ORDER BY n LIMIT ?", func(v []value) error {
		list = append(list, transfer.Owner{N: num(v[0]), Principal: text(v[1])})
		return nil
	}, after, max)
	return list, err
}

// pageTasks is how many tasks are read at once, at most.
const pageTasks = 256

// tenant is one in which a principal has something.
type tenant struct {
	n    int64
	name string
}

// tenants returns those from one on, in the order of their bytes.
func (w *Whole) tenants(principal, from string) (list []tenant, err error) {
	err = w.c.query(`SELECT o.n, o.tenant FROM account a JOIN owner o ON o.account=a.n WHERE a.principal=? AND o.tenant>=? ORDER BY o.tenant`,
		func(v []value) error {
			list = append(list, tenant{num(v[0]), text(v[1])})
			return nil
		}, principal, from)
	return list, err
}

// after calls do for each tenant from a key on, with the id after which things come there, until it returns false.
func (w *Whole) after(principal string, key *transfer.Key, do func(t tenant, sql string, args []any) (bool, error)) error {
	from := ""
	if key != nil {
		from = key.Tenant
	}
	list, err := w.tenants(principal, from)
	if err != nil {
		return err
	}
	for _, t := range list {
		sql, args := "owner=?", []any{t.n}
		if key != nil && t.name == key.Tenant {
			sql, args = "owner=? AND %s>?", append(args, key.ID)
		}
		if more, err := do(t, sql, args); err != nil || !more {
			return err
		}
	}
	return nil
}

// Tasks implements [transfer.Source].
func (w *Whole) Tasks(ctx context.Context, principal string, after *transfer.Key, bytes int64) (list []transfer.Task, err error) {
	err = w.after(principal, after, func(in tenant, where string, args []any) (bool, error) {
		const sql = "SELECT n, id, charged FROM task WHERE "
		err := w.c.query(sql+strings.Replace(where, "%s", "id", 1)+" ORDER BY id LIMIT ?", func(v []value) error {
			if bytes -= num(v[2]); bytes < 0 && len(list) > 0 {
				return errStop
			}
			owner := store.Owner{Tenant: in.name, Principal: principal}
			list = append(list, transfer.Task{N: num(v[0]), ID: text(v[1]), Owner: owner})
			return nil
		}, append(args, pageTasks-len(list))...)
		return bytes > 0 && len(list) < pageTasks, unlessStopped(err)
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := orEnded(ctx, w.read(&list[i])); err != nil {
			return nil, fmt.Errorf("task %q: %w", list[i].ID, err)
		}
	}
	return list, nil
}

// orEnded is why a context has ended, else err.
func orEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// read reads all of a task of which the number and the key are known.
func (w *Whole) read(t *transfer.Task) error {
	r, err := w.store.load(w.c, store.Key{Owner: t.Owner, Task: t.ID}, t.N)
	if err != nil {
		return err
	}
	m := &r.Meta
	t.Context, t.Skill, t.Trace, t.ClientID, t.Asked = m.Context, m.Skill, m.Trace, m.ClientID, m.Asked
	t.State, t.At, t.Oldest, t.Log, t.Charged, t.Input, t.Saved = m.State, m.At, m.Oldest, m.Log, m.Charged, m.Input, m.Saved
	t.State.Runner = 0
	for _, part := range []struct {
		sql  string
		each func(v []value)
	}{
		{"SELECT name, head FROM task JOIN wire ON wire.n=task.wire WHERE task.n=?", func(v []value) { t.Head = docOf(v) }},
		{`SELECT name, doc, seq, kind, state, run, messages FROM event JOIN wire ON wire.n=event.wire WHERE task=? ORDER BY seq`,
			func(v []value) {
				t.Events = append(t.Events, transfer.Event{
					Doc: docOf(v), Seq: num(v[2]), Kind: num(v[3]), State: num(v[4]), Run: blob(v[5]), Messages: blob(v[6]),
				})
			}},
		{"SELECT name, doc, version FROM body JOIN wire ON wire.n=body.wire WHERE task=? ORDER BY version", func(v []value) {
			t.Bodies = append(t.Bodies, transfer.Body{Version: num(v[2]), Doc: docOf(v)})
		}},
		{"SELECT name, request, call.n, input, value FROM call JOIN wire ON wire.n=call.wire WHERE task=? ORDER BY call.n", func(v []value) {
			t.Calls = append(t.Calls, transfer.Call{Request: docOf(v), N: num(v[2]), Input: blob(v[3]), Value: blob(v[4])})
		}},
		{"SELECT name, request, hash, until, made FROM ticket JOIN wire ON wire.n=ticket.wire WHERE task=? ORDER BY hash", func(v []value) {
			t.Tickets = append(t.Tickets, transfer.Ticket{Request: docOf(v), Hash: blob(v[2]), Until: num(v[3]), Made: num(v[4])})
		}},
		{"SELECT id, version, config, tasks, " + cursorColumns + " FROM push WHERE task=? ORDER BY id", func(v []value) {
			p := transfer.Push{ID: text(v[0]), Version: text(v[1]), Config: blob(v[2]), Tasks: num(v[3]) != 0, Cursor: scanCursor(v[4:])}
			p.Cursor.Holder = 0
			t.Pushes = append(t.Pushes, p)
		}},
	} {
		if err := w.c.query(part.sql, func(v []value) error { part.each(v); return nil }, t.N); err != nil {
			return err
		}
	}
	return nil
}

// docOf is a document whose version and JSON are the first two of a row.
func docOf(v []value) transfer.Doc { return transfer.Doc{Wire: text(v[0]), JSON: blob(v[1])} }

// Notes implements [transfer.Source].
func (w *Whole) Notes(_ context.Context, principal string, after *transfer.Key, max int) (list []transfer.Note, err error) {
	err = w.after(principal, after, func(in tenant, where string, args []any) (bool, error) {
		const sql = "SELECT context, version, at, value FROM note WHERE "
		err := w.c.query(sql+strings.Replace(where, "%s", "context", 1)+" ORDER BY context LIMIT ?", func(v []value) error {
			list = append(list, transfer.Note{Tenant: in.name, Context: text(v[0]), Version: num(v[1]), At: num(v[2]), Value: blob(v[3])})
			return nil
		}, append(args, max-len(list))...)
		return len(list) < max, err
	})
	return list, err
}

// Repeats implements [transfer.Source].
func (w *Whole) Repeats(_ context.Context, principal string) (list []transfer.Repeat, err error) {
	err = w.c.query(`SELECT o.tenant, r.key, r.task, r.call, r.digest, r.until FROM account a JOIN owner o ON o.account=a.n
		JOIN repeat r ON r.owner=o.n WHERE a.principal=?`, func(v []value) error {
		list = append(list, transfer.Repeat{Tenant: text(v[0]), Key: text(v[1]), Task: text(v[2]), Call: num(v[3]), Digest: blob(v[4]),
			Until: num(v[5])})
		return nil
	}, principal)
	return list, err
}
