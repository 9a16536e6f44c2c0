package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// claimDueSQL claims deliveries that are due, for a holder.
const claimDueSQL = `WITH f AS (SELECT task, id FROM a2a.push WHERE due IS NOT NULL AND due<=$1 ORDER BY due LIMIT $2 FOR UPDATE SKIP LOCKED)
	UPDATE a2a.push p SET holder=$3, due=$4 FROM f JOIN a2a.task t ON t.n=f.task JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account
	WHERE p.task=f.task AND p.id=f.id
	RETURNING ` + relational.DeliveryColumns

// freeClaimsSQL ends claims of instances that are not there, and those whose holder never got to know of them.
const freeClaimsSQL = `UPDATE a2a.push SET holder=0, due=$1 WHERE (task, id) IN (SELECT p.task, p.id FROM a2a.push p
	WHERE p.holder<>0 AND (p.holder=ANY($2) OR NOT EXISTS(SELECT 1 FROM a2a.instance i WHERE i.n=p.holder>>32 AND i.lease>clock_timestamp()))
	FOR UPDATE SKIP LOCKED)`

// claims are those of deliveries, by this process.
type claims struct {
	last  atomic.Uint32 // number of the last one
	mu    sync.Mutex
	lost  map[int64]time.Time // whose answer did not come, and until when they may last: they may be made later than they are given up
	freed time.Time           // when it was looked last for claims that end before their time
}

// lose notes a claim whose answer did not come. Its holder does not know what it has.
func (c *claims) lose(holder int64, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = map[int64]time.Time{}
	}
	c.lost[holder], c.freed = until, time.Time{}
}

// freeClaims ends claims of which nothing will come, a few times within a lease: else nobody would send what is due
// until they run out.
func (s *Store) freeClaims(ctx context.Context) error {
	c := &s.ledger.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if began.Sub(c.freed) < s.lease()/3 {
		return nil
	}
	maps.DeleteFunc(c.lost, func(_ int64, until time.Time) bool { return began.After(until) })
	lost := slices.AppendSeq([]int64{}, maps.Keys(c.lost)) // not NULL
	ctx, cancel := limited(ctx)
	defer cancel()
	if _, err := s.pool.Exec(ctx, s.sql(freeClaimsSQL), s.now().UnixNano(), lost); err != nil {
		return writeFailed(err, false) // it is done again
	}
	c.freed = began
	return nil
}

// Due implements [store.Store].
func (s *Store) Due(ctx context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration, err error) {
	if err := s.freeClaims(ctx); err != nil {
		return nil, 0, err
	}
	next, err = s.base.NextDue(ctx)
	if err != nil || next != 0 || max <= 0 {
		return nil, next, err
	}
	now := s.now()
	holder := int64(s.me())<<32 | int64(s.ledger.claims.last.Add(1))
	err = s.query(ctx, claimDueSQL, func(row relational.Row) error {
		d := store.Delivery{Holder: holder}
		err := relational.ScanDelivery(row, &d)
		due = append(due, d)
		return err
	}, now.UnixNano(), int64(max), holder, now.Add(hold).UnixNano())
	if err != nil { // it may have claimed all the same
		s.ledger.claims.lose(holder, time.Now().Add(hold))
		return nil, 0, err
	}
	if next, err = s.base.NextDue(ctx); err != nil {
		next, err = relational.LookAgain, nil // what was claimed is not to be lost
	}
	return due, next, err
}

// lockTaskSQL locks a task against new events while a delivery is settled: an event that comes at the same moment would
// find the configuration claimed, and not wake it, and the claim would end without having seen the event.
const lockTaskSQL = "SELECT n, version FROM a2a.task WHERE n=$1 FOR SHARE"

// Settle is that of [relational.DB].
func (d changes) Settle(ctx context.Context, task int64, sql string, args []any) (int64, error) {
	var b pgx.Batch
	b.Queue(d.s.sql(lockTaskSQL), task)
	b.Queue(d.s.sql(sql), args...)
	ctx, cancel := limited(ctx)
	defer cancel()
	results := d.s.pool.SendBatch(ctx, &b)
	_, err := results.Exec()
	tag, settled := results.Exec()
	return tag.RowsAffected(), writeFailed(cmp.Or(err, settled, results.Close()), true)
}
