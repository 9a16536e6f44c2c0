package mcptools

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime/internal/ownhost"
)

// roundTrips makes the requests to a server: with its headers, and within limits.
type roundTrips struct {
	next    http.RoundTripper
	headers http.Header
	host    string
	sse     bool         // the older transport
	status  atomic.Int32 // of the last answer
	tap     *tap
}

// httpClient is the client for a server. Its redirects stay on the server's host.
func (s *Server) httpClient(tap *tap) (*http.Client, *roundTrips, error) {
	trips := &roundTrips{headers: http.Header{}, tap: tap}
	for name, value := range s.Headers {
		value, err := s.expand(value)
		if err != nil {
			return nil, nil, err
		}
		trips.headers.Set(name, value)
	}
	client := *ownhost.Client()
	if s.Client != nil {
		client = *s.Client
	}
	if trips.next = client.Transport; trips.next == nil {
		trips.next = http.DefaultTransport
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = ownhost.Redirect
	}
	client.Transport, client.Timeout = trips, 0 // streams stay open
	return &client, trips, nil
}

// RoundTrip implements [http.RoundTripper].
func (r *roundTrips) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(r.headers) > 0 && req.URL.Host == r.host {
		req = req.Clone(req.Context())
		for name, values := range r.headers {
			req.Header[name] = values
		}
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	if req.Method == http.MethodPost || r.sse { // else it asks for a stream that a server need not have
		r.status.Store(int32(resp.StatusCode))
	}
	var body io.Reader = resp.Body
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // the events of a stream have a limit each
		body = &limited{Reader: body, left: defaultMaxBytes}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{r.tap.of(body), resp.Body}
	return resp, nil
}

// refused reports whether the server does not take our credentials.
func (r *roundTrips) refused() bool {
	status := int(r.status.Load())
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// older reports whether the server may speak the transport of 2024-11-05, which has no POST at its URL.
func (r *roundTrips) older() bool {
	switch int(r.status.Load()) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}

// errTooLarge says that a server says more than is read.
var errTooLarge = errors.New("the answer is larger than the 16 MiB that are read")

// limited reads so many bytes, and then an error.
type limited struct {
	io.Reader
	left int
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if l.left -= n; l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
