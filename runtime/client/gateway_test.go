package client_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/wire"
)

// The fake agents of the tests speak JSON-RPC. A gateway in front of one speaks another binding, so that every test of
// the client is made over each.

// bindings are those that every test is made over.
var bindings = namesOf(runtime.Bindings)

// overHTTP are those that the client has itself, over net/http.
var overHTTP = namesOf(slices.DeleteFunc(slices.Clone(runtime.Bindings), func(b *runtime.Binding) bool { return b.Client != "" }))

func namesOf(list []*runtime.Binding) (names []string) {
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names
}

// over makes a test over each binding, or over those that are named.
func over(t *testing.T, test func(t *testing.T, binding string), some ...string) {
	t.Helper()
	if len(some) == 0 {
		some = bindings
	}
	for _, binding := range some {
		t.Run(binding, func(t *testing.T) { test(t, binding) })
	}
}

// response is what a fake agent answered: the JSON-RPC response that a body or an event was, or else what it was.
type response struct {
	result json.RawMessage
	fault  *runtime.Error
}

// parse takes a JSON-RPC response to pieces. It is false for anything else.
func parse(text []byte) (r response, ok bool) {
	var in struct {
		ID            json.RawMessage
		Result, Error json.RawMessage
	}
	if json.Unmarshal(text, &in) != nil || in.Result == nil && in.Error == nil && in.ID == nil {
		return r, false
	}
	if in.Error != nil {
		fault, err := runtime.ReadError(in.Error)
		return response{fault: fault}, err == nil
	}
	return response{result: in.Result}, true
}

// restGateway speaks HTTP+JSON before an agent that speaks JSON-RPC.
type restGateway struct {
	t     *testing.T
	agent http.Handler
}

func (g restGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, params, ok := g.read(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	inner := r.Clone(r.Context())
	inner.Body = io.NopCloser(strings.NewReader(body))
	out := &restWriter{ResponseWriter: w}
	g.agent.ServeHTTP(out, inner)
	out.finish()
}

// read finds the operation of a request, and puts its parameters together.
func (g restGateway) read(r *http.Request) (method, params string, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		g.t.Errorf("read a body: %v", err)
	}
	method, vars := operationAt(r.Method, r.URL.EscapedPath())
	if vars == nil {
		g.t.Errorf("no operation for %s %s", r.Method, r.URL)
		return "", "", false
	}
	return method, g.params(vars, r.URL.Query(), body), true
}

// operationAt finds the operation of a request over HTTP+JSON, and what its path says.
func operationAt(verb, path string) (rpc string, vars map[string]string) {
	for _, op := range a2a.Protocol().Versions[0].Operations {
		for _, route := range op.HTTP {
			if op.Role == runtime.RoleSubscribe {
				route.Verb = http.MethodPost // what the client tries first
			}
			if vars := match(route.Path, path); vars != nil && verb == route.Verb {
				return op.RPC, vars
			}
		}
	}
	return "", nil
}

// match takes a path to pieces as a template has it; nil if it is another one.
func match(template, path string) map[string]string {
	variable := regexp.MustCompile(`\{(\w+)(=\*)?\}`)
	var names []string
	for _, m := range variable.FindAllStringSubmatch(template, -1) {
		names = append(names, m[1])
	}
	found := regexp.MustCompile("^" + variable.ReplaceAllString(template, "([^/:]+)") + "$").FindStringSubmatch(path)
	if found == nil {
		return nil
	}
	vars := map[string]string{}
	for i, name := range names {
		vars[name], _ = url.PathUnescape(found[i+1])
	}
	return vars
}

func (g restGateway) params(vars map[string]string, query url.Values, body []byte) string {
	all := wire.Object("{}")
	if len(body) > 0 {
		all = wire.Object(body)
	}
	set := func(name string, value any) {
		if strings.Contains(name, "_") {
			name = strings.ReplaceAll(name, "_i", "I")
		}
		if err := all.Set(name, value); err != nil {
			g.t.Errorf("%s: %v", name, err)
		}
	}
	for name, value := range vars {
		set(name, value)
	}
	for name, values := range query {
		if n, err := strconv.Atoi(values[0]); err == nil {
			set(name, n)
			continue
		}
		set(name, values[0])
	}
	return string(all)
}

