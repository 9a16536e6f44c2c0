package postgres

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// A schema that is being filled says so in meta.places: no agent opens it.
const filling = "? "

// errFilling is why no agent opens such a schema.
func errFilling(places string) error {
	return fmt.Errorf("a copy of %s into it has not ended: go on with \"a2agen tasks copy\"", strings.TrimPrefix(places, filling))
}

// Ready implements [transfer.Empty].
func (w *Whole) Ready(ctx context.Context, from string) error {
	var places string
	var some bool
	if err := w.one(ctx, `SELECT places, EXISTS(SELECT 1 FROM a2a.task) OR EXISTS(SELECT 1 FROM a2a.note) OR EXISTS(SELECT 1 FROM a2a.repeat)
		FROM a2a.meta`, nil, &places, &some); err != nil {
		return err
	}
	switch {
	case places == filling+from:
	case strings.HasPrefix(places, filling):
		return fmt.Errorf("%s: %w", w.Name(), errFilling(places))
	case some:
		return fmt.Errorf("%s %w: name a schema without any, with %s=NAME in the address", w.Name(), transfer.ErrTasks, paramSchema)
	}
	return w.Unused(ctx)
}

// Fill implements [transfer.Empty]. The schema had no tasks, and belongs to whichever agent opens it next.
func (w *Whole) Fill(ctx context.Context, from string) error {
	_, err := w.pool.Exec(ctx, w.sql("UPDATE a2a.meta SET places=$1, agent=''"), filling+from)
	return writeFailed(err, true)
}

// Filled implements [transfer.Empty].
func (w *Whole) Filled(ctx context.Context) error {
	_, err := w.pool.Exec(ctx, w.sql("UPDATE a2a.meta SET places=''"))
	return writeFailed(err, true)
}

// filled is what a transaction refers to by number, and what it changes of the sums.
type filled struct {
	w       *Whole
	tx      pgx.Tx
	account int64
	owners  map[string]int64
	wires   map[string]int32
	sums    map[int64]sums
	counts  map[counted]int64
}

// change makes one transaction on an account, which is made if it is not there.
func (w *Whole) change(ctx context.Context, principal string, do func(f *filled) error) error {
	err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		f := &filled{w: w, tx: tx, owners: map[string]int64{}, wires: map[string]int32{}, sums: map[int64]sums{}, counts: map[counted]int64{}}
		const sql = "INSERT INTO a2a.account(principal) VALUES($1) ON CONFLICT (principal) DO UPDATE SET idle=0 RETURNING n"
		if err := tx.QueryRow(ctx, w.sql(sql), principal).Scan(&f.account); err != nil {
			return err
		}
		if err := do(f); err != nil {
			return err
		}
		return f.addSums(ctx)
	})
	return writeFailed(err, true)
}

// filledLane is the lane of those who are no instance.
const filledLane = int16(0)

// addSums adds to the sums of the account and of everybody, as writers do.
func (f *filled) addSums(ctx context.Context) error {
	if by := f.sums[f.account]; by != (sums{}) {
		f.sums[everybody] = by
		if _, err := f.tx.Exec(ctx, f.w.sql(addUsageSQL), usageArgs(filledLane, f.sums)...); err != nil {
			return err
		}
	}
	maps.DeleteFunc(f.counts, func(_ counted, by int64) bool { return by == 0 })
	if len(f.counts) == 0 {
		return nil
	}
	_, err := f.tx.Exec(ctx, f.w.sql(addCountsSQL), countsArgs(filledLane, f.counts)...)
	return err
}

func (f *filled) owner(ctx context.Context, tenant string) (n int64, err error) {
	if f.owners[tenant] == 0 {
		const sql = "INSERT INTO a2a.owner(account, tenant) VALUES($1,$2) ON CONFLICT (account, tenant) DO UPDATE SET idle=0 RETURNING n"
		err = f.tx.QueryRow(ctx, f.w.sql(sql), f.account, tenant).Scan(&n)
		f.owners[tenant] = n
	}
	return f.owners[tenant], err
}

func (f *filled) wire(ctx context.Context, name string) (n int32, err error) {
	if f.wires[name] == 0 {
		const sql = "INSERT INTO a2a.wire(name) VALUES($1) ON CONFLICT (name) DO UPDATE SET name=$1 RETURNING n"
		err = f.tx.QueryRow(ctx, f.w.sql(sql), name).Scan(&n)
		f.wires[name] = n
	}
	return f.wires[name], err
}

