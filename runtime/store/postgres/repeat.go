package postgres

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// repeats is how many messages of an account may be sent again, about: as they were counted, and what this process has
// added since. Others add, too, so that it counts anew after a while.
type repeats struct {
	known          bool
	counted, added int
}

// tenth is how many messages are forgotten when an account has too many, and after how many more they are counted anew.
// onTheirWay is how many more there may be than were counted.
const (
	tenth      = store.MaxRepeats / 10
	onTheirWay = tenth / 4
)

// repeated returns a *[store.Repeated] if a message was sent before, and [store.ErrForgotten] if it may have been.
func (s *Store) repeated(ctx context.Context, o owner, r *store.Repeat) error {
	if r == nil {
		return nil
	}
	again, err := s.base.Repeated(ctx, o.n, r)
	if err == nil && again != nil {
		if err = s.confirmed(ctx); err == nil {
			return again
		}
	}
	if err != nil {
		return err
	}
	if !r.Since.IsZero() {
		if err := s.mayForget(ctx, o, r); err != nil {
			return err
		}
	}
	return s.countRepeats(ctx, o)
}

// oldestRepeatSQL finds until when the oldest message of an account counts. What an account has is counted only for a
// message that is older, which is rare.
const (
	oldestRepeatSQL = "SELECT until FROM a2a.repeat WHERE account BETWEEN $1 AND $1 ORDER BY account, until LIMIT 1"
	countRepeatsSQL = "SELECT count(*) FROM (SELECT 1 FROM a2a.repeat WHERE account=$1 LIMIT $2) AS r"
)

// mayForget returns [store.ErrForgotten] if a message that is not known may have been one of too many.
func (s *Store) mayForget(ctx context.Context, o owner, r *store.Repeat) error {
	var n, until int64
	found, err := s.one(ctx, oldestRepeatSQL, []any{o.account}, &until)
	oldest := time.Unix(0, until).Add(-r.For)
	if err != nil || !found || !store.MayForget(r.Since, store.MaxRepeats, oldest) {
		return err
	}
	_, err = s.one(ctx, countRepeatsSQL, []any{o.account, int64(store.MaxRepeats)}, &n)
	if err == nil && store.MayForget(r.Since, int(n), oldest) {
		err = store.ErrForgotten
	}
	return err
}

// countRepeats counts those of an account, if that was not done yet, or long ago.
func (s *Store) countRepeats(ctx context.Context, o owner) error {
	a := s.ledger.account(o.of.Principal)
	s.ledger.mu.Lock()
	r := &a.repeats
	if r.known && r.added < tenth {
		s.ledger.mu.Unlock()
		return nil
	}
	*r = repeats{known: true, counted: r.counted + r.added} // so that others do not count, too
	s.ledger.mu.Unlock()
	var n int64
	_, err := s.one(ctx, "SELECT count(*) FROM a2a.repeat WHERE account=$1", []any{o.account}, &n)
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	if a.repeats.counted = int(n); err != nil {
		a.repeats.known = false
	}
	return err
}

// roomForRepeat counts a message that is taken on. Of an account that may have too many it forgets all but the newest nine tenths.
func (s *Store) roomForRepeat(w *write, o owner) {
	a := s.ledger.account(o.of.Principal)
	s.ledger.mu.Lock()
	a.repeats.added++
	full := a.repeats.counted+a.repeats.added > store.MaxRepeats-onTheirWay
	if full {
		a.repeats.counted, a.repeats.added, w.full = store.MaxRepeats-tenth, 0, a // unless the write fails
	}
	s.ledger.mu.Unlock()
	if full {
		w.Add(`DELETE FROM a2a.repeat WHERE (owner, key) IN
			(SELECT owner, key FROM a2a.repeat WHERE account=$1 ORDER BY until DESC OFFSET $2)`, o.account, int64(store.MaxRepeats-tenth))
	}
}
