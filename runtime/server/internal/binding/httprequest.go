package binding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	routing "github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Values of headers. They are shared: nobody changes a slice of a header map.
var (
	jsonType   = []string{"application/json"}
	streamType = []string{sse.ContentType}
	noCache    = []string{"no-cache"}
	unbuffered = []string{"no"} // tells nginx to pass events on as they come
	numbered   = []string{sse.Numbered}
	closing    = []string{"close"}
	retryAfter = []string{"1"}
	identity   = []string{"identity"}
)

// Names of the service parameters (A2A 1.0 §3.2.6), in the form of header map keys.
const (
	headerVersion      = "A2a-Version"
	headerExtensions   = "A2a-Extensions"
	headerExtensionsV0 = "X-A2a-Extensions"
	headerTenant       = "A2a-Tenant" // ours: for clients that cannot say it in a request
)

// Request is an HTTP request to a binding being answered.
type HTTPRequest struct {
	Request
	W      http.ResponseWriter
	R      *http.Request
	Body   *[]byte // nil: given back
	Params []byte  // of the operation, as JSON; they may be a slice of Body
	Asked  string  // the version that it names, as it stands there; "": none

	detaching *detachment // nil: the connection stays with net/http
}

// Begin begins a request over a binding. The caller must call Finish when it is answered.
func (q *HTTPRequest) Begin(a *Agent, w http.ResponseWriter, r *http.Request, name string) {
	q.Request.Begin(r.Context(), a, name)
	q.Observe(r.Header)
	q.W, q.R, q.Asked = w, r, AskedVersion(r)
	if h := r.Header[headerTenant]; len(h) > 0 {
		q.Tenant = strings.Join(h, ", ")
	}
}

// queryVersion is the query parameter that names a version.
const queryVersion = "A2A-Version"

// buffers hold request bodies and the frames of events. Larger ones are not kept.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

const keepBuffer = 64 << 10

