package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/testkit/fault"
)

// maxBody is how much of a request is kept to be sent again, in bytes. The rest of a larger one passes as it comes.
const maxBody = 24 << 20

// retryAfter is what callers are asked to wait when there is no agent, in seconds.
const retryAfter = "1"

// call is a request on its way.
type call struct {
	front *Front
	w     http.ResponseWriter
	r     *http.Request
	body  []byte    // kept
	more  io.Reader // after it; nil: nothing
	made  int       // how often it was sent and not answered
	// operation is what 1.0 calls what is asked for; "" if that is not known.
	operation string
}

// ServeHTTP passes a request on. What could not be answered because its process ended is sent to the next one.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{front: f, w: w, r: r}
	if err := c.read(); err != nil {
		http.Error(w, "the request broke off", http.StatusBadRequest)
		return
	}
	for {
		up, why, err := f.enter(r.Context())
		switch {
		case err != nil:
			panic(http.ErrAbortHandler)
		case up == nil:
			w.Header().Set("Retry-After", retryAfter)
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		if done := c.pass(up); done {
			return
		}
		if c.made++; c.made == mostMade { // it may be what ends them
			c.unanswered(errEnds)
			return
		}
	}
}

// mostMade is how often a request is made before it counts as unanswered.
const mostMade = 3

var errEnds = errors.New("its process ended each time that this was asked")

// read reads the request's body, as far as it is kept.
func (c *call) read() error {
	c.operation, _ = fault.Called(c.r)
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return nil
	}
	var err error
	if c.body, err = io.ReadAll(io.LimitReader(c.r.Body, maxBody+1)); err != nil {
		return err
	}
	if len(c.body) > maxBody {
		c.more = c.r.Body
	}
	return nil
}

// hopByHop are the headers that are for a connection and not for the agent.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Transfer-Encoding", "Upgrade"}

// request is the caller's, for a process.
func (c *call) request(ctx context.Context, up *upstream) *http.Request {
	out := c.r.Clone(ctx)
	out.URL.Scheme, out.URL.Host = up.url.Scheme, up.url.Host
	out.RequestURI, out.Close = "", false
	for _, name := range hopByHop {
		out.Header.Del(name)
	}
	if frames.IsGRPC(out.Header) {
		out.Header.Set("Te", "trailers")
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil
	}
	c.setBody(out, c.body)
	if c.more != nil {
		out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(c.body), c.more))
		out.ContentLength = c.r.ContentLength
	}
	return out
}

func (c *call) setBody(out *http.Request, body []byte) {
	out.Body, out.ContentLength, out.GetBody = http.NoBody, 0, nil
	if len(body) > 0 {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
}

// roundTrip sends a request to a process, with HTTP/2 for gRPC.
func (u *upstream) roundTrip(r *http.Request) (*http.Response, error) {
	if frames.IsGRPC(r.Header) {
		return u.clear.RoundTrip(r)
	}
	return u.plain.RoundTrip(r)
}

// pass sends the request to a process, which it leaves. It reports false if the next process must be asked.
func (c *call) pass(up *upstream) (done bool) {
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	left := false
	leave := func() {
		if !left {
			left = true
			up.leave()
		}
	}
	defer leave()
	resp, err := up.roundTrip(c.request(ctx, up))
	if err != nil {
		if c.more == nil && up.ends(ctx) {
			return false
		}
		c.unanswered(err)
		return true
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case frames.IsServerSent(resp.Header) && resp.StatusCode == http.StatusOK:
		leave()
		(&stream{call: c, up: up}).relay(resp)
		return true
	case frames.IsGRPC(resp.Header) && resp.StatusCode == http.StatusOK && c.streams() && resp.Header.Get("Grpc-Status") == "":
		leave()
		(&grpcStream{call: c, up: up}).relay(resp)
		return true
	case up.stops() && c.more == nil && resp.StatusCode == http.StatusServiceUnavailable:
		return false
	}
	return c.copy(up, resp)
}

// waitForEnd is how long a broken connection waits for the word that its process has ended.
const waitForEnd = 500 * time.Millisecond

// ends reports whether a process is to end, or has. A broken connection may be seen before its process is.
func (u *upstream) ends(ctx context.Context) bool {
	select {
	case <-u.stopping:
	case <-ctx.Done():
	case <-time.After(waitForEnd):
	}
	return ctx.Err() == nil && u.stops()
}

// unanswered tells the caller that the agent gave no answer.
func (c *call) unanswered(err error) {
	if c.r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	http.Error(c.w, "a2agen dev: the agent gave no answer: "+err.Error(), http.StatusBadGateway)
}

// smallAnswer is how large an answer may be to be read whole before it is passed on, in bytes: so much can still be
// asked for again.
const smallAnswer = 1 << 20

// copy passes an answer on. It reports false, and has passed nothing, if the next process must be asked.
func (c *call) copy(up *upstream, resp *http.Response) (done bool) {
	live := frames.IsGRPC(resp.Header) && c.operation == "" // it may be a stream
	if !live {
		head, err := io.ReadAll(io.LimitReader(resp.Body, smallAnswer))
		if c.more == nil && up.stops() && (err != nil || busy(resp, head)) {
			return false
		}
		if err != nil {
			c.unanswered(err)
			return true
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	}
	c.head(resp)
	if err := c.flow(resp.Body, live); err != nil {
		panic(http.ErrAbortHandler)
	}
	c.trailers(resp)
	return true
}

// trailers passes on those of the agent.
func (c *call) trailers(resp *http.Response) {
	for name, values := range resp.Trailer {
		c.w.Header()[http.TrailerPrefix+name] = values
	}
}

// shuttingDown is what agents say that refuse a call because they are to end.
const shuttingDown = "the agent is shutting down"

// busy reports whether a process that is to end has refused a call for that reason, over JSON-RPC or gRPC.
func busy(resp *http.Response, body []byte) bool {
	for _, h := range []http.Header{resp.Header, resp.Trailer} {
		if h.Get("Grpc-Status") == grpcUnavailable || strings.Contains(h.Get("Grpc-Message"), shuttingDown) {
			return true
		}
	}
	return resp.StatusCode == http.StatusOK && len(body) < 4<<10 && bytes.Contains(body, []byte(shuttingDown))
}

const grpcUnavailable = "14"

// head writes the head of an answer.
func (c *call) head(resp *http.Response) {
	h := c.w.Header()
	maps.Copy(h, resp.Header)
	for _, name := range hopByHop {
		h.Del(name)
	}
	c.w.WriteHeader(resp.StatusCode)
}

// flow copies a body, and has each piece sent at once if it is that of a stream.
func (c *call) flow(body io.Reader, flush bool) error {
	buf := make([]byte, 32<<10)
	control := http.NewResponseController(c.w)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := c.w.Write(buf[:n]); err != nil {
				return err
			}
			if flush {
				_ = control.Flush() // the next write fails if this does
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// streams reports whether the request is one that begins a stream.
func (c *call) streams() bool {
	return c.operation == "SendStreamingMessage" || c.operation == "SubscribeToTask"
}

// lastSegment cuts a path before its last segment.
func lastSegment(path string) (before, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:i+1], path[i+1:]
}
