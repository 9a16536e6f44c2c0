package sqlite

import (
	"encoding/json"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// The log has a row for the events of an update, or several if messages come between them. The row has the number, kind and
// state of the last event, and its messages come after that; run has the kind and state of each if there are several.

// entry is a row of the log that is about to be written.
type entry struct {
	buf      []byte // "[", then the events as JSON, each with a byte after it
	ends     []int  // where each of them ends
	messages []byte
}

// aDoc is about how long an event is: most are chunks of text.
const aDoc = 256

// add adds an event. There may be some more.
func (e *entry) add(k *codec, event runtime.Event, more int) (err error) {
	if e.buf == nil {
		e.buf = append(make([]byte, 0, aDoc*(1+more)), '[')
		e.ends = make([]int, 0, 1+more)
	}
	if e.buf, err = k.append(e.buf, event); err != nil {
		return err
	}
	e.ends = append(e.ends, len(e.buf))
	e.buf = append(e.buf, ',')
	return nil
}

// at returns the JSON of an event.
func (e *entry) at(i int) []byte {
	start, end := 1, e.ends[i]
	if i > 0 {
		start = e.ends[i-1] + 1
	}
	return e.buf[start:end:end]
}

// doc is what the file has: the event, or a list of them.
func (e *entry) doc() []byte {
	if len(e.ends) == 1 {
		return e.at(0)
	}
	e.buf[len(e.buf)-1] = ']'
	return e.buf
}

// bytes is what the entry takes in the file.
func (e *entry) bytes() int64 {
	n := eventBytes + len(e.buf) + len(e.messages)
	if len(e.ends) == 1 {
		n -= len("[,")
	}
	return int64(n)
}

// writeLog appends to the log. The stamp is kept with the last row.
func (c *change) writeLog(w *writer) error {
	events, seq, state := c.rules.Events, c.was.Version, c.was.Status
	for i := range c.log {
		e, kind := &c.log[i], runtime.EventArtifact
		run := make([]byte, 0, 2*len(e.ends))
		for range e.ends {
			if kind = events[0].Kind; kind != runtime.EventArtifact {
				state = events[0].State
			}
			run = append(run, byte(kind), byte(state))
			events = events[1:]
		}
		stamp := uint64(0)
		if len(events) == 0 {
			stamp = c.u.Stamp
		}
		if seq += int64(len(e.ends)); len(e.ends) == 1 {
			run = nil
		}
		_, err := w.exec("INSERT INTO event(task, seq, kind, state, run, stamp, wire, doc, messages) VALUES(?,?,?,?,?,?,?,?,?)",
			c.r.n, seq, int64(kind), int64(state), run, stamp, w.s.codec.wire, e.doc(), e.messages)
		if err != nil {
			return err
		}
	}
	return nil
}

// logged is an event of a row, with the state of the task after it.
type logged struct {
	seq   int64
	kind  runtime.EventKind
	state runtime.State
	doc   []byte
}

// logColumns are the columns of a row of the log in the order of scanLog.
const logColumns = "seq, kind, state, run, doc"

// scanLog returns the events of a row.
func scanLog(v []value) ([]logged, error) {
	last := logged{num(v[0]), runtime.EventKind(num(v[1])), runtime.State(num(v[2])), blob(v[4])} //nolint:gosec // few
	run := blob(v[3])
	if len(run) == 0 {
		return []logged{last}, nil
	}
	var docs []json.RawMessage
	if err := json.Unmarshal(last.doc, &docs); err != nil {
		return nil, fmt.Errorf("the events up to %d: %w", last.seq, err)
	}
	if 2*len(docs) != len(run) {
		return nil, fmt.Errorf("the row of event %d has %d events, and says what %d are", last.seq, len(docs), len(run)/2)
	}
	list := make([]logged, len(docs))
	for i, doc := range docs {
		list[i] = logged{last.seq - int64(len(docs)-1-i), runtime.EventKind(run[2*i]), runtime.State(run[2*i+1]), doc}
	}
	return list, nil
}

// eventsOf is how many events a row has, in SQL.
const eventsOf = "coalesce(length(run)/2, 1)"

// readRecord makes the record of a logged event.
func (k *codec) readRecord(e *logged, wire int64) (*store.Record, error) {
	state := e.state
	if e.kind != runtime.EventStatus {
		state = runtime.StateUnspecified
	}
	if wire == k.wire && k.newest == k.protocol.Versions[0] {
		return store.NewRecord(e.seq, e.kind, state, e.doc, k.newest.ReadEvent), nil
	}
	event, err := k.read(wire, e.doc)
	if err != nil {
		return nil, err
	}
	return k.record(e.seq, event, nil), nil
}

// events reads records. The first event of a task is the task: it is none that a reader could get.
func (k *codec) events(c *conn, n, after int64, max int) (records []*store.Record, err error) {
	m, found, err := c.meta(n, 0)
	switch {
	case err != nil || !found:
		return nil, orNotFound(err)
	case after >= m.Version:
		return nil, nil
	case after < m.oldest || after < 1:
		return nil, store.ErrTrimmed
	}
	if max <= 0 {
		max = int(m.Version - after)
	}
	err = c.query("SELECT "+logColumns+", wire FROM event WHERE task=? AND seq>? ORDER BY seq LIMIT ?", func(v []value) error {
		list, err := scanLog(v)
		for i := 0; i < len(list) && err == nil && len(records) < max; i++ {
			if list[i].seq > after {
				var rec *store.Record
				rec, err = k.readRecord(&list[i], num(v[5]))
				records = append(records, rec)
			}
		}
		return err
	}, n, after, max)
	return records, err
}