func putBuffer(b *[]byte) {
	if cap(*b) <= keepBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// DropBody gives the body's memory back.
func (q *HTTPRequest) DropBody() {
	if q.Body == nil {
		return
	}
	putBuffer(q.Body)
	q.Body, q.Params = nil, nil
}

// Finish releases what the request holds when the answer is written, unless the answer goes on without the handler.
func (q *HTTPRequest) Finish() {
	if q.detaching == nil || !q.detaching.done {
		q.finish()
	}
}

func (q *HTTPRequest) finish() {
	q.DropBody()
	q.End()
	if d := q.detaching; d != nil {
		d.unhook()
		d.cancel()
	}
}

// Identify finds the caller. has reports whether a version has what the request names.
func (q *HTTPRequest) Identify(has func(*engine.Version) bool) error {
	err := q.Request.Identify(q.Asked, has, func() *http.Request { return q.R })
	switch {
	case err != nil:
		q.HangUp()
	case q.Grant != nil:
		q.R = q.Grant.Request
	}
	return err
}

// HangUp ends the connection after the answer, so that the rest of the body is not waited for. Over HTTP/2, where
// others may use the connection, the rest of one body costs nothing.
func (q *HTTPRequest) HangUp() {
	if q.R.ProtoMajor < 2 {
		q.W.Header()["Connection"] = closing
	}
}

// AskedVersion returns the version that a request names, as it stands there; "" if none.
func AskedVersion(r *http.Request) string {
	var asked string
	if h := r.Header[headerVersion]; len(h) > 0 {
		asked = strings.TrimSpace(h[0])
	}
	if asked == "" && r.URL.RawQuery != "" {
		if query, err := url.ParseQuery(r.URL.RawQuery); err == nil {
			asked = strings.TrimSpace(query.Get(queryVersion))
		}
	}
	return asked
}

// Activate echoes the requested extensions that the agent has.
func (q *HTTPRequest) Activate() *runtime.Error {
	lines := q.R.Header[headerExtensions]
	if old := q.R.Header[headerExtensionsV0]; len(old) > 0 {
		lines = append(lines[:len(lines):len(lines)], old...)
	}
	active, err := q.Request.Activate(lines)
	if active != "" {
		q.echo(active)
	}
	return err
}

// echo lists the extensions of the answer.
func (q *HTTPRequest) echo(active string) {
	list := []string{active}
	q.W.Header()[headerExtensions] = list
	if q.Version.Unnamed {
		q.W.Header()[headerExtensionsV0] = list
	}
}

// jsonContent accepts JSON types with any parameters, and a missing type.
func jsonContent(header []string) bool {
	if len(header) == 0 || header[0] == "application/json" || header[0] == "" {
		return true
	}
	m := routing.BareMedia(header[0])
	return m == "application/json" || strings.HasPrefix(m, "application/") && strings.HasSuffix(m, "+json")
}

// TakeHeaders reads the remaining service parameters of the operation. events is the coding of its stream.
func (q *HTTPRequest) TakeHeaders(events *engine.Coding) *runtime.Error {
	if err := q.TakeRepeatKey(q.R.Header["Idempotency-Key"], q.R.Header["Idempotency-Age"]); err != nil {
		return err
	}
	if q.Op.Stream {
		q.Coding, q.After = *events, EventNumber(q.R.Header.Get("Last-Event-ID")) // of a client that reconnects
	}
	return nil
}

// inlineLength is up to which size net/http finds the length of a body by itself.
const inlineLength = 2 << 10

// Write answers with JSON.
func (q *HTTPRequest) Write(status int, body []byte) {
	h := q.W.Header()
	h["Content-Type"] = jsonType
	if len(body) > inlineLength {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if status != http.StatusOK {
		q.W.WriteHeader(status)
	}
	// An error means that the client left.
	if len(body) <= MaxWrite {
		_, _ = q.W.Write(body)
	} else {
		_ = q.putWhole(body)
	}
}

// StreamHeader sets the headers of an answer that is a stream of events.
func (q *HTTPRequest) StreamHeader() {
	h := q.W.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = unbuffered
	if !q.Version.Rules.UpdatesOnly { // there a task is several events of one number
		h[sse.NumberedHeader] = numbered
	}
}

// put writes b in pieces. The caller has set the deadline of the first one. Writers without deadlines are those of
// tests.
func (q *HTTPRequest) put(rc *http.ResponseController, b []byte) error {
	for {
		piece := b[:min(len(b), MaxWrite)]
		if _, err := q.W.Write(piece); err != nil {
			return err
		}
		if b = b[len(piece):]; len(b) == 0 {
			return nil
		}
		_ = rc.SetWriteDeadline(time.Now().Add(q.Agent.Limits.Stall))
	}
}

// putWhole is put for an answer that is complete by it.
func (q *HTTPRequest) putWhole(b []byte) error {
	rc := http.NewResponseController(q.W)
	_ = rc.SetWriteDeadline(time.Now().Add(q.Agent.Limits.Stall))
	if err := q.put(rc, b); err != nil {
		return err
	}
	if err := rc.Flush(); err != nil {
		return err
	}
	return rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
}

// ExtendAfter is after how many bytes of a body its deadline is set anew.
const ExtendAfter = 64 << 10

// Ways in which a body cannot be received, beside those of the connection.
var (
	errLarge   = errors.New("the body is too large")
	errCrowded = errors.New("the bodies of all requests are too large")
)

// Receive reads the body. It returns with which status and error the request is refused, if it is.
func (q *HTTPRequest) Receive() (status int, refusal *runtime.Error) {
	if coding := q.R.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		q.HangUp()
		q.W.Header()["Accept-Encoding"] = identity // RFC 9110 §15.5.16
		return http.StatusUnsupportedMediaType,
			runtime.ErrContentTypeNotSupported.With("a body that is compressed (%.20q) is not read here", coding)
	}
	q.Body = buffers.Get().(*[]byte)
	err := q.readBody()
	if err == nil {
		return http.StatusOK, nil
	}
	status, refusal = http.StatusBadRequest, runtime.ErrParse.With("the body could not be read")
	switch {
	case errors.Is(err, errLarge):
		status = http.StatusRequestEntityTooLarge
		refusal = runtime.ErrInvalidRequest.With("the request is larger than %d bytes", q.Agent.Limits.Body)
	case errors.Is(err, errCrowded):
		status, refusal = http.StatusServiceUnavailable, ErrTooMany
		q.W.Header()["Retry-After"] = retryAfter
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, refusal = http.StatusRequestTimeout, runtime.ErrInvalidRequest.With("the body came too slowly")
	}
	q.HangUp()
	return status, refusal
}

// readBody reads the whole body. Its buffer follows what has arrived, whatever length is declared: a declaration costs
// nothing.
func (q *HTTPRequest) readBody() error {
	length, most := q.R.ContentLength, int(q.Agent.Limits.Body)
	switch {
	case length > q.Agent.Limits.Body:
		return errLarge
	case length >= 0:
		most = int(length)
	default:
		most++ // so that one byte too many is seen
	}
	until := deadline{q: q}
	h, _ := q.R.Context().Value(http.ServerContextKey).(*http.Server)
	if h != nil && h.ReadTimeout <= 0 { // else the first bytes have a deadline, or there is no server that could keep one
		until.extend(0)
	}
	for len(*q.Body) < most {
		if len(*q.Body) == cap(*q.Body) && !q.grow(most) {
			return errCrowded
		}
		b := *q.Body
		n, err := q.R.Body.Read(b[len(b):min(cap(b), most)])
		*q.Body = b[:len(b)+n]
		switch {
		case err == io.EOF && int64(len(b)+n) < length:
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if len(b)+n < most {
			until.extend(len(b) + n)
		}
	}
	if length < 0 {
		return errLarge
	}
	return nil
}

// collected is how many bytes a byte of the buffer takes in memory while that grows, with the garbage that it leaves.
const collected = 4

// grow doubles the buffer, up to a size. What is over [FreeBody] is taken from the budget of all bodies.
func (q *HTTPRequest) grow(most int) bool {
	b := *q.Body
	size := min(2*cap(b), most)
	if counted := int64(size - FreeBody); counted > 0 && !q.Take(collected*counted) {
		return false
	}
	*q.Body = append(make([]byte, 0, size), b...)
	return true
}

// deadline is the read deadline of a body. It is extended as the body comes, so that a slow upload passes and a trickle
// does not.
type deadline struct {
	q     *HTTPRequest
	rc    *http.ResponseController
	began time.Time
	next  int
}

// extend extends the deadline when so many bytes have come.
func (d *deadline) extend(received int) {
	if received < d.next {
		return
	}
	if d.rc == nil {
		d.rc, d.began = http.NewResponseController(d.q.W), time.Now()
	}
	d.next = received + ExtendAfter
	_ = d.rc.SetReadDeadline(d.began.Add(d.q.Agent.Patience(int64(received)))) // net/http takes it back at the end of the body
}

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
