package sqlite

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// repeated returns a *store.Repeated if a message was sent before, and ErrForgotten if it may have been.
func (w *writer) repeated(o *owner, r *store.Repeat) error {
	if r == nil {
		return nil
	}
	found, err := w.base.Repeated(context.Background(), o.n, r)
	if err == nil && found != nil {
		return found
	}
	if err == nil && !r.Since.IsZero() {
		return w.mayForget(o.account, r)
	}
	return err
}

// mayForget returns ErrForgotten if a message that is not known may have been one of too many.
func (w *writer) mayForget(a *account, r *store.Repeat) error {
	return w.query("SELECT count(*), min(until) "+repeatsOf, func(v []value) error {
		if store.MayForget(r.Since, int(num(v[0])), time.Unix(0, num(v[1])).Add(-r.For)) {
			return store.ErrForgotten
		}
		return nil
	}, a.n)
}

const repeatsOf = "FROM repeat WHERE owner IN (SELECT n FROM owner WHERE account=?)"

// roomForRepeat forgets the oldest messages of an account that has too many: a tenth of them at a time, since to find
// them takes as long as there are any.
func (w *writer) roomForRepeat(a *account) (err error) {
	if a.repeats == 0 || a.repeats >= store.MaxRepeats { // it is not known, or more than there are by now
		if a.repeats, _, err = w.one("SELECT count(*) "+repeatsOf, a.n); err != nil {
			return err
		}
	}
	if a.repeats >= store.MaxRepeats {
		const tenth = store.MaxRepeats / 10
		if _, err := w.exec("DELETE FROM repeat WHERE (owner, key) IN (SELECT owner, key "+repeatsOf+" ORDER BY until LIMIT ?)",
			a.n, tenth); err != nil {
			return err
		}
		a.repeats -= tenth
	}
	a.repeats++
	return nil
}
