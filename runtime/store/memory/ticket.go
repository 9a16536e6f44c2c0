package memory

import (
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// ticket is one of a task in a [Store]. The lock of the index guards those of all tasks.
type ticket struct {
	store.Ticket
	row   *row
	until time.Time
}

// tickets are those of a [Store], by their hashes. The lock of the index guards them.
type tickets struct {
	byHash map[[32]byte]*ticket
}

// Ticket implements [store.Store].
func (m *Store) Ticket(_ context.Context, hash [32]byte) (store.Key, store.Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tickets.byHash[hash]; t != nil && m.clock().Before(t.until) {
		return t.row.key(), t.Ticket, nil
	}
	return store.Key{}, store.Ticket{}, store.ErrTicket
}

// change does with the tickets of a task what an update says. Callers must hold both locks.
func (ts *tickets) change(r *row, u *store.Update, e *taskstate.Effects, now time.Time) {
	if e.DropTickets {
		ts.dropAll(r)
	}
	if u.Ticket == nil || !r.st.Ticketed {
		return
	}
	if ts.byHash == nil {
		ts.byHash = map[[32]byte]*ticket{}
	}
	added := &ticket{*u.Ticket, r, now.Add(u.Ticket.For)}
	ts.byHash[added.Hash] = added // the later one has it
	has := r.more()
	has.tickets = append(has.tickets, added)
	slices.SortStableFunc(has.tickets, func(a, b *ticket) int { return a.until.Compare(b.until) })
	if len(has.tickets) > store.MaxTickets {
		ts.drop(has.tickets[0])
		has.tickets = slices.Delete(has.tickets, 0, 1)
	}
}

// dropAll makes all tickets of a task invalid. Callers must hold both locks.
func (ts *tickets) dropAll(r *row) {
	if r.extra == nil {
		return
	}
	for _, t := range r.extra.tickets {
		ts.drop(t)
	}
	r.extra.tickets = nil
}

// drop makes one invalid, unless a later one has its hash. Callers must hold the lock of the index.
func (ts *tickets) drop(t *ticket) {
	if ts.byHash[t.Hash] == t {
		delete(ts.byHash, t.Hash)
	}
}
