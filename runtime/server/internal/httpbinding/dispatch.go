package httpbinding

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/runtime/server/internal/card"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Binding is what is a binding's own while a request is answered: its frames, and how it refuses.
type Binding interface {
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

// Handle carries the operation out.
func (q *Request) Handle(b Binding) {
	if q.Op.Stream {
		q.mayDetach()
		q.LimitStream()
	}
	if err := q.Contain(func() { q.dispatch(b) }, func() { q.exited(b) }); err != nil {
		b.Fail(err)
	}
}

// dispatch has the operation carried out and answers.
func (q *Request) dispatch(b Binding) {
	a, err := q.Run(q.Params, objectsIn, func() {
		if q.Counted() {
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
}

// failed answers with an error.
func (q *Request) failed(b Binding, err error) {
	switch early, ok := errors.AsType[*binding.Rejection](err); {
	case ok && early.Status == http.StatusServiceUnavailable:
		q.W.Header()["Retry-After"] = retryAfter
		fallthrough
	case ok && early.Status != 0:
		b.Refuse(early.Status, early.Cause)
	case ok:
		b.Reject(q.UnlessParse(early.Cause))
	case q.Silent && q.sends() && engine.Passing(err):
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

func (q *Request) sends() bool {
	return q.Op.Role.Sends()
}

// UnlessParse returns err, or a parse error if the parameters, which are not decoded yet, are no JSON.
func (q *Request) UnlessParse(err *runtime.Error) *runtime.Error {
	if len(q.Params) == 0 || IsJSON(q.Params) {
		return err
	}
	if _, broken := wire.ParseValue(q.Params); broken != nil {
		return runtime.ErrParse.With("%s", invalid.Params(broken).Note)
	}
	return runtime.ErrParse
}

// reply answers with a result.
func (q *Request) reply(f Binding, result any) {
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
func (q *Request) follow(b Binding, st *engine.Stream) {
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
func (q *Request) sequence(b Binding, items *engine.Sequence) {
	b.Release()
	w := q.events(b)
	if err := w.sequence(items); err != nil {
		b.Fail(err)
	}
}

// single answers with a stream of one event.
func (q *Request) single(f Binding, event any) {
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
func (q *Request) ToldHTTP(err error) (e *runtime.Error, refused int) {
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
func (q *Request) exited(b Binding) {
	e := q.Exited()
	body := b.AppendError(nil, e)
	h := q.W.Header()
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	q.HangUp()
	q.Write(b.HTTPStatus(e), body)
	_ = http.NewResponseController(q.W).Flush() // without one the client sees the connection end
}

// appendCard is AppendResult for a card.
func (q *Request) appendCard(dst []byte, result any) ([]byte, error) {
	body, err := q.AppendResult(nil, result)
	if c, ok := result.(runtime.Card); ok && err == nil && q.Binding == runtime.BindingHTTP && q.Version.Unnamed() {
		body, err = card.WithProtoSchemes(q.Version.Version, c, body)
	}
	return append(dst, q.Agent.Cards.Shown(body)...), err
}

// IsJSON reports whether b is one JSON value in UTF-8.
func IsJSON(b []byte) bool { return utf8.Valid(b) && json.Valid(b) }
