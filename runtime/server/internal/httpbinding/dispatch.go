package server

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What follows is the same for every binding over HTTP, once it has found the operation and its parameters.

// binding is what is a binding's own while a request is answered: its frames, and its ways of saying no.
type binding interface {
	framing
	// status is what an error is answered with.
	status(e *runtime.Error) int
	// fail answers with an error in place of a result.
	fail(err error)
	// reject answers what is wrong before the operation begins.
	reject(e *runtime.Error)
	// refuse answers with a status what is no request of the binding.
	refuse(status int, e *runtime.Error)
	// release lets go of the body, for an answer that may take long.
	release()
}

// handle carries the operation out.
func (x *exchange) handle(b binding) {
	defer x.LimitStream()()
	if err := x.Contain(func() { x.dispatch(b) }, func() { x.exited(b) }); err != nil {
		b.fail(err)
	}
}

// dispatch has the operation carried out and answers.
func (x *exchange) dispatch(b binding) {
	a, err := x.Run(x.params, objectsIn, func() {
		if x.counted > 0 {
			b.release() // the handler may take long
		}
	})
	switch {
	case err != nil:
		x.failed(b, err)
	case a.Stream != nil:
		x.follow(b, a.Stream)
	case a.Sequence != nil:
		x.sequence(b, a.Sequence)
	case x.Silent:
		x.w.WriteHeader(http.StatusNoContent)
	case x.Op.Stream:
		x.single(b, a.Result)
	default:
		x.reply(b, a.Result)
	}
}

// failed answers with an error.
func (x *exchange) failed(b binding, err error) {
	switch early, ok := errors.AsType[*rejection](err); {
	case ok && early.status == http.StatusServiceUnavailable:
		x.w.Header()["Retry-After"] = retryAfter
		fallthrough
	case ok && early.status != 0:
		b.refuse(early.status, early.cause)
	case ok:
		b.reject(x.unlessParse(early.cause))
	case x.Silent && x.sends() && engine.Passing(err):
		_, _ = x.Told(err)
		x.w.WriteHeader(http.StatusServiceUnavailable) // 204 would say that the message was taken on
	default:
		b.fail(err)
	}
}

func (x *exchange) sends() bool {
	return x.Op.Role == runtime.RoleSend || x.Op.Role == runtime.RoleStream
}

// unlessParse puts before an error that the parameters, which nobody has decoded yet, are no JSON at all.
func (x *exchange) unlessParse(err *runtime.Error) *runtime.Error {
	if len(x.params) == 0 || isJSON(x.params) {
		return err
	}
	if _, broken := wire.ParseValue(x.params); broken != nil {
		return runtime.ErrParse.With("%s", invalid.Params(broken).Note)
	}
	return runtime.ErrParse
}

// reply answers with a result.
func (x *exchange) reply(f binding, result any) {
	result = x.Located(result, func() *http.Request { return x.r })
	if _, card := result.(runtime.Card); card && x.Op.Role == runtime.RoleExtendedCard {
		x.w.Header()["Cache-Control"] = privateCard
	}
	err := x.Pass(func(b []byte) ([]byte, error) {
		b, err := x.appendResult(f.beginFrame(b), result)
		return f.endFrame(b), err
	}, func(b []byte) { x.write(http.StatusOK, b) })
	if err != nil {
		f.fail(fmt.Errorf("result: %w", err))
	}
}

// follow answers with a stream of a task's events.
func (x *exchange) follow(b binding, st *engine.Stream) {
	b.release()
	w := x.events(b)
	if err := w.follow(st); err == nil {
		return
	} else if e := (*runtime.Error)(nil); errors.As(err, &e) && !w.begun {
		b.fail(e)
	} else if x.r.Context().Err() == nil {
		x.Logger().Info("stream given up", "error", err)
	}
}

// sequence answers with the items of an operation of the agent's own.
func (x *exchange) sequence(b binding, items *engine.Sequence) {
	b.release()
	w := x.events(b)
	if err := w.sequence(items); err != nil {
		b.fail(err)
	}
}

// single answers with a stream of one event.
func (x *exchange) single(f binding, event any) {
	err := x.Pass(func(b []byte) ([]byte, error) {
		e, ok := event.(runtime.Event)
		if !ok {
			return b, runtime.Unexpected(event, "an event")
		}
		b, err := x.Coding.Append(f.beginFrame(sse.Begin(b)), e)
		return sse.End(f.endFrame(b)), err
	}, func(b []byte) {
		x.streamHeader()
		_ = x.putWhole(b)
	})
	if err != nil {
		f.fail(fmt.Errorf("result: %w", err))
	}
}

// told is what the peer is told of an error, and the status with which a caller is refused who may not come in; 0 for
// any other error.
func (x *exchange) told(err error) (e *runtime.Error, refused int) {
	e, denial := x.Told(err)
	switch {
	case denial != nil:
		denial.SetHeader(x.w.Header())
		return e, denial.Status
	case e.Is(runtime.ErrPermissionDenied), e.Is(runtime.ErrUnauthenticated):
		return e, e.Status(runtime.Statuses101).HTTP
	}
	return e, 0
}

// exited answers when user code ended the request's goroutine (runtime.Goexit). net/http closes the connection then,
// and sends nothing by itself.
func (x *exchange) exited(b binding) {
	e := x.Exited()
	body := b.appendError(nil, e)
	h := x.w.Header()
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.hangUp()
	x.write(b.status(e), body)
	_ = http.NewResponseController(x.w).Flush() // without one the client sees the connection end
}
