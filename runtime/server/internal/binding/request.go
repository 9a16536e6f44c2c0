package binding

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
)

// Request is a request being answered, whatever brought it. A binding reads its frame, goes through these steps, and
// writes its frame:
//
//	q.Begin, q.Identify, fill in Version (engine.Engine.Negotiate) and Op, q.Activate, fill in Repeat, After and Coding,
//	read the message, q.Run, and q.Told for what went wrong. At last q.End.
type Request struct {
	engine.Request
	Agent   *Agent
	Beside  int64        // bytes of the budget of all messages that the binding has taken for this one
	counted int64        // bytes that the message has taken beside them
	Grant   *auth.Grant  // nil: nothing was demanded
	limit   *streamLimit // nil: none
	served  *served      // for observers and the log; nil: nobody is told
}

// Begin begins a request over a binding, which ends with ctx. q must be new.
func (q *Request) Begin(ctx context.Context, a *Agent, binding string) {
	q.Request.Begin(ctx, a.Engine)
	q.Agent, q.Binding = a, binding
}

// errUnaudited tells the client to come back later.
var errUnaudited = engine.ErrBusy.With("the agent cannot write down what it does, try again later")

// Identify finds the caller, before the message is read: nothing is read of an unknown caller, nor while calls must be
// written down and cannot be. A version that is not spoken, which is the one that the caller asks for, comes first
// among what is wrong. A refused caller is told so in the form of the version that was meant: one that has what the
// request names, as far as that is known. request is the request as net/http has it.
func (q *Request) Identify(asked string, has func(*engine.Version) bool, request func() *http.Request) error {
	if q.Agent.Audited != nil && !q.Agent.Audited() {
		return errUnaudited
	}
	if q.Agent.Access.Proxied == nil && q.Agent.Access.Guard == nil || q.inside() {
		return nil
	}
	denial := q.authenticate(request())
	switch {
	case denial == nil:
		return nil
	case asked != "" && q.Agent.Spoken(asked) == nil:
		return q.Agent.NotSpoken(asked)
	}
	if v, err := q.Agent.Negotiate(asked, has); err == nil {
		q.Version = v
	}
	return denial
}

// TakeRepeatKey reads the service parameters Idempotency-Key, of which there may be one at most, and Idempotency-Age. Quotes
// around a key are those of the header's draft standard.
func (q *Request) TakeRepeatKey(keys, ages []string) *runtime.Error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > 1 {
		return runtime.ErrInvalidParams.With("Idempotency-Key is given more than once")
	}
	q.Repeat = strings.Trim(keys[0], `"`)
	if len(ages) == 0 {
		return nil
	}
	seconds, err := strconv.ParseUint(ages[0], 10, 31)
	if err != nil || len(ages) > 1 {
		return runtime.ErrInvalidParams.With("Idempotency-Age must be one whole number of seconds")
	}
	q.Age = time.Duration(seconds) * time.Second
	return nil
}