// dropTasksSQL drops tasks with all their rows, and says what they were.
const dropTasksSQL = `WITH gone AS (DELETE FROM a2a.task WHERE n=ANY($1) AND account=$2 RETURNING n, owner, state, rest, charged, pushes),
	e AS (DELETE FROM a2a.event x USING gone WHERE x.task=gone.n), b AS (DELETE FROM a2a.body x USING gone WHERE x.task=gone.n),
	c AS (DELETE FROM a2a.call x USING gone WHERE x.task=gone.n), k AS (DELETE FROM a2a.ticket x USING gone WHERE x.task=gone.n),
	p AS (DELETE FROM a2a.push x USING gone WHERE x.task=gone.n)
	SELECT owner, state, rest>0, charged, pushes FROM gone`

// drop drops tasks of the account.
func (f *filled) drop(ctx context.Context, ns []int64) error {
	if len(ns) == 0 {
		return nil
	}
	rows, err := f.tx.Query(ctx, f.w.sql(dropTasksSQL), ns, f.account)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var owner int64
		var state int16
		var rests bool
		by := sums{tasks: -1}
		if err := rows.Scan(&owner, &state, &rests, &by.bytes, &by.pushes); err != nil {
			return err
		}
		by.bytes, by.pushes = -by.bytes, -by.pushes
		if rests {
			by.restedTasks, by.restedBytes = by.tasks, by.bytes
		}
		f.sums[f.account] = f.sums[f.account].plus(by)
		f.counts[counted{owner, state}]--
	}
	return rows.Err()
}

// Put implements [transfer.Target].
func (w *Whole) Put(ctx context.Context, principal string, drop []int64, tasks []transfer.Task) error {
	return w.change(ctx, principal, func(f *filled) error {
		if err := f.drop(ctx, drop); err != nil {
			return err
		}
		var t tables
		for i, n := range make([]int64, len(tasks)) {
			if i%blockOf == 0 {
				if err := f.tx.QueryRow(ctx, w.sql("SELECT nextval('a2a.block')")).Scan(&t.next); err != nil {
					return err
				}
				t.next *= blockOf
			}
			n, t.next = t.next, t.next+1
			if err := f.put(ctx, &t, n, &tasks[i]); err != nil {
				return fmt.Errorf("task %q: %w", tasks[i].ID, err)
			}
		}
		return t.copyTo(ctx, f)
	})
}

// tables are rows on their way into the tables of tasks.
type tables struct {
	next                                  int64 // number of a task
	task, event, body, call, ticket, push [][]any
}

// Columns of the tables, in the order of the rows.
const (
	taskFilled = `n rev owner account id context skill clientid trace version stamps artifacts artifactparts log since charged said saidparts
		laststatus laststatusparts oldest snapshot body epoch calls done runner attempt made began pushes ticketed asked input saved
		rest rested state at wire head`
	eventFilled  = "task seq kind state wire run doc messages"
	bodyFilled   = "task version wire doc"
	callFilled   = "task n wire request input value"
	ticketFilled = "hash task until made wire request"
	pushFilled   = "task id version config tasks next until attempt since holder due dead"
)

// copyTo writes the rows.
func (t *tables) copyTo(ctx context.Context, f *filled) error {
	for _, into := range []struct {
		table, columns string
		rows           [][]any
	}{
		{"task", taskFilled, t.task}, {"event", eventFilled, t.event}, {"body", bodyFilled, t.body}, {"call", callFilled, t.call},
		{"ticket", ticketFilled, t.ticket}, {"push", pushFilled, t.push},
	} {
		if len(into.rows) == 0 {
			continue
		}
		table := pgx.Identifier{f.w.target.schema, into.table}
		if _, err := f.tx.CopyFrom(ctx, table, strings.Fields(into.columns), pgx.CopyFromRows(into.rows)); err != nil {
			return err
		}
	}
	return nil
}

