package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// restRequest is one request over HTTP+JSON being answered (A2A 1.0 §11): method and path say which operation is meant,
// its parameters come from path, query and body.
type restRequest struct {
	exchange
	path  restPath
	route *route
}

// serveREST answers one request over HTTP+JSON. path is what follows that of the interface, encoded. The order of checks
// is caller, version, operation, parameters, as it is over JSON-RPC (T62).
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request, path string) {
	if r.Method == http.MethodOptions {
		s.restOptions(w, r, path)
		return
	}
	if !s.allowOrigin(w, r, "") {
		return
	}
	q := restRequest{exchange: s.exchange(w, r, runtime.BindingHTTP)}
	defer q.done()
	var whole bool
	q.path, whole = readPath(path)
	if err := q.identify(q.has); err != nil {
		q.fail(err)
		return
	}
	if r.Method == http.MethodGet { // answers to other methods are not kept
		w.Header()["Cache-Control"] = noStore
	}
	if !whole {
		q.fail(runtime.ErrInvalidRequest.With("the path is not encoded as a URL is"))
		return
	}
	if fault := q.resolve(); fault != nil {
		q.fail(fault)
		return
	}
	if q.route == nil {
		return // answered
	}
	if status, refusal := q.takeBody(); refusal != nil {
		q.refuse(status, refusal)
		return
	}
	if fault := q.assemble(); fault != nil {
		q.reject(fault)
		return
	}
	q.handle(&q)
}

// restOptions says which methods a path has, in all versions that are spoken.
func (s *Server) restOptions(w http.ResponseWriter, r *http.Request, path string) {
	var methods []string
	if p, ok := readPath(path); ok {
		for i := range s.rest {
			for _, m := range s.rest[i].allowed(p) {
				if !slices.Contains(methods, m) {
					methods = append(methods, m)
				}
			}
		}
	}
	if methods == nil {
		http.Error(w, "There is nothing here. "+s.directions(r), http.StatusNotFound)
		return
	}
	s.allowOrigin(w, r, strings.Join(methods, ", "))
}

// has reports whether a version has the path.
func (q *restRequest) has(v *engine.Version) bool { return q.s.rest[v.Index].has(q.path) }

// resolve finds version and operation, and checks the required extensions. A path that is there under another method is
// answered with 405.
func (q *restRequest) resolve() *runtime.Error {
	asked := askedVersion(q.r)
	v, err := q.s.engine.Choose(asked, q.has)
	if err != nil {
		return err
	}
	q.Version = v
	rs := &q.s.rest[v.Index]
	if len(rs.routes) == 0 && (asked != "" || slices.ContainsFunc(q.s.engine.Versions(), q.has)) {
		return runtime.ErrVersionNotSupported.With("A2A %s is not spoken over HTTP+JSON here", v.Name)
	}
	if asked == "" && !v.Unnamed() && q.isFormer() {
		return q.s.engine.NotSpoken(engine.ImpliedVersion)
	}
	routes := rs.routes
	if asked != "" {
		routes = rs.named
	}
	found, allowed := routes.find(q.r.Method, q.path)
	switch {
	case found != nil:
		q.route, q.Op = found, found.op
	case allowed != nil:
		methods := strings.Join(allowed, ", ")
		q.w.Header().Set("Allow", methods+", "+http.MethodOptions)
		q.refuse(http.StatusMethodNotAllowed,
			runtime.ErrMethodNotFound.With("%.20s is not for this path, but %s", q.r.Method, methods))
		return nil
	default:
		return runtime.ErrMethodNotFound.With("there is no %.20s %.100s in A2A %s", q.r.Method,
			"/"+strings.Join(q.path.segments, "/"), v.Name)
	}
	if err := q.activate(); err != nil {
		return err
	}
	return q.takeHeaders(&rs.coding)
}

// isFormer reports whether the path is one of the time when requests named no version, which would be that of a tenant
// now.
func (q *restRequest) isFormer() bool {
	return len(q.path.segments) > 1 && q.path.segments[0] == formerPrefix && !q.s.engine.DeclaresTenant(formerPrefix)
}

// takeBody reads the body of a route that has one. It returns with which status and error the request is refused, if it
// is. No body is an empty one.
func (q *restRequest) takeBody() (status int, refusal *runtime.Error) {
	if q.route.body == "" || q.r.ContentLength == 0 {
		return http.StatusOK, nil
	}
	if !jsonContent(q.r.Header["Content-Type"]) {
		return http.StatusUnsupportedMediaType,
			runtime.ErrContentTypeNotSupported.With("the content type must be application/json or application/a2a+json")
	}
	return q.receive()
}

// Frames of HTTP+JSON have nothing around a value.
func (q *restRequest) beginFrame(b []byte) []byte { return b }

func (q *restRequest) endFrame(b []byte) []byte { return b }

func (q *restRequest) appendError(dst []byte, e *runtime.Error) []byte {
	return q.appendStatus(dst, e, q.Status(e))
}

func (q *restRequest) status(e *runtime.Error) int { return q.Status(e).HTTP }

// appendStatus appends an error as the body of an answer with a status.
func (q *restRequest) appendStatus(dst []byte, e *runtime.Error, status runtime.Status) []byte {
	if q.former() {
		return e.AppendStatus03(dst, status)
	}
	return e.AppendStatus(dst, status)
}

// former reports whether the request is one of 0.3.
func (q *restRequest) former() bool { return q.Version != nil && q.Version.Unnamed() }

// errorEvent names the event of an error for clients of 0.3, which tell it by that.
func (q *restRequest) errorEvent() string {
	if q.former() {
		return "event: error\n"
	}
	return ""
}

// fail answers with an error, which has a status before the first event of a stream, too.
func (q *restRequest) fail(err error) {
	e, refused := q.told(err)
	q.refuse(cmp.Or(refused, q.status(e)), e)
}

func (q *restRequest) reject(e *runtime.Error) { q.fail(e) }

func (q *restRequest) refuse(status int, e *runtime.Error) {
	q.Fault(e)
	if h := q.w.Header(); status == http.StatusServiceUnavailable && len(h["Retry-After"]) == 0 {
		h["Retry-After"] = retryAfter
	}
	q.write(status, q.appendStatus(nil, e, runtime.Status{HTTP: status, Code: q.Status(e).Code}))
}

func (q *restRequest) release() { q.drop() }