// EventNumber reads the service parameter Last-Event-ID; 0 is none.
func EventNumber(value string) int64 {
	if value == "" {
		return 0
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// rejection is what is wrong before the operation begins.
type rejection struct {
	Cause  *runtime.Error
	Status int // of HTTP, for what is no request of a binding over HTTP; 0 for any other error
}

func (r *rejection) Error() string { return r.Cause.Error() }

// Unwrap returns the cause.
func (r *rejection) Unwrap() error { return r.Cause }

// Run has the operation carried out. Capabilities are checked before parameters (§3.3.4). objects counts the objects in
// parameters; read is called when nothing refers to them any more. For an error ask Told.
func (q *Request) Run(params []byte, objects func([]byte) int, read func()) (engine.Answer, error) {
	request, err := q.decode(params, objects)
	if err != nil {
		q.Fault(err)
		return engine.Answer{}, err
	}
	read()
	if len(params) <= budget.Uncounted {
		q.GiveBack() // the handler may take long
	}
	if q.served != nil {
		q.begin(request)
	}
	a, err := q.Serve(request)
	switch {
	case q.served == nil:
	case a.Stream != nil:
		q.served.answer = a.Stream
	case a.Sequence != nil:
		q.served.answer = a.Sequence
	}
	return a, err
}

// objectWeight is about what reading an object of a request takes in memory beside its content, in bytes.
const objectWeight = 256

// decode reads the parameters of the operation, if the agent has it. What a message is going to need until it is answered
// is taken from the budget: small objects need many times the bytes that they came in.
func (q *Request) decode(params []byte, objects func([]byte) int) (any, error) {
	if err := q.Allowed(); err != nil {
		return nil, &rejection{Cause: err}
	}
	if len(params) > FreeBody {
		n := objectWeight * int64(objects(params))
		if n > q.Agent.Limits.Bodies/2 {
			tooMany := runtime.ErrInvalidRequest.With("the request has too many objects")
			return nil, &rejection{tooMany, http.StatusRequestEntityTooLarge}
		}
		if !q.Hold(len(params), n) {
			return nil, &rejection{ErrTooMany, http.StatusServiceUnavailable}
		}
	}
	request, err := q.Version.Decode(q.Op, params)
	if err != nil {
		return nil, &rejection{Cause: err}
	}
	return request, nil
}

// Take takes n bytes from the budget in place of what the message has taken before, and reports whether there was room.
func (q *Request) Take(n int64) bool {
	if !q.Agent.Bodies.Grow(q.Beside+q.counted, q.Beside+n) {
		return false
	}
	q.counted = n
	return true
}

// Hold is Take for a message of a size that is held until it is answered, and for so many bytes beside it.
func (q *Request) Hold(size int, beside int64) bool {
	return q.Take(budget.Held*int64(size) + beside)
}

// GiveBack gives back to the budget what the message took.
func (q *Request) GiveBack() {
	if q.counted > 0 {
		q.Agent.Bodies.Release(q.counted)
		q.counted = 0
	}
}

// End releases what the request holds when the answer is written.
func (q *Request) End() {
	q.GiveBack()
	q.Response.Done()
	if q.served != nil {
		q.finish()
	}
	if q.limit != nil {
		q.limit.release()
	}
}

// Located is a result as the client of a request may have it: a card is set under the agent's address.
func (q *Request) Located(result any, request func() *http.Request) any {
	if card, ok := result.(runtime.Card); ok {
		return q.Agent.Cards.For(request(), card, q.Version)
	}
	return result
}

// Contain calls run, which answers the request. A panic of user code in it (a router, say) is logged and becomes an
// internal error. exited is called when user code ended the goroutine (runtime.Goexit).
func (q *Request) Contain(run, exited func()) (err error) {
	done := false
	defer func() {
		p := recover()
		switch {
		case p == nil && !done:
			exited()
			return
		case p == nil:
			return
		case p == http.ErrAbortHandler:
			q.Fault(context.Canceled)
			panic(p)
		}
		q.Logger().Error("request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		err = runtime.ErrInternal
	}()
	run()
	done = true
	return nil
}

// Told returns the error for the peer; denial is not nil if the caller lacks credentials or permission, and has the
// challenge. Errors whose text is not for the peer are logged and become internal errors.
func (q *Request) Told(err error) (e *runtime.Error, denial *auth.Denial) {
	switch {
	case errors.Is(err, engine.ErrUnidentified):
		err = q.unidentified(err)
	case errors.Is(err, errUnscoped):
		err = q.Agent.Access.Guard.Lacks(q.Grant, q.Agent.Access.Extended)
	}
	if b, ok := errors.AsType[*barred](err); ok {
		q.Subject.Skill = b.skill
	}
	if errors.As(err, &denial) {
		q.refused(denial, denial.Status)
		e = denial.Told()
		q.Fault(e)
		return e, denial
	}
	e, known := engine.ToError(err)
	q.Fault(e)
	switch {
	case !known:
		q.Logger().Error("request failed", "error", err)
	case e.Is(runtime.ErrPermissionDenied), e.Is(runtime.ErrUnauthenticated):
		q.refused(e, errorformat.Of(e, errorformat.Statuses101).HTTP)
	}
	return e, nil
}

// Exited returns the error for a request whose goroutine user code has ended.
func (q *Request) Exited() *runtime.Error {
	q.Fault(runtime.ErrInternal)
	return runtime.ErrInternal.With("the skill ended unexpectedly")
}

// Status is how an error of the request is classed, over bindings that class them.
func (q *Request) Status(e *runtime.Error) errorformat.Status { return q.Agent.Status(q.Version, e) }
