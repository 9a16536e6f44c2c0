// Package jsonrpc is the JSON-RPC binding (A2A 1.0 §9): envelopes, methods and their errors.
package jsonrpc

import (
	"bytes"
	"net/http"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/runtime/server/internal/httpbinding"
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
	if fault = q.tolerate(env, fault); fault != nil {
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

// tolerate accepts requests of 0.1 without jsonrpc, and answers those without an id, as its schema allows. It returns
// what is wrong with the envelope.
func (q *request) tolerate(env envelope, fault *runtime.Error) *runtime.Error {
	if q.Version.Rules.ClientIDs {
		q.Silent = false
		return fault
	}
	if fault == nil && env.bare {
		return runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	}
	return fault
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
