package relational

import (
	"context"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// Repeats is how many messages of an account may be sent again, about: as they were counted, and what this process has added since.
// Others add, too, so that it counts anew after a while.
type Repeats struct {
	mu             sync.Mutex
	known, dropped bool // they were counted; some are being forgotten since
	counted, added int
}

// tenth is how many messages are forgotten when an account has too many, and after how many more they are counted anew. onTheirWay
// is how many more there may be than were counted.
const (
	tenth      = store.MaxRepeats / 10
	onTheirWay = tenth / 4
)

// repeated returns a *[store.Repeated] if a message was sent before, and [store.ErrForgotten] if it may have been.
func repeated(ctx context.Context, tx Tx, o Owner, r *store.Repeat) error {
	base := tx.Base()
	again, err := base.Repeated(ctx, o.N, r)
	if err == nil && again != nil {
		if err = tx.Confirm(ctx); err == nil {
			return again
		}
	}
	if err == nil && !r.Since.IsZero() {
		err = base.mayForget(ctx, o.Account, r)
	}
	if err == nil {
		err = tx.Repeats(o).count(ctx, base, o.Account)
	}
	return err
}

// OldestRepeat finds until when the oldest message of an account $1 counts.
func (d *Dialect) OldestRepeat() string {
	return "SELECT until FROM a2a.repeat WHERE " + d.Repeats.Oldest + " LIMIT 1"
}

// mayForget returns [store.ErrForgotten] if a message that is not known may have been one of too many. What an account has is counted
// only for a message that is older than the oldest, which is rare.
func (b *Base) mayForget(ctx context.Context, account int64, r *store.Repeat) error {
	var n, until int64
	found, err := One(ctx, b, b.Dialect().OldestRepeat(), []any{account}, &until)
	oldest := time.Unix(0, until).Add(-r.For)
	if err != nil || !found || !store.MayForget(r.Since, store.MaxRepeats, oldest) {
		return err
	}
	_, err = One(ctx, b, "SELECT count(*) FROM (SELECT 1 FROM a2a.repeat WHERE "+b.Dialect().Repeats.Of+" LIMIT $2) AS r",
		[]any{account, int64(store.MaxRepeats)}, &n)
	if err == nil && store.MayForget(r.Since, int(n), oldest) {
		err = store.ErrForgotten
	}
	return err
}

// count counts those of an account, if that was not done yet, or long ago.
func (r *Repeats) count(ctx context.Context, b *Base, account int64) error {
	r.mu.Lock()
	if r.known && r.added < tenth {
		r.mu.Unlock()
		return nil
	}
	r.known, r.dropped, r.counted, r.added = true, false, r.counted+r.added, 0 // so that others do not count, too
	r.mu.Unlock()
	var n int64
	_, err := One(ctx, b, "SELECT count(*) FROM a2a.repeat WHERE "+b.Dialect().Repeats.Of, []any{account}, &n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counted = int(n); err != nil {
		r.known = false
	}
	return err
}

// room counts a message that is taken on. Of an account that may have too many it forgets all but the newest nine tenths.
func (r *Repeats) room(b *Base, out Out, account int64) {
	r.mu.Lock()
	r.added++
	full := r.counted+r.added > store.MaxRepeats-onTheirWay
	if full {
		r.counted, r.added, r.dropped = store.MaxRepeats-tenth, 0, true // unless the change fails
	}
	r.mu.Unlock()
	if full {
		out.Add("DELETE FROM a2a.repeat WHERE (owner, key) IN (SELECT owner, key FROM a2a.repeat WHERE "+b.Dialect().Repeats.Of+
			" ORDER BY until DESC LIMIT $2 OFFSET $3)", account, int64(1<<40), int64(store.MaxRepeats-tenth))
	}
}

// Failed says that a change with a message was not made: what was to be forgotten for it may still be there.
func (r *Repeats) Failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = r.known && !r.dropped
}
