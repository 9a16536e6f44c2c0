package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	routing "github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/server/internal/listen"
	"github.com/a2agen/a2agen/runtime/sse"
)

// Header values are shared: a header map's slices are only read once they are set.
var (
	jsonType   = []string{"application/json"}
	textType   = []string{"text/plain; charset=utf-8"}
	streamType = []string{sse.ContentType}
	noCache    = []string{"no-cache"}
	noStore    = []string{"no-store"}
	unbuffered = []string{"no"} // tells nginx to pass events on as they come
	closing    = []string{"close"}
	retryAfter = []string{"1"}
	identity   = []string{"identity"}
)

// Names of the service parameters (A2A 1.0 §3.2.6), in the form of header map keys.
const (
	headerVersion      = "A2a-Version"
	headerExtensions   = "A2a-Extensions"
	headerExtensionsV0 = "X-A2a-Extensions"
	headerTenant       = "A2a-Tenant" // ours: for clients that cannot say it in a request
	queryVersion       = "A2A-Version"
)

// exchange is one HTTP request to a binding being answered: what the bindings over HTTP have in common.
type exchange struct {
	Call
	w      http.ResponseWriter
	r      *http.Request
	body   *[]byte // nil: let go
	params []byte  // of the operation, as JSON; they may be a slice of the body
}

func (s *Server) exchange(w http.ResponseWriter, r *http.Request, binding string) exchange {
	x := exchange{Call: s.newCall(r.Context(), binding, r.Header), w: w, r: r}
	if h := r.Header[headerTenant]; len(h) > 0 {
		x.Tenant = strings.Join(h, ", ")
	}
	return x
}

// buffers hold request bodies and the frames of events. Larger ones are not kept.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

const keepBuffer = 64 << 10

func putBuffer(b *[]byte) {
	if cap(*b) <= keepBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// drop gives the body's memory back.
func (x *exchange) drop() {
	if x.body == nil {
		return
	}
	putBuffer(x.body)
	x.body, x.params = nil, nil
	x.giveBack()
}

// done lets go of what the request holds when the answer is written.
func (x *exchange) done() {
	x.drop()
	x.End()
}

// identify finds the caller. has reports whether a version has what the request names.
func (x *exchange) identify(has func(*engine.Version) bool) error {
	err := x.Identify(askedVersion(x.r), has, func() *http.Request { return x.r })
	switch {
	case err != nil:
		x.hangUp()
	case x.grant != nil:
		x.r = x.grant.Request
	}
	return err
}

// hangUp does not wait for what is left of the body. Over HTTP/2, where others may use the connection, that takes
// nothing.
func (x *exchange) hangUp() {
	if x.r.ProtoMajor < 2 {
		x.w.Header()["Connection"] = closing
	}
}

// askedVersion returns the version that a request names, as it stands there; "" if none.
func askedVersion(r *http.Request) string {
	var asked string
	if h := r.Header[headerVersion]; len(h) > 0 {
		asked = strings.TrimSpace(h[0])
	}
	if asked == "" && r.URL.RawQuery != "" {
		if query, err := url.ParseQuery(r.URL.RawQuery); err == nil {
			asked = strings.TrimSpace(query.Get(queryVersion))
		}
	}
	return asked
}

// activate echoes the requested extensions that the agent has.
func (x *exchange) activate() *runtime.Error {
	lines := x.r.Header[headerExtensions]
	if old := x.r.Header[headerExtensionsV0]; len(old) > 0 {
		lines = append(lines[:len(lines):len(lines)], old...)
	}
	active, err := x.Activate(lines)
	if active != "" {
		echo := []string{active}
		x.w.Header()[headerExtensions] = echo
		if x.Version.Unnamed() {
			x.w.Header()[headerExtensionsV0] = echo
		}
	}
	return err
}

// jsonContent accepts JSON types with any parameters, and a missing type.
func jsonContent(header []string) bool {
	if len(header) == 0 || header[0] == "application/json" || header[0] == "" {
		return true
	}
	m := routing.BareMedia(header[0])
	return m == "application/json" || strings.HasPrefix(m, "application/") && strings.HasSuffix(m, "+json")
}

// takeHeaders reads what else the headers say to the operation. events is how a stream of it has its events.
func (x *exchange) takeHeaders(events *engine.Coding) *runtime.Error {
	if err := x.TakeRepeatKey(x.r.Header["Idempotency-Key"]); err != nil {
		return err
	}
	if h := x.r.Header[headerTenant]; len(h) > 0 {
		x.Tenant = strings.Join(h, ", ")
	}
	if x.Op.Stream {
		x.Coding, x.After = *events, lastEventID(x.r)
	}
	return nil
}

// lastEventID reads the header of a client that reconnects; 0 without one.
func lastEventID(r *http.Request) int64 { return EventNumber(r.Header.Get("Last-Event-ID")) }

// inlineLength is up to which size net/http finds the length of a body by itself.
const inlineLength = 2 << 10

// write answers with JSON.
func (x *exchange) write(status int, body []byte) {
	h := x.w.Header()
	h["Content-Type"] = jsonType
	if len(body) > inlineLength {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if status != http.StatusOK {
		x.w.WriteHeader(status)
	}
	// A client that went away has nobody to tell.
	if len(body) <= listen.MaxWrite {
		_, _ = x.w.Write(body)
	} else {
		_ = x.putWhole(body)
	}
}

func (x *exchange) streamHeader() {
	h := x.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = unbuffered
}

// put writes b in pieces. The caller has set the deadline of the first one. Writers without deadlines are those of
// tests.
func (x *exchange) put(rc *http.ResponseController, b []byte) error {
	for {
		piece := b[:min(len(b), listen.MaxWrite)]
		if _, err := x.w.Write(piece); err != nil {
			return err
		}
		if b = b[len(piece):]; len(b) == 0 {
			return nil
		}
		_ = rc.SetWriteDeadline(time.Now().Add(x.s.limits.Stall))
	}
}

// putWhole is put for an answer that is complete by it.
func (x *exchange) putWhole(b []byte) error {
	rc := http.NewResponseController(x.w)
	_ = rc.SetWriteDeadline(time.Now().Add(x.s.limits.Stall))
	if err := x.put(rc, b); err != nil {
		return err
	}
	if err := rc.Flush(); err != nil {
		return err
	}
	return rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
}
