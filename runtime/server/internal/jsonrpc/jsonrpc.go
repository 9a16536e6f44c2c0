// Package jsonrpc is the JSON-RPC binding (A2A 1.0 §9): envelopes, methods and their errors.
package jsonrpc

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/runtime/server/internal/httpbinding"
	"github.com/a2agen/a2agen/runtime/sse"
)

// Binding answers JSON-RPC for an agent.
type Binding struct {
	agent   *binding.Agent
	methods []map[string]*runtime.Operation // by version and name
	codings []engine.Coding                 // of events, by version
}

// New makes the binding of an agent.
func New(a *binding.Agent) *Binding {
	b := &Binding{agent: a}
	for _, v := range a.Versions() {
		b.methods = append(b.methods, methodsOf(v))
		b.codings = append(b.codings, httpbinding.LineCoding(v, v.Over(runtime.BindingJSONRPC)))
	}
	return b
}

// request is one JSON-RPC call being answered. A notification, which has no id, is silent.
type request struct {
	httpbinding.Request
	b  *Binding
	id []byte // raw; "null" when it could not be read
}

// noID stands for the id of a request that has none, or that could not be read.
var noID = []byte("null")

// Release gives the body back, of which the id is a slice.
func (q *request) Release() {
	if q.Body != nil {
		q.id = bytes.Clone(q.id)
		q.DropBody()
	}
}

// ServeHTTP answers one JSON-RPC request, a POST. Errors of the protocol have HTTP status 200; other statuses are for
// what is not JSON-RPC at all. The order of checks is version, caller, method, parameters (T62).
func (b *Binding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{b: b, id: noID}
	q.Begin(b.agent, w, r, runtime.BindingJSONRPC)
	defer q.Finish()
	if !httpbinding.JSONContent(r.Header["Content-Type"]) {
		wrong := runtime.ErrContentTypeNotSupported.With("the content type must be application/json")
		q.Refuse(http.StatusUnsupportedMediaType, wrong)
		return
	}
	if err := q.Identify(unread); err != nil {
		q.Fail(err)
		return
	}
	if status, refusal := q.Receive(); refusal != nil {
		q.Refuse(status, refusal)
		return
	}
	env, fault := readEnvelope(*q.Body)
	if env.id != nil && (fault == nil || fault.Code != runtime.ErrParse.Code) {
		q.id = env.id
	}
	q.Silent = env.id == nil
	if fault := q.resolve(env, fault); fault != nil {
		q.Reject(fault)
		return
	}
	q.Handle(q)
}

// unread reports false: the method is not known before the body is read.
func unread(*engine.Version) bool { return false }

// resolve finds version and operation, and checks the required extensions.
func (q *request) resolve(env envelope, fault *runtime.Error) *runtime.Error {
	has := func(v *engine.Version) bool { return q.b.methods[v.Index][string(env.method)] != nil }
	v, err := q.Agent.Negotiate(q.Asked, has)
	if err != nil {
		return err
	}
	q.Version = v
	switch {
	case v.Rules.ClientIDs: // 0.1 allows requests without jsonrpc, and its schema those without an id, which are answered
		q.Silent = false
	case fault == nil && env.bare:
		fault = runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	}
	if fault != nil {
		return fault
	}
	q.Params = env.params
	if q.Op = q.b.methods[v.Index][string(env.method)]; q.Op == nil {
		return q.UnlessParse(q.unknownMethod(env.method, q.Asked))
	}
	if err := q.Activate(); err != nil {
		return q.UnlessParse(err)
	}
	if q.Params == nil {
		q.Params = []byte("{}")
	}
	if q.Asked == "" {
		q.recognise()
	}
	if err := q.TakeHeaders(&q.b.codings[q.Version.Index]); err != nil {
		return q.UnlessParse(err)
	}
	return nil
}

