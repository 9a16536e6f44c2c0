package memory

import (
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// ticket is one of a task in a [Store]. The lock of the index guards those of all tasks.
type ticket struct {
	store.Ticket
	row   *row
	until time.Time
}

// Ticket implements [store.Store].
func (m *Store) Ticket(_ context.Context, hash [32]byte) (store.Key, store.Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tickets[hash]; t != nil && m.clock().Before(t.until) {
		return t.row.key(), t.Ticket, nil
	}
	return store.Key{}, store.Ticket{}, store.ErrTicket
}

// admits reports whether a ticket is one of the task, and good. Callers must hold the lock of the index.
func (m *Store) admits(r *row, hash [32]byte) bool {
	t := m.tickets[hash]
	return t != nil && t.row == r && m.clock().Before(t.until)
}

// changeTickets does with the tickets of a task what an update says. Callers must hold both locks.
func (m *Store) changeTickets(r *row, u *store.Update, e *taskstate.Effects, now time.Time) {
	if e.DropTickets {
		m.dropTickets(r)
	}
	if u.Ticket == nil || !r.st.Ticketed {
		return
	}
	if m.tickets == nil {
		m.tickets = map[[32]byte]*ticket{}
	}
	added := &ticket{*u.Ticket, r, now.Add(u.Ticket.For)}
	m.tickets[added.Hash] = added // the later one has it
	has := r.more()
	has.tickets = append(has.tickets, added)
	slices.SortStableFunc(has.tickets, func(a, b *ticket) int { return a.until.Compare(b.until) })
	if len(has.tickets) > store.MaxTickets {
		m.dropTicket(has.tickets[0])
		has.tickets = slices.Delete(has.tickets, 0, 1)
	}
}

// dropTickets makes all tickets of a task invalid. Callers must hold both locks.
func (m *Store) dropTickets(r *row) {
	for _, t := range r.tickets() {
		m.dropTicket(t)
	}
	if r.extra != nil {
		r.extra.tickets = nil
	}
}

// dropTicket makes one invalid, unless a later one has its hash. Callers must hold the lock of the index.
func (m *Store) dropTicket(t *ticket) {
	if m.tickets[t.Hash] == t {
		delete(m.tickets, t.Hash)
	}
}
