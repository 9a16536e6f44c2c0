package binding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// framing is what a binding puts around an event's bytes.
type framing interface {
	BeginFrame(dst []byte) []byte
	EndFrame(dst []byte) []byte
	// AppendError appends an error in place of an event, and ErrorEvent begins that event.
	AppendError(dst []byte, e *runtime.Error) []byte
	ErrorEvent() string
}

// eventWriter writes server-sent events, on one goroutine.
type eventWriter struct {
	q        *HTTPRequest
	framing  framing
	rc       *http.ResponseController
	conn     *detachedConn // in place of rc, when the stream has left net/http
	waits    atomic.Bool   // the stream waits for its next event and may leave net/http
	begun    bool
	deadline int64 // tick at which the write deadline was set; 0: never
}

func (q *HTTPRequest) events(f framing) *eventWriter {
	return &eventWriter{q: q, framing: f, rc: http.NewResponseController(q.W)}
}

// follow writes a stream to its end. An error is that of its beginning, which can still be answered if nothing has
// begun, errGone, or errWaits: then the caller may go on elsewhere.
func (w *eventWriter) follow(st *engine.Stream) error {
	for {
		ok := false
		switch st.Next() {
		case engine.Snapshot:
			if err := w.snapshot(st); err != nil {
				return err
			}
			ok = w.flush()
		case engine.Events:
			ok = w.records(st)
		case engine.Silence:
			switch waits := w.waits.Swap(false); {
			case waits && w.begun:
				return errWaits
			case waits:
				ok = true
			default:
				ok = w.write(sse.AppendComment(nil, ""))
			}
		case engine.Over:
			return nil
		}
		if !ok {
			return errGone
		}
	}
}

// snapshot writes the task that a stream begins with, without a copy of its bytes: it may be large, and others write
// it, too.
func (w *eventWriter) snapshot(st *engine.Stream) error {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	return st.WriteSnapshot(func(seq int64, event []byte) error {
		*buf = w.framing.BeginFrame(sse.BeginSeq((*buf)[:0], uint64(seq)))
		if err := w.send(*buf); err != nil {
			return err
		}
		if err := w.send(event); err != nil {
			return err
		}
		return w.send(sse.End(w.framing.EndFrame((*buf)[:0])))
	})
}

// maxFlush is about how much is written at once, in bytes.
const maxFlush = 32 << 10

// records writes all events that are waiting: a single one at once, those of a burst with one flush. It reports whether
// they were written.
func (w *eventWriter) records(st *engine.Stream) (ok bool) {
	for st.Len() > 0 {
		n := 0
		err := w.q.Response.Pass(w.q.Context, func(b []byte) (_ []byte, err error) {
			for n = 0; n < st.Len() && len(b) < maxFlush; n++ {
				b = w.framing.BeginFrame(sse.BeginSeq(b, uint64(st.Seq(n))))
				if b, err = st.Append(b, n); err != nil {
					return b, err
				}
				b = sse.End(w.framing.EndFrame(b))
			}
			return b, nil
		}, func(b []byte) { ok = w.write(b) })
		if err != nil {
			w.q.Fault(err)
			w.q.Logger().Error("events could not be written", "error", err)
			return false
		}
		if !ok {
			return false
		}
		st.Take(n)
	}
	return true
}

// sequence writes the items of an operation of the agent's own, without ids: the server keeps none of them. An error is
// that of the first item.
func (w *eventWriter) sequence(q *engine.Sequence) error {
	defer w.close()
	defer q.Close()
	for {
		ok := false
		switch q.Next() {
		case engine.Events:
			var err error
			if ok, err = w.item(q); err != nil && !w.begun {
				return err
			} else if err != nil {
				w.failure(err)
				return nil
			}
		case engine.Silence:
			ok = w.write(sse.AppendComment(nil, ""))
		default:
			w.begin() // a stream without items is empty, not something else
		}
		if !ok {
			return nil
		}
	}
}

// item writes an item. It reports whether the client took it.
func (w *eventWriter) item(q *engine.Sequence) (sent bool, err error) {
	item, err := q.Item()
	if err != nil {
		return false, err
	}
	err = w.q.Response.Pass(w.q.Context, func(b []byte) ([]byte, error) {
		b = w.framing.BeginFrame(sse.Begin(b))
		start := len(b)
		b, err := w.q.Op.Append(b, item)
		if err != nil {
			return b, err
		}
		oneLine(b[start:])
		return sse.End(w.framing.EndFrame(b)), nil
	}, func(b []byte) { sent = w.write(b) })
	return sent, err
}

// failure writes an error that ends a stream.
func (w *eventWriter) failure(err error) {
	e, _ := w.q.Told(err)
	w.write(append([]byte(w.framing.ErrorEvent()), sse.AppendEvent(nil, "", w.framing.AppendError(nil, e))...))
}

// begin sets the headers of the answer, once.
func (w *eventWriter) begin() {
	if !w.begun {
		w.begun = true
		w.q.StreamHeader()
	}
}

