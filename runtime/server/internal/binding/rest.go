package binding

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
)

// Binding answers HTTP+JSON for an agent.
type REST struct {
	agent  *Agent
	tables []table // by version
}

// New makes the binding of an agent.
func NewREST(a *Agent) *REST {
	b := &REST{agent: a}
	for _, v := range a.Versions() {
		b.tables = append(b.tables, newTable(v))
	}
	return b
}

// request is one request over HTTP+JSON being answered: method and path say which operation is meant, its parameters
// come from path, query and body.
type restRequest struct {
	HTTPRequest
	b     *REST
	path  requestPath
	route *route
}

// Serve answers one request. rest is what follows the path of the interface, encoded. The order of checks is caller,
// version, operation, parameters, as it is over JSON-RPC (T62).
func (b *REST) Serve(w http.ResponseWriter, r *http.Request, rest string) {
	q := &restRequest{b: b}
	q.Begin(b.agent, w, r, runtime.BindingHTTP)
	defer q.Finish()
	var whole bool
	q.path, whole = readPath(rest)
	if err := q.Identify(q.has); err != nil {
		q.Fail(err)
		return
	}
	if r.Method == http.MethodGet { // answers to other methods are not kept
		w.Header()["Cache-Control"] = []string{"no-store"}
	}
	if !whole {
		q.Fail(runtime.ErrInvalidRequest.With("the path is not encoded as a URL is"))
		return
	}
	if fault := q.resolve(); fault != nil {
		q.Fail(fault)
		return
	}
	if q.route == nil {
		return // answered
	}
	if status, refusal := q.takeBody(); refusal != nil {
		q.Refuse(status, refusal)
		return
	}
	if fault := q.assemble(); fault != nil {
		q.Reject(fault)
		return
	}
	q.Handle(q)
}

// Methods are those that a path below that of the interface has, encoded, in all versions that are spoken.
func (b *REST) Methods(rest string) (methods []string) {
	p, ok := readPath(rest)
	if !ok {
		return nil
	}
	for i := range b.tables {
		_, allowed := b.tables[i].find("", p)
		for _, m := range allowed {
			if !slices.Contains(methods, m) {
				methods = append(methods, m)
			}
		}
	}
	return methods
}

// has reports whether a version has the path.
func (q *restRequest) has(v *engine.Version) bool { return q.b.tables[v.Index].has(q.path) }

// resolve finds version and operation, and checks the required extensions. A path that is there under another method is
// answered with 405.
func (q *restRequest) resolve() *runtime.Error {
	asked := q.Asked
	v, err := q.Agent.Negotiate(asked, q.has)
	if err != nil {
		return err
	}
	q.Version = v
	rs := &q.b.tables[v.Index]
	if len(rs.routes) == 0 && (asked != "" || slices.ContainsFunc(q.Agent.Versions(), q.has)) {
		return runtime.ErrVersionNotSupported.With("A2A %s is not spoken over HTTP+JSON here", v.Name)
	}
	if asked == "" && !v.Unnamed && q.isFormer() {
		return q.Agent.NotSpoken(engine.ImpliedVersion)
	}
	routes := rs.routes
	if asked != "" {
		routes = rs.named
	}
	found, allowed := routes.find(q.R.Method, q.path)
	switch {
	case found != nil:
		q.route, q.Op = found, found.op
	case allowed != nil:
		methods := strings.Join(allowed, ", ")
		q.W.Header().Set("Allow", methods+", "+http.MethodOptions)
		q.Refuse(http.StatusMethodNotAllowed,
			runtime.ErrMethodNotFound.With("%.20s is not for this path, but %s", q.R.Method, methods))
		return nil
	default:
		return runtime.ErrMethodNotFound.With("there is no %.20s %.100s in A2A %s", q.R.Method,
			"/"+strings.Join(q.path.segments, "/"), v.Name)
	}
	if err := q.Activate(); err != nil {
		return err
	}
	return q.TakeHeaders(&rs.coding)
}

// isFormer reports whether the path is one of the time when requests named no version, which would be that of a tenant
// now.
func (q *restRequest) isFormer() bool {
	return len(q.path.segments) > 1 && q.path.segments[0] == formerPrefix && !q.Agent.DeclaresTenant(formerPrefix)
}

// takeBody reads the body of a route that has one. It returns with which status and error the request is refused, if it
// is. No body is an empty one.
func (q *restRequest) takeBody() (status int, refusal *runtime.Error) {
	if q.route.body == "" || q.R.ContentLength == 0 {
		return http.StatusOK, nil
	}
	if !jsonContent(q.R.Header["Content-Type"]) {
		return http.StatusUnsupportedMediaType,
			runtime.ErrContentTypeNotSupported.With("the content type must be application/json or application/a2a+json")
	}
	return q.Receive()
}

// Frames of HTTP+JSON have nothing around a value.
func (q *restRequest) BeginFrame(b []byte) []byte { return b }

func (q *restRequest) EndFrame(b []byte) []byte { return b }

func (q *restRequest) AppendError(dst []byte, e *runtime.Error) []byte {
	return q.appendStatus(dst, e, q.Request.Status(e))
}

// HTTPStatus is what an error is answered with.
func (q *restRequest) HTTPStatus(e *runtime.Error) int { return q.Request.Status(e).HTTP }

// appendStatus appends an error as the body of an answer with a status.
func (q *restRequest) appendStatus(dst []byte, e *runtime.Error, status errorformat.Status) []byte {
	if q.former() {
		return errorformat.AppendStatus03(dst, e, status)
	}
	return errorformat.AppendStatus(dst, e, status)
}

// former reports whether the request is one of 0.3.
func (q *restRequest) former() bool { return q.Version != nil && q.Version.Unnamed }

// ErrorEvent names the event of an error for clients of 0.3, which tell it by that.
func (q *restRequest) ErrorEvent() string {
	if q.former() {
		return "event: error\n"
	}
	return ""
}

// Fail answers with an error, which has a status before the first event of a stream, too.
func (q *restRequest) Fail(err error) {
	e, refused := q.ToldHTTP(err)
	q.Refuse(cmp.Or(refused, q.HTTPStatus(e)), e)
}

func (q *restRequest) Reject(e *runtime.Error) { q.Fail(e) }

func (q *restRequest) Refuse(status int, e *runtime.Error) {
	q.Fault(e)
	if h := q.W.Header(); status == http.StatusServiceUnavailable && len(h["Retry-After"]) == 0 {
		h["Retry-After"] = []string{"1"}
	}
	q.Write(status, q.appendStatus(nil, e, errorformat.Status{HTTP: status, Code: q.Request.Status(e).Code}))
}

func (q *restRequest) Release() { q.DropBody() }
