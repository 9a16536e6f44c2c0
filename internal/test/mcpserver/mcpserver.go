// Package mcpserver is an MCP server for tests, with a tool for everything that a tool can do, over every transport.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is a server, and what its tools tell a test.
type Server struct {
	*sdk.Server
	Started  chan struct{} // gets one from each call of slow
	Canceled chan struct{} // and one when it is canceled
	Told     chan struct{} // gets one from each call, of any tool, that its caller says to be canceled
}

// Listing is what the server says of its tools, in their order, with schemas byte for byte.
const Listing = `{"tools":[` +
	`{"name":"add","title":"Add","description":"Adds two numbers.","annotations":{"readOnlyHint":true},` +
	`"inputSchema":{"type":"object","required":["b","a"],"properties":{"b":{"type":"integer"},"a":{"type":"integer","maximum":9007199254740993}}},` +
	`"outputSchema":{"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}}},` +
	`{"name":"say","description":"Says it again.","inputSchema":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}},` +
	`{"name":"fail","description":"Fails.","inputSchema":{"type":"object"}},` +
	`{"name":"files","description":"Gives files.","inputSchema":{"type":"object"}},` +
	`{"name":"slow","description":"Works until it is canceled.","inputSchema":{"type":"object"}},` +
	`{"name":"ask","description":"Asks for a name.","annotations":{"destructiveHint":true},"inputSchema":{"type":"object"}},` +
	`{"name":"die","description":"Ends the server.","inputSchema":{"type":"object"}},` +
	`{"name":"environment","description":"Names its variables.","inputSchema":{"type":"object"}}]}`

// New makes a server.
func New() *Server {
	s := &Server{sdk.NewServer(&sdk.Implementation{Name: "test-tools", Title: "Test tools", Version: "1"}, nil),
		make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{}, 10)}
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "notifications/cancelled" {
				s.Told <- struct{}{}
			}
			return next(ctx, method, req)
		}
	})
	handlers := map[string]sdk.ToolHandler{"add": add, "say": say, "fail": fail, "files": files, "slow": s.slow, "ask": ask,
		"die": die, "environment": environment}
	var listing struct{ Tools []struct{ Name string } }
	var raw struct{ Tools []json.RawMessage }
	must(json.Unmarshal([]byte(Listing), &listing))
	must(json.Unmarshal([]byte(Listing), &raw))
	for i, t := range listing.Tools {
		tool := &sdk.Tool{}
		must(json.Unmarshal(raw.Tools[i], tool))
		var schemas struct{ InputSchema, OutputSchema json.RawMessage }
		must(json.Unmarshal(raw.Tools[i], &schemas))
		if tool.InputSchema = schemas.InputSchema; schemas.OutputSchema != nil {
			tool.OutputSchema = schemas.OutputSchema
		}
		s.AddTool(tool, handlers[t.Name])
	}
	return s
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Change has the tools change: one is gone, one is described otherwise, one takes something else.
func (s *Server) Change() {
	s.RemoveTools("fail")
	s.AddTool(&sdk.Tool{Name: "say", Description: "Repeats it.", InputSchema: json.RawMessage(`{"type":"object","required":["words"],` +
		`"properties":{"words":{"type":"string"}}}`)}, say)
}

// Stdio serves one session over standard input and output.
func Stdio() {
	if err := New().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Handler serves over HTTP: at /mcp with sessions, at /stateless as 2026-07-28 has it, at /sse as 2024-11-05.
func (s *Server) Handler() http.Handler {
	mux, get := http.NewServeMux(), func(*http.Request) *sdk.Server { return s.Server }
	mux.Handle("/mcp", sdk.NewStreamableHTTPHandler(get, nil))
	mux.Handle("/stateless", sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	mux.Handle("/sse", sdk.NewSSEHandler(get, nil))
	return mux
}

func text(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func add(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ A, B int64 }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	r := text(`{"sum": %d}`, in.A+in.B)
	r.StructuredContent = json.RawMessage(fmt.Sprintf(`{"sum": %d}`, in.A+in.B))
	return r, nil
}

func say(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ Text string }
	err := json.Unmarshal(req.Params.Arguments, &in)
	return text("%s", in.Text), err
}

func fail(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	r := text("The disk is full.")
	r.IsError = true
	return r, nil
}

func files(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{
		&sdk.TextContent{Text: "Five files."},
		&sdk.ImageContent{Data: []byte("png"), MIMEType: "image/png"},
		&sdk.AudioContent{Data: []byte("wav"), MIMEType: "audio/wav"},
		&sdk.ResourceLink{URI: "https://files.example/a.csv", Name: "a.csv", MIMEType: "text/csv"},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///notes/b.txt", Text: "b"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c.bin", MIMEType: "application/octet-stream", Blob: []byte{0, 1}}},
	}}, nil
}

func (s *Server) slow(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 3})
	_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 2, Total: 3, Message: "Nearly there."})
	s.Started <- struct{}{}
	<-ctx.Done()
	s.Canceled <- struct{}{}
	return nil, ctx.Err()
}

// asked is what ask wants to know.
var asked = json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":2}}}`)

// ask asks by the way of the client's version: clients of 2026-07-28 call again with the answer, older ones are asked.
func ask(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	answer, _ := req.Params.InputResponses["who"].(*sdk.ElicitResult)
	switch {
	case req.Params.InputResponses == nil:
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": &sdk.ElicitParams{Mode: "form", Message: "What is your name?", RequestedSchema: asked}},
			RequestState: "1"}, nil
	case answer == nil:
		return nil, errors.New("there is no answer")
	case answer.Action != "accept":
		return text("Nobody said: %s.", answer.Action), nil
	}
	return text("Hello, %v.", answer.Content["name"]), nil
}

func die(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	fmt.Fprintln(os.Stderr, "out of memory")
	os.Exit(3)
	return nil, nil
}

func environment(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return text("%s", strings.Join(os.Environ(), "\n")), nil
}
