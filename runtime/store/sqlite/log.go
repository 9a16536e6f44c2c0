package sqlite

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// logColumns are the columns of a row of the log in the order of scanLog.
const logColumns = "seq, kind, state, run, doc"

// scanLog returns the events of a row.
func scanLog(v []value) ([]stored.Logged, error) {
	line := stored.Line{
		Seq: num(v[0]), Kind: runtime.EventKind(num(v[1])), State: runtime.State(num(v[2])), Run: blob(v[3]), //nolint:gosec // few
	}
	return line.Split(blob(v[4]))
}

// events reads records. The first event of a task is the task: it is none that a reader could get.
func (s *Store) events(c *conn, n, after int64, max int) (records []*store.Record, err error) {
	m, found, err := c.meta(n, 0)
	switch {
	case err != nil || !found:
		return nil, orNotFound(err)
	case after >= m.Version:
		return nil, nil
	case after < m.Oldest || after < 1:
		return nil, store.ErrTrimmed
	}
	if max <= 0 {
		max = int(m.Version - after)
	}
	err = c.query("SELECT "+logColumns+", wire FROM event WHERE task=? AND seq>? ORDER BY seq LIMIT ?", func(v []value) error {
		list, err := scanLog(v)
		for i := 0; i < len(list) && err == nil && len(records) < max; i++ {
			if list[i].Seq > after {
				var rec *store.Record
				rec, err = s.base.Codec.ReadRecord(&list[i], num(v[5]))
				records = append(records, rec)
			}
		}
		return err
	}, n, after, max)
	return records, err
}
