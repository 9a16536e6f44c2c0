package server

import (
	"bytes"
	"net/http"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// request is one JSON-RPC call being answered (A2A 1.0 §9). A notification, which has no id, is silent.
type request struct {
	exchange
	id []byte // raw; "null" when it could not be read
}

// noID stands for the id of a request that has none, or that could not be read.
var noID = []byte("null")

// release lets go of the body, for an answer that may take long. The id is a slice of it.
func (q *request) release() {
	if q.body != nil {
		q.id = bytes.Clone(q.id)
		q.drop()
	}
}

// serveRPC answers one JSON-RPC request. Errors of the protocol have HTTP status 200; other statuses are for what is
// not JSON-RPC at all. The order of checks is version, caller, method, parameters (T62).
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request) {
	if !s.allowOrigin(w, r, http.MethodPost) {
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
	q := request{exchange: s.exchange(w, r, runtime.BindingJSONRPC), id: noID}
	defer q.done()
	if !jsonContent(r.Header["Content-Type"]) {
		wrong := runtime.ErrContentTypeNotSupported.With("the content type must be application/json")
		q.refuse(http.StatusUnsupportedMediaType, wrong)
		return
	}
	if err := q.identify(unread); err != nil {
		q.fail(err)
		return
	}
	if status, refusal := q.receive(); refusal != nil {
		q.refuse(status, refusal)
		return
	}
	env, fault := readEnvelope(*q.body)
	if env.id != nil && (fault == nil || fault.Code != runtime.ErrParse.Code) {
		q.id = env.id
	}
	q.Silent = env.id == nil
	if fault := q.resolve(env, fault); fault != nil {
		q.reject(fault)
		return
	}
	q.handle(&q)
}

// unread: which version has the method is not known before the body is read.
func unread(*engine.Version) bool { return false }

// resolve finds version and operation, and checks the required extensions.
func (q *request) resolve(env envelope, fault *runtime.Error) *runtime.Error {
	asked := askedVersion(q.r)
	has := func(v *engine.Version) bool { return q.s.methods[v.Index][string(env.method)] != nil }
	v, err := q.s.engine.Choose(asked, has)
	if err != nil {
		return err
	}
	q.Version = v
	if fault = q.tolerate(env, fault); fault != nil {
		return fault
	}
	q.params = env.params
	if q.Op = q.s.methods[v.Index][string(env.method)]; q.Op == nil {
		return q.unlessParse(q.unknownMethod(env.method, asked))
	}
	if err := q.activate(); err != nil {
		return q.unlessParse(err)
	}
	if q.params == nil {
		q.params = []byte("{}")
	}
	if asked == "" {
		q.recognise()
	}
	if err := q.takeHeaders(&q.s.codings[q.Version.Index]); err != nil {
		return q.unlessParse(err)
	}
	return nil
}

// tolerate lets 0.1 leave out jsonrpc, and the id of a request that wants an answer, as its schema does. It returns
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

// recognise corrects the version of a request that names none, where the method's name says too little: tasks/get is
// one of 0.1 and of 0.3.
func (q *request) recognise() {
	named := q.s.engine.ByClient()
	if named == nil || q.Version == named {
		return
	}
	switch q.Op.Role {
	case runtime.RoleGet, runtime.RoleCancel, runtime.RoleSubscribe:
	default:
		return
	}
	op := q.s.methods[named.Index][q.Op.RPC]
	if op == nil {
		return
	}
	params, err := op.Decode(q.params)
	if p, ok := params.(*runtime.TaskRequest); ok && err == nil && q.Foreign(p) {
		q.Version, q.Op = named, op
	}
}
