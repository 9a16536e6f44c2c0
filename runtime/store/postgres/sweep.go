package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/internal/taskstate"
)

// sweepAtOnce is how many rows of a kind a sweep drops in one statement.
const sweepAtOnce = 100

// sweepLooks is how many tasks a sweep looks at: those whose notifications are on their way stay, and however many they are,
// the next sweep goes on behind them.
const sweepLooks = 10 * sweepAtOnce

// restedSQL finds the last of the next tasks that have rested for too long, and how many there are up to it.
const restedSQL = `SELECT rested, n, count(*) OVER () FROM (SELECT rested, n FROM a2a.task WHERE rest=$1 AND rest>0 AND rested<$2
	AND (rested, n)>($3::bigint, $4::bigint) ORDER BY rested, n LIMIT $5) AS t ORDER BY rested DESC, n DESC LIMIT 1`

// dueForSweep finds those of them of which no notification is on its way.
const dueForSweep = `SELECT n, rev, rest, rested FROM a2a.task t WHERE rest=$2 AND rest>0 AND (rested, n)>($3::bigint, $4::bigint)
	AND (rested, n)<=($5::bigint, $6::bigint) AND NOT EXISTS(SELECT 1 FROM a2a.push p WHERE p.task=t.n AND p.due IS NOT NULL)
	ORDER BY rested, n LIMIT $7`

// sweepSQL drops them.
var sweepSQL = fmt.Sprintf(droppingSQL, dueForSweep, "")

// rested is the place of a task among those that rest in the same way.
type rested struct{ since, n int64 }

// sweepRested drops tasks that have rested since before a time, of the next ones that a sweep looks at.
func (s *Store) sweepRested(ctx context.Context, rest taskstate.Rest, before time.Time, looks int64) (dropped int, err error) {
	passed := &s.ledger.passed[rest]
	from := passed.Load()
	if from == nil {
		from = &rested{}
	}
	var last rested
	var n int64
	found, err := s.one(ctx, restedSQL, []any{int16(rest), before.UnixNano(), from.since, from.n, looks}, &last.since, &last.n, &n)
	if err != nil || !found {
		passed.Store(nil)
		return 0, err
	}
	dropped, err = s.drop(ctx, sweepSQL, int16(rest), from.since, from.n, last.since, last.n, int64(sweepAtOnce))
	switch {
	case err != nil, dropped == sweepAtOnce: // there may be more of them
	case n == looks:
		passed.Store(&last)
	default:
		passed.Store(nil)
	}
	return dropped, err
}

// Sweep implements [store.Store]. Every replica may do it at any time: they pass over what another is dropping.
func (s *Store) Sweep(ctx context.Context) (dropped int, more bool, err error) {
	now := s.now()
	for _, due := range []struct {
		rest taskstate.Rest
		kept time.Duration
	}{{taskstate.Ended, s.options.Ended}, {taskstate.Parked, s.options.Parked}} {
		n, err := s.sweepRested(ctx, due.rest, now.Add(-due.kept), sweepLooks)
		if dropped += n; err != nil {
			return dropped, false, err
		}
		more = more || n > 0 // replicas that sweep at once share a batch
	}
	for _, sweep := range []func(context.Context, time.Time) (bool, error){s.sweepRepeats, s.sweepNotes, s.sweepOwners, s.sweepLanes} {
		again, err := sweep(ctx, now)
		if more = more || again; err != nil {
			return dropped, false, err
		}
	}
	return dropped, more, nil
}

const sweepRepeatsSQL = `WITH gone AS (DELETE FROM a2a.repeat r USING (SELECT owner, key FROM a2a.repeat WHERE until<=$1 ORDER BY until LIMIT $2
	FOR UPDATE SKIP LOCKED) AS f WHERE r.owner=f.owner AND r.key=f.key RETURNING 1) SELECT count(*) FROM gone`

// sweepRepeats forgets messages that are no longer known.
func (s *Store) sweepRepeats(ctx context.Context, now time.Time) (more bool, err error) {
	var n int64
	_, err = s.one(ctx, sweepRepeatsSQL, []any{now.UnixNano(), int64(10 * sweepAtOnce)}, &n)
	return n == 10*sweepAtOnce, err
}

// A sweep goes through the owners, some at a time. Of those that have nothing it notes since when, and deletes them
// when that is long ago: a process that still remembers the number of an owner has looked it up since, and taken that
// back.

// ownersAtOnce is how many owners a sweep looks at, and emptyFor for how long they must have been empty.
const (
	ownersAtOnce = 500
	emptyFor     = 3 * ownersLast
)

// hasNothing is the condition of an owner without anything.
const hasNothing = `NOT EXISTS(SELECT 1 FROM a2a.task WHERE owner=o.n) AND NOT EXISTS(SELECT 1 FROM a2a.note WHERE owner=o.n)
	AND NOT EXISTS(SELECT 1 FROM a2a.repeat WHERE owner=o.n)`

