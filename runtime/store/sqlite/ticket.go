package sqlite

import (
	"github.com/a2agen/a2agen/runtime/store"
)

// admits says why a ticket is not one of the task that is good.
func (w *writer) admits(task int64, hash [32]byte) error {
	_, found, err := w.one("SELECT 1 FROM ticket WHERE hash=? AND task=? AND until>?", hash[:], task, w.now.UnixNano())
	if err == nil && !found {
		err = store.ErrTicket
	}
	return err
}

// writeTickets drops the tickets that are used up or too many, and keeps the new one.
func (c *change) writeTickets(w *writer) error {
	n := c.r.N
	if c.Effects.DropTickets {
		if _, err := w.exec("DELETE FROM ticket WHERE task=?", n); err != nil {
			return err
		}
	}
	if c.U.Ticket == nil || !c.Next.Ticketed {
		return nil
	}
	until := w.now.Add(c.U.Ticket.For).UnixNano()
	_, err := w.exec("INSERT OR REPLACE INTO ticket(hash, task, until, made, wire, request) VALUES(?,?,?,?,?,?)",
		c.U.Ticket.Hash[:], n, until, c.Next.Version, w.s.base.Codec.Wire, c.Ticket)
	if err != nil {
		return err
	}
	_, err = w.exec(`DELETE FROM ticket WHERE task=? AND hash NOT IN
		(SELECT hash FROM ticket WHERE task=? ORDER BY until DESC, made DESC LIMIT ?)`, n, n, store.MaxTickets)
	return err
}
