package feed

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
)

// Reading is who reads the events of a task, and how.
type Reading struct {
	Client   context.Context // ends when the client leaves
	Key      store.Key
	Version  *runtime.Version // that the client speaks
	Coding   Coding
	Response *budget.Response
	Warn     func(task string, err error) // of what a task holds and cannot be written
	Looks    bool                         // the store may not tell of what other instances change
	Release  func()                       // called when the stream is closed
}

// Coding is how a binding writes an event. The bytes are made once for all readers of the same coding.
type Coding struct {
	Index  int // among the codings of all bindings; low ones, which are those of most readers, are kept in the log
	Append func(dst []byte, e runtime.Event) ([]byte, error)
}

// Stream is one open stream of a task's events: a cursor in the task's log, which its binding moves at its client's
// pace.
//
//	for {
//		switch st.Next() {
//		case Snapshot: st.WriteSnapshot(write)                   // the task as it stands
//		case Events:   append st.Len() events, send, st.Take(n)  // some of them at a time, if there are many
//		case Silence:  write what keeps the connection alive
//		case Over:     return
//		}
//	}
//
// Only the goroutine of the request uses it. Close it.
type Stream struct {
	Reading
	f      *Feed
	topic  *Topic
	log    store.Ref
	reader *Reader
	unhook func() bool // of the client's context
	follow bool        // a subscription: stays open while the task waits for its client

	first struct { // what to begin with; nothing without a task
		Task    runtime.Task
		Version int64
	}
	records   []*store.Record // what is waiting
	sparse    int             // for how many takes not to gather
	seq       int64           // of the last event taken
	outage    outage          // of the store
	over      bool            // nothing else is to come
	last      bool            // the agent is closing: what the log holds by now still goes out
	positions positions       // of the artifacts, for versions that have them instead of ids; nil: not known yet

	seen   atomic.Int64 // tick at which the binding last came
	silent atomic.Bool  // for so long that something has to be written
}

// Step is what a stream has for its client.
type Step int

// The steps.
const (
	Over     Step = iota // there is nothing else, or nobody to read it
	Snapshot             // the task as it stands
	Events               // some events, or one item
	Silence              // nothing for a while
)

// Open opens a stream of a task and attaches its reader, unless there is one too many.
func (f *Feed) Open(r Reading, t *Topic) (*Stream, error) {
	if err := f.admit(); err != nil {
		r.Release()
		return nil, err
	}
	st := &Stream{Reading: r, f: f, topic: t, log: store.Find(f.Store, r.Key), reader: NewReader(r.Looks)}
	t.Attach(st.reader)
	f.Ticker.add(st)
	st.unhook = context.AfterFunc(r.Client, st.reader.Signal)
	return st, nil
}

// Begin has the stream begin with a version of the task.
func (st *Stream) Begin(task runtime.Task, version int64) {
	st.first.Task, st.first.Version = task, version
}

// Subscribe has the stream begin with the task as it stands and stay open until the task ends (R16, R17). After an
// event that the log still reaches (0: none), it goes on right there instead, also when the task has ended meanwhile or
// nothing has happened since.
// Where the log does not reach, or a store in memory kept none because nobody listened, the task has what was missed.
func (st *Stream) Subscribe(after int64) error {
	st.follow = true
	if after > 0 {
		if on, err := st.resume(after); on || err != nil {
			return err
		}
	}
	// The reader is attached: every event after the snapshot's version is read from the log, none is lost.
	snap, err := st.f.Store.Get(st.f.Context(), st.Key, store.Full)
	if err != nil {
		return err
	}
	missed := after > 0 && snap.Version > after
	if missed { // there are events since the first look
		if on, err := st.resume(after); on || err != nil {
			return err
		}
	}
	if state := snap.Task.TaskInfo().State; state.Terminal() && !missed && !st.Version.Rules.Final {
		return runtime.ErrUnsupportedOperation.With("the task has ended: %s", state).
			WithMetadata("taskId", st.Key.Task) // R310
	}
	st.Begin(snap.Task, snap.Version)
	return nil
}

