package traffic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/testkit/fault"
)

// CallerHeader names the caller of a request for the record, escaped as in a path, in place of its user agent. It is not
// passed on.
const CallerHeader = "A2agen-Dev-Caller"

// KeyHeader has a text by which who sends a request finds its exchange in the record. It is not passed on.
const KeyHeader = "A2agen-Dev-Key"

// Record returns a handler that keeps what passes between the callers of an agent and next. What is recorded is what
// the caller sees.
func (l *Log) Record(agent int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := l.begin(agent, r)
		if c == nil {
			next.ServeHTTP(w, r)
			return
		}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &sentBody{ReadCloser: r.Body, c: c}
		}
		defer func() {
			p := recover()
			c.end(p, r.Context().Err() != nil)
			if p != nil {
				panic(p)
			}
		}()
		next.ServeHTTP(&recordedWriter{ResponseWriter: w, c: c}, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
	})
}

// callKey is the key of a request's *call in its context.
type callKey struct{}

// Hit keeps that a fault hit, on purpose, the request of a context that [Log.Record] records.
func Hit(ctx context.Context, fault string) {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return
	}
	c.log.mu.Lock()
	if s := &c.x.Summary; s.Faults == "" {
		s.Faults = fault
	} else {
		s.Faults += ", " + fault
	}
	c.log.mu.Unlock()
	c.publish()
}

// call is an exchange while it is recorded. The log's mu guards x and bytes, and asking guards sent until the request is
// kept: a transport may read the request's body when the answer has begun. The rest belongs to the exchange's own
// goroutine.
type call struct {
	log    *Log
	x      Exchange
	bytes  int // that the log counts for it
	mask   mask
	begun  time.Time
	method protoreflect.MethodDescriptor // of gRPC, if its definition is known
	grpc   bool
	form   bool // the body is one of a login, and not kept

	asking   sync.Mutex // taken before the log's mu
	sent     buffer
	asked    bool // the request is kept
	answered bool
	stream   bool
	received buffer
	split    frames.Splitter
	broken   bool        // events cannot be told apart any more
	header   http.Header // of the answer, as its handler has it
}

// buffer is what came of a body, within what there is room for.
type buffer struct {
	b    []byte
	size int64
	cut  bool
}

// begin begins to record a request. It is nil if there is no room.
func (l *Log) begin(agent int, r *http.Request) *call {
	c := &call{log: l, begun: time.Now(), grpc: frames.IsGRPC(r.Header)}
	s := &c.x.Summary
	s.Operation, s.Binding = fault.Called(r)
	caller, err := url.PathUnescape(r.Header.Get(CallerHeader))
	key := r.Header.Get(KeyHeader)
	r.Header.Del(CallerHeader)
	r.Header.Del(KeyHeader)
	c.x.RequestHeader = c.mask.requestHeader(r.Header)
	if caller == "" || err != nil {
		caller = callerOf(r)
	}
	s.Agent, s.Caller, s.Begun, s.Method, s.Proto, s.State = agent, brief(caller), c.begun, r.Method, r.Proto, Running
	s.Key = brief(key)
	s.Path, s.Version = shortPath(c.mask.path(r.URL)), brief(r.Header.Get("A2A-Version"))
	c.form = strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if c.grpc {
		c.method = l.definitions.Load().method(r.URL.Path)
		s.Called, s.Binding = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], runtime.BindingGRPC
	}
	if !l.add(c) {
		return nil
	}
	c.publish()
	return c
}

// shortPath bounds a path.
func shortPath(s string) string {
	if len(s) > 2<<10 {
		return strings.ToValidUTF8(s[:2<<10], "") + "…"
	}
	return s
}

// callerOf names a caller: by its program, and the machine if that is another one.
func callerOf(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), " ")
	if name == "" {
		name = "unknown"
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		if ip := net.ParseIP(host); ip != nil && !ip.IsLoopback() {
			name += " at " + host
		}
	}
	return name
}

// publish tells of the exchange as it is now.
func (c *call) publish() {
	c.log.mu.Lock()
	s := c.x.Summary
	c.log.mu.Unlock()
	c.log.publish("call", &s)
}

