package conform

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
)

// wire carries an operation over a binding, and fills in what came.
type wire func(p *probe, x *exchange, of *operation, params object, o options)

// rpcMethod is the name of an operation in JSON-RPC: that of the schema, or of the rpc in a proto.
func rpcMethod(of *operation) string {
	if of.rpc != "" {
		return of.rpc
	}
	return of.name
}

// callRPC is the wire of JSON-RPC 2.0 over HTTP.
func callRPC(p *probe, x *exchange, of *operation, params object, o options) {
	id := o.id
	if id == nil {
		p.ids++
		id = fmt.Sprintf("conform-%d", p.ids)
	}
	request := object{"jsonrpc": "2.0", "id": id, "method": rpcMethod(of)}
	if of.request != "empty" {
		request["params"] = params
	}
	accept := "application/json"
	if of.stream {
		accept = "application/json, text/event-stream"
	}
	p.post(x, encode(request), id, accept, o)
}

// post posts a body to an interface of JSON-RPC and reads the envelopes of the answer to a request with the id.
func (p *probe) post(x *exchange, body []byte, id any, accept string, o options) {
	h := p.headers(o)
	set(h, "Content-Type", "application/json")
	set(h, "Accept", accept)
	x.read = func(s *streamed) {
		s.raw, s.failure = x.envelope(s.raw, id)
		s.event, _ = p.dialect.event(x.op, s.raw)
	}
	p.roundTrip(x, http.MethodPost, p.URL, h, body, o)
	if x.status == 0 || x.isStream() {
		return
	}
	if x.status == http.StatusUnauthorized || x.status == http.StatusForbidden {
		x.failure = x.httpFailure()
		return
	}
	x.check("answer.media-type", isJSON(mediaType(x.header)) || len(x.body) == 0, "the answer has the media type %q", x.header.Get("Content-Type"))
	switch v, ok := x.decoded(); {
	case !ok, v == nil && x.status != http.StatusOK:
		x.failure = x.httpFailure()
	case v != nil:
		x.result, x.failure = x.envelope(v, id)
	}
}

// set sets a header that the options did not set.
func set(h http.Header, name, value string) {
	if _, there := h[http.CanonicalHeaderKey(name)]; !there {
		h.Set(name, value)
	}
}

// header is one that a request has.
func header(name, value string) http.Header {
	h := http.Header{}
	h.Set(name, value)
	return h
}

// rawRPC posts a body as it is to an interface of JSON-RPC and reads the answer to a request with the id. It ends the check if none comes.
func (t *trial) rawRPC(body string, id any, opts ...options) *exchange {
	var o options
	if len(opts) > 0 {
		o = opts[0]
	}
	x := &exchange{dialect: t.dialect}
	t.post(x, []byte(body), id, "application/json", o)
	t.inspect(x, nil)
	t.answered(x)
	return x
}

// httpFailure is an error that has nothing but a status of HTTP.
func (x *exchange) httpFailure() *failure {
	return &failure{http: x.status, message: http.StatusText(x.status), typed: true}
}

// envelope takes a JSON-RPC response apart and holds it to JSON-RPC 2.0 (R153, Q32).
func (x *exchange) envelope(v any, id any) (result any, f *failure) {
	o, ok := v.(object)
	x.check("answer.envelope", ok, "the answer is no JSON-RPC response but %s", kindOf(v))
	if !ok {
		return nil, &failure{message: "no response", typed: true}
	}
	x.check("answer.envelope", o["jsonrpc"] == "2.0", "jsonrpc is %s, not \"2.0\"", encode(o["jsonrpc"]))
	result, hasResult := o["result"]
	e, hasError := o["error"]
	// Some answer a deletion with neither (T61).
	neither := !hasResult && !hasError && x.op == opPushDelete
	x.check("answer.envelope", hasResult != hasError || neither || hasError && result == nil, "a response has either result or error")
	got, hasID := o["id"]
	x.check("answer.id", hasID && (id == anyID || bytes.Equal(encode(id), encode(got))), "the id is %s, that of the request %s", encode(got), encode(id))
	if !hasError || e == nil {
		return result, nil
	}
	_, ok = e.(object)
	code, isNumber := number(member(e, "code"))
	message, isText := member(e, "message").(string)
	x.check("answer.error", ok && isNumber && isText, "an error has a code, a number, and a message, a string")
	f = &failure{code: code, message: message, typed: true}
	f.readDetails(member(e, "data"))
	return nil, f
}

// anyID is for a request whose id an agent may or may not be able to read. A request that cannot be read is answered with null.
const anyID = "any id"

// readDetails reads the details of an error and looks for what tells errors apart (R43, R154).
func (f *failure) readDetails(details any) {
	if details == nil {
		return
	}
	f.details, f.typed = details.([]any)
	for _, d := range f.details {
		kind := text(d, "@type")
		f.typed = f.typed && kind != ""
		if kind == errorInfoType {
			f.reason = text(d, "reason")
		}
	}
}

// The types of details (A2A 1.0 §5.4).
const (
	errorInfoType  = "type.googleapis.com/google.rpc.ErrorInfo"
	badRequestType = "type.googleapis.com/google.rpc.BadRequest"
)

// detail returns that with a type; nil if there is none.
func (f *failure) detail(kind string) object {
	for _, d := range objects(f.details) {
		if text(d, "@type") == kind {
			return d
		}
	}
	return nil
}

// check notes that an answer was held to a check, and what was wrong.
func (x *exchange) check(id string, ok bool, format string, args ...any) {
	if x.problems == nil {
		x.problems = map[string][]string{}
	}
	known := x.problems[id]
	if problem := fmt.Sprintf(format, args...); !ok && len(known) < maxProblems && !slices.Contains(known, problem) {
		known = append(known, problem)
	}
	x.problems[id] = known
}

func (x *exchange) isStream() bool {
	return x.streams || x.header != nil && mediaType(x.header) == "text/event-stream"
}
