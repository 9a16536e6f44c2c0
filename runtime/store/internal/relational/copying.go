package relational

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// Whole is the tables of an agent as something that is copied or filled: without an instance. It is the part of [transfer.Empty] that
// both databases have in common.
type Whole struct {
	DB Filler
	// Rows reads what the rows of tasks have that is in none of the other tables.
	Rows func(ctx context.Context, of []transfer.Task) error
}

// Filler is a driver that also writes, in transactions of its own.
type Filler interface {
	Driver
	// Change makes one transaction of what do does.
	Change(ctx context.Context, do func(FillTx) error) error
	// NextTasks returns the first of some numbers for new tasks.
	NextTasks(tx FillTx, some int) (int64, error)
}

// FillTx is a transaction.
type FillTx interface {
	Query(q Question) error
	Exec(sql string, args ...any) error
	// Insert adds rows to a table, whose columns are given with spaces between.
	Insert(table, columns string, rows [][]any) error
}

// Take gives a task what its row has that is in none of the other tables.
func Take(t *transfer.Task, m *stored.Meta, head transfer.Doc) {
	t.Context, t.Skill, t.Trace, t.ClientID, t.Asked = m.Context, m.Skill, m.Trace, m.ClientID, m.Asked
	t.State, t.At, t.Oldest, t.Log, t.Charged, t.Input, t.Saved = m.State, m.At, m.Oldest, m.Log, m.Charged, m.Input, m.Saved
	t.State.Runner, t.Head = 0, head
}

// Accounts implements [transfer.Source].
func (w *Whole) Accounts(ctx context.Context, after int64, max int) (list []transfer.Owner, err error) {
	err = w.DB.Ask(ctx, Question{"SELECT n, principal FROM a2a.account WHERE n>$1 AND n>0 ORDER BY n LIMIT $2", []any{after, int64(max)},
		func(row Row) error {
			var o transfer.Owner
			err := row.Scan(&o.N, &o.Principal)
			list = append(list, o)
			return err
		}})
	return list, err
}

// after calls do for each tenant of a principal from a key on, with the condition of what comes after the key there, whose
// arguments are $1 and $2, until it returns false.
func (w *Whole) after(ctx context.Context, principal string, key *transfer.Key, column string,
	do func(tenant, where string, args []any) (bool, error)) error {
	type tenant struct {
		n    int64
		name string
	}
	var list []tenant
	var first transfer.Key
	if key != nil {
		first = *key
	}
	if err := w.DB.Ask(ctx, Question{`SELECT o.n, o.tenant FROM a2a.account a JOIN a2a.owner o ON o.account=a.n WHERE a.principal=$1
		AND o.tenant>=$2 ORDER BY o.tenant`, []any{principal, first.Tenant}, func(row Row) error {
		var t tenant
		err := row.Scan(&t.n, &t.name)
		list = append(list, t)
		return err
	}}); err != nil {
		return err
	}
	for _, t := range list {
		where, id := "owner=$1 AND "+column+">=$2", ""
		if key != nil && t.name == key.Tenant {
			where, id = "owner=$1 AND "+column+">$2", key.ID
		}
		if more, err := do(t.name, where+" ORDER BY "+column, []any{t.n, id}); err != nil || !more {
			return err
		}
	}
	return nil
}

// pageTasks is how many tasks are read at once, at most.
const pageTasks = 256

