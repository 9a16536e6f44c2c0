package broken

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/a2agen/a2agen/runtime"
)

// exchange is a request on its way to the agent, and its answer on the way back.
type exchange struct {
	version, binding string
	op               string // by its name in 1.0: "GetTask"; empty: no operation is asked for
	request          *http.Request
	envelope         map[string]any                // of JSON-RPC
	params           map[string]any                // of JSON-RPC, or the body; nil if there is none
	method           protoreflect.MethodDescriptor // of gRPC
	seen             int                           // events of the stream that have come
	held             any                           // an event that is sent later
	ofKind           int                           // events of a kind that have come
}

// proxy is the way to the agent, on which a row breaks one thing.
type proxy struct {
	row      *row
	agent    *url.URL
	here     string // the proxy's own host and port
	http1    *http.Transport
	http2    *http.Transport // in clear text, for gRPC
	onward   *httputil.ReverseProxy
	remember memory
	broke    atomic.Pointer[error] // protobuf cannot say what the row changed
}

// newProxy makes a way to the agent at a URL, whose connections dial makes. It is at the host and port here.
func newProxy(r *row, agent, here string, dial func(_ context.Context, network, to string) (net.Conn, error)) *proxy {
	to := &url.URL{Scheme: "http", Host: agent}
	h1, h2 := &http.Transport{DialContext: dial}, &http.Transport{DialContext: dial, Protocols: new(http.Protocols)}
	p := &proxy{row: r, agent: to, here: here, http1: h1, http2: h2}
	p.http2.Protocols.SetUnencryptedHTTP2(true)
	p.onward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     p,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hook" {
		p.deliver(w, r)
		return
	}
	p.onward.ServeHTTP(w, r)
}

func (p *proxy) close() {
	p.http1.CloseIdleConnections()
	p.http2.CloseIdleConnections()
}

// RoundTrip sends the request as the row has it, and answers as the row has it.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if isGRPC(r) {
		return p.roundTripGRPC(r)
	}
	x, err := read(r)
	if err != nil {
		return nil, err
	}
	mine := p.row.concerns(x)
	if mine && p.row.request != nil {
		p.row.request(p, x)
	}
	if p.row.hook != nil {
		p.hookOut(x)
	}
	if p.row.request != nil || p.row.hook != nil { // else it goes on as it came
		if err := x.write(); err != nil {
			return nil, err
		}
	}
	resp, err := p.http1.RoundTrip(x.request)
	if err != nil {
		return nil, err
	}
	if isCard(x.request) && resp.StatusCode == http.StatusOK {
		err = p.changeCard(x, resp)
	} else if !isCard(x.request) {
		err = p.change(x, resp, mine)
	}
	if err != nil {
		return nil, err
	}
	if mine && p.row.response != nil {
		p.row.response(x, resp)
	}
	if mine && p.row.body != nil {
		resp.Body = p.row.body(x.request.Context(), resp.Body)
	}
	return resp, nil
}

