package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// A file that is being filled has the table "copying", with the name of the store whose tasks come into it.

// errCopying is why no agent opens such a file.
func errCopying(from string) error {
	return fmt.Errorf("a copy of %s into it has not ended: go on with \"a2agen tasks copy\"", from)
}

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
func (w *Whole) Ready(_ context.Context, from string) error {
	now, err := copying(w.c)
	switch {
	case err != nil:
		return err
	case now == from:
		return nil
	case now != "":
		return fmt.Errorf("%s: %w", w.path, errCopying(now))
	}
	some, _, err := w.c.one("SELECT EXISTS(SELECT 1 FROM task) OR EXISTS(SELECT 1 FROM note) OR EXISTS(SELECT 1 FROM repeat)")
	if err == nil && some != 0 {
		err = fmt.Errorf("%s %w: name a file that is not there", w.path, transfer.ErrTasks)
	}
	return err
}

// Fill implements [transfer.Empty].
func (w *Whole) Fill(_ context.Context, from string) error {
	return w.change(func() error {
		if _, err := w.c.exec("CREATE TABLE IF NOT EXISTS copying(source TEXT PRIMARY KEY)"); err != nil {
			return err
		}
		_, err := w.c.exec("INSERT OR IGNORE INTO copying(source) VALUES(?)", from)
		return err
	})
}

// Filled implements [transfer.Empty].
func (w *Whole) Filled(ctx context.Context) error {
	var accounts []int64
	err := w.c.query("SELECT n FROM account", func(v []value) error { accounts = append(accounts, num(v[0])); return nil })
	if err != nil {
		return err
	}
	return w.change(func() error {
		for _, n := range accounts {
			if err := orEnded(ctx, w.recount(n)); err != nil {
				return err
			}
		}
		return w.c.script("DROP TABLE copying")
	})
}

// change makes one transaction.
func (w *Whole) change(do func() error) error {
	if _, err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		_, err = w.c.exec("COMMIT")
	}
	if err != nil {
		_ = w.c.script("ROLLBACK")
	}
	return err
}

// ids finds the rows that a task refers to by number, and makes those that are missing.
type ids struct {
	account int64
	owners  map[string]int64
	wires   map[string]int64
}

func (w *Whole) ids(principal string) (*ids, error) {
	i := &ids{owners: map[string]int64{}, wires: map[string]int64{}}
	var err error
	i.account, err = w.number("account WHERE principal=?1", "account(principal) VALUES(?1)", principal)
	return i, err
}

// number returns the number of a row, which it inserts if it is not there.
func (w *Whole) number(find, insert string, args ...any) (n int64, err error) {
	n, found, err := w.c.one("SELECT n FROM "+find, args...)
	if err == nil && !found {
		n, _, err = w.c.one("INSERT INTO "+insert+" RETURNING n", args...)
	}
	return n, err
}

func (w *Whole) owner(i *ids, tenant string) (n int64, err error) {
	if i.owners[tenant] == 0 {
		i.owners[tenant], err = w.number("owner WHERE account=?1 AND tenant=?2", "owner(account, tenant) VALUES(?1,?2)", i.account, tenant)
	}
	return i.owners[tenant], err
}

func (w *Whole) wire(i *ids, name string) (n int64, err error) {
	if i.wires[name] == 0 {
		i.wires[name], err = w.number("wire WHERE name=?1", "wire(name) VALUES(?1)", name)
	}
	return i.wires[name], err
}

// Put implements [transfer.Target].
func (w *Whole) Put(ctx context.Context, principal string, drop []int64, tasks []transfer.Task) error {
	return w.change(func() error {
		for _, n := range drop {
			if _, err := deleteTask(w.c, n); err != nil {
				return err
			}
		}
		i, err := w.ids(principal)
		if err != nil {
			return err
		}
		for k := range tasks {
			if err := orEnded(ctx, w.put(i, &tasks[k])); err != nil {
				return fmt.Errorf("task %q: %w", tasks[k].ID, err)
			}
		}
		return nil
	})
}

