package engine

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Stream is one open stream of a task's events: a cursor in the task's log, which its binding moves at its client's
// pace.
//
//	for {
//		switch st.Next() {
//		case Opening: st.Opening(write)                         // the task as it stands
//		case Events:  append st.Len() events, send, st.Take(n)  // some of them at a time, if there are many
//		case Silence: write what keeps the connection alive
//		case Over:    return
//		}
//	}
//
// Only the goroutine of the request uses it. Close it.
type Stream struct {
	r      *Request
	live   *live
	task   store.Ref
	reader *reader
	unhook func() bool // of the client's context
	follow bool        // a subscription: stays open while the task waits for its client

	first   store.Snapshot  // what to open with; nothing without a task
	records []*store.Record // what is waiting
	sparse  int             // for how many takes not to gather
	seq     int64           // of the last event taken
	failed  int             // times in a row that the store gave no answer
	over    bool            // nothing else is to come
	last    bool            // the engine is closing: what the log holds by now still goes out
	places  places          // of the artifacts, for versions that have them instead of ids; nil: not known yet

	heard  atomic.Int64 // tick at which the binding last came
	silent atomic.Bool  // for so long that something has to be written
}

// Coding is how a binding writes an event. The bytes are made once for all readers of the same coding.
type Coding struct {
	Index  int // among the codings of all bindings; low ones, which are those of most readers, are kept in the log
	Append func(dst []byte, e runtime.Event) ([]byte, error)
}

// Step is what a stream has for its client.
type Step int

// The steps.
const (
	Over    Step = iota // there is nothing else, or nobody to read it
	Opening             // the task as it stands
	Events              // some events, or one item
	Silence             // nothing for a while
)

// stream answers a message with the Task and then its events (R9, R10). The first event is the Task also for a message
// that continues one. The stream ends when the task does, or asks for input.
func (r *Request) stream(c *Call) (Answer, error) {
	st, err := r.open(c.live.key)
	if err != nil {
		return Answer{}, err
	}
	st.first.Task, st.first.Version = c.takeFirst()
	return Answer{Stream: st}, nil
}

// subscribe answers with the Task as it stands, then its events until it ends (R16, R17). After an event that the log
// still reaches, the stream goes on right there instead, without the Task, also when the task has ended meanwhile. Where
// the log does not reach, or a store in memory kept none because nobody listened, the Task has what was missed.
func (r *Request) subscribe(key store.Key) (a Answer, err error) {
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return Answer{}, err
	}
	r.About.Skill, r.About.Context = h.Skill, h.Context
	st, err := r.open(key)
	if err != nil {
		return Answer{}, err
	}
	defer func() {
		if a.Stream == nil {
			st.Close()
		}
	}()
	st.follow = true
	if r.After > 0 && st.resume(key) {
		return Answer{Stream: st}, nil
	}
	// The reader is attached: every event after the snapshot's version is read from the log, none is lost.
	if st.first, err = r.e.store.Get(r.e.soon(), key, store.Full); err != nil {
		return Answer{}, err
	}
	missed := r.After > 0 && st.first.Version > r.After
	if missed && st.resume(key) { // there are events since the first look
		st.first = store.Snapshot{}
		return Answer{Stream: st}, nil
	}
	if state := st.first.Task.TaskInfo().State; state.Terminal() && !missed && !r.Version.Rules.Final {
		return Answer{}, runtime.ErrUnsupportedOperation.With("the task has ended: %s", state).
			WithMetadata("taskId", key.Task) // R310
	}
	return Answer{Stream: st}, nil
}

// resume has the stream go on after the event that the client names, if there are later ones in the log.
func (st *Stream) resume(key store.Key) bool {
	recs, err := st.r.e.store.Events(st.r.e.soon(), key, st.r.After, 1)
	if err != nil || len(recs) == 0 {
		return false
	}
	st.seq = st.r.After
	return true
}

// admitStream counts one more open stream, or refuses one too many. Who is admitted has to count it down again.
func (e *Engine) admitStream() error {
	if e.streams.Add(1) > int64(e.limits.Streams) {
		e.streams.Add(-1)
		return ErrBusy.With("too many open streams, try again later")
	}
	return nil
}

// AdmitStream counts an open stream that is none of a task, or refuses one too many. release counts it down.
func (e *Engine) AdmitStream() (release func(), err error) {
	if err := e.admitStream(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { e.streams.Add(-1) }), nil
}

// open makes a stream for a task and attaches its reader, unless there is one too many.
func (r *Request) open(key store.Key) (*Stream, error) {
	if err := r.e.admitStream(); err != nil {
		return nil, err
	}
	st := &Stream{r: r, task: store.Find(r.e.store, key), live: r.e.use(key), reader: r.e.newReader()}
	st.live.attach(st.reader)
	r.e.beat.add(st)
	st.unhook = context.AfterFunc(r.Context, st.reader.signal)
	return st, nil
}

// Close ends the reading.
func (st *Stream) Close() {
	e := st.r.e
	st.unhook()
	e.beat.remove(st)
	st.live.detach(st.reader)
	e.drop(st.live)
	e.streams.Add(-1)
}

// Complete reports whether the client has been given everything, to the end.
func (st *Stream) Complete() bool { return st.over }

// TaskID returns the id of the task.
func (st *Stream) TaskID() string { return st.live.key.Task }