// restWriter turns what a JSON-RPC agent writes into what one of HTTP+JSON would. What is no JSON-RPC goes through.
type restWriter struct {
	http.ResponseWriter
	status int
	held   held
	raw    bool // nothing is held any more
}

const mostHeld = 512 << 10

func (w *restWriter) WriteHeader(status int) { w.status = status }

func (w *restWriter) events() bool { return w.Header().Get("Content-Type") == "text/event-stream" }

func (w *restWriter) Write(p []byte) (int, error) {
	w.held.Write(p)
	switch {
	case w.raw || w.held.Len() > mostHeld:
		return len(p), w.release()
	case w.events():
		for {
			event := w.held.cut()
			if event == nil {
				return len(p), nil
			}
			if err := w.send(rewritten(event)); err != nil {
				return len(p), err
			}
		}
	}
	return len(p), nil
}

// Flush lets everything through that is no event.
func (w *restWriter) Flush() {
	if !w.events() {
		_ = w.release()
	}
	w.header()
	w.ResponseWriter.(http.Flusher).Flush()
}

func (w *restWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.ResponseWriter.(http.Hijacker).Hijack()
}

func (w *restWriter) header() {
	if w.status > 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
	w.status = 0
}

func (w *restWriter) send(text []byte) error {
	w.header()
	_, err := w.ResponseWriter.Write(text)
	return err
}

func (w *restWriter) release() error {
	w.raw = true
	text := bytes.Clone(w.held.Bytes())
	w.held.Reset()
	return w.send(text)
}

// finish writes what is left when the agent is done.
func (w *restWriter) finish() {
	text := bytes.Clone(w.held.Bytes())
	w.held.Reset()
	if len(text) == 0 && w.status == 0 {
		return
	}
	if w.events() {
		_ = w.send(rewritten(text))
		return
	}
	if r, ok := parse(text); ok && !w.raw {
		text = r.result
		if r.fault != nil {
			status := errorformat.Of(r.fault, errorformat.Statuses101)
			if w.status == 0 || w.status == http.StatusOK {
				w.status = status.HTTP
			}
			text = errorformat.AppendStatus(nil, r.fault, status)
		}
	}
	_ = w.send(text)
}

// held is what was written of a stream and not passed on yet.
type held struct {
	bytes.Buffer
	seen int // bytes without the end of an event
}

// cut takes the first event out, with its end; nil while it goes on. No byte is looked at more than a few times.
func (h *held) cut() []byte {
	from := max(0, min(h.seen, h.Len())-3)
	for _, end := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(h.Bytes()[from:], []byte(end)); i >= 0 {
			h.seen = 0
			return bytes.Clone(h.Next(from + i + len(end)))
		}
	}
	h.seen = h.Len()
	return nil
}

// rewritten is an event with what its JSON-RPC response held in that's place.
func rewritten(event []byte) []byte {
	var data, others []string
	for line := range strings.Lines(string(event)) {
		if rest, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimSpace(rest))
		} else {
			others = append(others, line)
		}
	}
	r, ok := parse([]byte(strings.Join(data, "\n")))
	switch {
	case !ok || len(data) == 0:
		return event
	case r.fault != nil:
		r.result = errorformat.AppendStatus(nil, r.fault, errorformat.Of(r.fault, errorformat.Statuses101))
	}
	text := strings.Join(others, "")
	end := "\n"
	if strings.HasSuffix(text, "\r\n") {
		end = "\r\n"
	}
	if body, blank := strings.CutSuffix(text, end); blank && (body == "" || strings.HasSuffix(body, "\n")) {
		return []byte(body + "data: " + string(r.result) + end + end)
	}
	return []byte(text + "data: " + string(r.result) + "\n")
}
