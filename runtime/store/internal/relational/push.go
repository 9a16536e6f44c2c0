package relational

import (
	"cmp"
	"context"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

const (
	findPushSQL = "SELECT task FROM a2a.push WHERE task=$1 AND id=$2"

	// replacePushSQL puts a configuration in the place of another, whose events it goes on with, as [taskstate.Cursor.Replace] does. It
	// does so in SQL, since another process may claim or settle the old one at this moment.
	replacePushSQL = `INSERT INTO a2a.push AS p(task, id, version, config, tasks, next, until, attempt, since, holder)
		VALUES($1,$2,$3,$4,$5,$6,0,0,0,0) ON CONFLICT (task, id) DO UPDATE SET version=excluded.version, config=excluded.config,
		tasks=excluded.tasks, attempt=0, since=0, holder=0, dead=NULL, due=CASE WHEN $7>=p.next THEN $8::bigint END`
)

// PutPush writes a configuration of a task that has a version by then.
func (b *Base) PutPush(out Out, task int64, p *store.Push, config []byte, version int64) {
	c := taskstate.NewCursor(version)
	out.Add(replacePushSQL, task, p.ID, p.Version, config, p.Tasks, c.Next, version, b.Now().UnixNano())
}

// pushFacts finds out what the rules must know of a configuration that comes to a task, which may be new: number 0.
func (s *Store) pushFacts(ctx context.Context, tx Tx, o Owner, task int64, p *store.Push, facts *taskstate.Push) error {
	old, err := One(ctx, tx.Base(), findPushSQL, []any{task, p.ID}, new(int64))
	if err != nil {
		return err
	}
	own, all, err := tx.Held(ctx, o)
	facts.New = !old
	facts.Full = !taskstate.PushRoom(int(own.Pushes), int(all.Pushes), s.limits.Pushes, o.Of.Principal != "")
	return err
}

// SetPush implements [store.Store].
func (s *Store) SetPush(ctx context.Context, key store.Key, p store.Push) error {
	config, err := stored.EncodePush(&p)
	if err != nil {
		return err
	}
	return s.change(ctx, Ref{Key: key}, func(ctx context.Context, tx Tx, r *stored.Row, next *stored.Meta) (bool, error) {
		o, err := tx.Owner(ctx, key.Owner)
		if err != nil {
			return false, err
		}
		facts := taskstate.Push{Bad: p.Check(), Max: p.Max}
		if err := s.pushFacts(ctx, tx, o, r.N, &p, &facts); err != nil {
			return false, err
		}
		if err := next.AddPush(&facts); err != nil {
			return false, err
		}
		if facts.New {
			if err := tx.Reserve(ctx, Delta{Owner: o, Task: r.N, Sums: Sums{Pushes: 1}}); err != nil {
				return false, err
			}
		}
		tx.Base().PutPush(tx, r.N, &p, config, next.Version)
		return true, nil
	})
}

// DeletePush implements [store.Store].
func (s *Store) DeletePush(ctx context.Context, key store.Key, id string) error {
	return s.change(ctx, Ref{Key: key}, func(ctx context.Context, tx Tx, r *stored.Row, next *stored.Meta) (bool, error) {
		if found, err := One(ctx, tx.Base(), findPushSQL, []any{r.N, id}, new(int64)); err != nil || !found {
			return false, err
		}
		o, err := tx.Owner(ctx, key.Owner)
		if err == nil {
			err = tx.Reserve(ctx, Delta{Owner: o, Task: r.N, Sums: Sums{Pushes: -1}})
		}
		if err != nil {
			return false, err
		}
		tx.Fenced("DELETE FROM a2a.push WHERE task=$1 AND id=$2", r.N, id)
		next.Pushes--
		return true, nil
	})
}

// Settle implements [store.Store]. What the delivery says of its cursor is what the cursor is for as long as the claim. The cursor is due
// at one of two times: if there is an event that was not sent, or if there is none.
func (s *Store) Settle(ctx context.Context, d store.Delivery, o store.Outcome) error {
	n, err := s.Base.Number(ctx, d.Key)
	if err != nil || n == 0 {
		return cmp.Or(err, store.ErrLost)
	}
	was := taskstate.Cursor{Next: d.Next, Until: d.Until, Attempt: d.Attempt, Holder: d.Holder}
	if !d.Since.IsZero() {
		was.Since = d.Since.UnixNano()
	}
	now, behind, sleeps := s.Base.Now().UnixNano(), was, was
	if err := behind.Settle(d.Holder, taskstate.Outcome(o), 1<<62, now); err != nil {
		return err
	}
	if err := sleeps.Settle(d.Holder, taskstate.Outcome(o), 0, now); err != nil {
		return err
	}
	changed, err := s.db.Settle(ctx, n, SettleSQL(s.Base.Dialect()), []any{
		n, d.Push.ID, d.Holder, sleeps.Next, sleeps.Until, int32(sleeps.Attempt), sleeps.Since, //nolint:gosec // few
		OrNull(sleeps.Dead), OrNull(behind.Due), OrNull(sleeps.Due),
	})
	if err == nil && changed == 0 {
		err = store.ErrLost
	}
	return err
}

// SettleSQL is the statement that ends the claim of a delivery of a task, and changes a row if there is one.
func SettleSQL(d *Dialect) string {
	return `UPDATE a2a.push SET next=$4, until=$5, attempt=$6, since=$7, holder=0, dead=$8,
		due=CASE WHEN (SELECT ` + d.Version + ` FROM a2a.task t WHERE t.n=$1)>=$4 THEN $9::bigint ELSE $10::bigint END
		WHERE task=$1 AND id=$2 AND holder=$3`
}

// DeliveryColumns are those of a delivery of a push row p, in the order of ScanDelivery, for TasksOf's tables.
const DeliveryColumns = "o.tenant, a.principal, t.id, p.id, p.version, p.config, p.tasks, p.next, p.until, p.attempt, p.since"

// ScanDelivery reads a delivery.
func ScanDelivery(row Row, d *store.Delivery, more ...any) error {
	var config []byte
	var since int64
	p := &d.Push
	if err := row.Scan(append([]any{
		&d.Key.Owner.Tenant, &d.Key.Owner.Principal, &d.Key.Task, &p.ID, &p.Version, &config, &p.Tasks, &d.Next, &d.Until, &d.Attempt, &since,
	}, more...)...); err != nil {
		return err
	}
	if since != 0 {
		d.Since = time.Unix(0, since)
	}
	return stored.DecodePush(config, p)
}
