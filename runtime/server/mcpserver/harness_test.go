package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/mcpserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Versions of MCP: the one without sessions, and the last one that has them.
const (
	newest = "2026-07-28"
	older  = "2025-11-25"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

const (
	cityIn  = `{"type":"object","required":["city"],"properties":{"city":{"type":"string","description":"é"},"days":{"type":"number","minimum":1.50}}}`
	cityOut = `{"type":"object","required":["sky"],"properties":{"sky":{"type":"string"}},"x-unit":1e2}`
)

// openCard is the card of an agent that demands nothing.
const openCard = `{"name":"tester","description":"d","version":"7","capabilities":{"streaming":true},
	"supportedInterfaces":[{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"do","name":"Do","description":"Does it.","tags":["t"]}]}`

// agent is an agent that serves MCP.
type agent struct {
	*server.Server
	t   *testing.T
	url string // of the host
	web *http.Client
}

// skill is a typed one.
func skill(id string, run func(context.Context, *server.Task, []byte) (string, error)) server.Skill {
	return server.Skill{
		ID: id, Name: strings.ToUpper(id), Description: "Does it.", Examples: []string{"this"}, InputSchema: cityIn, OutputSchema: cityOut,
		Run: func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
			if err := t.Call().Begin(); err != nil {
				return nil, err
			}
			src, _ := in.([]byte)
			out, err := run(ctx, t, src)
			return []byte(out), err
		},
	}
}

// blue is a skill that answers at once.
func blue(id string) server.Skill {
	return skill(id, func(context.Context, *server.Task, []byte) (string, error) { return `{"sky":"blue"}`, nil })
}

func config(t *testing.T, card string, skills ...server.Skill) server.Config {
	t.Helper()
	p := a2a.Protocol()
	c, err := p.DecodeCard([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	return server.Config{Protocol: p, Card: c, Skills: skills}
}

func newServer(t *testing.T, c server.Config, opts ...server.Option) *server.Server {
	t.Helper()
	quiet := server.WithLogger(slog.New(slog.DiscardHandler))
	s, err := server.New(c, append([]server.Option{quiet, mcpserver.Serve(a2a.ClientProtocol())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve serves until the test ends.
func serve(t *testing.T, s *server.Server) *agent {
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
	return &agent{s, t, h.URL, web}
}

// start serves skills under the open card.
func start(t *testing.T, skills ...server.Skill) *agent {
	t.Helper()
	return serve(t, newServer(t, config(t, openCard, skills...)))
}

// withHeader sets a header of every request.
type withHeader struct{ name, value string }

func (h withHeader) on(web *http.Client) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set(h.name, h.value)
		return web.Transport.RoundTrip(r)
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// connect connects the SDK's client in a version of MCP.
func (a *agent) connect(version string, web *http.Client, o sdk.ClientOptions) *sdk.ClientSession {
	a.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &o)
	s, err := c.Connect(a.t.Context(), &sdk.StreamableClientTransport{Endpoint: a.url + "/mcp", HTTPClient: web, MaxRetries: -1, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = s.Close() })
	return s
}

// call calls a tool of a typed skill.
func call(t *testing.T, s *sdk.ClientSession, name, city string) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"city": city}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text is what a result says.
func text(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "|")
}

// client is one of the agent over A2A.
func (a *agent) client(opts ...rpc.Option) *rpc.Client {
	a.t.Helper()
	c, err := a2aclient.New(a.t.Context(), a.url, append([]rpc.Option{rpc.HTTPClient(a.web), rpc.SendAnyway()}, opts...)...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(c.Close)
	return c.RPC()
}

// state is that of a task, over A2A.
func state(t *testing.T, c *rpc.Client, id string) a2a.TaskState {
	t.Helper()
	v, err := c.Call(t.Context(), rpc.Method{Role: runtime.RoleGet, RPC: "GetTask"}, &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	task, ok := v.(*a2a.Task)
	if !ok {
		t.Fatalf("got %T", v)
	}
	return task.Status.State
}

// post sends a body to a path, with header lines "Name: value", and returns status, header and answer.
func (a *agent) post(path, body string, header ...string) (int, http.Header, string) {
	a.t.Helper()
	return a.do(http.MethodPost, path, body, header...)
}

func (a *agent) do(method, path, body string, header ...string) (int, http.Header, string) {
	a.t.Helper()
	resp, err := a.web.Do(a.request(a.t.Context(), method, path, body, header...))
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(answer)
}

func (a *agent) request(ctx context.Context, method, path, body string, header ...string) *http.Request {
	a.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	return r
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + older + `","capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"1"}}}`

// session begins a session and returns the headers of its requests.
func (a *agent) session(header ...string) []string {
	a.t.Helper()
	status, h, body := a.post("/mcp", initialize, header...)
	if status != http.StatusOK || h.Get("Mcp-Session-Id") == "" {
		a.t.Fatalf("initialize: %d %s", status, body)
	}
	of := append([]string{"Mcp-Session-Id: " + h.Get("Mcp-Session-Id"), "Mcp-Protocol-Version: " + older}, header...)
	if status, _, body := a.post("/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, of...); status != http.StatusAccepted {
		a.t.Fatalf("initialized: %d %s", status, body)
	}
	return of
}

// modern is a request of the newest version, and its headers.
func modern(method, name, params string) (body string, header []string) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + newest + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}}`
	if params != "" {
		meta = params + "," + meta
	}
	header = []string{"Mcp-Protocol-Version: " + newest, "Mcp-Method: " + method}
	if name != "" {
		header = append(header, "Mcp-Name: "+name)
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + meta + `}}`, header
}

// event is the one that an answer has at last.
func event(t *testing.T, answer string) (m struct{ Result, Error json.RawMessage }) {
	t.Helper()
	lines := bytes.Split([]byte(answer), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if data, ok := bytes.CutPrefix(lines[i], []byte("data: ")); ok {
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatalf("no event in %q", answer)
	return m
}

// wait waits until something has happened.
func wait[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("it does not happen")
	}
	return v
}

func invalid(pointer, message string) error {
	return &check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}}
}
