package binding

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

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
	if !until.given() {
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

// objectsIn counts the objects in parameters that are JSON. What stands in texts counts too, which only makes them
// heavier.
func objectsIn(params []byte) int { return bytes.Count(params, []byte("{")) }

// deadline is the read deadline of a body. It is extended as the body comes, so that a slow upload passes and a trickle
// does not.
type deadline struct {
	q     *HTTPRequest
	rc    *http.ResponseController
	began time.Time
	next  int
}

// given reports whether the first bytes have a deadline already, or there is no server that could keep one.
func (d *deadline) given() bool {
	h, _ := d.q.R.Context().Value(http.ServerContextKey).(*http.Server)
	return h == nil || h.ReadTimeout > 0
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
