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
	"time"
)

// linger is how long a stream may stay open after its last event, so that the connection can be used again.
const linger = time.Second

// reply is the answer to one HTTP request. Every wait for its bytes is watched, so that it ends with the context or
// the idle time.
type reply struct {
	resp   *http.Response // whose body is read through body
	body   *watched
	watch  *watchdog
	cancel context.CancelCauseFunc
}

// web sends HTTP requests and watches over their answers.
type web struct {
	http *http.Client
	idle time.Duration
}

// do sends a request. The wait for the head of the answer is watched too if the answer should come at once.
func (c *web) do(req *http.Request, atOnce bool) (*reply, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watchdog{idle: c.idle, left: c.idle, cancel: cancel}
	if atOnce {
		w.start()
	}
	resp, err := c.http.Do(req.WithContext(ctx))
	w.stop()
	if err != nil {
		switch {
		case context.Cause(ctx) == ErrIdle:
			err = fmt.Errorf("no answer to the request: %w", ErrIdle)
		case ctx.Err() == nil && unreached(err, req):
			err = &LinkError{Unsent: true, Err: err}
		}
		cancel(nil)
		return nil, err
	}
	w.left = c.idle
	return &reply{resp: resp, body: &watched{ctx: ctx, src: resp.Body, watch: w}, watch: w, cancel: cancel}, nil
}

// unreached reports whether err says that no connection could be made for a request. One to where it was redirected is
// another matter, and what net/http sends again it may send again.
func unreached(err error, req *http.Request) bool {
	var at *url.Error
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && errors.As(err, &at) && at.URL == req.URL.String()
}

// result reads what a whole answer holds. It names the type of a body that is no JSON at all, such as the login page
// of a proxy.
func (r *reply) result(f frame, limit int) ([]byte, error) {
	body, err := r.read(limit)
	if err != nil {
		return nil, err
	}
	result, err := f.result(body)
	ct := r.resp.Header.Get("Content-Type")
	if ct == "" || isJSON(ct) || err == nil && json.Valid(body) {
		return result, err
	}
	if err == nil {
		err = invalid("response", errors.New("no JSON"))
	}
	return nil, fmt.Errorf("%w (the answer is %s: %s)", err, printable([]byte(ct)), printable(body))
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
	if _, err := b.ReadFrom(io.LimitReader(r.body, int64(limit)+1)); err != nil {
		return nil, r.cut(err)
	}
	if b.Len() > limit {
		return nil, tooLarge(limit, "bytes")
	}
	return b.Bytes(), nil
}

// cut is the error of an answer that could not be read to its end.
func (r *reply) cut(err error) error {
	err = fmt.Errorf("read the answer: %w", err)
	if r.body.ctx.Err() == nil {
		return &LinkError{Err: err}
	}
	return err
}

// start returns at most limit bytes of the body, as far as they can be read.
func (r *reply) start(limit int64) []byte {
	b, _ := io.ReadAll(io.LimitReader(r.body, limit)) // what there is explains a status
	return b
}

// close ends the request. The agent's task goes on.
func (r *reply) close() {
	r.watch.stop()
	r.cancel(nil)
	_ = r.resp.Body.Close() // nothing more is wanted of it
}

// drain reads the end of a body for a moment.
func (r *reply) drain() {
	r.watch.arm(linger)
	_, _ = io.Copy(io.Discard, io.LimitReader(r.body.src, 64<<10))
}

// PerByte is the time that a byte of an answer is worth: what comes slower than a kilobyte a second is a trickle, which
// ends like silence.
const PerByte = time.Millisecond

// watchdog cancels a request on which nothing arrives. It runs only while a read waits, so that a slow consumer is no
// idle agent.
type watchdog struct {
	idle   time.Duration // ≤ 0: never
	left   time.Duration // of the time to wait
	since  time.Time     // when the wait began
	lines  bool          // a line, also a heartbeat, gives the whole time again; else only bytes count
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (w *watchdog) start() {
	if w.idle > 0 {
		w.since = time.Now()
		w.arm(w.left)
	}
}

func (w *watchdog) arm(d time.Duration) {
	if w.timer != nil {
		w.timer.Reset(d)
		return
	}
	w.timer = time.AfterFunc(d, func() { w.cancel(ErrIdle) })
}

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// feed accounts for what a wait brought.
func (w *watchdog) feed(got []byte) {
	if w.lines && (bytes.IndexByte(got, '\n') >= 0 || bytes.IndexByte(got, '\r') >= 0) {
		w.left = w.idle
		return
	}
	w.left = min(w.idle, w.left-time.Since(w.since)+time.Duration(len(got))*PerByte)
}

// watched is a body whose reads the watchdog watches.
type watched struct {
	ctx   context.Context // of the request, which the watchdog cancels
	src   io.Reader
	watch *watchdog
}

// Read reads from the body. The error of a read that was cancelled is the cause.
func (r *watched) Read(p []byte) (int, error) {
	r.watch.start()
	n, err := r.src.Read(p)
	r.watch.stop()
	r.watch.feed(p[:n])
	if err != nil && err != io.EOF && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}
