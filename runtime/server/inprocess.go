package server

import (
	"context"
	"io"
	"net/http"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// InProcess returns a transport by which clients in this process call s, without a socket and whatever URL they name:
//
//	rpc.HTTPClient(&http.Client{Transport: server.InProcess(s)})
//
// A request with the context of a handler of s is one of that handler's caller, who owns its task; any other is of
// nobody who is known. Credentials are not asked for, nor what the card demands for single skills: the agent calls
// itself.
func InProcess(s *Server) http.RoundTripper { return inProcess{s} }

type inProcess struct{ server *Server }

// RoundTrip has the server answer a request.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	var caller *runtime.Caller
	if c := engine.CallerFrom(r.Context()); c != nil {
		whole := *c
		caller = &whole
	}
	return t.server.roundTrip(binding.Inside(context.Background(), caller), r)
}

// roundTrip answers a request of this process. It returns with the head of the answer, while the body is written. The
// request's own context ends it, but what that knows, of a handler's task for one, is not for the request: it has the
// values of values.
func (s *Server) roundTrip(values context.Context, r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(values)
	stop := context.AfterFunc(r.Context(), cancel)
	body, out := io.Pipe()
	w := &pipedWriter{out: out, begun: make(chan struct{}), response: &http.Response{
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r, ContentLength: -1,
		Body: pipedBody{body, cancel},
	}}
	inner := r.Clone(ctx)
	inner.RequestURI = r.URL.RequestURI()
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	go func() {
		defer stop()
		defer cancel()
		defer func() { w.end(recover()) }()
		s.ServeHTTP(w, inner)
	}()
	select {
	case <-w.begun:
		return w.response, nil
	case <-r.Context().Done():
		cancel()
		_ = body.Close() // nobody reads it
		return nil, context.Cause(r.Context())
	}
}

// pipedWriter writes an answer into a pipe. It is for one goroutine.
type pipedWriter struct {
	out      *io.PipeWriter
	begun    chan struct{} // closed once the response has its status and its headers
	started  bool
	response *http.Response
	header   http.Header // as the handler sets it; nil before it has any
}

func (w *pipedWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *pipedWriter) WriteHeader(status int) {
	if w.started || status < 200 { // one that is only for information
		return
	}
	w.response.StatusCode, w.response.Status = status, http.StatusText(status)
	w.response.Header = w.Header().Clone()
	w.started = true
	close(w.begun)
}

func (w *pipedWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(b)
}

// Flush does nothing: what is written is read at once.
func (w *pipedWriter) Flush() { w.WriteHeader(http.StatusOK) }

// end ends the answer; one of a handler that panicked is cut off.
func (w *pipedWriter) end(panicked any) {
	if panicked != nil {
		w.WriteHeader(http.StatusInternalServerError)
		_ = w.out.CloseWithError(io.ErrUnexpectedEOF)
		return
	}
	w.WriteHeader(http.StatusOK)
	_ = w.out.Close()
}

// pipedBody ends the request when it is closed.
type pipedBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b pipedBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
