package server

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/store"
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
)

// Names of the service parameters (A2A 1.0 §3.2.6), in the form of header map keys.
const (
	headerVersion      = "A2a-Version"
	headerExtensions   = "A2a-Extensions"
	headerExtensionsV0 = "X-A2a-Extensions"
	queryVersion       = "A2A-Version"
)

// request is one JSON-RPC call being answered.
type request struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	id      []byte // raw; "null" when it could not be read
	silent  bool   // a notification: no answer
	version *version
	op      *runtime.Operation
	params  []byte
	caller  string  // principal
	body    *[]byte // what id and params are slices of; nil: let go
	counted int64   // bytes of the body that are taken from the server's budget
	room    int64   // bytes of the answer that are taken from the server's budget
}

// release lets go of the body, for an answer that may take long.
func (q *request) release() {
	if q.body == nil {
		return
	}
	q.id, q.params = bytes.Clone(q.id), nil
	q.drop()
}

// drop gives the body's memory back.
func (q *request) drop() {
	putBuffer(q.body)
	if q.body = nil; q.counted > 0 {
		q.s.bodies.release(q.counted)
		q.counted = 0
	}
}

// done lets go of what the request holds when the answer is written.
func (q *request) done() {
	if q.body != nil {
		q.drop()
	}
	if q.room > 0 {
		q.s.answers.release(q.room)
	}
}

// reserve takes n bytes for an answer from the budget of the server, before the answer is made. They are given back when the request is done.
func (q *request) reserve(n int64) error {
	if n <= keepBuffer {
		return nil
	}
	if err := q.s.wait(q.r.Context(), n); err != nil {
		return err
	}
	q.room += n
	return nil
}

// buffers hold request bodies and responses. Larger ones are not kept.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

const keepBuffer = 64 << 10

