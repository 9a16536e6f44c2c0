package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/store"
)

// stream is one open event stream: a reader of a task's log at its own pace. Its request's goroutine is the only one that writes to it.
type stream struct {
	q        *request
	l        *live
	key      store.Key
	task     store.Ref
	reader   *reader
	places   places // of the artifacts, for versions that have them instead of ids; nil: not known yet
	seq      int64  // of the last event written
	follow   bool   // a subscription: stays open while the task waits for its client
	rc       *http.ResponseController
	deadline int64        // tick at which the write deadline was set; 0: never
	written  atomic.Int64 // tick of the last write
	beat     atomic.Bool  // a heartbeat is due
}

// stream answers SendStreamingMessage: exactly one Message, or the Task and then its events (R9, R10). The first event is the Task also for
// a message that continues one. The stream ends when the task does, or asks for input.
func (q *request) stream(t *Task, answer runtime.Message) {
	if answer != nil {
		q.single(answer)
		return
	}
	t.awaitDecision()
	result, _, err := t.answer(false)
	if err != nil {
		q.fail(err)
		return
	}
	if m, ok := result.(runtime.Message); ok {
		q.single(m)
		return
	}
	st := q.open(t.l.key)
	if st == nil {
		return
	}
	defer st.close()
	if st.snapshot(t.takeFirst()) {
		st.run()
	}
}

// subscribe answers SubscribeToTask: the Task as it stands, then its events until it ends (R16, R17). With a Last-Event-ID that the
// log still reaches, the stream goes on right after that event instead, without the Task, also when the task has ended meanwhile.
func (q *request) subscribe(key store.Key) {
	if _, err := q.s.store.Get(q.r.Context(), key, store.View{History: new(int)}); err != nil {
		q.fail(q.notFound(err, key.Task))
		return
	}
	st := q.open(key)
	if st == nil {
		return
	}
	defer st.close()
	st.follow = true
	if after, ok := st.lastEventID(); ok {
		if recs, err := q.s.store.Events(q.r.Context(), key, after); err == nil && len(recs) > 0 {
			st.seq = after
			q.streamHeader()
			st.run()
			return
		}
	}
	// The reader is attached: every event after the snapshot's version is read from the log, none is lost.
	snap, err := q.s.store.Get(q.r.Context(), key, store.Full)
	if err != nil {
		q.fail(q.notFound(err, key.Task))
		return
	}
	if state := snap.Task.TaskInfo().State; state.Terminal() && !q.version.Rules.Final {
		q.fail(runtime.ErrUnsupportedOperation.With("the task has ended: %s", state).WithMetadata("taskId", key.Task)) // R310
		return
	}
	if st.snapshot(snap.Task, snap.Version) {
		st.run()
	}
}

// lastEventID reads the header of a client that reconnects.
func (st *stream) lastEventID() (int64, bool) {
	h := st.q.r.Header.Get("Last-Event-ID")
	if h == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(h, 10, 64)
	return n, err == nil && n > 0
}

// single answers with a stream of one Message.
func (q *request) single(m runtime.Message) {
	q.give(func(b []byte) ([]byte, error) {
		b, err := q.version.AppendEvent(q.beginFrame(sse.Begin(b)), m)
		if err != nil {
			return b, err
		}
		oneLine(b[len(sse.Begin(nil)):])
		return q.endFrame(b), nil
	}, q.streamHeader)
}

// admit counts one more open stream, or refuses one too many. Who is admitted has to count it down again.
func (q *request) admit() bool {
	if q.s.streams.Add(1) > int64(q.s.limits.Streams) {
		q.s.streams.Add(-1)
		q.fail(errBusy.With("too many open streams, try again later"))
		return false
	}
	return true
}

// open makes a stream for a task and attaches its reader. It returns nil after refusing one too many.
func (q *request) open(key store.Key) *stream {
	if !q.admit() {
		return nil
	}
	q.release()
	st := &stream{q: q, key: key, task: store.Find(q.s.store, key), l: q.s.use(key), reader: newReader(), rc: http.NewResponseController(q.w)}
	st.l.attach(st.reader)
	q.s.beat.add(st)
	return st
}

func (st *stream) close() {
	st.q.s.beat.remove(st)
	st.l.detach(st.reader)
	st.q.s.drop(st.l)
	st.q.s.streams.Add(-1)
	if st.deadline != 0 {
		_ = st.rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
	}
}

// snapshot writes the task as it was at a version. It reports whether the stream goes on.
func (st *stream) snapshot(task runtime.Task, version int64) bool {
	task = st.q.answered(task)
	info := task.TaskInfo()
	ends := st.endsAt(info.State)
	if st.q.version.Rules.Places {
		st.places = placesOf(task)
	}
	err := st.begin(task, info, version)
	if rules := st.q.version.Rules; err == nil && ends && rules.Final && !rules.UpdatesOnly { // nothing else is to come (T39)
		err = st.end(task, info, version)
	}
	if err == nil {
		st.seq = version
		return st.push() && !ends
	}
	st.giveUp(err)
	return false
}

// giveUp ends a stream that could not begin with its task.
func (st *stream) giveUp(err error) {
	if e := (*runtime.Error)(nil); errors.As(err, &e) && st.seq == 0 {
		st.q.fail(e)
	} else if st.q.r.Context().Err() == nil {
		st.q.s.logger.Info("stream given up", "task", st.key.Task, "error", err)
	}
}