// Tasks implements [transfer.Source].
func (w *Whole) Tasks(ctx context.Context, principal string, after *transfer.Key, bytes int64) (list []transfer.Task, err error) {
	err = w.after(ctx, principal, after, "id", func(tenant, where string, args []any) (bool, error) {
		sql := "SELECT n, id, charged FROM a2a.task WHERE " + where + " LIMIT $3"
		err := w.DB.Ask(ctx, Question{sql, append(args, int64(pageTasks-len(list))), func(row Row) error {
			t := transfer.Task{Owner: store.Owner{Tenant: tenant, Principal: principal}}
			err := row.Scan(&t.N, &t.ID, &t.Charged)
			if bytes -= t.Charged; bytes >= 0 || len(list) == 0 {
				list = append(list, t)
			}
			return err
		}})
		return bytes > 0 && len(list) < pageTasks, err
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if err := w.Rows(ctx, list); err != nil {
		return nil, err
	}
	return list, w.parts(ctx, list)
}

// parts reads what belongs to tasks beside their rows.
func (w *Whole) parts(ctx context.Context, list []transfer.Task) error {
	ns, of := make([]int64, len(list)), make(map[int64]*transfer.Task, len(list))
	for i := range list {
		ns[i] = list[i].N
		of[list[i].N] = &list[i]
	}
	var n int64
	ask := func(sql string, read func(Row) error) Question { return Question{sql, []any{ns}, read} }
	return w.DB.Ask(ctx,
		ask(`SELECT e.task, w.name, e.doc, e.seq, e.kind, e.state, e.run, e.messages FROM a2a.event e JOIN a2a.wire w ON w.n=e.wire
			WHERE e.task=ANY($1) ORDER BY e.task, e.seq`, func(row Row) error {
			var e transfer.Event
			err := row.Scan(&n, &e.Doc.Wire, &e.Doc.JSON, &e.Seq, &e.Kind, &e.State, &e.Run, &e.Messages)
			of[n].Events = append(of[n].Events, e)
			return err
		}),
		ask(`SELECT b.task, w.name, b.doc, b.version FROM a2a.body b JOIN a2a.wire w ON w.n=b.wire WHERE b.task=ANY($1)
			ORDER BY b.task, b.version`, func(row Row) error {
			var b transfer.Body
			err := row.Scan(&n, &b.Doc.Wire, &b.Doc.JSON, &b.Version)
			of[n].Bodies = append(of[n].Bodies, b)
			return err
		}),
		ask(`SELECT c.task, w.name, c.request, c.n, c.input, c.value FROM a2a.call c JOIN a2a.wire w ON w.n=c.wire WHERE c.task=ANY($1)
			ORDER BY c.task, c.n`, func(row Row) error {
			var c transfer.Call
			err := row.Scan(&n, &c.Request.Wire, &c.Request.JSON, &c.N, &c.Input, &c.Value)
			of[n].Calls = append(of[n].Calls, c)
			return err
		}),
		ask(`SELECT k.task, w.name, k.request, k.hash, k.until, k.made FROM a2a.ticket k JOIN a2a.wire w ON w.n=k.wire WHERE k.task=ANY($1)
			ORDER BY k.task, k.hash`, func(row Row) error {
			var k transfer.Ticket
			err := row.Scan(&n, &k.Request.Wire, &k.Request.JSON, &k.Hash, &k.Until, &k.Made)
			of[n].Tickets = append(of[n].Tickets, k)
			return err
		}),
		ask(`SELECT task, id, version, config, tasks, next, until, attempt, since, coalesce(due, 0), coalesce(dead, '')
			FROM a2a.push WHERE task=ANY($1) ORDER BY task, id`, func(row Row) error {
			var p transfer.Push
			c := &p.Cursor
			err := row.Scan(&n, &p.ID, &p.Version, &p.Config, &p.Tasks, &c.Next, &c.Until, &c.Attempt, &c.Since, &c.Due, &c.Dead)
			of[n].Pushes = append(of[n].Pushes, p)
			return err
		}))
}

// Notes implements [transfer.Source].
func (w *Whole) Notes(ctx context.Context, principal string, after *transfer.Key, max int) (list []transfer.Note, err error) {
	err = w.after(ctx, principal, after, "context", func(tenant, where string, args []any) (bool, error) {
		sql := "SELECT context, version, at, value FROM a2a.note WHERE " + where + " LIMIT $3"
		err := w.DB.Ask(ctx, Question{sql, append(args, int64(max-len(list))), func(row Row) error {
			n := transfer.Note{Tenant: tenant}
			err := row.Scan(&n.Context, &n.Version, &n.At, &n.Value)
			list = append(list, n)
			return err
		}})
		return len(list) < max, err
	})
	return list, err
}

// Repeats implements [transfer.Source].
func (w *Whole) Repeats(ctx context.Context, principal string) (list []transfer.Repeat, err error) {
	err = w.DB.Ask(ctx, Question{`SELECT o.tenant, r.key, r.task, r.call, r.digest, r.until FROM a2a.account a JOIN a2a.owner o ON o.account=a.n
		JOIN a2a.repeat r ON r.owner=o.n WHERE a.principal=$1`, []any{principal}, func(row Row) error {
		var r transfer.Repeat
		err := row.Scan(&r.Tenant, &r.Key, &r.Task, &r.Call, &r.Digest, &r.Until)
		list = append(list, r)
		return err
	}})
	return list, err
}

// filling is a transaction on an account, and the numbers of the rows to which it refers.
type filling struct {
	FillTx
	account int64
	owners  map[string]int64
	wires   map[string]int64
}

// fill makes a transaction on an account, which is made if it is not there. The sums of accounts are made in the end, by Filled.
func (w *Whole) fill(ctx context.Context, principal string, do func(f *filling) error) error {
	return w.DB.Change(ctx, func(tx FillTx) (err error) {
		f := &filling{FillTx: tx, owners: map[string]int64{}, wires: map[string]int64{}}
		f.account, err = f.number("account WHERE principal=$1", "account(principal) VALUES($1)", principal)
		if err != nil {
			return err
		}
		return do(f)
	})
}

// number returns the number of a row, which it inserts if it is not there.
func (f *filling) number(find, insert string, args ...any) (n int64, err error) {
	read := func(row Row) error { return row.Scan(&n) }
	if err := f.Query(Question{"SELECT n FROM a2a." + find, args, read}); err != nil || n != 0 {
		return n, err
	}
	err = f.Query(Question{"INSERT INTO a2a." + insert + " RETURNING n", args, read})
	return n, err
}

func (f *filling) owner(tenant string) (n int64, err error) {
	if f.owners[tenant] == 0 {
		f.owners[tenant], err = f.number("owner WHERE account=$1 AND tenant=$2", "owner(account, tenant) VALUES($1,$2)", f.account, tenant)
	}
	return f.owners[tenant], err
}

// name gives the version of a document its number.
func (f *filling) name(doc transfer.Doc) (err error) {
	if f.wires[doc.Wire] == 0 {
		f.wires[doc.Wire], err = f.number("wire WHERE name=$1", "wire(name) VALUES($1)", doc.Wire)
	}
	return err
}

// Put implements [transfer.Target].
func (w *Whole) Put(ctx context.Context, principal string, drop []int64, tasks []transfer.Task) error {
	return w.fill(ctx, principal, func(f *filling) error {
		if len(drop) > 0 {
			for _, table := range []string{"event WHERE task", "body WHERE task", "call WHERE task", "ticket WHERE task", "push WHERE task", "task WHERE n"} {
				if err := f.Exec("DELETE FROM a2a."+table+"=ANY($1)", drop); err != nil {
					return err
				}
			}
		}
		next, err := w.DB.NextTasks(f.FillTx, len(tasks))
		if err != nil {
			return err
		}
		t := tables{}
		for i := range tasks {
			if err := w.add(f, &t, next+int64(i), &tasks[i]); err != nil {
				return fmt.Errorf("task %q: %w", tasks[i].ID, err)
			}
		}
		columns := w.DB.Dialect().Columns
		for _, into := range []struct {
			table, columns string
			rows           [][]any
		}{
			{"task", columns.Task, t.task}, {"event", w.DB.Dialect().Event(), t.event},
			{"body", "task version wire doc", t.body}, {"call", callColumns + columns.Call, t.call},
			{"ticket", "hash task until made wire request", t.ticket},
			{"push", "task id version config tasks next until attempt since holder due dead", t.push},
		} {
			if len(into.rows) == 0 {
				continue
			}
			if err := f.Insert(into.table, into.columns, into.rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// tables are rows on their way into the tables of tasks.
type tables struct{ task, event, body, call, ticket, push [][]any }

// add adds the rows of a task.
func (w *Whole) add(f *filling, t *tables, n int64, of *transfer.Task) error {
	owner, err := f.owner(of.Owner.Tenant)
	wire := func(d transfer.Doc) int32 {
		if err == nil {
			err = f.name(d)
		}
		return int32(f.wires[d.Wire]) //nolint:gosec // few
	}
	t.task = append(t.task, w.DB.Dialect().Row(n, owner, f.account, of.ID, metaOf(of), int64(wire(of.Head)), of.Head.JSON))
	columns := w.DB.Dialect().Columns
	for i, e := range of.Events {
		row := []any{n, e.Seq, int16(e.Kind), int16(e.State), wire(e.Doc), e.Run, e.Doc.JSON, e.Messages} //nolint:gosec // few
		if columns.Event != "" {
			var stamp uint64 // those of the last updates are kept with the last rows
			if back := len(of.Events) - 1 - i; back < len(of.State.Stamps) {
				stamp = of.State.Stamps[back]
			}
			row = append(row, stamp)
		}
		t.event = append(t.event, row)
	}
	for _, b := range of.Bodies {
		t.body = append(t.body, []any{n, b.Version, wire(b.Doc), b.Doc.JSON})
	}
	for i, c := range of.Calls {
		row := []any{n, c.N, wire(c.Request), c.Request.JSON, c.Input, c.Value}
		if columns.Call != "" {
			var s taskstate.State // of the first one, which is at work
			if i == 0 {
				s = of.State
			}
			row = append(row, s.Began, s.Attempt, s.Made)
		}
		t.call = append(t.call, row)
	}
	for _, k := range of.Tickets {
		t.ticket = append(t.ticket, []any{k.Hash, n, k.Until, k.Made, wire(k.Request), k.Request.JSON})
	}
	for _, p := range of.Pushes {
		c := &p.Cursor
		t.push = append(t.push, []any{
			n, p.ID, p.Version, p.Config, p.Tasks, c.Next, c.Until, int32(c.Attempt), c.Since, int64(0), OrNull(c.Due), OrNull(c.Dead), //nolint:gosec // few
		})
	}
	return err
}

// PutNotes implements [transfer.Target].
func (w *Whole) PutNotes(ctx context.Context, principal string, notes []transfer.Note) error {
	return w.fill(ctx, principal, func(f *filling) error {
		var rows [][]any
		for _, n := range notes {
			owner, err := f.owner(n.Tenant)
			if err != nil {
				return err
			}
			bytes := int64(store.NoteBytes(store.Owner{Tenant: n.Tenant, Principal: principal}, n.Context, n.Value))
			rows = append(rows, []any{owner, f.account, n.Context, n.Version, n.At, bytes, append([]byte{}, n.Value...)})
		}
		return f.Insert("note", "owner account context version at bytes value", rows)
	})
}

// PutRepeats implements [transfer.Target].
func (w *Whole) PutRepeats(ctx context.Context, principal string, repeats []transfer.Repeat) error {
	return w.fill(ctx, principal, func(f *filling) error {
		var rows [][]any
		for _, r := range repeats {
			owner, err := f.owner(r.Tenant)
			if err != nil {
				return err
			}
			row := []any{owner, r.Key, r.Task, r.Call, r.Digest, r.Until}
			if w.DB.Dialect().Columns.Repeat != "" {
				row = append(row, f.account)
			}
			rows = append(rows, row)
		}
		return f.Insert("repeat", repeatColumns+w.DB.Dialect().Columns.Repeat, rows)
	})
}

// DropRest implements [transfer.Target].
func (w *Whole) DropRest(ctx context.Context, principal string) error {
	return w.fill(ctx, principal, func(f *filling) error {
		if err := f.Exec("DELETE FROM a2a.note WHERE account=$1", f.account); err != nil {
			return err
		}
		return f.Exec("DELETE FROM a2a.repeat WHERE owner IN (SELECT n FROM a2a.owner WHERE account=$1)", f.account)
	})
}

// ErrCopying is why no agent opens tables that are being filled from a store.
func ErrCopying(from string) error {
	return fmt.Errorf("a copy of %s into it has not ended: go on with \"a2agen tasks copy\"", from)
}

// Free says why tables cannot be filled from a store: they are being filled from another one, or have tasks of their own. Then others are to
// be named instead.
func (w *Whole) Free(ctx context.Context, name, from, filling, instead string) error {
	if filling != "" && filling != from {
		return fmt.Errorf("%s: %w", name, ErrCopying(filling))
	}
	var some bool
	_, err := One(ctx, w.DB, "SELECT EXISTS(SELECT 1 FROM a2a.task) OR EXISTS(SELECT 1 FROM a2a.note) OR EXISTS(SELECT 1 FROM a2a.repeat)", nil, &some)
	if err == nil && some && filling == "" {
		err = fmt.Errorf("%s %w: name %s", name, transfer.ErrTasks, instead)
	}
	return err
}

// Count writes what accounts hold, once all that they have is there.
func (w *Whole) Count(tx FillTx) error {
	for _, sql := range w.DB.Dialect().Count {
		if err := tx.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// metaOf is what the row of a task has.
func metaOf(t *transfer.Task) *stored.Meta {
	m := &stored.Meta{
		State: t.State, Context: t.Context, Skill: t.Skill, ClientID: t.ClientID, Trace: t.Trace, At: t.At, Oldest: t.Oldest, Charged: t.Charged,
		Asked: t.Asked, Input: t.Input, Saved: t.Saved, Log: t.Log,
	}
	m.Runner, m.Pushes, m.Ticketed = 0, int32(len(t.Pushes)), len(t.Tickets) > 0 //nolint:gosec // few
	if last := len(t.Bodies) - 1; last >= 0 {
		m.Snapshot, m.Body = t.Bodies[last].Version, int64(len(t.Bodies[last].Doc.JSON))
	}
	for _, e := range t.Events {
		if e.Seq > m.Snapshot {
			m.Since += int64(stored.EventBytes + len(e.Doc.JSON) + len(e.Messages))
		}
	}
	return m
}
