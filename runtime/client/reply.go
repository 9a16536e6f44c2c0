package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// linger is how long a stream may stay open after its last event, so that the connection can be used again.
const linger = time.Second

// PerByte is how much a byte of an answer extends the time to wait: an answer slower than a kilobyte a second ends as if nothing arrived.
const PerByte = time.Millisecond

// reply reads the answer to one HTTP request. The request is canceled when nothing arrives for the idle time, which is counted only while a
// read waits: a slow consumer does not cancel it.
type reply struct {
	resp   *http.Response
	ctx    context.Context // of the request, which cancel ends
	cancel context.CancelCauseFunc

	idle  time.Duration // ≤ 0: for ever
	left  time.Duration // of the time to wait
	since time.Time     // when the wait began
	lines bool          // a line, also a heartbeat, restarts the idle time; else only bytes extend it
	timer *time.Timer
}

// fetch sends a request. The idle time also limits the wait for the head of an answer that should come at once.
func fetch(h *http.Client, idle time.Duration, req *http.Request, atOnce bool) (*reply, error) {
	r := &reply{idle: idle, left: idle}
	r.ctx, r.cancel = context.WithCancelCause(req.Context())
	if atOnce {
		r.start()
	}
	resp, err := h.Do(req.WithContext(r.ctx))
	r.stop()
	if err != nil {
		switch {
		case context.Cause(r.ctx) == ErrIdle:
			err = fmt.Errorf("no answer to the request: %w", ErrIdle)
		case r.ctx.Err() == nil && unreached(err, req):
			err = &LinkError{Unsent: true, Err: err}
		}
		r.cancel(nil)
		return nil, err
	}
	r.resp, r.left = resp, idle
	return r, nil
}

// unreached reports whether no connection could be made for a request. A failed connection to where it was redirected does not count: the
// request had been sent.
func unreached(err error, req *http.Request) bool {
	var at *url.Error
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && errors.As(err, &at) && at.URL == req.URL.String()
}

// result reads the result in a whole answer. The error of a body that is not JSON, such as the login page of a proxy, names its type.
func (r *reply) result(f frame, limit int) ([]byte, error) {
	body, err := r.read(limit)
	if err != nil {
		return nil, err
	}
	result, err := f.result(body)
	ct := r.resp.Header.Get("Content-Type")
	if t := mediaType(r.resp); ct == "" || t == "application/json" || strings.HasSuffix(t, "+json") || err == nil && json.Valid(body) {
		return result, err
	}
	if err == nil {
		err = invalid("response", errors.New("no JSON"))
	}
	return nil, fmt.Errorf("%w (the answer is %s: %s)", err, Printable(ct), Printable(string(body[:min(len(body), 4<<10)])))
}

// read reads a whole body of at most limit bytes.
func (r *reply) read(limit int) ([]byte, error) {
	if r.resp.ContentLength > int64(limit) {
		return nil, tooLarge(limit, "bytes")
	}
	var b bytes.Buffer
	if r.resp.ContentLength > 0 {
		b.Grow(int(min(r.resp.ContentLength, 1<<20)) + bytes.MinRead) // what is announced need not come
	}
	if _, err := b.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		err = fmt.Errorf("read the answer: %w", err)
		if r.ctx.Err() == nil {
			err = &LinkError{Err: err}
		}
		return nil, err
	}
	if b.Len() > limit {
		return nil, tooLarge(limit, "bytes")
	}
	return b.Bytes(), nil
}

// failed is the error of an answer whose status is not 2xx, with the start of its body.
func (r *reply) failed(fault func(body []byte) *runtime.Error) *HTTPError {
	body, _ := io.ReadAll(io.LimitReader(r, 64<<10))
	e := &HTTPError{
		Status: r.resp.StatusCode, Body: Printable(string(body)), RetryAfter: retryAfter(r.resp.Header.Get("Retry-After"), time.Now()),
	}
	if e.Status == http.StatusUnauthorized {
		e.Challenge = Printable(r.resp.Header.Get("WWW-Authenticate"))
	}
	if rpc := fault(body); rpc != nil {
		e.Err = rpc
	}
	return e
}

// close ends the request. The agent's task goes on.
func (r *reply) close() {
	r.stop()
	r.cancel(nil)
	_ = r.resp.Body.Close() // nothing more is wanted of it
}

// Read reads from the body. The error of a read that was cancelled is the cause.
func (r *reply) Read(p []byte) (int, error) {
	r.start()
	n, err := r.resp.Body.Read(p)
	r.stop()
	if got := p[:n]; r.lines && (bytes.IndexByte(got, '\n') >= 0 || bytes.IndexByte(got, '\r') >= 0) {
		r.left = r.idle
	} else {
		r.left = min(r.idle, r.left-time.Since(r.since)+time.Duration(n)*PerByte)
	}
	if err != nil && err != io.EOF && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}

func (r *reply) start() {
	if r.idle > 0 {
		r.since = time.Now()
		r.arm(r.left)
	}
}

func (r *reply) arm(d time.Duration) {
	if r.timer != nil {
		r.timer.Reset(d)
		return
	}
	r.timer = time.AfterFunc(d, func() { r.cancel(ErrIdle) })
}

func (r *reply) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}
