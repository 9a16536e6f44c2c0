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
		if facts.New {
			w.ledger.addPushes(o.account, 1)
		}
		w.base.PutPush(w, r.N, &p, config, next.Version)
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

// dueSQL finds deliveries that are due.
const dueSQL = "SELECT " + relational.DeliveryColumns + `, t.n FROM push p INDEXED BY push_due CROSS JOIN task t ON t.n=p.task
	CROSS JOIN owner o ON o.n=t.owner CROSS JOIN account a ON a.n=t.account WHERE p.due IS NOT NULL AND p.due<=? ORDER BY p.due LIMIT ?`

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
	err = w.query(dueSQL, func(v []value) error {
		w.s.claims++ // by the writer alone
		d, n := store.Delivery{Holder: w.s.me<<32 | w.s.claims}, int64(0)
		err := relational.ScanDelivery(row(v), &d, &n)
		due, tasks = append(due, d), append(tasks, n)
		return err
	}, w.now.UnixNano(), max)
	for i, n := range tasks {
		w.Add("UPDATE push SET holder=?, due=? WHERE task=? AND id=?", due[i].Holder, w.now.Add(hold).UnixNano(), n, due[i].Push.ID)
	}
	return due, err
}

// Settle implements [store.Store].
func (s *Store) Settle(ctx context.Context, d store.Delivery, o store.Outcome) error {
	return s.write(ctx, func(w *writer) error {
		n, err := w.base.Number(ctx, d.Key)
		if err != nil || n == 0 {
			return cmp.Or(err, store.ErrLost)
		}
		sql, args, err := w.base.Settled(n, &d, o)
		if err != nil {
			return err
		}
		if settled, err := w.exec(sql, args...); err != nil || settled == 0 {
			return cmp.Or(err, store.ErrLost)
		}
		return nil
	})
}