// put adds the rows of a task.
func (f *filled) put(ctx context.Context, t *tables, n int64, of *transfer.Task) error {
	owner, err := f.owner(ctx, of.Owner.Tenant)
	if err != nil {
		return err
	}
	wire := func(d transfer.Doc) (w int32) {
		if err == nil {
			w, err = f.wire(ctx, d.Wire)
		}
		return w
	}
	m := metaOf(of)
	by := holds(m)
	by.pushes = int64(len(of.Pushes))
	f.sums[f.account] = f.sums[f.account].plus(by)
	f.counts[counted{owner, int16(m.Status)}]++
	row := []any{
		n, int64(1), owner, f.account, of.ID, m.Context, m.Skill, m.ClientID, m.Trace, m.Version, stampsOf(&m.State), int64(m.Artifacts.Bytes),
		int32(m.Artifacts.Parts), m.Log, m.Since, m.Charged, //nolint:gosec // few
	}
	t.task = append(t.task, append(append(row, stateArgs(m)...), int16(m.Status), m.At, wire(of.Head), of.Head.JSON))
	for _, e := range of.Events {
		t.event = append(t.event, []any{n, e.Seq, int16(e.Kind), int16(e.State), wire(e.Doc), e.Run, e.Doc.JSON, e.Messages}) //nolint:gosec // few
	}
	for _, b := range of.Bodies {
		t.body = append(t.body, []any{n, b.Version, wire(b.Doc), b.Doc.JSON})
	}
	for _, c := range of.Calls {
		t.call = append(t.call, []any{n, c.N, wire(c.Request), c.Request.JSON, c.Input, c.Value})
	}
	for _, k := range of.Tickets {
		t.ticket = append(t.ticket, []any{k.Hash, n, k.Until, k.Made, wire(k.Request), k.Request.JSON})
	}
	for _, p := range of.Pushes {
		c := &p.Cursor
		var due *int64
		if c.Due != 0 {
			due = &c.Due
		}
		var dead *string
		if c.Dead != "" {
			dead = &c.Dead
		}
		t.push = append(t.push, []any{
			n, p.ID, p.Version, p.Config, p.Tasks, c.Next, c.Until, int32(c.Attempt), c.Since, int64(0), due, dead, //nolint:gosec // few
		})
	}
	return err
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

// PutNotes implements [transfer.Target].
func (w *Whole) PutNotes(ctx context.Context, principal string, notes []transfer.Note) error {
	return w.change(ctx, principal, func(f *filled) error {
		var rows [][]any
		for _, n := range notes {
			owner, err := f.owner(ctx, n.Tenant)
			if err != nil {
				return err
			}
			bytes := int64(store.NoteBytes(store.Owner{Tenant: n.Tenant, Principal: principal}, n.Context, n.Value))
			rows = append(rows, []any{owner, f.account, n.Context, n.Version, n.At, bytes, append([]byte{}, n.Value...)})
			f.sums[f.account] = f.sums[f.account].plus(sums{bytes: bytes, notes: bytes})
		}
		_, err := f.tx.CopyFrom(ctx, pgx.Identifier{w.target.schema, "note"},
			[]string{"owner", "account", "context", "version", "at", "bytes", "value"}, pgx.CopyFromRows(rows))
		return err
	})
}

// PutRepeats implements [transfer.Target].
func (w *Whole) PutRepeats(ctx context.Context, principal string, repeats []transfer.Repeat) error {
	return w.change(ctx, principal, func(f *filled) error {
		var rows [][]any
		for _, r := range repeats {
			owner, err := f.owner(ctx, r.Tenant)
			if err != nil {
				return err
			}
			rows = append(rows, []any{owner, r.Key, f.account, r.Task, r.Call, r.Digest, r.Until})
		}
		_, err := f.tx.CopyFrom(ctx, pgx.Identifier{w.target.schema, "repeat"},
			[]string{"owner", "key", "account", "task", "call", "digest", "until"}, pgx.CopyFromRows(rows))
		return err
	})
}

// DropRest implements [transfer.Target].
func (w *Whole) DropRest(ctx context.Context, principal string) error {
	return w.change(ctx, principal, func(f *filled) error {
		var bytes int64
		const notes = "WITH gone AS (DELETE FROM a2a.note WHERE account=$1 RETURNING bytes) SELECT coalesce(sum(bytes), 0)::bigint FROM gone"
		if err := f.tx.QueryRow(ctx, w.sql(notes), f.account).Scan(&bytes); err != nil {
			return err
		}
		f.sums[f.account] = sums{bytes: -bytes, notes: -bytes}
		_, err := f.tx.Exec(ctx, w.sql("DELETE FROM a2a.repeat WHERE account=$1"), f.account)
		return err
	})
}