// Next waits for what comes next. All that can end the wait is told through the reader's one channel: it is what a
// stream does for each event, and a select over several costs more.
func (st *Stream) Next() Step {
	st.heard.Store(st.r.e.Tick())
	for {
		if st.first.Task != nil {
			return Opening
		}
		if st.over || st.last {
			return Over
		}
		st.last = st.r.e.isClosing()
		switch recs, err := st.read(); {
		case unanswered(err) && st.failed < maxFailed && !st.last:
			st.failed++
			time.AfterFunc(jitter(lookEvery), st.reader.signal)
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
		if st.r.Context.Err() != nil {
			return Over
		}
		if st.silent.Swap(false) {
			return Silence
		}
	}
}

// How often a stream makes way for its handler before it takes events, and for how many takes it does not when that
// brought none.
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
		more, err := st.task.Events(st.r.e.soon(), st.seq, eventsAtOnce)
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

// maxFailed is how often in a row the log cannot be read before the stream ends: its client may come back.
const maxFailed = 10

// eventsAtOnce is how many events are read at a time: a slow client holds on to no more.
const eventsAtOnce = 256

// read reads what comes next. A client that is too slow for the log begins anew, with the task.
func (st *Stream) read() (recs []*store.Record, err error) {
	e := st.r.e
	recs, err = st.task.Events(e.soon(), st.seq, eventsAtOnce)
	if errors.Is(err, store.ErrTrimmed) {
		st.first, err = e.store.Get(e.soon(), st.live.key, store.Full)
	}
	if err == nil {
		st.failed = 0
	}
	return recs, err
}

// Len returns how many events are waiting to be taken.
func (st *Stream) Len() int { return len(st.records) }

// Seq returns the number of the i-th of them.
func (st *Stream) Seq(i int) int64 { return st.records[i].Seq }

// Append appends the i-th of them. With other readers, keeping an event's bytes pays.
func (st *Stream) Append(dst []byte, i int) ([]byte, error) {
	rec, coding := st.records[i], &st.r.Coding
	e, err := rec.Event()
	if err != nil {
		return dst, err
	}
	shown, err := st.shown(e)
	if err != nil {
		return dst, err
	}
	encoded := rec.Encoded(coding.Index)
	if encoded == nil {
		if st.live.attached.Load() <= 1 {
			return st.r.appendOrBare(dst, shown)
		}
		encode := func(dst []byte, _ runtime.Event) ([]byte, error) { return st.r.appendOrBare(dst, shown) }
		encoded, err = rec.Encode(coding.Index, encode)
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

// Opening hands the events that tell the task as it stands, all numbered seq, to write one by one. They are shared with
// other readers, and counted in the budget of answers, as long as it takes. A stream that has to begin anew, because
// its client is too slow for the log, opens again.
func (st *Stream) Opening(write func(seq int64, event []byte) error) error {
	task, version := st.r.answered(st.first.Task), st.first.Version
	st.first = store.Snapshot{} // the stream may be open for long
	info := task.TaskInfo()
	if st.r.Version.Rules.Places {
		st.places = placesOf(task)
	}
	var err error
	if info.Artifacts > 0 || info.History > 1 {
		err = st.share(task, version, write)
	} else { // a call that has only begun: it is small, and nobody else reads it
		err = st.pass(task, version, write)
	}
	if err != nil {
		return err
	}
	st.seq, st.over = version, st.endsAt(info.State)
	if rules := st.r.Version.Rules; st.over && rules.Final && !rules.UpdatesOnly { // nothing else is to come (T39)
		status := st.r.e.protocol.NewStatus(info.ID, info.ContextID, info.State, task.StatusMessage(), info.At)
		return st.pass(status, version, write)
	}
	return nil
}

// pass encodes an event for this stream alone.
func (st *Stream) pass(e runtime.Event, version int64, write func(int64, []byte) error) (err error) {
	encode := func(dst []byte) ([]byte, error) { return st.r.appendEvent(dst, e) }
	if failed := st.r.Pass(encode, func(b []byte) { err = write(version, b) }); failed != nil {
		return failed
	}
	return err
}

// ends reports whether the stream ends with an update to the given state.
func (st *Stream) ends(state runtime.State) bool {
	return state.Terminal() ||
		!st.follow && state == runtime.StateInputRequired ||
		st.r.Version.Rules.Final && state.Interrupted()
}

// endsAt reports whether the stream ends with the task as it stands. A subscription of 0.3 to a task that waits goes
// on: only updates have an end mark, and 0.1 sees the task as an update.
func (st *Stream) endsAt(state runtime.State) bool {
	if rules := st.r.Version.Rules; rules.Final && st.follow && !rules.UpdatesOnly {
		return state.Terminal()
	}
	return st.ends(state)
}

// openingEvents returns the events that tell the task as it stands. For 0.1, whose streams have updates only, its
// artifacts go before its status.
func (st *Stream) openingEvents(task runtime.Task) (events []runtime.Event, err error) {
	rules, p := st.r.Version.Rules, st.r.e.protocol
	if rules.Places {
		if task, err = p.Placed(task); err != nil {
			return nil, err
		}
	}
	if rules.UpdatesOnly {
		info := task.TaskInfo()
		for _, a := range task.ArtifactList() {
			events = append(events, p.NewArtifact(info.ID, info.ContextID, a))
		}
	}
	return append(events, task), nil
}
