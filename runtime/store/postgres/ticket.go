package postgres

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store"
)

// admits says why a ticket is not one of the task that is good.
func (s *Store) admits(ctx context.Context, task int64, hash [32]byte) error {
	var one int32
	found, err := s.one(ctx, "SELECT 1 FROM a2a.ticket WHERE hash=$1 AND task=$2 AND until>$3", []any{hash[:], task, s.now().UnixNano()}, &one)
	if err == nil && !found {
		err = store.ErrTicket
	}
	return err
}

// dropTickets drops all tickets of a task.
func (s *Store) dropTickets(w *write, task int64) {
	w.add("DELETE FROM a2a.ticket WHERE task=$1", task)
}

// addTicket keeps a ticket that comes with a version, and drops those that are too many then.
func (s *Store) addTicket(w *write, task, version int64, t *store.Ticket, request []byte) {
	w.add(`INSERT INTO a2a.ticket(hash, task, until, made, wire, request) VALUES($1,$2,$3,$4,$5,$6) ON CONFLICT (hash) DO UPDATE
		SET task=excluded.task, until=excluded.until, made=excluded.made, wire=excluded.wire, request=excluded.request`,
		t.Hash[:], task, s.now().Add(t.For).UnixNano(), version, int32(s.base.Codec.Wire), request) //nolint:gosec // few
	w.add(`DELETE FROM a2a.ticket WHERE task=$1 AND hash NOT IN
		(SELECT hash FROM a2a.ticket WHERE task=$1 ORDER BY until DESC, made DESC LIMIT $2)`, task, int64(store.MaxTickets))
}