// send writes b. A reader that does not take it within the stall limit is dropped (T58: there is no other write
// timeout); one that takes a piece of it gets as long for the next. The deadline is set anew once a tick, not for every
// event.
func (w *eventWriter) send(b []byte) error {
	if w.conn != nil { // which has deadlines of its own
		_, err := w.conn.Write(b)
		return err
	}
	w.begin()
	if tick := w.q.Agent.Tick(); w.deadline != tick {
		w.deadline = tick
		_ = w.rc.SetWriteDeadline(time.Now().Add(w.q.Agent.Limits.Stall))
	}
	return w.q.put(w.rc, b)
}

// flush sends what net/http has buffered. It reports success.
func (w *eventWriter) flush() bool { return w.conn != nil || w.rc.Flush() == nil }

// write sends b at once. It reports success.
func (w *eventWriter) write(b []byte) bool { return w.send(b) == nil && w.flush() }

func (w *eventWriter) close() {
	if w.deadline != 0 {
		_ = w.rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
	}
}

// lineCoding is how the bindings over HTTP write events: as JSON in one line.
func lineCoding(v *engine.Version, t *runtime.Table) engine.Coding {
	coding := v.Coding(t)
	coding.Append = func(dst []byte, e runtime.Event) ([]byte, error) {
		start := len(dst)
		dst, err := t.AppendEvent(dst, e)
		if err == nil {
			oneLine(dst[start:])
		}
		return dst, err
	}
	return coding
}

// oneLine turns line breaks into blanks, in place: in JSON they only stand between tokens, and an event's data is one
// line.
func oneLine(b []byte) {
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
}

// follow answers with a stream of a task's events.
func (q *HTTPRequest) follow(b responder, st *engine.Stream) {
	b.Release()
	w, detached := q.events(b), false
	defer func() {
		if !detached {
			st.Close()
			w.close()
		}
	}()
	if q.detaching != nil {
		defer time.AfterFunc(detachAfter, func() { w.waits.Store(true); st.Interrupt() }).Stop()
	}
	err := w.follow(st)
	if errors.Is(err, errWaits) {
		if detached = q.detach(w, st); detached {
			return
		}
		err = w.follow(st)
	}
	if e := (*runtime.Error)(nil); errors.As(err, &e) && !w.begun {
		b.Fail(e)
		return
	}
	q.reportStream(err)
}

// sequence answers with the items of an operation of the agent's own.
func (q *HTTPRequest) sequence(b responder, items *engine.Sequence) {
	b.Release()
	w := q.events(b)
	if err := w.sequence(items); err != nil {
		b.Fail(err)
	}
}

// single answers with a stream of one event.
func (q *HTTPRequest) single(f responder, event any) {
	err := q.Response.Pass(q.Context, func(b []byte) ([]byte, error) {
		e, ok := event.(runtime.Event)
		if !ok {
			return b, runtime.Unexpected(event, "an event")
		}
		b, err := q.Coding.Append(f.BeginFrame(sse.Begin(b)), e)
		return sse.End(f.EndFrame(b)), err
	}, func(b []byte) {
		q.StreamHeader()
		_ = q.putWhole(b)
	})
	if err != nil {
		f.Fail(fmt.Errorf("result: %w", err))
	}
}

// detachAfter is how old a stream is when it leaves net/http, as soon as it waits for its next event: see
// [listen.Port.Detach]. A short stream does without.
const detachAfter = 5 * time.Millisecond

// detaching is what a stream needs to leave net/http.
type detachment struct {
	port   *Port
	cancel context.CancelFunc // ends the request's Context
	unhook func() bool        // from the context of net/http, which ends when the handler returns
	done   bool               // the connection is detached
}

// mayDetach prepares a request for leaving net/http, where that is possible: its Context must outlive the handler.
func (q *HTTPRequest) mayDetach() {
	port := portOf(q.R)
	if port == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(q.Context))
	q.detaching = &detachment{port: port, cancel: cancel, unhook: context.AfterFunc(q.R.Context(), cancel)}
	q.Outlive(ctx)
}

// errWaits is the error of following a stream that waits for its next event and may leave net/http.
var errWaits = errors.New("binding: the stream waits")

// errGone is the error of following a stream whose client does not read any more.
var errGone = errors.New("binding: the client is gone")

// detach has a stream go on without net/http, whose handler must return then. It reports whether it does.
func (q *HTTPRequest) detach(w *eventWriter, st *engine.Stream) bool {
	conn, err := q.detaching.port.Detach(q.W, q.R, q.detaching.cancel)
	if err != nil {
		return false
	}
	q.detaching.unhook()
	q.detaching.done = true
	q.W, q.R, w.rc, w.conn = nil, nil, nil, conn
	go q.followDetached(w, st)
	return true
}

// followDetached writes the rest of a stream, and finishes the request.
func (q *HTTPRequest) followDetached(w *eventWriter, st *engine.Stream) {
	complete := false
	defer func() {
		_ = recover() // http.ErrAbortHandler, by which user code cuts the connection: Contain passes nothing else on
		st.Close()
		q.finish()
		if complete {
			w.conn.Finish()
		} else {
			_ = w.conn.Close()
		}
	}()
	_ = q.Contain(func() {
		err := w.follow(st)
		complete = err == nil
		q.reportStream(err)
	}, func() { q.Exited() })
}

// reportStream logs why a stream was given up, unless its client is gone.
func (q *HTTPRequest) reportStream(err error) {
	if err != nil && !errors.Is(err, errGone) && q.Context.Err() == nil {
		q.Logger().Info("stream given up", "error", err)
	}
}