// recognise corrects the version of a request that names none, where several versions have the method: tasks/get is one
// of 0.1 and of 0.3.
func (q *request) recognise() {
	named := q.Agent.ByClient()
	if named == nil || q.Version == named {
		return
	}
	if !q.Op.Role.OfTask() {
		return
	}
	op := q.b.methods[named.Index][q.Op.RPC]
	if op == nil {
		return
	}
	params, err := op.Decode(q.Params)
	if p, ok := params.(*runtime.TaskRequest); ok && err == nil && q.Foreign(p) {
		q.Version, q.Op = named, op
	}
}

// unknownMethod returns the error for a method that the request's version does not have. It names the versions that
// have it, and those that are spoken here. A request without a version, and with a method of before 1.0, is one of a
// version that is not spoken here (R72, R73).
func (q *request) unknownMethod(method []byte, asked string) *runtime.Error {
	if age := methodAges[string(method)]; age != "" && asked == "" && !q.Version.Unnamed() {
		return q.Agent.NotSpoken(engine.ImpliedVersion).With("%s is a method of A2A %s, and the request names no version; this agent speaks %s",
			method, age, q.Agent.SpokenNames())
	}
	if age := methodAges[string(method)]; age != "" {
		return runtime.ErrMethodNotFound.With("%s is a method of A2A %s, the request is one of %s; this agent speaks %s",
			method, age, q.Version.Name, q.Agent.SpokenNames())
	}
	return runtime.ErrMethodNotFound.With("there is no %.100q in A2A %s", method, q.Version.Name)
}

// methodsOf are the operations of a version by method.
func methodsOf(v *engine.Version) map[string]*runtime.Operation {
	methods := make(map[string]*runtime.Operation, len(v.Operations))
	for _, op := range v.Operations {
		methods[op.RPC] = op
	}
	return methods
}

// Pieces of a JSON-RPC response.
const (
	responseHead   = `{"jsonrpc":"2.0","id":`
	responseResult = `,"result":`
	responseError  = `,"error":`
)

// BeginFrame appends the head of a response: every event of a stream is one, too (A2A 1.0 §9.4.2).
func (q *request) BeginFrame(b []byte) []byte {
	b = append(b, responseHead...)
	b = append(b, q.id...)
	return append(b, responseResult...)
}

func (q *request) EndFrame(b []byte) []byte { return append(b, '}') }

// Fail answers with an error. A client of a stream that takes event streams gets it as the only event: some see nothing
// in a plain body.
func (q *request) Fail(err error) {
	e, refused := q.ToldHTTP(err)
	if refused != 0 {
		q.Refuse(refused, e)
		return
	}
	if q.Silent {
		q.W.WriteHeader(http.StatusNoContent)
		return
	}
	body := q.AppendError(nil, e)
	if q.Op != nil && q.Op.Stream && strings.Contains(q.R.Header.Get("Accept"), sse.ContentType) {
		q.StreamHeader()
		_, _ = q.W.Write(sse.AppendEvent(nil, "", body))
		return
	}
	q.Write(http.StatusOK, body)
}

// Reject answers what is wrong before the operation begins: to a client that gave no id, too, because it may have
// forgotten it.
func (q *request) Reject(e *runtime.Error) {
	q.Silent = false
	if e.Code == runtime.ErrParse.Code {
		q.id = noID
	}
	q.Fail(e)
}

func (q *request) ErrorEvent() string { return "" }

func (q *request) HTTPStatus(*runtime.Error) int { return http.StatusOK }

// Refuse answers what is not a JSON-RPC request with an HTTP status, and a JSON-RPC error as the body.
func (q *request) Refuse(status int, e *runtime.Error) {
	q.Fault(e)
	q.Write(status, q.AppendError(nil, e))
}

func (q *request) AppendError(dst []byte, e *runtime.Error) []byte {
	dst = append(dst, responseHead...)
	dst = append(dst, q.id...)
	dst = append(dst, responseError...)
	if q.Version != nil && q.Version.Rules.PlainErrors {
		return append(errorformat.AppendPlain(dst, e), '}')
	}
	return append(errorformat.AppendJSON(dst, e), '}')
}
