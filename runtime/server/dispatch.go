package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/engine"
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

// handle carries the operation out, contains panics of user code that runs here (a router, say) and logs at debug
// level.
func (x *exchange) handle(b binding) {
	done := false
	defer func() {
		p := recover()
		switch {
		case p == nil && !done:
			x.exited(b)
			return
		case p == nil:
			return
		case p == http.ErrAbortHandler:
			panic(p)
		}
		x.s.logger.Error("request panicked", "method", x.Op.RPC, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		b.fail(runtime.ErrInternal)
	}()
	if ctx := x.r.Context(); x.s.logger.Enabled(ctx, slog.LevelDebug) {
		begin := time.Now()
		defer func() { x.s.logger.DebugContext(ctx, "request", "method", x.Op.RPC, "took", time.Since(begin)) }()
	}
	defer x.limitStream()()
	x.dispatch(b)
	done = true
}

// dispatch has the operation carried out and answers. Capabilities are checked before parameters (§3.3.4).
func (x *exchange) dispatch(b binding) {
	if err := x.Allowed(); err != nil {
		b.reject(x.unlessParse(err))
		return
	}
	if status, refusal := x.weigh(x.params); refusal != nil {
		b.refuse(status, refusal)
		return
	}
	params, fault := x.Version.Decode(x.Op, x.params)
	if fault != nil {
		b.reject(x.unlessParse(fault))
		return
	}
	if x.counted > 0 {
		b.release() // the handler may take long
	}
	a, err := x.Serve(params)
	switch {
	case err != nil && x.Silent && x.sends() && engine.Passing(err):
		x.w.WriteHeader(http.StatusServiceUnavailable) // 204 would say that the message was taken on
	case err != nil:
		b.fail(err)
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

func (x *exchange) sends() bool {
	return x.Op.Role == runtime.RoleSend || x.Op.Role == runtime.RoleStream
}

// unlessParse puts before an error that the parameters, which nobody has decoded yet, are no JSON at all.
func (x *exchange) unlessParse(err *runtime.Error) *runtime.Error {
	if len(x.params) == 0 || isJSON(x.params) {
		return err
	}
	if _, broken := wire.ParseValue(x.params); broken != nil {
		return runtime.ErrParse.With("%s", engine.InvalidParams(broken).Note)
	}
	return runtime.ErrParse
}

// reply answers with a result.
func (x *exchange) reply(f binding, result any) {
	if card, ok := result.(runtime.Card); ok {
		result = card.At(x.s.baseOf(x.r))
	}
	err := x.Pass(func(b []byte) ([]byte, error) {
		b, err := x.Op.Append(f.beginFrame(b), result)
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
		x.s.logger.Info("stream given up", "task", st.TaskID(), "error", err)
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
// any other error. What is not meant for the peer is logged.
func (x *exchange) told(err error) (e *runtime.Error, refused int) {
	if errors.Is(err, engine.ErrUnidentified) {
		err = x.s.unidentified(err)
	}
	if d := (*auth.Denial)(nil); errors.As(err, &d) {
		x.s.logger.Info("request refused", "status", d.Status, "method", x.method(), "error", d)
		d.SetHeader(x.w.Header())
		return d.Told(), d.Status
	}
	e, known := engine.ToError(err)
	switch {
	case !known:
		x.s.logger.Error("request failed", "method", x.method(), "error", err)
	case e.Is(runtime.ErrPermissionDenied), e.Is(runtime.ErrUnauthenticated):
		return e, e.Status(runtime.Statuses101).HTTP
	}
	return e, 0
}

func (x *exchange) method() string {
	if x.Op == nil {
		return ""
	}
	return x.Op.RPC
}

// exited answers when user code ended the request's goroutine (runtime.Goexit). net/http closes the connection then,
// and sends nothing by itself.
func (x *exchange) exited(b binding) {
	e := runtime.ErrInternal.With("the skill ended unexpectedly")
	body := b.appendError(nil, e)
	h := x.w.Header()
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Connection"] = closing
	x.write(b.status(e), body)
	_ = http.NewResponseController(x.w).Flush() // without one the client sees the connection end
}
