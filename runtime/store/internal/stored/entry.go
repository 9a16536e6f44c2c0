package stored

import (
	"encoding/json"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
)

// The log has a row for the events of an update, or several if messages come between them. The row has the number, kind and
// state of the last event, and its messages come after that; Run has the kind and state of each if there are several.

// Entry is a row of the log that is about to be written.
type Entry struct {
	Messages []byte // after the last of its events, as [Codec.Messages] writes them
	buf      []byte // "[", then the events as JSON, each with a byte after it
	ends     []int  // where each of them ends
}

// aDoc is about how long an event is: most are chunks of text.
const aDoc = 256

// add adds an event. There may be some more.
func (e *Entry) add(k *Codec, event runtime.Event, more int) (err error) {
	if e.buf == nil {
		e.buf = append(make([]byte, 0, aDoc*(1+more)), '[')
		e.ends = make([]int, 0, 1+more)
	}
	if e.buf, err = k.Append(e.buf, event); err != nil {
		return err
	}
	e.ends = append(e.ends, len(e.buf))
	e.buf = append(e.buf, ',')
	return nil
}

// Len is how many events the row has.
func (e *Entry) Len() int { return len(e.ends) }

// At returns the JSON of an event.
func (e *Entry) At(i int) []byte {
	start, end := 1, e.ends[i]
	if i > 0 {
		start = e.ends[i-1] + 1
	}
	return e.buf[start:end:end]
}

// Doc is what the row has: the event, or a list of them.
func (e *Entry) Doc() []byte {
	if len(e.ends) == 1 {
		return e.At(0)
	}
	e.buf[len(e.buf)-1] = ']'
	return e.buf
}

// EventBytes is what an event takes in a store beside its content, indexes included: measured and rounded up.
const EventBytes = 64

// Bytes is what the row takes in the store.
func (e *Entry) Bytes() int64 {
	n := EventBytes + len(e.buf) + len(e.Messages)
	if len(e.ends) == 1 {
		n -= len("[,")
	}
	return int64(n)
}

// Line is a row of the log without what was said.
type Line struct {
	Seq   int64
	Kind  runtime.EventKind
	State runtime.State // of the task after the last event
	Run   []byte
}

// Lines returns those of the change's rows in the log of a task with a version and a state.
func (c *Change) Lines(version int64, state runtime.State) []Line {
	lines, events := make([]Line, len(c.Log)), c.Rules.Events
	for i := range c.Log {
		kind, n := runtime.EventArtifact, c.Log[i].Len()
		run := make([]byte, 0, 2*n)
		for range n {
			if kind = events[0].Kind; kind != runtime.EventArtifact {
				state = events[0].State
			}
			run = append(run, byte(kind), byte(state))
			events = events[1:]
		}
		if n == 1 {
			run = nil
		}
		version += int64(n)
		lines[i] = Line{version, kind, state, run}
	}
	return lines
}

// Logged is an event of a row, with the state of the task after it.
type Logged struct {
	Seq   int64
	Kind  runtime.EventKind
	State runtime.State
	Doc   []byte
}

// Split returns the events of a row.
func (l *Line) Split(doc []byte) ([]Logged, error) {
	if len(l.Run) == 0 {
		return []Logged{{l.Seq, l.Kind, l.State, doc}}, nil
	}
	var docs []json.RawMessage
	if err := json.Unmarshal(doc, &docs); err != nil {
		return nil, fmt.Errorf("the events up to %d: %w", l.Seq, err)
	}
	if 2*len(docs) != len(l.Run) {
		return nil, fmt.Errorf("the row of event %d has %d events, and says what %d are", l.Seq, len(docs), len(l.Run)/2)
	}
	list := make([]Logged, len(docs))
	for i, doc := range docs {
		list[i] = Logged{l.Seq - int64(len(docs)-1-i), runtime.EventKind(l.Run[2*i]), runtime.State(l.Run[2*i+1]), doc}
	}
	return list, nil
}
