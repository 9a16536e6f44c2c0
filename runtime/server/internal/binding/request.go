package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// Call is one call being answered, whatever brought it: what all bindings do alike. A binding reads its frame, goes
// through these steps, and writes its frame:
//
//	c.Identify, fill in Version (engine.Engine.Choose) and Op, c.Activate, fill in Repeat, After and Coding,
//	read the message, c.Run, and c.Told for what went wrong. At last c.End.
type Call struct {
	engine.Request
	s       *Server
	counted int64       // bytes of the message that are taken from the server's budget
	grant   *auth.Grant // nil: nothing was demanded
	limit   *limit      // of a stream; nil: none
	served  *served     // for observers and the log; nil: nobody is told
}

// newCall makes a call that came over a binding, with these headers or metadata.
func (s *Server) newCall(ctx context.Context, binding string, header map[string][]string) Call {
	c := Call{Request: s.engine.NewRequest(ctx), s: s}
	c.Binding = binding
	if !s.engine.Observers().None() || c.logs() {
		c.served = s.watch(ctx, header)
	}
	return c
}

// Identify finds the caller, before the message is read: of who is not known nothing is, nor while what happens cannot
// be written down though it has to be. A version that is not spoken, which is the one that the caller asks for, comes
// first among what is wrong. Who is refused is told so as the version has it that was meant: one that has what the call
// names, as far as that is known. request is the call as net/http has it.
func (c *Call) Identify(asked string, has func(*engine.Version) bool, request func() *http.Request) error {
	if c.s.audit != nil && !c.s.audit.Ready() {
		return errUnaudited
	}
	if c.s.access.proxied == nil && c.s.guard == nil {
		return nil
	}
	denial := c.authenticate(request())
	switch {
	case denial == nil:
		return nil
	case asked != "" && c.s.engine.Spoken(asked) == nil:
		return c.s.engine.NotSpoken(asked)
	}
	if v, err := c.s.engine.Choose(asked, has); err == nil {
		c.Version = v
	}
	return denial
}

// Activate returns those of the requested extensions that the agent has, as the answer lists them, and checks the
// required ones. A line holds several with commas between them.
func (c *Call) Activate(lines []string) (active string, err *runtime.Error) {
	uris, err := c.s.engine.Activate(lines)
	return strings.Join(uris, ", "), err
}