// begin writes the task, without a flush. That of a call that has only begun is small, and nobody else reads it.
func (st *stream) begin(task runtime.Task, info runtime.TaskInfo, version int64) error {
	if info.Artifacts > 0 || info.History > 1 {
		return st.writeOpening(task, version)
	}
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	b, room, err := st.q.s.within(st.q.r.Context(), buf, func(b []byte) ([]byte, error) { return st.frame(b, version, task) })
	if err != nil {
		return err
	}
	defer st.q.s.answers.release(room)
	if st.seq == 0 {
		st.q.streamHeader()
	}
	return st.send(b)
}

// end writes the status of a task as it stands.
func (st *stream) end(task runtime.Task, info runtime.TaskInfo, version int64) error {
	b, err := st.frame(nil, version, st.q.s.protocol.NewStatus(info.ID, info.ContextID, info.State, task.StatusMessage(), info.At))
	if err != nil {
		return err
	}
	return st.send(b)
}

// ends reports whether the stream ends with an update to the given state.
func (st *stream) ends(state runtime.State) bool {
	return state.Terminal() || !st.follow && state == runtime.StateInputRequired || st.q.version.Rules.Final && state.Interrupted()
}

// run writes what the log holds, then waits for more, until the task ends, the client goes away or the server shuts down. All of these
// are told through the reader's one channel: it is what a stream does for each event, and a select over several costs more.
func (st *stream) run() {
	client := st.q.r.Context()
	defer context.AfterFunc(client, st.reader.signal)()
	for {
		last := st.q.s.isClosing() // what the log holds by now still goes out
		more, err := st.flush()
		if err != nil || !more || last {
			return
		}
		<-st.reader.wake
		if client.Err() != nil {
			return
		}
		if st.beat.Swap(false) && !st.write(sse.AppendComment(nil, "")) {
			return
		}
	}
}

// flush writes all events that are waiting in one go: a lone event goes out at once, a burst shares a flush. It reports whether the stream goes on.
func (st *stream) flush() (more bool, err error) {
	recs, err := st.task.Events(st.q.r.Context(), st.seq)
	if errors.Is(err, store.ErrTrimmed) { // too slow for the log: begin anew
		snap, err := st.q.s.store.Get(st.q.r.Context(), st.key, store.Full)
		return err == nil && st.snapshot(snap.Task, snap.Version), err
	}
	if err != nil || len(recs) == 0 {
		return err == nil, err
	}
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	shared := st.l.attached.Load() > 1 // with other readers, keeping an event's bytes pays
	for len(recs) > 0 {
		n := 0
		b, room, err := st.q.s.within(st.q.r.Context(), buf, func(b []byte) ([]byte, error) {
			for n = 0; n < len(recs) && len(b) < maxFlush; n++ {
				var err error
				if b, err = st.record(b, recs[n], shared); err != nil {
					return b, err
				}
			}
			return b, nil
		})
		if err != nil {
			st.q.s.logger.Error("events could not be written", "task", st.key.Task, "error", err)
			return false, err
		}
		st.seq = recs[n-1].Seq
		more = !st.ends(recs[n-1].Event.EventInfo().State)
		recs = recs[n:]
		written := st.write(b)
		st.q.s.answers.release(room)
		if !written {
			return false, nil
		}
	}
	return more, nil
}

// maxFlush is about how much is written at once, in bytes.
const maxFlush = 32 << 10

// record appends a record's frame. Its bytes are encoded once for all readers.
func (st *stream) record(b []byte, rec *store.Record, shared bool) ([]byte, error) {
	shown, err := st.shown(rec.Event)
	if err != nil {
		return b, err
	}
	encoded := rec.Encoded(st.q.version.index)
	if encoded == nil && !shared {
		return st.frame(b, rec.Seq, shown)
	}
	if encoded == nil {
		encoded, err = rec.Encode(st.q.version.index, func(dst []byte, _ runtime.Event) ([]byte, error) {
			dst, err := st.q.version.AppendEvent(dst, shown)
			return oneLine(dst), err
		})
		if err != nil {
			return b, err
		}
	}
	b = st.q.beginFrame(sse.BeginSeq(b, uint64(rec.Seq)))
	return st.q.endFrame(append(b, encoded...)), nil
}

// frame appends an event encoded in place.
func (st *stream) frame(b []byte, seq int64, e runtime.Event) ([]byte, error) {
	b = st.q.beginFrame(sse.BeginSeq(b, uint64(seq)))
	start := len(b)
	b, err := st.q.version.AppendEvent(b, e)
	if err != nil {
		return b, err
	}
	oneLine(b[start:])
	return st.q.endFrame(b), nil
}

// beginFrame appends the head of a JSON-RPC response: every event is one (A2A 1.0 §9.4.2).
func (q *request) beginFrame(b []byte) []byte {
	b = append(b, responseHead...)
	b = append(b, q.id...)
	return append(b, responseResult...)
}

func (q *request) endFrame(b []byte) []byte { return sse.End(append(b, '}')) }

// oneLine turns line breaks into blanks, in place: in JSON they only stand between tokens, and an event's data is one line.
func oneLine(b []byte) []byte {
	for _, c := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
	return b
}

// send writes b. A reader that does not take it within the stall limit is dropped (T58: there is no other write timeout); one that takes a piece of
// it gets as long for the next. The deadline is set anew once a tick, not for every event.
func (st *stream) send(b []byte) error {
	if tick := st.q.s.beat.now.Load(); st.deadline != tick {
		st.deadline = tick
		_ = st.rc.SetWriteDeadline(time.Now().Add(st.q.s.limits.Stall))
	}
	return st.q.put(st.rc, b)
}

// push hands over what was sent so far. It reports success.
func (st *stream) push() bool {
	if st.rc.Flush() != nil {
		return false
	}
	st.written.Store(st.q.s.beat.now.Load())
	return true
}

// write sends b and hands it over. It reports success.
func (st *stream) write(b []byte) bool { return st.send(b) == nil && st.push() }
