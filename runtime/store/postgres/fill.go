package postgres

import (
	"context"
	"strings"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// A schema that is being filled says so in meta.places: no agent opens it.
const filling = "? "

// errFilling is why no agent opens such a schema.
func errFilling(places string) error {
	return relational.ErrCopying(strings.TrimPrefix(places, filling))
}

// Ready implements [transfer.Empty].
func (w *Whole) Ready(ctx context.Context, from string) error {
	var places string
	_, err := relational.One(ctx, w.db, "SELECT places FROM a2a.meta", nil, &places)
	if err == nil {
		err = w.Free(ctx, w.Name(), from, strings.TrimPrefix(places, filling), "a schema without any, with "+paramSchema+"=NAME in the address")
	}
	if err == nil {
		err = w.Unused(ctx)
	}
	return err
}

// Fill implements [transfer.Empty]. The schema had no tasks, and belongs to whichever agent opens it next.
func (w *Whole) Fill(ctx context.Context, from string) error {
	return w.db.Change(ctx, func(tx relational.FillTx) error {
		return tx.Exec("UPDATE a2a.meta SET places=$1, agent=''", filling+from)
	})
}

// Filled implements [transfer.Empty].
func (w *Whole) Filled(ctx context.Context) error {
	return w.db.Change(ctx, func(tx relational.FillTx) error {
		if err := w.Count(tx); err != nil {
			return err
		}
		return tx.Exec("UPDATE a2a.meta SET places=''")
	})
}