// resume has the stream go on after an event, if there are later ones in the log, or it is the last one of a task that
// goes on. It fails when the store does not say whether there are.
func (st *Stream) resume(after int64) (on bool, err error) {
	recs, err := st.f.Store.Events(st.f.Context(), st.Key, after, 1)
	if err == nil && len(recs) == 0 {
		on, err = st.isLast(after)
	}
	switch {
	case store.Unsure(err):
		return false, err
	case err != nil, len(recs) == 0 && !on:
		return false, nil
	case on:
		st.Interrupt() // the client is to see that the stream has begun, although there is nothing to send
	}
	st.seq = after
	return true, nil
}

// isLast reports whether an event is the last one so far of a task with which the stream does not end.
func (st *Stream) isLast(seq int64) (bool, error) {
	h, err := st.f.Store.Head(st.f.Context(), st.Key)
	return err == nil && h.Version == seq && !st.endsAt(h.State), err
}

// Close ends the reading.
func (st *Stream) Close() {
	st.unhook()
	st.f.Ticker.remove(st)
	st.topic.Detach(st.reader)
	st.Release()
	st.f.streams.Add(-1)
}

// Complete reports whether the client has been given everything, to the end.
func (st *Stream) Complete() bool { return st.over }

// TaskID returns the id of the task.
func (st *Stream) TaskID() string { return st.Key.Task }

// Next waits for what comes next. All that can end the wait is told through the reader's one channel: it is what a
// stream does for each event, and a select over several costs more.
func (st *Stream) Next() Step {
	st.seen.Store(st.f.Ticker.Number())
	for {
		if st.first.Task != nil {
			return Snapshot
		}
		if st.over || st.last {
			return Over
		}
		st.last = st.f.isClosing()
		switch recs, err := st.read(); {
		case err != nil && store.Unsure(err) && !st.outage.tooLong() && !st.last:
		case err != nil:
			return Over
		case st.first.Task != nil:
			continue
		case len(recs) > 0:
			st.records = st.gather(recs)
			return Events
		case st.last:
			return Over
		}
		<-st.reader.wake
		if st.Client.Err() != nil {
			return Over
		}
		if st.silent.Swap(false) {
			return Silence
		}
	}
}

// Interrupt has Next return [Silence], once, if it waits or when it is going to wait. It may be called on any
// goroutine.
func (st *Stream) Interrupt() {
	st.silent.Store(true)
	st.reader.Signal()
}

// How often a stream yields to its handler before it takes events, and for how many takes it does not when that brought
// none.
const (
	gatherRounds = 3
	sparseTakes  = 8
)

// gather lets a handler that has more to say at once say it: events that go out together cost a fraction of what each
// costs alone. A handler that waits for something has nothing to say, and its events go out as they come.
func (st *Stream) gather(recs []*store.Record) []*store.Record {
	if st.sparse > 0 {
		st.sparse--
		return recs
	}
	for i := range gatherRounds {
		goruntime.Gosched()
		more, err := st.log.Events(st.f.Context(), st.seq, eventsAtOnce)
		if err != nil || len(more) <= len(recs) {
			if i == 0 {
				st.sparse = sparseTakes
			}
			break
		}
		recs = more
	}
	return recs
}

// eventsAtOnce is how many events are read at a time: a slow client holds on to no more.
const eventsAtOnce = 256

// artifactsOnly is a task with its artifacts, without its history.
var artifactsOnly = store.View{History: new(int), Artifacts: true}

// read reads what comes next. A client that is too slow for the log begins anew, with the task.
func (st *Stream) read() (recs []*store.Record, err error) {
	if st.outage.tries > 0 && !st.last && time.Now().Before(st.outage.next) {
		return nil, store.ErrUnavailable
	}
	recs, err = st.log.Events(st.f.Context(), st.seq, eventsAtOnce)
	if errors.Is(err, store.ErrTrimmed) {
		var snap store.Snapshot
		snap, err = st.f.Store.Get(st.f.Context(), st.Key, store.Full)
		st.Begin(snap.Task, snap.Version)
	}
	switch {
	case err != nil && store.Unsure(err):
		time.AfterFunc(st.outage.retry(), st.reader.Signal)
	case err == nil:
		st.outage = outage{}
	}
	return recs, err
}