func putBuffer(b *[]byte) {
	if cap(*b) <= keepBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// serveRPC answers one JSON-RPC request (A2A 1.0 §9). Errors of the protocol have HTTP status 200; other statuses are for what is not JSON-RPC at
// all. The order of checks is version, caller, method, parameters (T62).
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request) {
	if !s.allowOrigin(w, r) {
		return
	}
	if wantsPage(r) {
		s.servePage(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST, OPTIONS")
		http.Error(w, "A POST is wanted here. "+s.directions(r), http.StatusMethodNotAllowed)
		return
	}
	q := request{s: s, w: w, r: r, id: []byte("null")}
	if !jsonContent(r.Header["Content-Type"]) {
		q.refuse(http.StatusUnsupportedMediaType, runtime.ErrContentTypeNotSupported.With("the content type must be application/json"))
		return
	}
	defer q.done()
	if !q.identify() || !q.receive() {
		return
	}
	env, fault := readEnvelope(*q.body)
	if env.id != nil && (fault == nil || fault.Code != runtime.ErrParse.Code) {
		q.id = env.id
	}
	q.silent = env.id == nil
	if err := q.resolve(env, fault); err != nil {
		q.reject(err)
		return
	}
	q.handle()
}

// jsonContent accepts JSON types with any parameters, and a missing type.
func jsonContent(header []string) bool {
	if len(header) == 0 || header[0] == "application/json" || header[0] == "" {
		return true
	}
	m := bareMedia(header[0])
	return m == "application/json" || strings.HasPrefix(m, "application/") && strings.HasSuffix(m, "+json")
}

// identify finds the caller, before the body is read: of who is not known nothing is. It reports whether the request goes on; otherwise it
// is answered, and a version that is not spoken comes first in that, too.
func (q *request) identify() bool {
	if q.s.identity == nil {
		return true
	}
	caller, err := q.s.identity(q.r)
	if err == nil {
		q.caller = caller
		return true
	}
	err = &unauthorized{err}
	if asked := askedVersion(q.r); asked != "" && q.s.spoken(asked) == nil {
		err = q.s.noVersion(asked)
	}
	q.w.Header()["Connection"] = closing
	q.fail(err)
	return false
}

// resolve finds version and operation, and checks the required extensions.
func (q *request) resolve(env envelope, fault *runtime.Error) error {
	v, err := q.s.negotiate(q.r, env.method)
	if err != nil {
		return err
	}
	q.version = v
	if fault = q.tolerate(env, fault); fault != nil {
		return fault
	}
	q.params = env.params
	if q.op = v.methods[string(env.method)]; q.op == nil {
		return q.unlessParse(q.unknownMethod(env.method))
	}
	if err := q.activate(); err != nil {
		return q.unlessParse(err)
	}
	if q.params == nil {
		q.params = []byte("{}")
	}
	q.recognise()
	return nil
}

// unauthorized is an identity function's refusal. It is answered with HTTP status 401: A2A has no JSON-RPC code for it.
type unauthorized struct{ cause error }

func (u *unauthorized) Error() string { return u.cause.Error() }

// negotiate finds the version of a request: by header, else by query parameter, else, unless the server is strict, by the method's name (§3.6.2,
// R72, R73, T27). Patch numbers do not count (R70).
func (s *Server) negotiate(r *http.Request, method []byte) (*version, error) {
	asked := askedVersion(r)
	if asked == "" {
		return s.unasked(method)
	}
	if v := s.spoken(asked); v != nil {
		return v, nil
	}
	return nil, s.noVersion(asked)
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

// spoken finds a version by the name that a peer gives it; nil if the server does not speak it.
func (s *Server) spoken(asked string) *version {
	for i := range s.versions {
		if name := s.versions[i].Name; asked == name || minorOf(asked) == name {
			return &s.versions[i]
		}
	}
	return nil
}

// unasked finds the version of a request that names none: it means 0.3 (R73), but the method's name may say more. Of the versions that have
// it, the oldest of those that know the A2A-Version header counts, because a client of a later one has all the more reason to name it; a strict
// server takes none of them. Else it is the newest of those that know no such header.
func (s *Server) unasked(method []byte) (*version, error) {
	const implied = "0.3"
	var found, named, unnamed *version
	for i := range s.versions {
		v := &s.versions[i]
		if v.Name == implied {
			found = v
		}
		switch _, ok := v.methods[string(method)]; {
		case !ok:
		case v.unnamed() && unnamed == nil:
			unnamed = v
		case !v.unnamed() && !s.strict:
			named = v
		}
	}
	switch {
	case named != nil:
		return named, nil
	case unnamed != nil:
		return unnamed, nil
	case found != nil:
		return found, nil
	case s.strict:
		return nil, s.noVersion(implied)
	}
	return &s.versions[0], nil
}

func (s *Server) noVersion(asked string) error {
	supported := s.spokenNames()
	return runtime.ErrVersionNotSupported.With("protocol version %.20q is not spoken here, supported: %s", asked, supported).
		WithMetadata("supportedVersions", supported).WithMetadata("requestedVersion", limit(asked, 20))
}

// minorOf cuts a patch number off: "1.0.1" is "1.0".
func minorOf(v string) string {
	major, rest, ok := strings.Cut(v, ".")
	if !ok {
		return v
	}
	minor, patch, ok := strings.Cut(rest, ".")
	if !ok {
		return v
	}
	if _, err := strconv.ParseUint(patch, 10, 16); err != nil {
		return v
	}
	return major + "." + minor
}

func limit(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// activate echoes the requested extensions that the agent has, in the order of the request, and refuses a request that does not declare
// a required one (R49; unknown ones are ignored).
func (q *request) activate() *runtime.Error {
	lines := slices.Concat(q.r.Header[headerExtensions], q.r.Header[headerExtensionsV0])
	if len(lines) == 0 && len(q.s.required) == 0 {
		return nil
	}
	var active []string
	for _, line := range lines {
		for uri := range strings.SplitSeq(line, ",") {
			uri = strings.TrimSpace(uri)
			if q.s.known[uri] && !slices.Contains(active, uri) {
				active = append(active, uri)
			}
		}
	}
	if len(active) > 0 {
		echo := []string{strings.Join(active, ", ")}
		q.w.Header()[headerExtensions] = echo
		if q.version.unnamed() {
			q.w.Header()[headerExtensionsV0] = echo
		}
	}
	for _, uri := range q.s.required {
		if !slices.ContainsFunc(active, func(named string) bool { return sameExtension(named, uri) }) {
			return runtime.ErrExtensionSupportRequired.With("the extension %s is required", uri).WithMetadata("extension", uri)
		}
	}
	return nil
}

// sameExtension reports whether two URIs name one extension: ours has two.
func sameExtension(a, b string) bool {
	return a == b || runtime.IsSkillsExtension(a) && runtime.IsSkillsExtension(b)
}

// owner names whose tasks the request means.
func (q *request) owner(tenant string) (store.Owner, error) {
	if q.s.tenants != nil && !q.s.tenants[tenant] {
		return store.Owner{}, violation("tenant", "is not a tenant of this agent")
	}
	return store.Owner{Tenant: tenant, Principal: q.caller}, checkName("tenant", tenant)
}
