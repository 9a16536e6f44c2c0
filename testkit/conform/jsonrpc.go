package conform

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
)

// wire carries operations over a binding. call fills in what came.
type wire interface {
	call(p *probe, x *exchange, of *operation, params object, o options)
}

// jsonrpcWire is JSON-RPC 2.0 over HTTP.
type jsonrpcWire struct{}

// rpcMethod is the name of an operation in JSON-RPC: that of the schema, or of the rpc in a proto.
func rpcMethod(of *operation) string {
	if of.rpc != "" {
		return of.rpc
	}
	return of.name
}

func (jsonrpcWire) call(p *probe, x *exchange, of *operation, params object, o options) {
	id := o.id
	if id == nil {
		id = p.newID()
	}
	request := object{"jsonrpc": "2.0", "id": id, "method": rpcMethod(of)}
	if params != nil && of.request != "empty" {
		request["params"] = params
	}
	accept := "application/json"
	if of.stream {
		accept = "application/json, text/event-stream"
	}
	h := p.headers(o)
	set(h, "Content-Type", "application/json")
	set(h, "Accept", accept)
	p.roundTrip(x, http.MethodPost, p.URL, h, encode(request), o)
	x.readRPC(p, id)
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
	x := t.newExchange("")
	h := t.headers(o)
	set(h, "Content-Type", "application/json")
	set(h, "Accept", "application/json")
	t.roundTrip(x, http.MethodPost, t.URL, h, []byte(body), o)
	x.readRPC(t.probe, id)
	t.inspect(x, nil)
	t.answered(x)
	return x
}

// readRPC reads the envelopes of an answer.
func (x *exchange) readRPC(p *probe, id any) {
	if x.status == 0 {
		return
	}
	if x.isStream() {
		for i := range x.events {
			s := &x.events[i]
			s.raw, s.failure = x.envelope(s.raw, id)
			s.event, _ = p.dialect.event(x.op, s.raw)
		}
		return
	}
	if x.status == http.StatusUnauthorized || x.status == http.StatusForbidden {
		x.failure = &failure{http: x.status, message: http.StatusText(x.status), typed: true}
		return
	}
	x.check("answer.media-type", isJSON(mediaType(x.header)) || len(x.body) == 0, "the answer has the media type %q", x.header.Get("Content-Type"))
	v, ok := x.decoded()
	switch {
	case !ok:
		x.failure = x.httpFailure()
	case v == nil && x.status != http.StatusOK:
		x.failure = x.httpFailure()
	case v == nil:
	default:
		x.result, x.failure = x.envelope(v, id)
	}
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
	var got any
	got, hasID := o["id"]
	x.check("answer.id", hasID && sameID(id, got), "the id is %s, that of the request %s", encode(got), encode(id))
	if !hasError || e == nil {
		return result, nil
	}
	return nil, x.rpcError(e)
}

// sameID compares ids by their JSON. nil is what a request that cannot be read is answered with.
func sameID(want, got any) bool { return want == anyID || bytes.Equal(encode(want), encode(got)) }

// anyID is for a request whose id an agent may or may not be able to read.
const anyID = "any id"

// rpcError reads the error of a response.
func (x *exchange) rpcError(e any) *failure {
	o, ok := e.(object)
	code, isNumber := number(o["code"])
	message, isText := o["message"].(string)
	x.check("answer.error", ok && isNumber && isText, "an error has a code, a number, and a message, a string")
	f := &failure{code: code, message: message, typed: true}
	data, there := o["data"]
	if !there || data == nil {
		return f
	}
	f.details, ok = data.([]any)
	f.readDetails(ok)
	return f
}

// readDetails looks for what tells errors apart (R43, R154).
func (f *failure) readDetails(isList bool) {
	f.typed = isList
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
	if !ok {
		x.problem(id, format, args...)
	} else if x.noted()[id] == nil {
		x.problems[id] = []string{}
	}
}

func (x *exchange) problem(id, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if known := x.noted()[id]; len(known) < maxProblems && !slices.Contains(known, text) {
		x.problems[id] = append(known, text)
	}
}

func (x *exchange) noted() map[string][]string {
	if x.problems == nil {
		x.problems = map[string][]string{}
	}
	return x.problems
}

func (x *exchange) isStream() bool {
	return x.streams || x.header != nil && mediaType(x.header) == "text/event-stream"
}

// newID makes the id of a request.
func (p *probe) newID() any {
	p.ids++
	return fmt.Sprintf("conform-%d", p.ids)
}
