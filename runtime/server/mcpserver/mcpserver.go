// Package mcpserver lets an agent serve its skills as tools of the Model Context Protocol (MCP), over Streamable HTTP at
// /mcp on the agent's own port. Agents link it by choice: "mcp: true" in a2agen.yaml, or
//
//	agent.NewServer(skills.New(), mcpserver.Serve(a2a.ClientProtocol()))
//
// Package mcp says what becomes of skills, questions and results. Here is what HTTP adds: who calls, which versions of
// MCP are answered how, limits, and the end. A call of a tool is a call of the skill over A2A, made in this process for
// the caller, with the same checks: see docs/decisions/22.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/mcp"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Path is where MCP is served. Behind a public URL with a path it is below that, too.
const Path = "/mcp"

// headers are those of requests of MCP that web pages may set and read.
var headers = []string{"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name"}

// Serve is the option of a server that serves its skills over MCP. p is the protocol of clients of the agent.
func Serve(p *runtime.Protocol) server.Option {
	return server.WithEndpoint(Path, headers, func(h server.EndpointHost) (server.Endpoint, error) {
		e, err := newEndpoint(p, h)
		if err != nil {
			return nil, err // not an endpoint that is nil
		}
		return e, nil
	})
}

// statelessFrom is the first version of MCP without sessions. The SDK serves it apart from the older ones: without
// sessions these could not be asked.
const statelessFrom = "2026-07-28"

// endpoint answers requests of MCP.
type endpoint struct {
	agent    *binding.Agent
	protocol *runtime.Protocol
	host     server.EndpointHost
	sessions int // how many there may be

	closing context.Context // ends when the server has shut down
	end     context.CancelCauseFunc

	stateless, stateful http.Handler

	posts sync.WaitGroup // that are being answered

	mu     sync.Mutex
	over   bool              // no more requests are let in
	opened map[string]*tools // by tenant, of those that the card declares; "" is any other
}

// tools are MCP servers with the skills as tools, and the client that calls the agent.
type tools struct {
	client *rpc.Client
	public *sdk.Server
	all    *sdk.Server // with hidden skills, for callers who may see them
}

func newEndpoint(p *runtime.Protocol, h server.EndpointHost) (*endpoint, error) {
	overHTTP := func(i runtime.Interface) bool {
		return i.Binding == runtime.BindingJSONRPC || i.Binding == runtime.BindingHTTP
	}
	if all := h.Agent.Info().Interfaces; len(all) > 0 && !slices.ContainsFunc(all, overHTTP) {
		return nil, fmt.Errorf("mcpserver: the card offers neither %s nor %s, by one of which tools call the agent", runtime.BindingJSONRPC, runtime.BindingHTTP)
	}
	e := &endpoint{agent: h.Agent, protocol: p, host: h, sessions: max(1, h.Agent.Limits.Streams/sessionShare), opened: map[string]*tools{}}
	e.closing, e.end = context.WithCancelCause(context.Background())
	// Host names and origins are checked by the agent's server, which knows its own names; sizes by receive.
	e.stateless = identified(sdk.NewStreamableHTTPHandler(e.server, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	}))
	e.stateful = identified(sdk.NewStreamableHTTPHandler(e.server, &sdk.StreamableHTTPOptions{
		SessionTimeout: sessionTimeout, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	}))
	return e, nil
}

// begin lets a request in that names a tenant, and returns the tools for it. They are made with the first of them. The
// caller must call e.posts.Done when it is answered.
func (e *endpoint) begin(tenant string) (*tools, error) {
	if !e.agent.DeclaresTenant(tenant) {
		tenant = "" // any other, which is said with each call, or the first one that the card declares
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return nil, errOver
	}
	if e.opened[tenant] == nil {
		t, err := e.connect(tenant)
		if err != nil {
			return nil, err
		}
		e.opened[tenant] = t
	}
	e.posts.Add(1)
	return e.opened[tenant], nil
}

// connect makes the client of the agent and what serves its skills.
func (e *endpoint) connect(tenant string) (*tools, error) {
	options := []rpc.Option{
		rpc.HTTPClient(&http.Client{Transport: transport{e.host}}), rpc.Prefer(runtime.BindingJSONRPC, runtime.BindingHTTP), rpc.SendAnyway(), rpc.Name("itself"),
	}
	if tenant != "" {
		options = append(options, rpc.Tenant(tenant))
	}
	c, err := rpc.New(context.Background(), e.protocol, "http://localhost", options...)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	skills := e.host.Skills
	t := &tools{client: c, all: e.newServer(c, skills)}
	t.public = t.all
	hidden := func(s server.Skill) bool { return s.Hidden }
	if slices.ContainsFunc(skills, hidden) {
		t.public = e.newServer(c, slices.DeleteFunc(slices.Clone(skills), hidden))
	}
	return t, nil
}

func (e *endpoint) newServer(c *rpc.Client, skills []server.Skill) *sdk.Server {
	info := e.agent.Info()
	o := mcp.Options{Name: info.Name, Version: info.Version, Client: c, Protocol: e.protocol, Heartbeat: e.agent.Limits.Heartbeat}
	for _, s := range skills {
		o.Skills = append(o.Skills, mcp.Skill{
			ID: s.ID, Name: s.Name, Description: s.Description, Examples: s.Examples, Input: schema(s.InputSchema), Output: schema(s.OutputSchema),
		})
	}
	s := mcp.NewServer(o)
	s.AddReceivingMiddleware(forCaller, e.countSession)
	return s
}

// schema is nil where there is none.
func schema(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// server is the SDK's for a request: its tools are those that the caller may see.
func (e *endpoint) server(r *http.Request) *sdk.Server {
	p := postOf(r.Context())
	if p.hidden {
		return p.tools.all
	}
	return p.tools.public
}

// errClosing is the cause with which calls end when the server has shut down. Their tasks are as the server left them.
// errOver answers requests that come after that.
var (
	errClosing = errors.New("the agent is shutting down")
	errOver    = engine.ErrBusy.With("the agent is shutting down")
)

// lastAnswers is how long calls whose tasks have ended may take to say so when the server has shut down. Those that wait
// for a person end then, and have as long for their errors.
const lastAnswers = time.Second

// Close ends all requests and sessions. A session that is closed answers nothing more, so that calls go first.
func (e *endpoint) Close() {
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		e.posts.Wait()
		close(answered)
	}()
	for range 2 {
		select {
		case <-answered:
		case <-time.After(lastAnswers):
		}
		e.end(errClosing)
	}
	for _, s := range e.openSessions() {
		_ = s.Close() // an error is that of the connection
	}
	for _, t := range e.openTools() {
		t.client.Close()
	}
}

func (e *endpoint) openTools() []*tools {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.opened))
}
