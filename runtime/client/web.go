package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
)

// frame is one request with its framing, which reads the answer.
type frame interface {
	// tries are the requests to make: the next one if the one before found no such method.
	tries() []*try
	// result is the result in an answer, nil for none, or its error.
	result(body []byte) ([]byte, error)
	// event is the result in an event of a stream, nil for none, or its error.
	event(e sse.Event) ([]byte, error)
	// fault is the error in the body of an answer whose status is not 2xx; nil without.
	fault(body []byte) *runtime.Error
}

// try is one HTTP request. Body nil is none; accept are the types of an answer that is no stream.
type try struct {
	verb, url, accept string
	body              []byte
}

// webConn calls an interface over HTTP.
type webConn struct {
	target Target
	frame  func(*Request) (frame, error) // encloses a request, as the binding does
}

// Call posts a request and reads the whole answer.
func (c *webConn) Call(ctx context.Context, r *Request) ([]byte, error) {
	f, err := c.frame(r)
	if err != nil {
		return nil, err
	}
	answer, err := c.send(ctx, r, f)
	if err != nil {
		return nil, err
	}
	defer answer.close()
	result, err := answer.result(f, c.target.MaxResponse)
	if err == nil && result == nil {
		result = nothing(r.Operation)
	}
	return result, err
}

// nothing is the result of an answer without one, or with null: an empty object (T61), or an empty list, which is an array in 0.3 and null
// from a2a-go 2.4.0.
func nothing(op *runtime.Operation) []byte {
	if list := []byte("[]"); op.Role == runtime.RolePushList {
		if _, err := op.Read(list); err == nil {
			return list
		}
	}
	return []byte("{}")
}

// Open posts a request and returns the stream of its answer. A JSON body instead of events is one event, or the error.
func (c *webConn) Open(ctx context.Context, r *Request) (Stream, error) {
	f, err := c.frame(r)
	if err != nil {
		return nil, err
	}
	answer, err := c.send(ctx, r, f)
	if err != nil {
		return nil, err
	}
	s := &events{reply: answer, ctx: ctx, frame: f, limit: between(c.target.MaxEvent)}
	if mediaType(answer.resp) == sse.ContentType {
		answer.lines = true
		s.reader = sse.NewReader(answer, c.target.MaxEvent)
		s.reader.Resume(r.LastEventID)
		s.numbered = answer.resp.Header.Get(sse.NumberedHeader) == sse.Numbered
		return s, nil
	}
	s.single, err = answer.result(f, c.target.MaxEvent)
	if err == nil && s.single == nil {
		err = errNoEvent
	}
	if err != nil {
		answer.close()
		return nil, err
	}
	return s, nil
}

// Secure reports whether the connection is encrypted.
func (c *webConn) Secure() bool { return strings.HasPrefix(c.target.URL, "https:") }

// Close has nothing to do: the connections are the HTTP client's.
func (c *webConn) Close() {}

// send sends the request and returns the answer if its status is 2xx, else an error. The caller closes it.
func (c *webConn) send(ctx context.Context, r *Request, f frame) (*reply, error) {
	var missing error
	for i, t := range f.tries() {
		header := r.Header
		if i > 0 {
			header = header.Clone() // the one before has its own
		}
		req, err := t.request(ctx, r, header)
		if err != nil {
			return nil, err
		}
		answer, err := fetch(keyed(c.target.HTTP, r.Query), c.target.Idle, req, r.AtOnce())
		if err != nil {
			return nil, err
		}
		if answer.resp.StatusCode/100 == 2 {
			return answer, nil
		}
		failed := answer.failed(f.fault)
		answer.close()
		if !failed.missing() {
			return nil, failed
		}
		missing = cmp.Or(missing, error(failed))
	}
	return nil, missing
}

// request makes the HTTP request with its headers.
func (t *try) request(ctx context.Context, r *Request, header http.Header) (*http.Request, error) {
	var body io.Reader
	if t.body != nil {
		body = bytes.NewReader(t.body)
	}
	req, err := http.NewRequestWithContext(ctx, t.verb, t.url, body)
	if err != nil {
		return nil, err
	}
	req.Header = header
	if t.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", t.accept)
	if !r.Operation.Stream {
		return req, nil
	}
	req.Header.Set("Accept", sse.ContentType+", application/json")
	req.Header.Set("Accept-Encoding", "identity") // compression would hold events back (T58)
	req.Header.Set("Cache-Control", "no-cache")
	if r.LastEventID != "" {
		req.Header.Set("Last-Event-ID", r.LastEventID)
	}
	return req, nil
}

var errNoEvent = errInvalid.With("an event without result")

// events is the stream in an answer.
type events struct {
	*reply
	ctx    context.Context // the caller's
	frame  frame
	reader *sse.Reader // nil when a JSON body came instead
	single []byte      // the result in it, until it is read
	limit  int         // bytes in a row without an event
	// numbered: the ids of the events are consecutive numbers.
	numbered bool
}

// Next reads on to the next event that is no heartbeat.
func (s *events) Next() (Item, error) {
	if s.reader == nil {
		if s.single == nil {
			return Item{}, io.EOF
		}
		item := Item{Data: s.single}
		s.single = nil
		return item, nil
	}
	for read := 0; ; {
		e, err := s.reader.Next()
		read += e.Size
		switch {
		case err == io.EOF:
			return Item{}, io.EOF
		case errors.Is(err, sse.ErrTooLong):
			return Item{}, invalid("event", err)
		case errors.Is(err, sse.ErrNoEvent), read > s.limit && len(bytes.TrimSpace(e.Data)) == 0:
			return Item{}, overdue(s.limit)
		case err != nil:
			return Item{}, Broken(s.ctx, err)
		case len(bytes.TrimSpace(e.Data)) == 0:
			continue // a heartbeat in the form of an empty event
		}
		data, err := s.frame.event(e)
		switch {
		case err == nil && data == nil:
			err = errNoEvent
		case err != nil && e.Unfinished && errors.Is(err, runtime.ErrInvalidAgentResponse):
			err = &LinkError{Err: io.ErrUnexpectedEOF} // cut in the middle of it
		}
		item := Item{Data: data, ID: string(e.ID), Read: read, Cut: e.Unfinished}
		if s.numbered {
			item.Number = eventNumber(item.ID)
		}
		return item, err
	}
}

// Retry is the last value of the field retry.
func (s *events) Retry() time.Duration {
	if s.reader == nil {
		return 0
	}
	return s.reader.Retry()
}

// Drain reads on for a moment.
func (s *events) Drain() {
	if s.reader != nil {
		s.arm(linger)
		_, _ = io.Copy(io.Discard, io.LimitReader(s.resp.Body, 64<<10))
	}
}

// Close ends the request.
func (s *events) Close() { s.close() }

// mediaType is the type of an answer without its parameters; "" if it does not say.
func mediaType(resp *http.Response) string {
	t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

// OwnCredentials reports whether the user's HTTP client may add a certificate, or anything else, to requests.
func (c *webConn) OwnCredentials() (certificate, others bool) {
	h := c.target.HTTP
	transport, known := h.Transport.(*http.Transport)
	if h.Transport == nil {
		transport, known = http.DefaultTransport.(*http.Transport)
	}
	if !known {
		return true, true
	}
	config := transport.TLSClientConfig
	return config != nil && (len(config.Certificates) > 0 || config.GetClientCertificate != nil), h.Jar != nil
}
