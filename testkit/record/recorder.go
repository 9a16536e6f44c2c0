package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Recorder is an HTTP transport that records exchanges. It passes requests for tokens on and does not record them. It is
// safe for concurrent use.
type Recorder struct {
	config *config
	base   http.RoundTripper
	own    *http.Transport // base, if it is the recorder's own

	mu        sync.Mutex
	clock     int // number of the last frame
	size      int // bytes
	exchanges []*exchange
	fault     error // why nothing can be saved
}

// exchange is a request and its answer, as they came. The recorder's mu guards it.
type exchange struct {
	begun   int           // when the request was made, by the recorder's clock
	request *http.Request // without its body
	sent    []byte

	answered int // when the head came; 0: there was none
	head     *http.Response
	body     []byte
	chunks   []chunk

	ended int // 0: it is open
	how   string
}

// chunk is when the body had come up to an offset.
type chunk struct{ at, end int }

// NewRecorder returns a recorder. Call [Recorder.Save] at the end.
func NewRecorder(opts ...Option) *Recorder {
	r := &Recorder{config: configure(opts)}
	if r.base = r.config.base; r.base == nil {
		r.own = http.DefaultTransport.(*http.Transport).Clone()
		r.base = r.own
	}
	return r
}

// RoundTrip sends a request, and records it and its answer.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if isForTokens(req) {
		return r.base.RoundTrip(req)
	}
	sent, err := bodyOf(req)
	if err != nil {
		return nil, fmt.Errorf("record: read the request: %w", err)
	}
	out := req.Clone(req.Context())
	r.mu.Lock()
	x := &exchange{begun: r.next(), request: &http.Request{Method: out.Method, URL: out.URL, Header: out.Header}, sent: sent}
	if r.take(len(sent)) {
		r.exchanges = append(r.exchanges, x)
	}
	r.mu.Unlock()
	if req.Body != nil {
		out.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := r.base.RoundTrip(out)
	if err != nil {
		r.end(x, howEnded(req.Context(), err))
		return nil, err
	}
	r.mu.Lock()
	x.answered, x.head = r.next(), &http.Response{StatusCode: resp.StatusCode, Header: resp.Header.Clone()}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" && r.fault == nil {
		r.fault = fmt.Errorf("the agent compresses its answers (%s), so that secrets in them cannot be masked: "+
			"have it send plain ones", e)
	}
	r.mu.Unlock()
	resp.Body = &recordedBody{ReadCloser: resp.Body, recorder: r, exchange: x, ctx: req.Context()}
	return resp, nil
}

// CloseIdleConnections closes connections that are not in use.
func (r *Recorder) CloseIdleConnections() {
	if r.own != nil {
		r.own.CloseIdleConnections()
	}
}

// isForTokens reports whether a request is for tokens, or for what one must know to get them.
func isForTokens(req *http.Request) bool {
	path := req.URL.Path
	return strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") ||
		strings.Contains(path, "/.well-known/oauth-") || strings.Contains(path, "/.well-known/openid-") ||
		strings.Contains(path, "jwks")
}

// bodyOf reads the body of a request to its end.
func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// howEnded is how an exchange ended whose answer did not come, or not to its end.
func howEnded(ctx context.Context, err error) string {
	var op *net.OpError
	switch {
	case ctx.Err() != nil, errors.Is(err, context.Canceled):
		return endLeft
	case errors.As(err, &op) && op.Op == "dial":
		return endUnreached
	}
	return endCut
}

// next is the next number of the clock. Callers must hold r.mu.
func (r *Recorder) next() int {
	r.clock++
	return r.clock
}

// take counts bytes. It reports false when there are too many. Callers must hold r.mu.
func (r *Recorder) take(n int) bool {
	r.size += n
	if r.size > r.config.maxBytes && r.fault == nil {
		r.fault = fmt.Errorf("the recording is larger than %d bytes: record less, or allow more by record.MaxBytes",
			r.config.maxBytes)
		r.exchanges = nil
	}
	return r.fault == nil
}

// end records the end of an exchange; "" is a good one. Only the first counts.
func (r *Recorder) end(x *exchange, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x.ended == 0 {
		x.ended, x.how = r.next(), how
	}
}

// recordedBody writes down what is read of an answer.
type recordedBody struct {
	io.ReadCloser
	recorder *Recorder
	exchange *exchange
	ctx      context.Context // of the request
}

// Read reads on.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if r, x := b.recorder, b.exchange; n > 0 {
		r.mu.Lock()
		if r.take(n) {
			x.body = append(x.body, p[:n]...)
			x.chunks = append(x.chunks, chunk{at: r.next(), end: len(x.body)})
		}
		r.mu.Unlock()
	}
	switch {
	case err == io.EOF:
		b.recorder.end(b.exchange, "")
	case err != nil:
		b.recorder.end(b.exchange, howEnded(b.ctx, err))
	}
	return n, err
}

// Close ends the exchange, if the agent has not.
func (b *recordedBody) Close() error {
	b.recorder.end(b.exchange, endLeft)
	return b.ReadCloser.Close()
}
