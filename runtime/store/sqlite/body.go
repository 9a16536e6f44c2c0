package sqlite

import "github.com/a2agen/a2agen/runtime/store/internal/stored"

// compact writes the body of a task when one is due, and drops those that nobody needs any more. Then it trims old events.
func (c *change) compact(w *writer) error {
	m, n := &c.Next, c.r.N
	if doc := c.Body(w.s.base.Codec, c.r.Task); doc != nil {
		if _, err := w.exec("INSERT INTO body(task, version, wire, doc) VALUES(?,?,?,?)", n, m.Version, w.s.base.Codec.Wire,
			doc); err != nil {
			return err
		}
		needed, err := c.needed(w)
		if err == nil {
			_, err = w.exec("DELETE FROM body WHERE task=? AND version<?", n, needed)
		}
		if err != nil {
			return err
		}
	}
	o := &w.s.options
	if upTo, least := m.Trim(o.Events, o.TaskBytes); upTo != 0 {
		return c.trim(w, upTo, least)
	}
	return nil
}

// needed is the version of the body from which all notifications still to be sent can be shown: the last one if there are
// none, 0 if they need the whole log.
func (c *change) needed(w *writer) (int64, error) {
	if c.Next.Pushes == 0 {
		return c.Next.Snapshot, nil
	}
	v, _, err := w.one(`SELECT max(version) FROM body WHERE task=?1 AND
		version<coalesce((SELECT min(next) FROM push WHERE task=?1 AND dead IS NULL), ?2)`, c.r.N, c.Next.Version+1)
	return v, err
}

// trim drops the rows of events up to a version that a body contains and that no notification still needs, unless those
// are at most least events.
func (c *change) trim(w *writer, upTo, least int64) error {
	m, n := &c.Next, c.r.N
	needed, err := c.needed(w)
	if err != nil {
		return err
	}
	if upTo = min(upTo, needed); upTo-m.Oldest <= least {
		return nil
	}
	last, gone := int64(0), int64(0) // of the rows that end there or before
	err = w.query("SELECT max(seq), sum(?+length(doc)+coalesce(length(messages),0)) FROM event WHERE task=? AND seq<=?",
		func(v []value) error { last, gone = num(v[0]), num(v[1]); return nil }, stored.EventBytes, n, upTo)
	if err != nil || last == 0 {
		return err
	}
	if _, err := w.exec("DELETE FROM event WHERE task=? AND seq<=?", n, last); err != nil {
		return err
	}
	m.Oldest, m.Log = last, m.Log-gone
	return nil
}
