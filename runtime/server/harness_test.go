package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// TestMain lets many tests wait at once: those that are parallel do little else.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// testCard is a card with one JSON-RPC interface at /rpc.
const testCard = `{"name":"Test","description":"for tests","version":"1.0.0","supportedInterfaces":[{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// agent is a server under test with the URL of its JSON-RPC interface.
type agent struct {
	*server.Server
	t   *testing.T
	url string
	web *http.Client
}

// start serves skills under a card until the test ends.
func start(t *testing.T, card string, skills []server.Skill, opts ...server.Option) *agent {
	t.Helper()
	return host(t, newServer(t, card, skills, opts...))
}

// host serves until the test ends.
func host(t *testing.T, s *server.Server) *agent {
	t.Helper()
	h := httptest.NewServer(s)
	web := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		web.CloseIdleConnections()
		h.Close()
	})
	return &agent{s, t, h.URL + "/rpc", web}
}

func newServer(t testing.TB, card string, skills []server.Skill, opts ...server.Option) *server.Server {
	t.Helper()
	quiet := server.WithLogger(slog.New(slog.DiscardHandler))
	s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, card), Skills: skills}, append([]server.Option{quiet, webhooks.Send()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newServerOf makes a server that may not start.
func newServerOf(t testing.TB, card string, opts ...server.Option) (*server.Server, error) {
	t.Helper()
	quiet := server.WithLogger(slog.New(slog.DiscardHandler))
	return server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, card), Skills: []server.Skill{echo()}},
		append([]server.Option{quiet, webhooks.Send()}, opts...)...)
}

// readCard reads a card.
func readCard(t testing.TB, text string) runtime.Card {
	t.Helper()
	card, err := a2a.Protocol().DecodeCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// run makes a skill without schemas of a function.
func run(id string, f func(ctx context.Context, t *server.Task) (string, error)) server.Skill {
	return server.Skill{ID: id, Name: id, Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		out, err := f(ctx, t)
		return []byte(out), err
	}}
}

// typed makes a skill with schemas as generated glue does: its input is an object with the required string properties.
func typed(id string, required []string, f func(ctx context.Context, t *server.Task, in map[string]any) (any, error)) server.Skill {
	properties := map[string]any{"note": map[string]any{"type": "string"}}
	for _, name := range required {
		properties[name] = map[string]any{"type": "string"}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	decode := func(input []byte) (map[string]any, error) {
		var in map[string]any
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, &check.Error{Violations: []check.Violation{{Message: "must be an object"}}}
		}
		var vs []check.Violation
		for _, name := range required {
			if _, ok := in[name]; !ok {
				vs = append(vs, check.Violation{Message: "requires property " + name})
			}
		}
		for name, v := range in {
			if _, ok := properties[name]; !ok {
				vs = append(vs, check.Violation{Pointer: "/" + name, Message: "is not a known property"})
			} else if _, ok := v.(string); !ok {
				vs = append(vs, check.Violation{Pointer: "/" + name, Message: "must be a string"})
			}
		}
		if vs != nil {
			return nil, &check.Error{Violations: vs}
		}
		return in, nil
	}
	sk := server.Skill{
		ID: id, Name: id, InputSchema: string(schema), OutputSchema: `{"type":"object"}`,
		Decode: func(input []byte) (any, error) { return decode(input) },
		Run: func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
			if err := t.Call().Begin(); err != nil {
				return nil, err
			}
			out, err := f(ctx, t, in.(map[string]any))
			if err != nil || out == nil {
				return nil, err
			}
			return json.Marshal(out)
		},
	}
	if len(required) == 1 {
		sk.TextField = required[0]
	}
	return sk
}

// response is a JSON-RPC response as a stranger sees it.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// post sends a raw body with header lines "Name: value" and returns status, header and body.
func (a *agent) post(body string, header ...string) (*http.Response, string) {
	a.t.Helper()
	resp := a.open(body, header...)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp, string(b)
}

// open sends a raw body and returns the response with its body unread.
func (a *agent) open(body string, header ...string) *http.Response {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.url, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := a.web.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp
}

func rpcBody(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// call makes a JSON-RPC call and returns its result decoded, or its error.
func (a *agent) call(method, params string, header ...string) (map[string]any, *runtime.Error) {
	a.t.Helper()
	resp, body := a.post(rpcBody(method, params), header...)
	if resp.StatusCode != http.StatusOK {
		a.t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	var r response
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		a.t.Fatalf("%v in %s", err, body)
	}
	if r.Error != nil {
		e, err := runtime.ReadError(r.Error)
		if err != nil {
			a.t.Fatal(err)
		}
		return nil, e
	}
	var result map[string]any
	if err := json.Unmarshal(r.Result, &result); err != nil {
		a.t.Fatalf("%v in %s", err, body)
	}
	return result, nil
}

// ok is call for what must succeed.
func (a *agent) ok(method, params string, header ...string) map[string]any {
	a.t.Helper()
	result, e := a.call(method, params, header...)
	if e != nil {
		a.t.Fatalf("%s: %v", method, e)
	}
	return result
}

// message is send parameters for a text, with further members of the message and of the parameters.
func message(text string, more ...string) string {
	quoted, _ := json.Marshal(text)
	extra := ""
	for _, m := range more {
		extra += "," + m
	}
	return `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":` + string(quoted) + `}]` + extra + `}}`
}

