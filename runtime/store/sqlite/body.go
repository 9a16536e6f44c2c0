package sqlite

// leastLog is how many bytes of events come before the first body of a task: less is read from the log as fast.
const leastLog = 64 << 10

// compact writes the body of a task when the log since the last one is as large as that, so that bodies cost about as much
// as the events, and a reader reads at most twice the task. Then it trims old events.
func (c *change) compact(w *writer) error {
	m := &c.next
	if m.since >= max(leastLog, m.body) {
		if err := c.writeBody(w); err != nil {
			return err
		}
	}
	o := &w.s.options
	kept := m.Version - m.oldest
	if keep := int64(o.Events); kept > keep+keep/4 {
		return c.trim(w, m.Version-keep, keep/8)
	}
	if m.log > 2*o.TaskBytes && m.snapshot == m.Version {
		return c.trim(w, m.Version, 0)
	}
	return nil
}

func (c *change) writeBody(w *writer) error {
	m, n := &c.next, c.r.n
	task := c.r.task.View(nil, true)
	for i := range c.changes {
		if err := task.Apply(c.changes[i].Event); err != nil {
			return err
		}
		for _, msg := range c.changes[i].Messages {
			task.AddMessage(msg)
		}
	}
	doc, err := w.s.codec.append(nil, task)
	if err != nil {
		return nil // the log has it all: there is only more to read
	}
	m.snapshot, m.since, m.body = m.Version, 0, int64(len(doc))
	if _, err := w.exec("INSERT INTO body(task, version, wire, doc) VALUES(?,?,?,?)", n, m.Version, w.s.codec.wire,
		doc); err != nil {
		return err
	}
	needed, err := c.needed(w)
	if err == nil {
		_, err = w.exec("DELETE FROM body WHERE task=? AND version<?", n, needed)
	}
	return err
}

// needed is the version of the body from which all notifications still to be sent can be shown: the last one if there are
// none, 0 if they need the whole log.
func (c *change) needed(w *writer) (int64, error) {
	if c.next.Pushes == 0 {
		return c.next.snapshot, nil
	}
	v, _, err := w.one(`SELECT max(version) FROM body WHERE task=?1 AND
		version<coalesce((SELECT min(next) FROM push WHERE task=?1 AND dead IS NULL), ?2)`, c.r.n, c.next.Version+1)
	return v, err
}

// trim drops the rows of events up to a version that a body contains and that no notification still needs, unless those
// are at most least events.
func (c *change) trim(w *writer, upTo, least int64) error {
	m, n := &c.next, c.r.n
	needed, err := c.needed(w)
	if err != nil {
		return err
	}
	if upTo = min(upTo, needed); upTo-m.oldest <= least {
		return nil
	}
	last, gone := int64(0), int64(0) // of the rows that end there or before
	err = w.query("SELECT max(seq), sum(?+length(doc)+coalesce(length(messages),0)) FROM event WHERE task=? AND seq<=?",
		func(v []value) error { last, gone = num(v[0]), num(v[1]); return nil }, eventBytes, n, upTo)
	if err != nil || last == 0 {
		return err
	}
	if _, err := w.exec("DELETE FROM event WHERE task=? AND seq<=?", n, last); err != nil {
		return err
	}
	m.oldest, m.log = last, m.log-gone
	return nil
}
