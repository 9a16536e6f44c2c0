package binding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Binding is what is a binding's own while a request is answered: its frames, and how it refuses.
type responder interface {
	framing
	// HTTPStatus is what an error is answered with.
	HTTPStatus(e *runtime.Error) int
	// Fail answers with an error in place of a result.
	Fail(err error)
	// Reject answers what is wrong before the operation begins.
	Reject(e *runtime.Error)
	// Refuse answers with a status what is no request of the binding.
	Refuse(status int, e *runtime.Error)
	// Release gives the body back, before an answer that may take long.
	Release()
}

// Handle has the operation carried out and answers.
func (q *HTTPRequest) Handle(b responder) {
	if q.Op.Stream {
		q.mayDetach()
		q.LimitStream()
	}
	err := q.Contain(func() {
		a, err := q.Run(q.Params, func(params []byte) int { return bytes.Count(params, []byte("{")) }, func() {
			if q.counted > 0 {
				b.Release() // the handler may take long
			}
		})
		if q.AskedByMessage() {
			q.echo(q.Active())
		}
		switch {
		case err != nil:
			q.failed(b, err)
		case a.Stream != nil:
			q.follow(b, a.Stream)
		case a.Sequence != nil:
			q.sequence(b, a.Sequence)
		case q.Silent:
			q.W.WriteHeader(http.StatusNoContent)
		case q.Op.Stream:
			q.single(b, a.Result)
		default:
			q.reply(b, a.Result)
		}
	}, func() { q.exited(b) })
	if err != nil {
		b.Fail(err)
	}
}

// failed answers with an error.
func (q *HTTPRequest) failed(b responder, err error) {
	switch early, ok := errors.AsType[*rejection](err); {
	case ok && early.Status == http.StatusServiceUnavailable:
		q.W.Header()["Retry-After"] = retryAfter
		fallthrough
	case ok && early.Status != 0:
		b.Refuse(early.Status, early.Cause)
	case ok:
		b.Reject(q.UnlessParse(early.Cause))
	case q.Silent && q.Op.Role.Sends() && engine.Passing(err):
		_, _ = q.Told(err)
		q.W.WriteHeader(http.StatusServiceUnavailable) // 204 would say that the message was taken on
	case engine.Away(err):
		e, _ := q.Told(err)
		q.W.Header()["Retry-After"] = retryAfter
		b.Refuse(http.StatusServiceUnavailable, e)
	default:
		b.Fail(err)
	}
}

// UnlessParse returns err, or a parse error if the parameters, which are not decoded yet, are no JSON.
func (q *HTTPRequest) UnlessParse(err *runtime.Error) *runtime.Error {
	if len(q.Params) == 0 || isJSON(q.Params) {
		return err
	}
	if _, broken := wire.ParseValue(q.Params); broken != nil {
		return runtime.ErrParse.With("%s", invalid.Params(broken).Note)
	}
	return runtime.ErrParse
}

// reply answers with a result.
func (q *HTTPRequest) reply(f responder, result any) {
	appendTo := q.AppendResult
	if _, ok := result.(runtime.Card); ok {
		result, appendTo = q.Located(result, func() *http.Request { return q.R }), q.appendCard
		if q.Op.Role == runtime.RoleExtendedCard {
			q.W.Header()["Cache-Control"] = privateCard
		}
	}
	err := q.Response.Pass(q.Context, func(b []byte) ([]byte, error) {
		b, err := appendTo(f.BeginFrame(b), result)
		return f.EndFrame(b), err
	}, func(b []byte) { q.Write(http.StatusOK, b) })
	if err != nil {
		f.Fail(fmt.Errorf("result: %w", err))
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

// ToldHTTP is Told that also sets the headers of a denial. refused is the status of a denial; 0 for any other error.
func (q *HTTPRequest) ToldHTTP(err error) (e *runtime.Error, refused int) {
	e, denial := q.Told(err)
	switch {
	case denial != nil:
		denial.SetHeader(q.W.Header())
		return e, denial.Status
	case e.Is(runtime.ErrPermissionDenied), e.Is(runtime.ErrUnauthenticated):
		return e, errorformat.Of(e, errorformat.Statuses101).HTTP
	}
	return e, 0
}

// exited answers a request whose goroutine user code has ended (runtime.Goexit). net/http would close the connection
// without an answer.
func (q *HTTPRequest) exited(b responder) {
	e := q.Exited()
	body := b.AppendError(nil, e)
	h := q.W.Header()
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	q.HangUp()
	q.Write(b.HTTPStatus(e), body)
	_ = http.NewResponseController(q.W).Flush() // without one the client sees the connection end
}

// appendCard is AppendResult for a card.
func (q *HTTPRequest) appendCard(dst []byte, result any) ([]byte, error) {
	body, err := q.AppendResult(nil, result)
	if c, ok := result.(runtime.Card); ok && err == nil && q.Binding == runtime.BindingHTTP && q.Version.Unnamed {
		body, err = withProtoSchemes(q.Version.Version, c, body)
	}
	return append(dst, q.Agent.Cards.Shown(body)...), err
}

// isJSON reports whether b is one JSON value in UTF-8.
func isJSON(b []byte) bool { return utf8.Valid(b) && json.Valid(b) }

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
