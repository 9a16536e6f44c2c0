package server

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

// freeBody is up to which size a body is not counted, in bytes: a connection costs as much anyway.
const freeBody = 16 << 10

// How fast a body has to come once [Limits.Read] is over, in bytes a second, and after how many bytes its deadline is
// set anew.
const (
	bodyRate  = 16 << 10
	bodyPaces = 64 << 10
)

// Ways in which a body cannot be received, beside those of the connection.
var (
	errLarge   = errors.New("the body is too large")
	errCrowded = errors.New("the bodies of all requests are too large")
)

// receive reads the body. It returns with which status and error the request is refused, if it is.
func (x *exchange) receive() (status int, refusal *runtime.Error) {
	if coding := x.r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		x.hangUp()
		x.w.Header()["Accept-Encoding"] = identity // RFC 9110 §15.5.16
		return http.StatusUnsupportedMediaType,
			runtime.ErrContentTypeNotSupported.With("a body that is compressed (%.20q) is not read here", coding)
	}
	x.body = buffers.Get().(*[]byte)
	err := x.readBody()
	if err == nil {
		return http.StatusOK, nil
	}
	status, refusal = http.StatusBadRequest, runtime.ErrParse.With("the body could not be read")
	switch {
	case errors.Is(err, errLarge):
		status = http.StatusRequestEntityTooLarge
		refusal = runtime.ErrInvalidRequest.With("the request is larger than %d bytes", x.s.limits.Body)
	case errors.Is(err, errCrowded):
		status, refusal = http.StatusServiceUnavailable, errTooMany
		x.w.Header()["Retry-After"] = retryAfter
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, refusal = http.StatusRequestTimeout, runtime.ErrInvalidRequest.With("the body came too slowly")
	}
	x.hangUp()
	return status, refusal
}

// readBody reads the whole body. Its buffer follows what has arrived, whatever length is declared: a declaration costs
// nothing.
func (x *exchange) readBody() error {
	length, most := x.r.ContentLength, int(x.s.limits.Body)
	switch {
	case length > x.s.limits.Body:
		return errLarge
	case length >= 0:
		most = int(length)
	default:
		most++ // so that one byte too many is seen
	}
	until := deadline{x: x}
	if !until.given() {
		until.extend(0)
	}
	for len(*x.body) < most {
		if len(*x.body) == cap(*x.body) && !x.grow(most) {
			return errCrowded
		}
		b := *x.body
		n, err := x.r.Body.Read(b[len(b):min(cap(b), most)])
		*x.body = b[:len(b)+n]
		switch {
		case err == io.EOF && int64(len(b)+n) < length:
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		until.extend(len(b) + n)
	}
	if length < 0 {
		return errLarge
	}
	return nil
}

// grow doubles the buffer, up to a size. What is over freeBody is taken from the budget of all bodies.
func (x *exchange) grow(most int) bool {
	b := *x.body
	size := min(2*cap(b), most)
	if more := int64(size - max(cap(b), freeBody)); more > 0 {
		if !x.s.bodies.Try(more) {
			return false
		}
		x.counted += more
	}
	*x.body = append(make([]byte, 0, size), b...)
	return true
}

// objectsIn counts the objects in parameters that are JSON. What stands in texts counts too, which only makes them
// heavier.
func objectsIn(params []byte) int { return bytes.Count(params, []byte("{")) }

// deadline is until when a body has to be there: it is put off as the body comes, so that a slow upload passes and a
// drip does not.
type deadline struct {
	x     *exchange
	rc    *http.ResponseController
	began time.Time
	next  int
}

// given reports whether the first bytes have a deadline already, or nobody who could keep one.
func (d *deadline) given() bool {
	h, _ := d.x.r.Context().Value(http.ServerContextKey).(*http.Server)
	return h == nil || h.ReadTimeout > 0
}

// extend puts the deadline off after so many bytes.
func (d *deadline) extend(received int) {
	if received < d.next {
		return
	}
	if d.rc == nil {
		d.rc, d.began = http.NewResponseController(d.x.w), time.Now()
	}
	d.next = received + bodyPaces
	_ = d.rc.SetReadDeadline(d.began.Add(d.x.s.patience(int64(received)))) // net/http takes it back at the end of the body
}

// patience is how long a body may take of which so many bytes have come.
func (s *Server) patience(received int64) time.Duration {
	return s.limits.Read + time.Duration(received)*time.Second/bodyRate
}
