package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// maxPushBytes is how large a push notification configuration may be.
const maxPushBytes = 16 << 10

func encodePush(p *store.Push) ([]byte, error) {
	b, err := json.Marshal(p.Config)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", store.ErrUnfit, err)
	case len(b)+len(p.ID)+len(p.Version) > maxPushBytes:
		return nil, store.ErrTooLarge
	}
	return b, nil
}

// roomForPush refuses another configuration when there are too many, in all or of an owner.
func (w *writer) roomForPush(a *account) error {
	most := int64(w.s.options.Pushes)
	share := most
	if a.named {
		share = max(most/2, 1)
	}
	if w.ledger.all.pushes >= most || a.pushes >= share {
		return store.ErrFull
	}
	return nil
}

// roomForAnother is roomForPush unless the configuration takes the place of one.
func (w *writer) roomForAnother(a *account, n int64, id string) error {
	_, old, err := w.one("SELECT 1 FROM push WHERE task=? AND id=?", n, id)
	if old || err != nil {
		return err
	}
	return w.roomForPush(a)
}

// putPush writes a configuration: a new one begins after the version that the task has now, one in the place of another
// goes on where that was.
func (w *writer) putPush(a *account, n int64, p *store.Push, config []byte, m *meta) error {
	next, found, err := w.one("SELECT next FROM push WHERE task=? AND id=?", n, p.ID)
	if err != nil {
		return err
	}
	if !found {
		next = m.version + 1
		w.ledger.addPushes(a, 1)
	}
	var due any
	if next <= m.version {
		due = w.now.UnixNano()
	}
	_, err = w.exec(`INSERT INTO push(task, id, version, config, tasks, next, until, attempt, since, holder, due, dead)
		VALUES(?1,?2,?3,?4,?5,?6,0,0,0,0,?7,NULL) ON CONFLICT DO UPDATE SET
		version=?3, config=?4, tasks=?5, attempt=0, since=0, holder=0, due=?7, dead=NULL`,
		n, p.ID, p.Version, config, p.Tasks, next, due)
	return err
}

// SetPush implements [store.Store].
func (s *Store) SetPush(ctx context.Context, key store.Key, p store.Push) error {
	config, err := encodePush(&p)
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
		if err := w.roomForAnother(o.account, r.n, p.ID); err != nil {
			return err
		}
		next := r.meta
		next.pushed = true
		if err := w.putPush(o.account, r.n, &p, config, &next); err != nil {
			return err
		}
		w.become(r, next)
		return nil
	})
}

// become publishes a task that has no new event.
func (w *writer) become(r *row, next meta) {
	w.touched[r.n] = struct{}{}
	w.then(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.meta = next
	})
}

// Pushes implements [store.Store].
func (s *Store) Pushes(ctx context.Context, key store.Key) (all []store.Push, err error) {
	err = s.reading(ctx, func(c *conn) error {
		n, found, err := c.number(key)
		if err != nil || !found {
			return orNotFound(err)
		}
		all = []store.Push{}
		return c.query("SELECT id, version, config, tasks FROM push WHERE task=? ORDER BY id", func(v []value) error {
			p, err := decodePush(v)
			all = append(all, p)
			return err
		}, n)
	})
	return all, err
}

func decodePush(v []value) (store.Push, error) {
	p := store.Push{ID: text(v[0]), Version: text(v[1]), Tasks: num(v[3]) != 0}
	return p, json.Unmarshal(blob(v[2]), &p.Config)
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
		n, err := w.exec("DELETE FROM push WHERE task=? AND id=?", r.n, id)
		if err != nil || n == 0 {
			return err
		}
		w.ledger.addPushes(o.account, -1)
		_, left, err := w.one("SELECT 1 FROM push WHERE task=?", r.n)
		next := r.meta
		next.pushed = left
		w.become(r, next)
		return err
	})
}

