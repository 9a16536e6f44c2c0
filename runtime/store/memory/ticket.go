package memory

import (
	"context"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// tickets are those of all tasks.
type tickets struct {
	of     map[*row][]*ticket // of a task, those that end first go first
	byHash map[[32]byte]*ticket
}

// ticket is one of a task.
type ticket struct {
	store.Ticket
	row   *row
	until time.Time
}

// Ticket implements [store.Store].
func (m *Store) Ticket(_ context.Context, hash [32]byte) (store.Key, store.Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.byHash[hash]; t != nil && m.clock().Before(t.until) {
		return t.row.key(), t.Ticket, nil
	}
	return store.Key{}, store.Ticket{}, store.ErrTicket
}

// addTicket adds one to a task, and drops the one that ends first if they are too many.
func (ts *tickets) addTicket(r *row, t *store.Ticket, now time.Time) {
	added := &ticket{*t, r, now.Add(t.For)}
	ts.byHash[added.Hash] = added // the later one has it
	all := append(ts.of[r], added)
	slices.SortStableFunc(all, func(a, b *ticket) int { return a.until.Compare(b.until) })
	if len(all) > store.MaxTickets {
		ts.dropTicket(all[0])
		all = slices.Delete(all, 0, 1)
	}
	ts.of[r] = all
}

// dropTickets makes all tickets of a task invalid.
func (ts *tickets) dropTickets(r *row) {
	for _, t := range ts.of[r] {
		ts.dropTicket(t)
	}
	delete(ts.of, r)
}

// dropTicket makes one invalid, unless a later one has its hash.
func (ts *tickets) dropTicket(t *ticket) {
	if ts.byHash[t.Hash] == t {
		delete(ts.byHash, t.Hash)
	}
}
