package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
)

// exchange is a request and what came back.
type exchange struct {
	op      op
	sent    string // the request for people, without secrets
	status  int    // of HTTP
	header  http.Header
	body    []byte // of a stream what was read of it
	err     error  // no whole answer came
	result  any    // of the operation; nil for an error and for a stream
	failure *failure
	events  []streamed
	streams bool // over gRPC: the answer is a stream
	closed  bool // the agent ended the stream
	framing []string
	// problems are what is wrong with the answer by the binding alone, by the check that they belong to.
	problems map[string][]string
	// dialect is that of the result.
	dialect *dialect
	// read takes an element of a stream out of its envelope, as it comes; nil: it has none.
	read func(*streamed)
}

// streamed is an element of a stream.
type streamed struct {
	event
	raw     any      // what the stream has, without an envelope
	failure *failure // an error in the place of an event
}

// failure is an error that the agent answers with.
type failure struct {
	code    int64  // of JSON-RPC; 0 if there is none
	http    int    // over HTTP+JSON; 0 over others
	status  string // google.rpc: "NOT_FOUND"; "" if there is none
	message string
	reason  string // of its ErrorInfo: "TASK_NOT_FOUND"
	details []any
	typed   bool // details is a list of objects that have a type, or there are none
}

func (f *failure) String() string {
	s := strings.TrimSpace(fmt.Sprintf("%s %s", f.status, f.reason))
	if f.code != 0 {
		s = strings.TrimSpace(fmt.Sprintf("%d %s", f.code, f.reason))
	}
	if f.http != 0 {
		s = strings.TrimSpace(fmt.Sprintf("%d %s", f.http, s))
	}
	return fmt.Sprintf("%s %q", s, clean(f.message, 120))
}

// options are what is different in one call.
type options struct {
	version *string              // in the place of the interface's; "" for none
	header  http.Header          // more headers, or others
	bare    bool                 // without the headers of the configuration
	id      any                  // of a JSON-RPC request
	verb    string               // of HTTP, in the place of the definition's
	history *int                 // of a task that is read
	wrong   bool                 // what is sent is wrong, so that a history which repeats it is, too
	until   func(*exchange) bool // ends the reading of a stream
}

// The bounds of an answer. An event counts into the bytes of its stream.
const (
	maxBody   = 4 << 20
	maxEvents = 2000
	maxShown  = 1500 // bytes of a request or an answer in a finding
)

var (
	errBudget  = errors.New("the number of requests is used up")
	errLate    = errors.New("no whole answer") // in the time of a call
	errTooLong = fmt.Errorf("the answer is longer than %d bytes", maxBody)
)

// roundTrip sends a request and reads what comes: events while until lets them come, else the body.
func (r *runner) roundTrip(x *exchange, method, target string, header http.Header, body []byte, o options) {
	x.sent = r.shown(method, target, header, body)
	r.do(x, r.client, method, target, header, body, o, func(resp *http.Response) (err error) {
		if mediaType(resp.Header) == "text/event-stream" {
			return x.readEvents(resp.Body, o.until)
		}
		x.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
		if len(x.body) > maxBody {
			x.body, err = x.body[:maxBody], errTooLong
		}
		return err
	})
}

// do sends a request with the headers of the configuration, within the budget and the timeout, and has its answer read.
func (r *runner) do(x *exchange, client *http.Client, method, target string, header http.Header, body []byte, o options, read func(*http.Response) error) {
	if x.err = r.ctx.Err(); x.err != nil {
		return
	}
	if r.requests >= r.config.Requests {
		x.err = errBudget
		return
	}
	r.requests++
	timeout := r.config.Timeout
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		x.err = err
		return
	}
	req.Header = header
	if !o.bare {
		maps.Copy(req.Header, r.config.Header)
	}
	resp, err := client.Do(req)
	if err != nil {
		x.err = r.failed(err, timeout)
		return
	}
	defer resp.Body.Close()
	x.status, x.header = resp.StatusCode, resp.Header
	x.err = r.failed(read(resp), timeout)
}

// failed says in few words why no answer came, without the URL, which may have secrets.
func (r *runner) failed(err error, timeout time.Duration) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case err == nil:
		return nil
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w within %s; --timeout, or conform.WithTimeout, gives it more", errLate, timeout)
	}
	return errors.New(r.mask(err.Error()))
}

// mediaType returns that of an answer without its parameters.
func mediaType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return strings.ToLower(strings.TrimSpace(h.Get("Content-Type")))
	}
	return t
}

// isJSON reports whether a media type is one of JSON.
func isJSON(t string) bool { return t == "application/json" || strings.HasSuffix(t, "+json") }

// shown is a request for people.
func (r *runner) shown(method, target string, header http.Header, body []byte) string {
	var b strings.Builder
	if u, err := url.Parse(target); err == nil {
		target = u.Redacted()
	}
	fmt.Fprintf(&b, "%s %s\n", method, target)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(header[name], ", "))
	}
	b.Write(body)
	return clean(r.mask(b.String()), maxShown)
}

// decoded returns the body of an answer that is one JSON value; nil if it is empty.
func (x *exchange) decoded() (any, bool) {
	if len(bytes.TrimSpace(x.body)) == 0 {
		return nil, true
	}
	v, err := decode(x.body)
	x.check("answer.json", err == nil, "%v", err)
	return v, err == nil
}

// mask takes the values of the configuration's headers out of a text.
func (r *runner) mask(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, "…")
	}
	return s
}

// readEvents reads server-sent events until the stream ends, a bound is met, or until says that it is enough. The data of each
// becomes an element of x.events; what is wrong with the framing is in x.framing.
func (x *exchange) readEvents(body io.Reader, until func(*exchange) bool) error {
	var read bytes.Buffer
	events := sse.NewReader(io.TeeReader(io.LimitReader(body, maxBody+1), &read), maxBody)
	defer func() {
		// The reader ignores lines that are no fields, as readers have to.
		for line := range bytes.Lines(x.body) {
			line = bytes.TrimRight(line, "\r\n")
			name, _, _ := bytes.Cut(line, []byte(":"))
			if !slices.Contains([]string{"", "data", "event", "id", "retry"}, string(name)) {
				x.misframed("the line " + clean(string(line), 60) + " is no field of an event: readers ignore it")
			}
		}
	}()
	for {
		e, err := events.Next()
		x.body = read.Bytes()
		switch {
		case len(x.body) > maxBody || len(x.events) > maxEvents:
			return errTooLong
		case errors.Is(err, io.EOF):
			x.closed = true
			return nil
		case err != nil:
			return err
		case e.Unfinished:
			x.misframed("the last event has no empty line after it: readers drop it")
		}
		v, err := decode(e.Data)
		if err != nil {
			x.misframed(fmt.Sprintf("the data of an event: %v", err))
		}
		if x.took(v, until) {
			return nil
		}
	}
}

// took adds an element to a stream, and reports whether that is enough.
func (x *exchange) took(v any, until func(*exchange) bool) bool {
	s := streamed{raw: v}
	if x.read != nil {
		x.read(&s)
	} else if x.dialect != nil {
		s.event, _ = x.dialect.event(x.op, v)
	}
	x.events = append(x.events, s)
	return until != nil && until(x)
}

// misframed notes what is wrong with a stream.
func (x *exchange) misframed(problem string) {
	if len(x.framing) < maxFindings {
		x.framing = append(x.framing, problem)
	}
}
