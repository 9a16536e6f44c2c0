package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// A schema that is being filled says so in meta.places: no agent opens it.
const filling = "? "

// errFilling is why no agent opens such a schema.
func errFilling(places string) error {
	return fmt.Errorf("a copy of %s into it has not ended: go on with \"a2agen tasks copy\"", strings.TrimPrefix(places, filling))
}

// Ready implements [transfer.Empty].
func (w *Whole) Ready(ctx context.Context, from string) error {
	var places string
	var some bool
	if err := w.db.Ask(ctx, relational.Question{SQL: `SELECT places, EXISTS(SELECT 1 FROM a2a.task) OR EXISTS(SELECT 1 FROM a2a.note)
		OR EXISTS(SELECT 1 FROM a2a.repeat) FROM a2a.meta`, Row: func(row relational.Row) error { return row.Scan(&places, &some) }}); err != nil {
		return err
	}
	switch {
	case places == filling+from:
	case strings.HasPrefix(places, filling):
		return fmt.Errorf("%s: %w", w.Name(), errFilling(places))
	case some:
		return fmt.Errorf("%s %w: name a schema without any, with %s=NAME in the address", w.Name(), transfer.ErrTasks, paramSchema)
	}
	return w.Unused(ctx)
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
