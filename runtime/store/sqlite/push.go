package sqlite

import (
	"cmp"
	"context"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// push finds out what the rules have to know of a configuration that comes to a task, which may be new.
func (w *writer) push(o *owner, n int64, p *store.Push, facts *taskstate.Push) error {
	_, old, err := w.one("SELECT 1 FROM push WHERE task=? AND id=?", n, p.ID)
	a, all := o.account, w.ledger.all
	facts.New = !old
	facts.Full = !taskstate.PushRoom(int(a.pushes), int(all.pushes), w.s.options.Pushes, a.named)
	return err
}

// wakeSQL makes the configurations of a task due that sleep, as [taskstate.Cursor.Wake] does.
const wakeSQL = "UPDATE push SET due=? WHERE task=? AND due IS NULL AND dead IS NULL"

// cursorColumns are the columns of a cursor in the order of scanCursor.
const cursorColumns = "next, until, attempt, since, holder, due, dead"

func scanCursor(v []value) taskstate.Cursor {
	return taskstate.Cursor{
		Next: num(v[0]), Until: num(v[1]), Attempt: int(num(v[2])), Since: num(v[3]), Holder: num(v[4]), Due: num(v[5]),
		Dead: text(v[6]),
	}
}

// cursor reads that of a configuration.
func (w *writer) cursor(n int64, id string) (c taskstate.Cursor, found bool, err error) {
	err = w.query("SELECT "+cursorColumns+" FROM push WHERE task=? AND id=?", func(v []value) error {
		c, found = scanCursor(v), true
		return nil
	}, n, id)
	return c, found, err
}

func (w *writer) writeCursor(n int64, id string, c *taskstate.Cursor) error {
	_, err := w.exec("UPDATE push SET next=?, until=?, attempt=?, since=?, holder=?, due=?, dead=? WHERE task=? AND id=?",
		c.Next, c.Until, c.Attempt, c.Since, c.Holder, relational.OrNull(c.Due), relational.OrNull(c.Dead), n, id)
	return err
}

// putPush writes a configuration of a task that has a version by now.
func (w *writer) putPush(a *account, n int64, p *store.Push, config []byte, version int64) error {
	c, found, err := w.cursor(n, p.ID)
	if err != nil {
		return err
	}
	if found {
		c.Replace(version, w.now.UnixNano())
	} else {
		c = taskstate.NewCursor(version)
		w.ledger.addPushes(a, 1)
	}
	_, err = w.exec(`INSERT INTO push(task, id, version, config, tasks, next, until, attempt, since, holder)
		VALUES(?1,?2,?3,?4,?5,0,0,0,0,0) ON CONFLICT DO UPDATE SET version=?3, config=?4, tasks=?5`,
		n, p.ID, p.Version, config, p.Tasks)
	if err != nil {
		return err
	}
	return w.writeCursor(n, p.ID, &c)
}

// SetPush implements [store.Store].
func (s *Store) SetPush(ctx context.Context, key store.Key, p store.Push) error {
	config, err := stored.EncodePush(&p)
	if err != nil {
		return err
	}
	return s.write(ctx, func(w *writer) error {
		r, err := w.row(key, 0, nil)
		if err != nil {
			return err
		}
		o, err := w.ledger.owner(w, key.Owner)
		if err != nil {
			return err
		}
		facts := taskstate.Push{Bad: p.Check(), Max: p.Max}
		if err := w.push(o, r.N, &p, &facts); err != nil {
			return err
		}
		next := r.Meta
		if err := next.AddPush(&facts); err != nil {
			return err
		}
		if err := w.putPush(o.account, r.N, &p, config, next.Version); err != nil {
			return err
		}
		w.become(r, next)
		return nil
	})
}

// become publishes a task that has no new event.
func (w *writer) become(r *stored.Row, next stored.Meta) {
	w.changed[r.N] = struct{}{}
	w.then(func() {
		r.Mu.Lock()
		defer r.Mu.Unlock()
		r.Meta = next
	})
}

func decodePush(v []value) (store.Push, error) {
	p := store.Push{ID: text(v[0]), Version: text(v[1]), Tasks: num(v[3]) != 0}
	return p, stored.DecodePush(blob(v[2]), &p)
}

// DeletePush implements [store.Store].
func (s *Store) DeletePush(ctx context.Context, key store.Key, id string) error {
	return s.write(ctx, func(w *writer) error {
		r, err := w.row(key, 0, nil)
		if err != nil {
			return err
		}
		o, err := w.ledger.owner(w, key.Owner)
		if err != nil {
			return err
		}
		n, err := w.exec("DELETE FROM push WHERE task=? AND id=?", r.N, id)
		if err != nil || n == 0 {
			return err
		}
		w.ledger.addPushes(o.account, -1)
		next := r.Meta
		next.Pushes--
		w.become(r, next)
		return nil
	})
}

// dueSQL finds deliveries that are.
const dueSQL = "SELECT task, id, version, config, tasks, " + cursorColumns + ` FROM push INDEXED BY push_due
	WHERE due IS NOT NULL AND due<=? ORDER BY due LIMIT ?`

// Due implements [store.Store].
func (s *Store) Due(ctx context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration,
	err error) {
	next, err = s.base.NextDue(ctx)
	if err != nil || next != 0 || max <= 0 {
		return nil, next, err
	}
	var claimed []store.Delivery
	due, err = result(&claimed, s.write(ctx, func(w *writer) (err error) {
		claimed, err = w.claimDue(max, hold)
		return err
	}))
	if err == nil {
		next, err = s.base.NextDue(ctx)
	}
	return due, next, err
}

func (w *writer) claimDue(max int, hold time.Duration) (due []store.Delivery, err error) {
	var tasks []int64
	var cursors []taskstate.Cursor
	err = w.query(dueSQL, func(v []value) error {
		p, err := decodePush(v[1:])
		c := scanCursor(v[5:])
		d := store.Delivery{Push: p, Next: c.Next, Until: c.Until, Attempt: c.Attempt}
		if c.Since != 0 {
			d.Since = time.Unix(0, c.Since)
		}
		tasks, due, cursors = append(tasks, num(v[0])), append(due, d), append(cursors, c)
		return err
	}, w.now.UnixNano(), max)
	if err != nil {
		return nil, err
	}
	for i, n := range tasks {
		d := &due[i]
		if d.Key, err = w.keyOf(n); err != nil {
			return nil, err
		}
		w.s.claims++ // by the writer alone
		d.Holder = w.s.me<<32 | w.s.claims
		cursors[i].Claim(d.Holder, w.now.UnixNano(), hold)
		if err := w.writeCursor(n, d.Push.ID, &cursors[i]); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// Settle implements [store.Store].
func (s *Store) Settle(ctx context.Context, d store.Delivery, o store.Outcome) error {
	return s.write(ctx, func(w *writer) error {
		n, found, err := w.number(d.Key)
		if err != nil || !found {
			return cmp.Or(err, store.ErrLost)
		}
		c, _, err := w.cursor(n, d.Push.ID)
		if err != nil {
			return err
		}
		version, _, err := w.one(`SELECT max(version, coalesce((SELECT max(seq) FROM event WHERE task=n), 0)) FROM task
			WHERE n=?`, n)
		if err != nil {
			return err
		}
		if err := c.Settle(d.Holder, taskstate.Outcome(o), version, w.now.UnixNano()); err != nil {
			return err
		}
		return w.writeCursor(n, d.Push.ID, &c)
	})
}
