package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// droppingNotesSQL drops the notes that a query finds, and what their accounts hold for them, in the lane $1.
const droppingNotesSQL = `WITH found AS MATERIALIZED (%s),
	locked AS (SELECT x.n FROM found f JOIN a2a.note x ON x.n=f.n AND x.version=f.version FOR UPDATE OF x SKIP LOCKED),
	gone AS (DELETE FROM a2a.note x USING locked WHERE x.n=locked.n RETURNING x.account, x.bytes),
	held AS (INSERT INTO a2a.usage AS l(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
		SELECT account, $1, 0, -sum(bytes)::bigint, 0, 0, 0, -sum(bytes)::bigint
		FROM (SELECT account, bytes FROM gone UNION ALL SELECT 0, bytes FROM gone) AS x GROUP BY account ORDER BY account
		` + addToUsage + `)
	SELECT a.principal, g.bytes FROM gone g JOIN a2a.account a ON a.n=g.account`

// mostNotesSQL drops the note that was written longest ago, but not a certain one, of the account with the most bytes of notes.
var mostNotesSQL = fmt.Sprintf(droppingNotesSQL, `SELECT n, version FROM a2a.note WHERE account=(SELECT l.account FROM a2a.usage l
	WHERE l.account IN (SELECT account FROM (SELECT account FROM a2a.usage WHERE noted IS NOT NULL ORDER BY noted DESC LIMIT 64) AS h)
	GROUP BY l.account ORDER BY sum(l.notes) DESC LIMIT 1) AND n<>$2 ORDER BY at, n LIMIT 1`)

// oldNotesSQL drops notes that were written before a time.
var oldNotesSQL = fmt.Sprintf(droppingNotesSQL, "SELECT n, version FROM a2a.note WHERE at<$2 ORDER BY at LIMIT $3")

// dropNotes drops notes by a statement made of droppingNotesSQL.
func (s *Store) dropNotes(ctx context.Context, sql string, args ...any) (dropped int, err error) {
	var principal string
	var bytes int64
	err = s.query(ctx, sql, func(row relational.Row) error {
		if err := row.Scan(&principal, &bytes); err != nil {
			return err
		}
		dropped++
		s.ledger.dropped(store.Owner{Principal: principal}, relational.Sums{Bytes: bytes, Notes: bytes})
		return nil
	}, append([]any{s.laneOf(0)}, args...)...)
	return dropped, err
}

// sweepNotes drops notes that were not written for as long as a task waits.
func (s *Store) sweepNotes(ctx context.Context, now time.Time) (more bool, err error) {
	n, err := s.dropNotes(ctx, oldNotesSQL, now.Add(-s.options.Parked).UnixNano(), int64(sweepAtOnce))
	return n == sweepAtOnce, err
}