// nextDueSQL says when the next delivery is due.
const nextDueSQL = "SELECT due FROM push INDEXED BY push_due WHERE due IS NOT NULL ORDER BY due LIMIT 1"

// dueSQL finds deliveries that are.
const dueSQL = `SELECT task, id, version, config, tasks, next, until, attempt, since FROM push INDEXED BY push_due
	WHERE due IS NOT NULL AND due<=? ORDER BY due LIMIT ?`

// lookAgain is how long it is at most until the next look for what is due, when there are configurations: another
// process may have changed them.
const lookAgain = 5 * time.Second

// Due implements [store.Store].
func (s *Store) Due(ctx context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration,
	err error) {
	next, err = s.nextDue(ctx)
	if err != nil || next != 0 || max <= 0 {
		return nil, next, err
	}
	var claimed []store.Delivery
	due, err = given(&claimed, s.write(ctx, func(w *writer) (err error) {
		claimed, err = w.claimDue(max, hold)
		return err
	}))
	if err == nil {
		next, err = s.nextDue(ctx)
	}
	return due, next, err
}

// nextDue returns how long it is until a delivery is due; -1: there are no configurations.
func (s *Store) nextDue(ctx context.Context) (next time.Duration, err error) {
	next = -1
	err = s.reading(ctx, func(c *conn) error {
		at, found, err := c.one(nextDueSQL)
		if err != nil {
			return err
		}
		if found {
			next = max(time.Duration(at-s.options.Clock().UnixNano()), 0)
		} else if _, found, err = c.one("SELECT 1 FROM push LIMIT 1"); found {
			next = lookAgain
		}
		return err
	})
	return min(next, lookAgain), err
}

func (w *writer) claimDue(max int, hold time.Duration) (due []store.Delivery, err error) {
	var tasks []int64
	err = w.query(dueSQL, func(v []value) error {
		p, err := decodePush(v[1:])
		d := store.Delivery{Push: p, Next: num(v[5]), Until: num(v[6]), Attempt: int(num(v[7]))}
		if since := num(v[8]); since != 0 {
			d.Since = time.Unix(0, since)
		}
		tasks, due = append(tasks, num(v[0])), append(due, d)
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
		if _, err := w.exec("UPDATE push SET holder=?, due=? WHERE task=? AND id=?", d.Holder, w.now.Add(hold).UnixNano(), n,
			d.Push.ID); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// Settle implements [store.Store].
func (s *Store) Settle(ctx context.Context, d store.Delivery, o store.Outcome) error {
	return s.write(ctx, func(w *writer) error {
		n, found, err := w.number(d.Key)
		if err != nil {
			return err
		}
		var next, until, attempt, since, version int64
		held := false
		if found {
			err = w.query(`SELECT next, until, attempt, since, 
				max((SELECT version FROM task WHERE n=?1), coalesce((SELECT max(seq) FROM event WHERE task=?1), 0)) FROM push
				WHERE task=?1 AND id=?2 AND holder=?3 AND holder>0`, func(v []value) error {
				held = true
				next, until, attempt, since, version = num(v[0]), num(v[1]), num(v[2]), num(v[3]), num(v[4])
				return nil
			}, n, d.Push.ID, d.Holder)
		}
		if err != nil {
			return err
		}
		if !held {
			return store.ErrLost
		}
		if o.Sent >= next {
			next, until, attempt, since = o.Sent+1, o.Until, 0, 0
		}
		var due, dead any
		now := w.now.UnixNano()
		switch {
		case o.Dead != "":
			dead = o.Dead
		case o.Again > 0:
			if attempt++; since == 0 {
				since = now
			}
			due = now + int64(o.Again)
		case version >= next:
			due = now
		}
		_, err = w.exec("UPDATE push SET next=?, until=?, attempt=?, since=?, holder=0, due=?, dead=? WHERE task=? AND id=?",
			next, until, attempt, since, due, dead, n, d.Push.ID)
		return err
	})
}
