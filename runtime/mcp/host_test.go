package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/mcp"
	"github.com/a2agen/a2agen/runtime/server"
)

// newest is the version of MCP that tests speak where nothing else is said.
const newest = "2026-07-28"

// versions are those of MCP that hosts speak. Elicitation is in those from forms on.
var versions = []string{newest, "2025-11-25", forms, "2025-03-26", "2024-11-05"}

const forms = "2025-06-18"

// asks is a host that shows forms, and opensURLs one that opens URLs, too.
const (
	asks      = `{"elicitation":{}}`
	opensURLs = `{"elicitation":{"form":{},"url":{}}}`
)

// maxLine is how long a line of the host may be, in bytes.
const maxLine = 1 << 20

// patience is how long a test waits for what must come.
const patience = time.Minute

// agent is an agent in the process of the test, and what a host calls it by.
type agent struct {
	options mcp.Options
	server  *server.Server

	gate chan struct{} // if it is not nil, requests wait for it

	mu      sync.Mutex
	headers []http.Header // of the requests to the agent
}

// agentOf makes an agent with one skill, "do", with its contract as a card has it.
func agentOf(t *testing.T, version, input, output string, run func(context.Context, *server.Task, any) ([]byte, error)) *agent {
	t.Helper()
	return agentThat(t, `"streaming":true`, version, input, output, run)
}

// agentThat is agentOf with the capabilities.
func agentThat(t *testing.T, can, version, input, output string, run func(context.Context, *server.Task, any) ([]byte, error)) *agent {
	t.Helper()
	p := a2a.Protocol()
	card, err := p.DecodeCard([]byte(`{"name":"tester","description":"A tester.","version":"7","capabilities":{` + can + `},
		"supportedInterfaces":[{"url":"http://agent.test/","protocolBinding":"JSONRPC","protocolVersion":"` + version + `"}],
		"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],
		"skills":[{"id":"do","name":"Do","description":"Does it.","tags":["t"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	skill := server.Skill{ID: "do", Name: "Do", InputSchema: input, OutputSchema: output, Run: run}
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{skill}},
		server.WithLogger(slog.New(slog.DiscardHandler)), server.WithURL("http://agent.test/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a := &agent{server: s}
	c, err := rpc.New(t.Context(), p, "http://agent.test/", rpc.HTTPClient(&http.Client{Transport: a}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	a.options = mcp.Options{
		Name: "tester", Version: "7", Client: c, Protocol: p, Heartbeat: time.Hour,
		Skills: []mcp.Skill{{ID: "do", Name: "Do", Description: "Does it.", Examples: []string{"this", "that"}, Input: raw(input), Output: raw(output)}},
	}
	return a
}

// RoundTrip notes the header of a request, and has the agent answer it.
func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	a.headers = append(a.headers, r.Header.Clone())
	a.mu.Unlock()
	if a.gate != nil {
		select {
		case <-a.gate:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return server.InProcess(a.server).RoundTrip(r)
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// host is an MCP client that sees every byte.
type host struct {
	t            *testing.T
	version      string
	capabilities string
	out          io.WriteCloser
	lines        chan string
	ended        chan error
	id           int
	// elicit answers a question within a request; nil: there must be none.
	elicit func(params string) string
}

// connect starts a server, and a host of a version with the capabilities that talks to it.
func connect(t *testing.T, o mcp.Options, version, capabilities string) *host {
	t.Helper()
	toServer, fromHost := io.Pipe()
	toHost, fromServer := io.Pipe()
	h := &host{t: t, version: version, capabilities: capabilities, out: fromHost, lines: make(chan string, 1000), ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		h.ended <- mcp.NewServer(o).Run(ctx, &sdk.IOTransport{Reader: toServer, Writer: fromServer, MaxLineLength: maxLine})
		_ = fromServer.Close()
	}()
	go func() {
		defer close(h.lines)
		for r := bufio.NewReader(toHost); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			h.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() { stop(); _ = fromHost.Close(); _ = toHost.Close() })
	if version < newest {
		h.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities +
			`,"clientInfo":{"name":"host","version":"1"}}}`)
		if got := h.line(); !strings.Contains(got, `"protocolVersion":"`+version+`"`) {
			t.Fatalf("the server answers %s", got)
		}
		h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return h
}

func (h *host) send(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.out, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// line is the next one that the server sends.
func (h *host) line() string {
	h.t.Helper()
	select {
	case line, ok := <-h.lines:
		if !ok {
			h.t.Fatal("the server has closed the connection")
		}
		return line
	case <-time.After(patience):
		h.t.Fatal("the server says nothing")
	}
	return ""
}

// begin sends a request, params without their braces, and returns its id.
func (h *host) begin(method, params, meta string) string {
	h.t.Helper()
	h.id++
	if h.version == newest {
		meta = join(meta, `"io.modelcontextprotocol/protocolVersion":"`+newest+`","io.modelcontextprotocol/clientCapabilities":`+h.capabilities)
	}
	if meta != "" {
		params = join(params, `"_meta":{`+meta+`}`)
	}
	id := strconv.Itoa(h.id)
	h.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`)
	return id
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// message is a message of the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// next is the next message that is no question, which is answered.
func (h *host) next() message {
	h.t.Helper()
	for {
		line := h.line()
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			h.t.Fatalf("%s: %v", line, err)
		}
		if m.Method != "elicitation/create" {
			return m
		}
		if h.elicit == nil {
			h.t.Fatalf("the host is asked: %s", line)
		}
		h.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + h.elicit(string(m.Params)) + `}`)
	}
}

// until is the answer to a request, and the notifications before it.
func (h *host) until(id string) (answer message, notices []message) {
	h.t.Helper()
	for {
		m := h.next()
		if string(m.ID) == id {
			return m, notices
		}
		notices = append(notices, m)
	}
}

// result is what the tests look at of a result of tools/call.
type result struct {
	Content []struct {
		Type, Text, URI, Name, MimeType, Data string
		Resource                              struct{ URI, MimeType, Text, Blob string }
	}
	Structured    json.RawMessage `json:"structuredContent"`
	IsError       bool
	Meta          map[string]any `json:"_meta"`
	ResultType    string
	InputRequests json.RawMessage
	RequestState  string
}

func (r result) text() string {
	var texts []string
	for _, c := range r.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "|")
}

// call calls the tool "do", and answers the questions that are results.
func (h *host) call(arguments string) result {
	h.t.Helper()
	return h.callWith(`"name":"do","arguments":` + arguments)
}

func (h *host) callWith(params string) result {
	h.t.Helper()
	m, _ := h.until(h.begin("tools/call", params, ""))
	r := h.read(m)
	for len(r.InputRequests) > 0 && h.elicit != nil {
		var asked map[string]struct{ Params json.RawMessage }
		if err := json.Unmarshal(r.InputRequests, &asked); err != nil || len(asked) != 1 {
			h.t.Fatalf("%s: %v", r.InputRequests, err)
		}
		for key, q := range asked {
			r = h.answer(params, r.RequestState, `{"`+key+`":`+h.elicit(string(q.Params))+`}`)
		}
	}
	return r
}

// answer makes a request again, with answers.
func (h *host) answer(params, state, responses string) result {
	h.t.Helper()
	m, _ := h.until(h.begin("tools/call", params+`,"requestState":"`+state+`","inputResponses":`+responses, ""))
	return h.read(m)
}

func (h *host) read(m message) (r result) {
	h.t.Helper()
	if m.Result == nil {
		h.t.Fatalf("the request failed: %s", m.Error)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		h.t.Fatalf("%s: %v", m.Result, err)
	}
	return r
}