// sinceMS is the time since the request began, in milliseconds.
func (c *call) sinceMS() float64 {
	return float64(time.Since(c.begun).Microseconds()) / 1000
}

// keep adds bytes to a buffer, as far as there is room.
func (c *call) keep(to *buffer, p []byte) {
	to.size += int64(len(p))
	if to.cut || len(p) == 0 {
		return
	}
	c.log.mu.Lock()
	room := len(to.b)+len(p) <= MaxBody && c.log.take(c, len(p))
	c.log.mu.Unlock()
	if !room {
		to.cut = true
		return
	}
	to.b = append(to.b, p...)
}

// sentBody is the body of a request.
type sentBody struct {
	io.ReadCloser
	c *call
}

// Read reads on.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.c.asking.Lock()
	defer b.c.asking.Unlock()
	if !b.c.asked {
		b.c.keep(&b.c.sent, p[:n])
	}
	return n, err
}

// keepRequest keeps the request, which the agent has read when it answers.
func (c *call) keepRequest() {
	c.asking.Lock()
	kept := c.asked
	c.asked = true
	c.asking.Unlock()
	if kept {
		return
	}
	body := c.body(&c.sent, func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Input() })
	if c.form {
		body.Bytes, body.Cut = nil, true
	}
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.x.Request, c.x.Sent = body, body.Size
	text := body.Bytes
	if len(body.JSON) > 0 {
		text = body.JSON[0]
	}
	if task := c.x.Task; !c.form {
		c.x.learn(text)
		if c.x.Task == "" {
			c.x.Task = task
		}
	}
	if c.grpc {
		c.x.Called = c.x.Path[strings.LastIndexByte(c.x.Path, '/')+1:]
	}
}

// body is what is kept of a buffer, without secrets.
func (c *call) body(from *buffer, of func(protoreflect.MethodDescriptor) protoreflect.MessageDescriptor) Body {
	body := Body{Size: from.size, Cut: from.cut}
	if !c.grpc {
		body.Bytes = c.mask.text(from.b)
		from.b = nil
		return body
	}
	var split frames.Splitter
	split.GRPC = true
	if split.Feed(from.b) != nil {
		return body
	}
	for frame := split.Next(); frame != nil; frame = split.Next() {
		raw, text := c.message(frame, of)
		if raw == nil {
			body.Cut = true
			continue
		}
		body.Bytes, body.JSON = append(body.Bytes, raw...), append(body.JSON, text)
	}
	from.b = nil
	return body
}

// message is a message of gRPC without secrets, as bytes and as JSON; nil where it is not known what it is.
func (c *call) message(frame []byte, of func(protoreflect.MethodDescriptor) protoreflect.MessageDescriptor) (raw, text []byte) {
	if c.method == nil {
		return nil, nil
	}
	text, secrets := c.mask.message(frame, of(c.method))
	if text == nil {
		return nil, nil
	}
	return c.mask.binary(bytes.Clone(frame), secrets), text
}

// recordedWriter writes the answer.
type recordedWriter struct {
	http.ResponseWriter
	c *call
}