func isCard(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/.well-known/") }

func isGRPC(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// read tells what a request asks for. Its body is read.
func read(r *http.Request) (*exchange, error) {
	x := &exchange{request: r.Clone(r.Context()), binding: runtime.BindingHTTP, version: "1.0"}
	var body []byte
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	x.setBody(body)
	doc, _ := decode(body).(map[string]any)
	if strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/rpc") {
		x.binding, x.envelope = runtime.BindingJSONRPC, doc
		method, _ := doc["method"].(string)
		x.params, _ = doc["params"].(map[string]any)
		x.op, x.version = method, "1.0"
		if op := oldMethods[method]; op != "" {
			x.op, x.version = op, "0.3"
		}
		return x, nil
	}
	x.params = doc
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/rest")
	if rest, ok := strings.CutPrefix(path, "/v1"); ok {
		path, x.version = rest, "0.3"
	}
	x.op = operationAt(r.Method, path)
	return x, nil
}

// oldMethods are those of 0.3, by the operation of 1.0.
var oldMethods = map[string]string{
	"message/send": "SendMessage", "message/stream": "SendStreamingMessage", "tasks/get": "GetTask", "tasks/cancel": "CancelTask",
	"tasks/resubscribe": "SubscribeToTask", "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
	"tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
	"tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig", "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}

// operationAt is the operation of a path of HTTP+JSON.
func operationAt(verb, path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	push := len(parts) > 2 && parts[2] == "pushNotificationConfigs"
	switch {
	case path == "/message:send":
		return "SendMessage"
	case path == "/message:stream":
		return "SendStreamingMessage"
	case path == "/extendedAgentCard", path == "/card":
		return "GetExtendedAgentCard"
	case path == "/tasks":
		return "ListTasks"
	case push && verb == http.MethodPost:
		return "CreateTaskPushNotificationConfig"
	case push && verb == http.MethodDelete:
		return "DeleteTaskPushNotificationConfig"
	case push && len(parts) == 3:
		return "ListTaskPushNotificationConfigs"
	case push:
		return "GetTaskPushNotificationConfig"
	case strings.HasSuffix(path, ":cancel"):
		return "CancelTask"
	case strings.HasSuffix(path, ":subscribe"):
		return "SubscribeToTask"
	case len(parts) == 2 && parts[0] == "tasks":
		return "GetTask"
	}
	return ""
}

// task is the id of the task that a request names.
func (x *exchange) task() string {
	if m, ok := x.params["message"].(map[string]any); ok {
		return text(m["taskId"])
	}
	for _, name := range []string{"taskId", "id"} {
		if id := text(x.params[name]); id != "" {
			return id
		}
	}
	parts := strings.Split(x.request.URL.EscapedPath(), "/")
	for i, part := range parts {
		if part == "tasks" && i+1 < len(parts) {
			id, _, _ := strings.Cut(parts[i+1], ":")
			id, _ = url.PathUnescape(id)
			return id
		}
	}
	return ""
}

// write gives the request the body that it has now.
func (x *exchange) write() error {
	doc := x.params
	if x.envelope != nil {
		doc = x.envelope
		if x.params != nil {
			doc["params"] = x.params
		}
	}
	if doc == nil {
		return nil
	}
	body, err := json.Marshal(doc)
	x.setBody(body)
	return err
}

func (x *exchange) setBody(body []byte) {
	x.request.Body = io.NopCloser(bytes.NewReader(body))
	x.request.ContentLength = int64(len(body))
	x.request.GetBody = nil
}

// changeCard makes the card list the row's interface alone, and breaks it if that is what the row does.
func (p *proxy) changeCard(x *exchange, resp *http.Response) error {
	return rewrite(resp, func(doc any) any {
		card, _ := doc.(map[string]any)
		var kept []any
		for _, f := range elements(card["supportedInterfaces"]) {
			f["url"] = strings.Replace(text(f["url"]), p.agent.Host, p.here, 1)
			if p.row.binding == together || f["protocolBinding"] == p.row.binding {
				kept = append(kept, f)
			}
		}
		if kept != nil {
			card["supportedInterfaces"] = kept
		}
		if p.row.version == "1.0" && p.row.requirement != "" { // what older readers see of it is the same agent once more
			for _, name := range []string{"url", "preferredTransport", "additionalInterfaces", "protocolVersion"} {
				delete(card, name)
			}
		}
		p.changeOldCard(card)
		if p.row.card != nil {
			p.row.card(card)
		}
		return card
	})
}

// changeOldCard does the same with what a card of 0.3 has.
func (p *proxy) changeOldCard(card map[string]any) {
	if card["url"] == nil {
		return
	}
	var kept []any
	for _, f := range elements(card["additionalInterfaces"]) {
		f["url"] = strings.Replace(text(f["url"]), p.agent.Host, p.here, 1)
		if p.row.binding == together || f["transport"] == p.row.binding {
			kept = append(kept, f)
		}
	}
	if p.row.binding == together {
		card["url"] = strings.Replace(text(card["url"]), p.agent.Host, p.here, 1)
	} else if len(kept) > 0 {
		main := asMap(kept[0])
		card["url"], card["preferredTransport"] = main["url"], main["transport"]
	}
	card["additionalInterfaces"] = kept
}

// change changes an answer, or each event of a stream. What is not the row's is noted and goes on as it is.
func (p *proxy) change(x *exchange, resp *http.Response, mine bool) error {
	if mine && p.row.instead != nil {
		if result := p.row.instead(p, x); result != nil {
			return answer(x, resp, result)
		}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body, resp.ContentLength = p.changeStream(x, resp.Body, mine), -1
		resp.Header.Del("Content-Length")
		return nil
	}
	return rewrite(resp, func(doc any) any { return p.changeDocument(x, doc, mine) })
}

// failures are the errors that rows answer: how HTTP+JSON and gRPC have them, by their codes of JSON-RPC.
var failures = map[int]struct {
	http   int
	status string
	grpc   int
}{
	-32001: {http.StatusNotFound, "NOT_FOUND", 5},
	-32004: {http.StatusBadRequest, "FAILED_PRECONDITION", 9},
	-32602: {http.StatusBadRequest, "INVALID_ARGUMENT", 3},
}

// answer makes an answer of a result, or of a failure, in place of the agent's.
func answer(x *exchange, resp *http.Response, result any) error {
	doc, status := result, http.StatusOK
	f, failed := result.(failure)
	switch {
	case x.envelope != nil && failed:
		doc = map[string]any{"jsonrpc": "2.0", "id": x.envelope["id"], "error": result}
	case x.envelope != nil:
		doc = map[string]any{"jsonrpc": "2.0", "id": x.envelope["id"], "result": result}
	case failed:
		as := failures[f["code"].(int)]
		status = as.http
		e := map[string]any{"code": as.http, "status": as.status, "message": f["message"], "details": f["data"]}
		doc = map[string]any{"error": e}
	}
	_ = resp.Body.Close()
	resp.StatusCode = status
	resp.Header.Set("Content-Type", "application/json")
	resp.Body = io.NopCloser(strings.NewReader(jsonText(doc)))
	return rewrite(resp, func(doc any) any { return doc })
}

// hookOut has the notifications of a configuration that a request makes come here first.
func (p *proxy) hookOut(x *exchange) {
	config := x.params
	if inline := asMap(asMap(config["configuration"])["taskPushNotificationConfig"]); inline != nil {
		config = inline
	}
	if inner := asMap(config["pushNotificationConfig"]); inner != nil {
		config = inner
	}
	if to := text(config["url"]); to != "" {
		config["url"] = "http://" + p.here + "/hook?to=" + url.QueryEscape(to)
	}
}

// deliver passes a notification on as the row has it.
func (p *proxy) deliver(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	doc := asMap(decode(body))
	if err != nil || !p.row.hook(r, doc) {
		return
	}
	on, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.URL.Query().Get("to"), strings.NewReader(jsonText(doc)))
	if err != nil {
		return
	}
	on.Header = r.Header.Clone()
	resp, err := p.http1.RoundTrip(on)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
}

// changeDocument changes what is in an answer, or in an event: its result or its error.
func (p *proxy) changeDocument(x *exchange, doc any, mine bool) any {
	whole, _ := doc.(map[string]any)
	inner := doc
	if x.envelope != nil {
		inner = whole["result"]
	}
	p.remember.note(inner)
	if p.row.hook != nil {
		restoreHooks(inner)
	}
	if !mine {
		return doc
	}
	switch failure, failed := whole["error"].(map[string]any); {
	case failed && p.row.failure != nil:
		p.row.failure(x, failure)
	case !failed && p.row.result != nil && inner != nil:
		inner = p.row.result(p, x, inner)
		if x.envelope == nil {
			return inner
		}
		whole["result"] = inner
	}
	if p.row.document != nil && whole != nil {
		p.row.document(x, whole)
	}
	return doc
}

// restoreHooks takes the way over the proxy out of the URLs of configurations.
func restoreHooks(result any) {
	for _, c := range hooks(result) {
		if u, err := url.Parse(text(c["url"])); err == nil && u.Path == "/hook" && u.Query().Get("to") != "" {
			c["url"] = u.Query().Get("to")
		}
	}
}

// rewrite changes the JSON of an answer.
func rewrite(resp *http.Response, f func(doc any) any) error {
	defer func(body io.Closer) { _ = body.Close() }(resp.Body)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if doc := decode(body); doc != nil || len(body) == 4 {
		if body, err = json.Marshal(f(doc)); err != nil {
			return err
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return nil
}

// decode reads JSON with its numbers as they are; nil if it is none.
func decode(body []byte) any {
	var doc any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return nil
	}
	return doc
}

func text(v any) string { s, _ := v.(string); return s }

// elements are the objects of a list.
func elements(v any) (all []map[string]any) {
	list, _ := v.([]any)
	for _, e := range list {
		if object, ok := e.(map[string]any); ok {
			all = append(all, object)
		}
	}
	return all
}
