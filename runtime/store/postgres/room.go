package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// reserve makes room for a change, drops tasks for it where the rules say so, and counts the change in. Without room it
// fails with [store.ErrFull] and counts nothing, unless the change must be made.
func (l *ledger) reserve(ctx context.Context, d *delta) error {
	after := time.Now().Add(-sumsLast)
	for tries := 0; ; {
		own, verdict, err := l.verdict(ctx, d, after)
		if err != nil || verdict == taskstate.Fits {
			return err
		}
		if verdict == taskstate.Evict {
			if err := d.mayEvict(ctx); err != nil {
				return err
			}
			n, err := l.evict(ctx, d, own)
			if err != nil {
				return err
			}
			if n > 0 {
				continue
			}
			time.Sleep(time.Duration(tries) * time.Millisecond) // those that could go are being changed
		}
		// That is only final when it is true of the sums as they are now.
		if after, tries = time.Now(), tries+1; tries < triesForRoom {
			continue
		}
		if !d.Must {
			return store.ErrFull
		}
		l.count(d)
		return nil
	}
}

func (d *delta) mayEvict(ctx context.Context) (err error) {
	if d.first != nil {
		err, d.first = d.first(ctx), nil
	}
	return err
}

// triesForRoom is how often room is looked for when there is none.
const triesForRoom = 3

// verdict asks the rules, with sums that were read after a time. If there is room it counts the change in. own reports
// that it is the account of the owner that is full.
func (l *ledger) verdict(ctx context.Context, d *delta, after time.Time) (own bool, v taskstate.Verdict, err error) {
	a, all := l.account(d.Owner.Of.Principal), l.all
	if err := l.know(ctx, a, d.Owner.Account, after); err != nil {
		return false, v, err
	}
	if err := l.know(ctx, all, everybody, after); err != nil {
		return false, v, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ofOwn, ofAll := a.held.Account(a.limit), all.held.Account(all.limit)
	if v = taskstate.Room(&ofOwn, &ofAll, d.Stays, d.More); v == taskstate.Fits {
		d.counted = a
		a.add(d.Sums)
		all.add(d.Sums)
	}
	return !ofOwn.Fits(d.More), v, nil
}

// evict drops a task: of the owner, if it is his account that is full, or else of who holds most.
func (l *ledger) evict(ctx context.Context, d *delta, own bool) (dropped int, err error) {
	accounts := []int64{d.Owner.Account}
	if !own {
		if accounts, err = l.heaviest(ctx); err != nil {
			return 0, err
		}
	}
	for _, account := range accounts {
		if dropped, err = l.drop(ctx, evictSQL, account, d.Task); dropped > 0 || err != nil {
			return dropped, err
		}
	}
	return 0, nil
}

// heaviestSQL finds the accounts that hold most among those that have a task to drop. The index tells in which lanes
// much is held, about; what an account holds is added up for those alone.
const heaviestSQL = `SELECT l.account FROM a2a.usage l WHERE l.account IN
	(SELECT account FROM (SELECT account FROM a2a.usage WHERE heavy IS NOT NULL ORDER BY heavy DESC LIMIT 64) AS h)
	GROUP BY l.account HAVING sum(l.restedtasks)>0 ORDER BY sum(l.bytes)+sum(l.tasks)*$1 DESC, l.account LIMIT 8`

func (l *ledger) heaviest(ctx context.Context) (accounts []int64, err error) {
	err = l.db.query(ctx, heaviestSQL, func(row relational.Row) error {
		var n int64
		err := row.Scan(&n)
		accounts = append(accounts, n)
		return err
	}, taskstate.Weigh(taskstate.Holding{Tasks: 1}))
	return accounts, err
}

// restingSQL finds the task of an account that goes first, and those after it, for when others are changing it. Tasks
// with notifications still to be sent are not spared: receivers that do not answer would keep the store full.
const restingSQL = `SELECT n, rev, rest, rested FROM a2a.task WHERE account=$2 AND rest>0 AND n<>$3 ORDER BY rest, rested, n LIMIT 8`

// evictSQL drops one task of an account.
var evictSQL = fmt.Sprintf(droppingSQL, restingSQL, "LIMIT 1")

// droppingSQL drops tasks that a query finds, with all their rows and what their accounts hold for them, in the lane
// $1. It passes over those that somebody is changing, or has changed since the statement began: so no row of theirs
// is overlooked. The counts come after the accounts, as in the batches of writers.
const droppingSQL = `WITH found AS MATERIALIZED (%s), locked AS (
		SELECT t.n FROM found f JOIN a2a.task t ON t.n=f.n AND t.rev=f.rev ORDER BY f.rest, f.rested, f.n %s FOR UPDATE OF t SKIP LOCKED),
	gone AS (DELETE FROM a2a.task t USING locked WHERE t.n=locked.n RETURNING t.n, t.id, t.owner, t.account, t.state, t.charged, t.pushes),
	e AS (DELETE FROM a2a.event x USING gone WHERE x.task=gone.n), b AS (DELETE FROM a2a.body x USING gone WHERE x.task=gone.n),
	c AS (DELETE FROM a2a.call x USING gone WHERE x.task=gone.n), k AS (DELETE FROM a2a.ticket x USING gone WHERE x.task=gone.n),
	p AS (DELETE FROM a2a.push x USING gone WHERE x.task=gone.n),
	held AS (INSERT INTO a2a.usage AS l(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
		SELECT account, $1, -count(*), -sum(charged)::bigint, -count(*), -sum(charged)::bigint, -sum(pushes)::bigint, 0
		FROM (SELECT account, charged, pushes FROM gone UNION ALL SELECT 0, charged, pushes FROM gone) AS x GROUP BY account ORDER BY account
		` + addToUsage + ` RETURNING 1),
	counts AS (INSERT INTO a2a.counts AS u(owner, state, lane, tasks)
		SELECT owner, state, $1, -count(*) FROM gone WHERE (SELECT count(*) FROM held)>0 GROUP BY owner, state ORDER BY owner, state
		` + addToCounts + `)
	SELECT a.principal, o.tenant, g.id, g.charged, g.pushes FROM gone g JOIN a2a.owner o ON o.n=g.owner JOIN a2a.account a ON a.n=g.account`

// drop drops tasks that rest by a statement made of droppingSQL.
func (s *Store) drop(ctx context.Context, sql string, args ...any) (dropped int, err error) {
	var key store.Key
	var by relational.Sums
	err = s.query(ctx, sql, func(row relational.Row) error {
		if err := row.Scan(&key.Owner.Principal, &key.Owner.Tenant, &key.Task, &by.Bytes, &by.Pushes); err != nil {
			return err
		}
		by.Tasks, by.RestedTasks, by.RestedBytes = 1, 1, by.Bytes
		dropped++
		s.tasks.cache.Drop(key)
		s.ledger.dropped(key.Owner, by)
		return nil
	}, append([]any{s.laneOf(0)}, args...)...)
	return dropped, err
}

// dropped takes what an owner no longer holds off the sums that this process knows.
func (l *ledger) dropped(of store.Owner, held relational.Sums) {
	d := &delta{Delta: relational.Delta{Owner: relational.Owner{Of: of}, Sums: relational.Sums{}.Minus(held)}}
	l.count(d)
	l.settled(d, nil)
}
