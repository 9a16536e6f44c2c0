package sqlite

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

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
	due, err = relational.Answer(&claimed, s.write(ctx, func(w *writer) (err error) {
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

// Settle is that of [relational.DB].
func (d database) Settle(ctx context.Context, _ int64, sql string, args []any) (int64, error) {
	var changed int64
	return relational.Answer(&changed, d.s.write(ctx, func(w *writer) (err error) {
		changed, err = w.exec(sql, args...)
		return err
	}))
}
