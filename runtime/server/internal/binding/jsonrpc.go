package binding

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Binding answers JSON-RPC for an agent.
type JSONRPC struct {
	agent   *Agent
	methods []map[string]*runtime.Operation // by version and name
	codings []engine.Coding                 // of events, by version
}

// New makes the binding of an agent.
func NewJSONRPC(a *Agent) *JSONRPC {
	b := &JSONRPC{agent: a}
	for _, v := range a.Versions() {
		methods := make(map[string]*runtime.Operation, len(v.Operations))
		for _, op := range v.Operations {
			methods[op.RPC] = op
		}
		b.methods = append(b.methods, methods)
		b.codings = append(b.codings, lineCoding(v, v.Over(runtime.BindingJSONRPC)))
	}
	return b
}

// request is one JSON-RPC call being answered. A notification, which has no id, is silent.
type rpcRequest struct {
	HTTPRequest
	b  *JSONRPC
	id []byte // raw; "null" when it could not be read
}

// noID stands for the id of a request that has none, or that could not be read.
var noID = []byte("null")

// Release gives the body back, of which the id is a slice.
func (q *rpcRequest) Release() {
	if q.Body != nil {
		q.id = bytes.Clone(q.id)
		q.DropBody()
	}
}

// ServeHTTP answers one JSON-RPC request, a POST. Errors of the protocol have HTTP status 200; other statuses are for
// what is not JSON-RPC at all. The order of checks is version, caller, method, parameters (T62).
func (b *JSONRPC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &rpcRequest{b: b, id: noID}
	q.Begin(b.agent, w, r, runtime.BindingJSONRPC)
	defer q.Finish()
	if !jsonContent(r.Header["Content-Type"]) {
		wrong := runtime.ErrContentTypeNotSupported.With("the content type must be application/json")
		q.Refuse(http.StatusUnsupportedMediaType, wrong)
		return
	}
	notRead := func(*engine.Version) bool { return false } // the method, which is in the body
	if err := q.Identify(notRead); err != nil {
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

// resolve finds version and operation, and checks the required extensions.
func (q *rpcRequest) resolve(env envelope, fault *runtime.Error) *runtime.Error {
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
func (q *rpcRequest) recognise() {
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
func (q *rpcRequest) unknownMethod(method []byte, asked string) *runtime.Error {
	if age := methodAges[string(method)]; age != "" && asked == "" && !q.Version.Unnamed {
		return q.Agent.NotSpoken(engine.ImpliedVersion).With("%s is a method of A2A %s, and the request names no version; this agent speaks %s",
			method, age, q.Agent.SpokenNames())
	}
	if age := methodAges[string(method)]; age != "" {
		return runtime.ErrMethodNotFound.With("%s is a method of A2A %s, the request is one of %s; this agent speaks %s",
			method, age, q.Version.Name, q.Agent.SpokenNames())
	}
	return runtime.ErrMethodNotFound.With("there is no %.100q in A2A %s", method, q.Version.Name)
}

// Pieces of a JSON-RPC response.
const (
	responseHead   = `{"jsonrpc":"2.0","id":`
	responseResult = `,"result":`
	responseError  = `,"error":`
)

// BeginFrame appends the head of a response: every event of a stream is one, too (A2A 1.0 §9.4.2).
func (q *rpcRequest) BeginFrame(b []byte) []byte {
	b = append(b, responseHead...)
	b = append(b, q.id...)
	return append(b, responseResult...)
}

func (q *rpcRequest) EndFrame(b []byte) []byte { return append(b, '}') }

// Fail answers with an error. A client of a stream that takes event streams gets it as the only event: some see nothing
// in a plain body.
func (q *rpcRequest) Fail(err error) {
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
func (q *rpcRequest) Reject(e *runtime.Error) {
	q.Silent = false
	if e.Code == runtime.ErrParse.Code {
		q.id = noID
	}
	q.Fail(e)
}

func (q *rpcRequest) ErrorEvent() string { return "" }

func (q *rpcRequest) HTTPStatus(*runtime.Error) int { return http.StatusOK }

// Refuse answers what is not a JSON-RPC request with an HTTP status, and a JSON-RPC error as the body.
func (q *rpcRequest) Refuse(status int, e *runtime.Error) {
	q.Fault(e)
	q.Write(status, q.AppendError(nil, e))
}

func (q *rpcRequest) AppendError(dst []byte, e *runtime.Error) []byte {
	dst = append(dst, responseHead...)
	dst = append(dst, q.id...)
	dst = append(dst, responseError...)
	if q.Version != nil && q.Version.Rules.PlainErrors {
		return append(errorformat.AppendPlain(dst, e), '}')
	}
	return append(errorformat.AppendJSON(dst, e), '}')
}

// envelope is a JSON-RPC 2.0 request, as slices of the body.
type envelope struct {
	id     []byte // byte for byte as it came (T54); nil: a notification
	method []byte // unquoted
	params []byte // one JSON value, not checked yet; nil: none
	bare   bool   // there is no jsonrpc member, which nothing but 0.1 allows
}

// readEnvelope reads the members of a request in one pass, and applies the rules of JSON-RPC to them. What is inside params is only measured: its decoder checks
// it, so that nothing is looked at twice. On an error the id is there if it could be read.
func readEnvelope(body []byte) (envelope, *runtime.Error) {
	var r wire.Reader
	r.Reset(body)
	var e envelope
	var version, method []byte
	ids, twice := 0, false
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		var to *[]byte
		switch string(key) {
		case "jsonrpc":
			to = &version
		case "id":
			to = &e.id
			ids++
		case "method":
			to = &method
		case "params":
			twice = twice || e.params != nil
			e.params = r.Deferred()
			continue
		default:
			r.Unknown(key)
			continue
		}
		twice = twice || *to != nil
		*to = r.Raw()
	}
	if ids > 1 || !validID(e.id) {
		e.id = nil
	}
	switch err := r.Done(); {
	case err != nil:
		return e, unreadable(body, err)
	case twice:
		return e, runtime.ErrInvalidRequest.With("a member is given more than once")
	case ids > 0 && e.id == nil:
		return e, runtime.ErrInvalidRequest.With("id must be a string, a number or null, of at most %d bytes", maxID)
	}
	if len(method) > 2 && method[0] == '"' && bytes.IndexByte(method, '\\') < 0 {
		e.method = method[1 : len(method)-1]
	} else if name := ""; method != nil && json.Unmarshal(method, &name) == nil {
		e.method = []byte(name)
	}
	switch {
	case version != nil && string(version) != `"2.0"`:
		return e, runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	case len(e.method) == 0:
		return e, runtime.ErrInvalidRequest.With("method must be a string")
	case string(e.params) == "null":
		e.params = nil // some clients write null for "no parameters" (T66)
	case len(e.params) > 0 && e.params[0] != '{':
		if !isJSON(e.params) {
			return e, runtime.ErrParse
		}
		return e, runtime.ErrInvalidParams.With("params must be an object")
	}
	e.bare = version == nil
	return e, nil
}

// validID reports whether raw, which is JSON, is a string, number or null that is not too long.
func validID(raw []byte) bool {
	if len(raw) == 0 || len(raw) > maxID {
		return false
	}
	switch c := raw[0]; c {
	case '"', '-', 'n':
		return true
	default:
		return c >= '0' && c <= '9'
	}
}

// maxID is the longest id that is echoed, in bytes: every event of a stream repeats it.
const maxID = 1024

// unreadable returns the error for a body that is no request: a parse error if it is no JSON.
func unreadable(body []byte, err error) *runtime.Error {
	if !isJSON(body) {
		return runtime.ErrParse
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return runtime.ErrInvalidRequest.With("batches are not supported, send one request at a time")
	}
	if found := (*wire.Error)(nil); errors.As(err, &found) {
		return runtime.ErrInvalidRequest.With("%s", found.Reason)
	}
	return runtime.ErrInvalidRequest
}
