package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Limits of the faults of requests.
const (
	maxDouble = 4 << 20     // bytes of a body that is sent twice
	maxWait   = time.Second // that a request waits to be overtaken
)

// unsent closes the body of a request that is not sent.
func unsent(r *http.Request, err error) error {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return err
}

func doubleRequest(x *exchange, h *hit, r *http.Request, next send) (*http.Response, error) {
	body, err := keepBody(r)
	if err != nil {
		x.problem(h.fault.name, err)
		return next(r)
	}
	resp, err := next(withBody(r, body))
	if err != nil {
		return nil, err
	}
	second := withBody(r, body) // its context ends when the caller leaves
	over := make(chan time.Time)
	goes := x.in.background(func() {
		defer close(over)
		if again, err := next(second); err == nil {
			_, _ = io.Copy(io.Discard, again.Body)
			_ = again.Body.Close()
		}
	})
	if goes && !x.streams(resp) {
		_ = x.until(over)
	}
	return resp, nil
}

// withBody copies a request, with a body of its own if it has one.
func withBody(r *http.Request, body []byte) *http.Request {
	c := r.Clone(r.Context())
	if r.Body != nil && r.Body != http.NoBody {
		c.Body = io.NopCloser(bytes.NewReader(body))
	}
	return c
}

// keepBody reads the body of a request that is sent more than once. If it is too large the request can still be sent.
func keepBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	src := r.Body
	body, err := io.ReadAll(io.LimitReader(src, maxDouble+1))
	if err != nil || len(body) > maxDouble {
		r.Body = &replayed{Reader: io.MultiReader(bytes.NewReader(body), src), Closer: src}
		if err == nil {
			err = fmt.Errorf("its body is over %d bytes", maxDouble)
		}
		return nil, err
	}
	return body, src.Close()
}

// waitToBeOvertaken has a request wait until another one overtook it, or sends on one that overtakes.
func waitToBeOvertaken(x *exchange, h *hit, r *http.Request, next send) (*http.Response, error) {
	if h.overtakes != nil {
		defer close(h.overtakes)
		return next(r)
	}
	t := time.NewTimer(maxWait)
	defer t.Stop()
	var late bool
	select {
	case <-h.overtaken:
	case <-t.C:
		late = true
	case <-x.caller.Done():
	case <-x.in.ctx.Done():
	}
	x.in.mu.Lock()
	alone := h.count.waiting == h.overtaken // no other request is about to overtake this one
	if alone {
		h.count.waiting = nil
	}
	x.in.mu.Unlock()
	if alone && late {
		x.problem(h.fault.name, fmt.Errorf("no request came within %v that could overtake it", maxWait))
	} else if late {
		<-h.overtaken
	}
	if err := r.Context().Err(); err != nil {
		return nil, unsent(r, err)
	}
	return next(r)
}

// halfCloseRequest breaks the connection for the caller when the agent has the request, and has the agent go on with it.
func halfCloseRequest(x *exchange, h *hit, r *http.Request, next send) (*http.Response, error) {
	x.detach()
	sent := make(chan time.Time)
	done := sync.OnceFunc(func() { close(sent) })
	r = r.WithContext(r.Context())
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &sentBody{ReadCloser: r.Body, left: r.ContentLength, done: done}
	}
	goes := x.in.background(func() {
		defer x.finish()
		defer done()
		resp, err := next(r)
		if err != nil {
			return
		}
		done()
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	})
	if !goes {
		x.finish()
		return nil, unsent(r, errInjector)
	}
	if err := x.until(sent); err != nil {
		return nil, err
	}
	return nil, &Error{h.fault.name}
}

// sentBody calls done when a body was read to its end.
type sentBody struct {
	io.ReadCloser
	left int64 // negative: not known
	done func()
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	known := b.left >= 0
	b.left -= int64(n)
	if errors.Is(err, io.EOF) || known && b.left <= 0 {
		b.done()
	}
	return n, err
}
