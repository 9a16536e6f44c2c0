package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Handler returns a handler that has requests answered by next, with the injector's faults. A broken connection is one
// that is broken off ([http.ErrAbortHandler]). To have gRPC pass, the server must speak HTTP/2.
func (in *Injector) Handler(next http.Handler) http.Handler {
	return in.proxy(func(*httputil.ProxyRequest) {}, handled{next})
}

// Proxy returns a handler that passes requests on to the agent at target, of which scheme, host and a path before that
// of each request are used, by rt ([http.DefaultTransport] if nil), with the injector's faults. It does not change
// what passes: not the addresses in an agent's card, either.
func (in *Injector) Proxy(target *url.URL, rt http.RoundTripper) http.Handler {
	if rt == nil {
		rt = http.DefaultTransport
	}
	return in.proxy(func(p *httputil.ProxyRequest) {
		p.SetURL(target)
		p.Out.Host = ""
	}, rt)
}

// forwarded are headers that a reverse proxy of net/http takes away.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

func (in *Injector) proxy(rewrite func(*httputil.ProxyRequest), rt http.RoundTripper) http.Handler {
	p := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.Host = p.In.Host
			for _, name := range forwarded {
				if v, ok := p.In.Header[name]; ok {
					p.Out.Header[name] = v
				}
			}
			rewrite(p)
		},
		Transport: in.Wrap(rt), FlushInterval: -1, ErrorHandler: unanswered, ErrorLog: log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(http.ServerContextKey) == nil { // else the proxy would take a broken answer for a complete one
			r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, &http.Server{}))
		}
		p.ServeHTTP(w, r)
	})
}

// unanswered answers a request that got no answer: by breaking the connection if that is the fault, or if the caller
// left.
func unanswered(w http.ResponseWriter, r *http.Request, err error) {
	var broken *Error
	if errors.As(err, &broken) || errors.Is(err, errInjector) || errors.Is(err, errAborted) || r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	http.Error(w, fmt.Sprintf("the agent behind the injector of faults gave no answer: %v", err), http.StatusBadGateway)
}

// errAborted is the error of an answer that its handler broke off.
var errAborted = fmt.Errorf("the agent broke the connection: %w", io.ErrUnexpectedEOF)

// handled sends requests to a handler in this process.
type handled struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	src, dst := io.Pipe()
	resp := &http.Response{
		Request: r, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, ContentLength: -1,
	}
	w := &pipeWriter{header: http.Header{}, body: dst, resp: resp, begun: make(chan struct{})}
	resp.Body = &pipeBody{src, w}
	in := r.WithContext(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	go func() {
		defer func() { w.finish(recover()) }()
		h.handler.ServeHTTP(w, in)
	}()
	select {
	case <-w.begun:
		return resp, w.failed
	case <-r.Context().Done():
		_ = src.Close() // the handler's writes fail
		return nil, context.Cause(r.Context())
	}
}

// pipeWriter writes the answer of a handler into a pipe.
type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{}  // closed when the head is complete
	resp   *http.Response // its head belongs to the reader when it is complete
	failed error          // in place of an answer
	after  http.Header    // the trailer; complete when the body is closed
}

// pipeBody is the body of the answer. As with those of net/http the trailer is there when its end was read.
type pipeBody struct {
	*io.PipeReader
	from *pipeWriter
}

func (b *pipeBody) Read(p []byte) (int, error) {
	n, err := b.PipeReader.Read(p)
	if err == io.EOF {
		b.from.resp.Trailer = b.from.after
	}
	return n, err
}

// Header implements [http.ResponseWriter].
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *pipeWriter) WriteHeader(status int) {
	if status < 200 { // informational
		return
	}
	w.once.Do(func() {
		w.resp.StatusCode, w.resp.Status = status, strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status))
		w.resp.Header = w.header.Clone()
		if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil {
			w.resp.ContentLength = n
		}
		close(w.begun)
	})
}

// Write implements [http.ResponseWriter].
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush implements [http.Flusher]: nothing is kept.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

// EnableFullDuplex is for [http.ResponseController]: a request may be read while it is answered.
func (w *pipeWriter) EnableFullDuplex() error { return nil }

// finish ends the answer of a handler that returned, or panicked.
func (w *pipeWriter) finish(panicked any) {
	if panicked != nil {
		err := errAborted
		if panicked != http.ErrAbortHandler {
			err = fmt.Errorf("the agent panicked: %v: %w", panicked, io.ErrUnexpectedEOF)
		}
		w.once.Do(func() { w.failed = err; close(w.begun) })
		_ = w.body.CloseWithError(err)
		return
	}
	w.WriteHeader(http.StatusOK)
	w.after = w.trailers()
	_ = w.body.Close()
}

// trailers are what the handler set after the head.
func (w *pipeWriter) trailers() http.Header {
	trailers := http.Header{}
	for name, values := range w.header {
		if after, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			trailers[after] = values
		}
	}
	for _, list := range w.header["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); len(w.header[name]) > 0 {
				trailers[name] = w.header[name]
			}
		}
	}
	return trailers
}