// TakeRepeatKey reads the service parameter Idempotency-Key, of which there may be one: with two, nobody can say by which
// the message is known. Quotes are those of the header's draft standard.
func (c *Call) TakeRepeatKey(values []string) *runtime.Error {
	switch len(values) {
	case 0:
	case 1:
		c.Repeat = strings.Trim(values[0], `"`)
	default:
		return runtime.ErrInvalidParams.With("Idempotency-Key is given more than once")
	}
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

// rejection is what is wrong before the operation begins. status is that of HTTP for what is no request of a binding
// over HTTP; 0 for any other error.
type rejection struct {
	cause  *runtime.Error
	status int
}

func (r *rejection) Error() string { return r.cause.Error() }
func (r *rejection) Unwrap() error { return r.cause }

// Run has the operation carried out. Capabilities are checked before parameters (§3.3.4). objects counts the objects in
// parameters; read is called when nothing refers to them any more. For an error ask Told.
func (c *Call) Run(params []byte, objects func([]byte) int, read func()) (engine.Answer, error) {
	request, err := c.decode(params, objects)
	if err != nil {
		c.Fault(err)
		return engine.Answer{}, err
	}
	read()
	c.begin(request)
	a, err := c.Serve(request)
	switch {
	case c.served == nil:
	case a.Stream != nil:
		c.served.answer = a.Stream
	case a.Sequence != nil:
		c.served.answer = a.Sequence
	}
	return a, err
}

// decode reads the parameters of an operation that there is.
func (c *Call) decode(params []byte, objects func([]byte) int) (any, error) {
	if err := c.Allowed(); err != nil {
		return nil, &rejection{cause: err}
	}
	if err := c.weigh(params, objects); err != nil {
		return nil, err
	}
	request, err := c.Version.Decode(c.Op, params)
	if err != nil {
		return nil, &rejection{cause: err}
	}
	return request, nil
}

// objectWeight is about what reading an object of a request takes in memory beside its content, in bytes.
const objectWeight = 256

// errTooMany refuses a message that there is no room for.
var errTooMany = engine.ErrBusy.With("too many large requests are being received, try again later")

// weigh takes what reading the parameters is going to need from the budget of all bodies: small objects need many times
// the bytes that they came in.
func (c *Call) weigh(params []byte, objects func([]byte) int) error {
	if len(params) <= freeBody {
		return nil
	}
	n := objectWeight * int64(objects(params))
	switch {
	case n > c.s.limits.Bodies/2:
		tooMany := runtime.ErrInvalidRequest.With("the request has too many objects")
		return &rejection{tooMany, http.StatusRequestEntityTooLarge}
	case !c.s.bodies.Try(n):
		return &rejection{errTooMany, http.StatusServiceUnavailable}
	}
	c.counted += n
	return nil
}

// giveBack gives what the message took from the budget back.
func (c *Call) giveBack() {
	if c.counted > 0 {
		c.s.bodies.Release(c.counted)
		c.counted = 0
	}
}

// End lets go of what the call holds when the answer is written.
func (c *Call) End() {
	c.giveBack()
	c.Done()
	c.finish()
}

// Located is a result as the client of a request may have it: a card is set under the agent's address.
func (c *Call) Located(result any, request func() *http.Request) any {
	if card, ok := result.(runtime.Card); ok {
		return c.s.cardAt(card, c.s.baseOf(request()))
	}
	return result
}

// Contain runs what answers the call. A panic of user code that runs here (a router, say) is logged and an internal
// error. exited is called when user code ended the goroutine (runtime.Goexit).
func (c *Call) Contain(run, exited func()) (err error) {
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
			c.Fault(context.Canceled)
			panic(p)
		}
		c.Logger().Error("request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		err = runtime.ErrInternal
	}()
	run()
	done = true
	return nil
}

// Told is what the peer is told of an error; with a denial it says what the caller would have to bring. What is not
// meant for the peer is logged.
func (c *Call) Told(err error) (e *runtime.Error, denial *auth.Denial) {
	switch {
	case errors.Is(err, engine.ErrUnidentified):
		err = c.s.unidentified(err)
	case errors.Is(err, errUnscoped):
		err = c.grant.Lacks(c.s.access.extended)
	}
	if b, ok := errors.AsType[*barred](err); ok {
		c.About.Skill = b.skill
	}
	if errors.As(err, &denial) {
		c.refused(denial, denial.Status)
		e = denial.Told()
		c.Fault(e)
		return e, denial
	}
	e, known := engine.ToError(err)
	c.Fault(e)
	switch {
	case !known:
		c.Logger().Error("request failed", "error", err)
	case e.Is(runtime.ErrPermissionDenied), e.Is(runtime.ErrUnauthenticated):
		c.refused(e, e.Status(runtime.Statuses101).HTTP)
	}
	return e, nil
}

// Exited is the error of a call whose goroutine user code has ended.
func (c *Call) Exited() *runtime.Error {
	c.Fault(runtime.ErrInternal)
	return runtime.ErrInternal.With("the skill ended unexpectedly")
}

// Status is how an error of the call is classed, over bindings that class them.
func (c *Call) Status(e *runtime.Error) runtime.Status {
	switch {
	case c.Version != nil && c.Version.Rules.PlainErrors:
		return e.Status(runtime.Statuses03)
	case c.s.formerStatuses:
		return e.Status(runtime.Statuses100)
	}
	return e.Status(runtime.Statuses101)
}