// data is send parameters for a data part, with further members of the message.
func data(value string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += "," + m
	}
	return `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"data":` + value + `}]` + extra + `}}`
}

// with adds a configuration to send parameters.
func with(params, configuration string) string {
	return strings.TrimSuffix(params, "}") + `,"configuration":` + configuration + `}`
}

// at follows a path of keys and indexes through decoded JSON; nil when there is nothing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// str is at for strings.
func str(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

// event is an event of a stream, its response decoded.
type event struct {
	id     string
	result map[string]any
	err    *runtime.Error
}

// kind names the payload.
func (e event) kind() string {
	for k := range e.result {
		return k
	}
	return ""
}

// events is an open stream.
type events struct {
	t    *testing.T
	resp *http.Response
	ch   chan event
}

// stream opens an event stream.
func (a *agent) stream(method, params string, header ...string) *events {
	a.t.Helper()
	resp := a.open(rpcBody(method, params), append([]string{"Accept: text/event-stream"}, header...)...)
	if ct := resp.Header.Get("Content-Type"); ct != sse.ContentType {
		b, _ := io.ReadAll(resp.Body)
		a.t.Fatalf("content type %q: %s", ct, b)
	}
	s := &events{t: a.t, resp: resp, ch: make(chan event, 10_000)}
	done := make(chan struct{})
	go s.read(done)
	a.t.Cleanup(func() { _ = resp.Body.Close(); <-done })
	return s
}

func (s *events) read(done chan struct{}) {
	defer close(done)
	defer close(s.ch)
	r := sse.NewReader(bufio.NewReader(s.resp.Body), 0)
	for {
		e, err := r.Next()
		if err != nil {
			return
		}
		var resp response
		if json.Unmarshal(e.Data, &resp) != nil {
			return
		}
		out := event{id: string(e.ID)}
		if resp.Error != nil {
			out.err, _ = runtime.ReadError(resp.Error)
		} else {
			_ = json.NewDecoder(bytes.NewReader(resp.Result)).Decode(&out.result)
		}
		s.ch <- out
	}
}

// next returns the next event; the stream must not end or hang.
func (s *events) next() event {
	s.t.Helper()
	select {
	case e, ok := <-s.ch:
		if !ok {
			s.t.Fatal("the stream has ended")
		}
		return e
	case <-time.After(10 * time.Second):
		s.t.Fatal("no event came")
	}
	return event{}
}

// rest returns all events until the stream ends.
func (s *events) rest() []event {
	s.t.Helper()
	var all []event
	timeout := time.After(10 * time.Second)
	for {
		select {
		case e, ok := <-s.ch:
			if !ok {
				return all
			}
			all = append(all, e)
		case <-timeout:
			s.t.Fatalf("the stream does not end after %d events", len(all))
		}
	}
}

// close lets go of the stream as a client that goes away.
func (s *events) close() { _ = s.resp.Body.Close() }