// idleOwnersSQL notes which of the next owners have nothing, or have something again, and returns the number of the
// last one that it looked at, 0 for none.
const idleOwnersSQL = `WITH o AS (SELECT n, idle FROM a2a.owner WHERE n>$1 ORDER BY n LIMIT $3),
	u AS (UPDATE a2a.owner x SET idle=CASE WHEN o.idle=0 THEN $2::bigint ELSE 0 END FROM o
		WHERE x.n=o.n AND x.idle=o.idle AND (o.idle=0)=(` + hasNothing + `))
	SELECT coalesce(max(n), 0) FROM o`

// lockOwnersSQL locks owners that have had nothing for long, and marks them. It passes over those whose first task or note
// is on its way; what comes now waits for the end of the transaction.
const lockOwnersSQL = `UPDATE a2a.owner x SET idle=$2::bigint FROM (SELECT n FROM a2a.owner o WHERE idle>0 AND idle<$1 AND ` + hasNothing + `
	LIMIT $3 FOR UPDATE SKIP LOCKED) f WHERE x.n=f.n`

// deleteOwnersSQL deletes those that are marked, unless something came before they were locked, and notes which accounts
// then have no owner.
const deleteOwnersSQL = `WITH gone AS (DELETE FROM a2a.owner o WHERE idle>0 AND idle=$1 AND ` + hasNothing + ` RETURNING o.n, o.account),
	u AS (DELETE FROM a2a.counts x USING gone WHERE x.owner=gone.n),
	a AS (UPDATE a2a.account a SET idle=$1 FROM gone WHERE a.n=gone.account AND a.idle=0)
	SELECT count(*) FROM gone`

// deleteAccountsSQL deletes accounts that have had no owner for long.
const deleteAccountsSQL = `WITH f AS (SELECT n FROM a2a.account a WHERE idle>0 AND idle<$1
		AND NOT EXISTS(SELECT 1 FROM a2a.owner WHERE account=a.n) LIMIT $2),
	gone AS (DELETE FROM a2a.account a USING f WHERE a.n=f.n AND a.idle>0 AND a.idle<$1 RETURNING a.n),
	l AS (DELETE FROM a2a.usage x USING gone WHERE x.account=gone.n)
	SELECT count(*) FROM gone`

func (s *Store) sweepOwners(ctx context.Context, now time.Time) (more bool, err error) {
	var last, owners, accounts int64
	if _, err := s.one(ctx, idleOwnersSQL, []any{s.ledger.walked.Load(), now.UnixNano(), int64(ownersAtOnce)}, &last); err != nil {
		return false, err
	}
	s.ledger.walked.Store(last)
	before := now.Add(-emptyFor).UnixNano()
	mark := now.UnixNano() + rand.Int64N(int64(time.Second)) // no other sweep's
	var b pgx.Batch                                          // one transaction
	b.Queue(s.sql(lockOwnersSQL), before, mark, int64(ownersAtOnce))
	b.Queue(s.sql(deleteOwnersSQL), mark).QueryRow(func(row pgx.Row) error { return row.Scan(&owners) })
	ctx, cancel := limited(ctx)
	defer cancel()
	if err := s.pool.SendBatch(ctx, &b).Close(); err != nil {
		return false, readFailed(err)
	}
	_, err = s.one(ctx, deleteAccountsSQL, []any{before, int64(ownersAtOnce)}, &accounts)
	return owners == ownersAtOnce || accounts == ownersAtOnce, err
}

// foldLanesSQL moves what accounts hold into one lane each, if one of their lanes has fallen below zero: what comes
// in one lane may go in another, and by the size of lanes the accounts are found that hold most. It adds, as writers
// do: the sums stay what they are.
const foldLanesSQL = `WITH a AS (SELECT DISTINCT account FROM a2a.usage WHERE below LIMIT $1),
	v AS (SELECT x.*, min(x.lane) OVER w AS main, sum(tasks) OVER w AS t, sum(bytes) OVER w AS b, sum(restedtasks) OVER w AS rt,
		sum(restedbytes) OVER w AS rb, sum(pushes) OVER w AS p, sum(notes) OVER w AS n
		FROM a2a.usage x JOIN a USING (account) WINDOW w AS (PARTITION BY x.account)),
	f AS (INSERT INTO a2a.usage AS l(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
		SELECT account, lane, CASE WHEN lane=main THEN t ELSE 0 END-tasks, CASE WHEN lane=main THEN b ELSE 0 END-bytes,
		CASE WHEN lane=main THEN rt ELSE 0 END-restedtasks, CASE WHEN lane=main THEN rb ELSE 0 END-restedbytes,
		CASE WHEN lane=main THEN p ELSE 0 END-pushes, CASE WHEN lane=main THEN n ELSE 0 END-notes FROM v ORDER BY account, lane
		` + addToUsage + `)
	SELECT count(*) FROM a`

func (s *Store) sweepLanes(ctx context.Context, _ time.Time) (more bool, err error) {
	var n int64
	_, err = s.one(ctx, foldLanesSQL, []any{int64(sweepAtOnce)}, &n)
	return n == sweepAtOnce, err
}