// Unwrap is for [http.ResponseController].
func (w *recordedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader writes the head.
func (w *recordedWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.c.answered {
		w.c.head(status, w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes on.
func (w *recordedWriter) Write(p []byte) (int, error) {
	if !w.c.answered {
		w.c.head(http.StatusOK, w.Header())
	}
	n, err := w.ResponseWriter.Write(p)
	w.c.write(p[:n])
	return n, err
}

// Flush sends what was written.
func (w *recordedWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// head keeps the head of the answer.
func (c *call) head(status int, h http.Header) {
	c.answered, c.header = true, h
	c.keepRequest()
	header := c.mask.answerHeader(h)
	streams := c.x.Operation == "SendStreamingMessage" || c.x.Operation == "SubscribeToTask"
	c.stream = frames.IsServerSent(h) || c.grpc && streams
	c.split.GRPC = c.grpc
	c.log.mu.Lock()
	c.x.Status, c.x.Header, c.x.FirstMS = status, header, c.sinceMS()
	c.log.mu.Unlock()
	c.publish()
}

// write keeps a piece of the answer.
func (c *call) write(p []byte) {
	if !c.stream {
		c.keep(&c.received, p)
		return
	}
	c.received.size += int64(len(p))
	if c.broken {
		return
	}
	if err := c.split.Feed(p); err != nil {
		c.broken = true
		c.log.mu.Lock()
		c.x.Problem = err.Error() + ": it passed, but it and what follows are not kept"
		c.log.mu.Unlock()
		return
	}
	for e := c.split.Next(); e != nil; e = c.split.Next() {
		c.event(e)
	}
}

// event keeps an event.
func (c *call) event(raw []byte) {
	e := Event{AtMS: c.sinceMS(), Size: len(raw)}
	if c.grpc {
		e.Bytes, e.JSON = c.message(raw, func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Output() })
		e.Digest = digest(e.JSON)
	} else {
		e.Bytes = c.mask.text(bytes.Clone(raw))
		said, err := sse.NewReader(bytes.NewReader(e.Bytes), frames.MaxEvent).Next()
		e.ID, e.Digest = brief(string(said.ID)), digest(said.Data)
		if err != nil {
			e.Kind, e.Text = "comment", brief(strings.TrimSpace(strings.TrimLeft(string(e.Bytes[:min(len(e.Bytes), 4*maxText)]), ": ")))
		}
	}
	c.log.mu.Lock()
	c.x.EventN++
	if e.Kind == "comment" && strings.Contains(e.Text, "the agent was restarted") {
		c.x.Resumed++
	}
	e.N = c.x.EventN
	if len(e.Bytes) == 0 || !c.log.take(c, len(e.Bytes)+len(e.JSON)) {
		e.Bytes, e.JSON, e.Cut = nil, nil, true
	}
	if len(c.x.Events) < MaxEvents && c.log.take(c, eventBytes) {
		c.x.Events = append(c.x.Events, e)
	}
	c.x.told(e.Digest)
	id := c.x.ID
	c.log.mu.Unlock()
	e.Bytes, e.JSON = nil, nil
	c.log.publish("event", &Change{id, e})
}

// told takes over what an answer says of its task.
func (s *Summary) told(d Digest) {
	if d.Task != "" {
		s.Task = brief(d.Task)
	}
	if d.Context != "" {
		s.Context = brief(d.Context)
	}
	switch {
	case d.State != "":
		s.Outcome = brief(d.State)
	case d.Kind == "error", d.Kind == "message":
		s.Outcome = d.Kind
	}
}

// end keeps how the exchange ended: with what its handler panicked, and whether the caller left.
func (c *call) end(panicked any, left bool) {
	c.keepRequest()
	var body Body
	if !c.stream {
		body = c.body(&c.received, func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Output() })
	} else {
		body.Size = c.received.size
	}
	text := body.Bytes
	if len(body.JSON) > 0 {
		text = body.JSON[0]
	}
	trailer := c.mask.answerHeader(trailerOf(c.header))
	c.log.mu.Lock()
	s := &c.x.Summary
	c.x.Trailer = trailer
	c.x.Response, s.Received, s.TookMS, s.State = body, body.Size, c.sinceMS(), Done
	if !c.stream && s.Operation != fault.Card {
		s.told(digest(text))
	}
	if code := c.x.Trailer.Get("Grpc-Status") + c.x.Header.Get("Grpc-Status"); c.grpc && code != "0" && (code != "" || !left) {
		s.Outcome = "error"
	}
	switch err, _ := panicked.(error); {
	case left && panicked != nil:
		s.State, s.Problem = Broken, CallerLeft
	case errors.Is(err, http.ErrAbortHandler):
		s.State, s.Problem = Broken, "the answer broke off"
	case panicked != nil:
		s.State, s.Problem = Broken, "the proxy panicked"
	}
	c.log.mu.Unlock()
	c.publish()
}

// trailerOf returns what a handler has set after the head of its answer.
func trailerOf(h http.Header) http.Header {
	t := http.Header{}
	for name, v := range maps.All(h) {
		if after, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			t[after] = v
		}
	}
	return t
}