func (w *Whole) put(i *ids, t *transfer.Task) error {
	owner, err := w.owner(i, t.Owner.Tenant)
	if err != nil {
		return err
	}
	var failed error
	wire := func(d transfer.Doc) int64 {
		n, err := w.wire(i, d.Wire)
		failed = errors.Join(failed, err)
		return n
	}
	s := &t.State
	n, _, err := w.c.one(`INSERT INTO task(owner, account, id, context, skill, clientid, state, at, version, oldest, epoch,
		calls, done, said, status, made, log, charged, rest, rested, asked, input, saved, trace, wire, head)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING n`,
		owner, i.account, t.ID, t.Context, t.Skill, t.ClientID, int64(s.Status), t.At, s.Version, t.Oldest, s.Epoch,
		s.Calls, s.Done, s.Messages.Bytes, s.LastStatus.Bytes, s.Artifacts.Bytes, t.Log, t.Charged, int64(s.Rest()), s.Rested, t.Asked,
		t.Input, t.Saved, t.Trace, wire(t.Head), t.Head.JSON)
	if err != nil {
		return err
	}
	exec := func(sql string, args ...any) {
		if failed == nil {
			_, failed = w.c.exec(sql, append([]any{n}, args...)...)
		}
	}
	for k, e := range t.Events {
		var stamp uint64 // those of the last updates are kept with the last rows
		if back := len(t.Events) - 1 - k; back < len(s.Stamps) {
			stamp = s.Stamps[back]
		}
		exec("INSERT INTO event(task, seq, kind, state, run, stamp, wire, doc, messages) VALUES(?,?,?,?,?,?,?,?,?)",
			e.Seq, e.Kind, e.State, e.Run, stamp, wire(e.Doc), e.Doc.JSON, e.Messages)
	}
	for _, b := range t.Bodies {
		exec("INSERT INTO body(task, version, wire, doc) VALUES(?,?,?,?)", b.Version, wire(b.Doc), b.Doc.JSON)
	}
	for k, c := range t.Calls {
		var attempt, made, stamp int64
		if k == 0 {
			attempt, made, stamp = int64(s.Attempt), int64(s.Made), int64(s.Began) //nolint:gosec // bits
		}
		exec("INSERT INTO call(task, n, stamp, attempt, made, wire, request, input, value) VALUES(?,?,?,?,?,?,?,?,?)",
			c.N, stamp, attempt, made, wire(c.Request), c.Request.JSON, c.Input, c.Value)
	}
	for _, k := range t.Tickets {
		exec("INSERT INTO ticket(task, hash, until, made, wire, request) VALUES(?,?,?,?,?,?)", k.Hash, k.Until, k.Made,
			wire(k.Request), k.Request.JSON)
	}
	for _, p := range t.Pushes {
		c := &p.Cursor
		exec(`INSERT INTO push(task, id, version, config, tasks, next, until, attempt, since, holder, due, dead)
			VALUES(?,?,?,?,?,?,?,?,?,0,?,?)`, p.ID, p.Version, p.Config, p.Tasks, c.Next, c.Until, c.Attempt,
			c.Since, orNull(c.Due), orNullText(c.Dead))
	}
	return failed
}

func orNullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// recount writes the sums of an account, once all that it has is there.
func (w *Whole) recount(account int64) error {
	_, err := w.c.exec(`UPDATE account SET (tasks, bytes, restedtasks, restedbytes)=(SELECT count(*), coalesce(sum(charged),0),
		coalesce(sum(rest>0),0), coalesce(sum(iif(rest>0,charged,0)),0) FROM task WHERE account=?1),
		pushes=(SELECT count(*) FROM push p JOIN task t ON t.n=p.task WHERE t.account=?1),
		notes=(SELECT coalesce(sum(bytes),0) FROM note WHERE account=?1) WHERE n=?1`, account)
	if err != nil {
		return err
	}
	var held taskstate.Holding
	err = w.c.query("SELECT tasks, bytes+notes FROM account WHERE n=?", func(v []value) error {
		held = taskstate.Holding{Tasks: num(v[0]), Bytes: num(v[1])}
		return nil
	}, account)
	if err != nil {
		return err
	}
	if _, err := w.c.exec("UPDATE account SET bytes=?, weight=? WHERE n=?", held.Bytes, taskstate.Weigh(held), account); err != nil {
		return err
	}
	for _, sql := range []string{
		"DELETE FROM usage WHERE owner IN (SELECT n FROM owner WHERE account=?)",
		"INSERT INTO usage(owner, state, tasks) SELECT owner, state, count(*) FROM task WHERE account=? GROUP BY owner, state",
	} {
		if _, err := w.c.exec(sql, account); err != nil {
			return err
		}
	}
	return nil
}

// PutNotes implements [transfer.Target].
func (w *Whole) PutNotes(_ context.Context, principal string, notes []transfer.Note) error {
	return w.change(func() error {
		i, err := w.ids(principal)
		if err != nil {
			return err
		}
		for _, one := range notes {
			of := store.Owner{Tenant: one.Tenant, Principal: principal}
			owner, err := w.owner(i, one.Tenant)
			if err != nil {
				return err
			}
			if _, err := w.c.exec("INSERT INTO note(owner, account, context, version, at, bytes, value) VALUES(?,?,?,?,?,?,?)", owner, i.account,
				one.Context, one.Version, one.At, store.NoteBytes(of, one.Context, one.Value), append([]byte{}, one.Value...)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutRepeats implements [transfer.Target].
func (w *Whole) PutRepeats(_ context.Context, principal string, repeats []transfer.Repeat) error {
	return w.change(func() error {
		i, err := w.ids(principal)
		if err != nil {
			return err
		}
		for _, r := range repeats {
			owner, err := w.owner(i, r.Tenant)
			if err != nil {
				return err
			}
			if _, err := w.c.exec("INSERT INTO repeat(owner, key, task, call, digest, until) VALUES(?,?,?,?,?,?)",
				owner, r.Key, r.Task, r.Call, r.Digest, r.Until); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropRest implements [transfer.Target].
func (w *Whole) DropRest(_ context.Context, principal string) error {
	return w.change(func() error {
		i, err := w.ids(principal)
		if err != nil {
			return err
		}
		for _, sql := range []string{"DELETE FROM note WHERE account=?",
			"DELETE FROM repeat WHERE owner IN (SELECT n FROM owner WHERE account=?)"} {
			if _, err := w.c.exec(sql, i.account); err != nil {
				return err
			}
		}
		return nil
	})
}