// Len returns how many events are waiting to be taken.
func (st *Stream) Len() int { return len(st.records) }

// Seq returns the number of the i-th of them.
func (st *Stream) Seq(i int) int64 { return st.records[i].Seq }

// Append appends the i-th of them. With other readers, keeping an event's bytes pays.
func (st *Stream) Append(dst []byte, i int) ([]byte, error) {
	rec := st.records[i]
	e, err := rec.Event()
	if err != nil {
		return dst, err
	}
	shown, err := st.shown(e)
	if err != nil {
		return dst, err
	}
	encoded := rec.Encoded(st.Coding.Index)
	if encoded == nil {
		if st.topic.attached.Load() <= 1 {
			return st.appendOrBare(dst, shown)
		}
		encode := func(dst []byte, _ runtime.Event) ([]byte, error) { return st.appendOrBare(dst, shown) }
		encoded, err = rec.Encode(st.Coding.Index, encode)
		if err != nil {
			return dst, err
		}
	}
	return append(dst, encoded...), nil
}

// Take moves the cursor behind the first n of them: the client has them.
func (st *Stream) Take(n int) {
	rec := st.records[n-1]
	st.seq, st.records = rec.Seq, st.records[n:]
	st.over = st.ends(rec.State)
}

// ends reports whether the stream ends with an update to the given state.
func (st *Stream) ends(state runtime.State) bool {
	return state.Terminal() ||
		!st.follow && state == runtime.StateInputRequired ||
		st.Version.Rules.Final && state.Interrupted()
}

// endsAt reports whether the stream ends with the task as it stands. A subscription of 0.3 to a task that waits goes
// on: only updates have an end mark, and 0.1 sees the task as an update.
func (st *Stream) endsAt(state runtime.State) bool {
	if rules := st.Version.Rules; rules.Final && st.follow && !rules.UpdatesOnly {
		return state.Terminal()
	}
	return st.ends(state)
}

// outage is a time in which a stream cannot read the log of its task. The stream stays open, with heartbeats, and goes on
// where it was; one that lasts too long ends it, since another instance may reach the store. The client comes back with
// the number of the last event that it has. The zero outage is none.
type outage struct {
	begun time.Time
	next  time.Time // when the log is to be read again
	tries int       // that failed
}

const (
	// longestOutage is how long a stream waits for the store.
	longestOutage = time.Minute
	// doublings of the pause between two reads, so that many streams are no load on a store that comes back.
	doublings = 3
)

// retry notes that a read failed, and returns how long to wait until the next.
func (o *outage) retry() time.Duration {
	now := time.Now()
	if o.tries == 0 {
		o.begun = now
	}
	pause := Jitter(PollEvery << min(o.tries, doublings))
	o.tries, o.next = o.tries+1, now.Add(pause)
	return pause
}

// tooLong reports whether the stream is to end.
func (o *outage) tooLong() bool { return o.tries > 0 && time.Since(o.begun) > longestOutage }

// Artifacts of 0.1 have a position in their task instead of an id (docs/decisions/03).

// positions are those of a task's artifacts, by id.
type positions map[string]int

func positionsOf(task runtime.Task) positions {
	p := positions{}
	for i, a := range task.ArtifactList() {
		p[a.ID] = i
	}
	return p
}

// shown returns an event of the log as the stream's version shows it. A stream that did not begin with the task reads
// it once.
func (st *Stream) shown(e runtime.Event) (runtime.Event, error) {
	u, ok := e.(runtime.ArtifactUpdate)
	if !ok || !st.Version.Rules.Places {
		return e, nil
	}
	if st.positions == nil {
		snap, err := st.f.Store.Get(st.f.Context(), st.Key, artifactsOnly)
		if err != nil {
			return nil, err
		}
		st.positions = positionsOf(snap.Task)
	}
	data, info := u.ArtifactUpdate(), u.EventInfo()
	position, known := st.positions[data.ID]
	if !known {
		position = len(st.positions)
		st.positions[data.ID] = position
	}
	return st.f.Protocol.At(position, info.TaskID, info.ContextID, data), nil
}
