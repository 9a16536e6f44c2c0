// Package mcptest fakes MCP servers in the tests of handlers that call tools.
package mcptest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Result is what a tool gives.
type Result struct {
	Text       string
	Structured json.RawMessage // nil: none
	Error      bool            // the tool fails, and Text says why
}

// Serve serves one tool over HTTP until the test ends, and returns the server's URL. The tool takes any object.
func Serve(t testing.TB, tool string, result Result) (url string) {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: tool, InputSchema: json.RawMessage(`{"type": "object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: result.Text}}, IsError: result.Error}
			if result.Structured != nil {
				r.StructuredContent = result.Structured
				r.Content = []sdk.Content{&sdk.TextContent{Text: string(result.Structured)}}
			}
			return r, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	srv := httptest.NewServer(handler)
	t.Cleanup(func() {
		srv.CloseClientConnections() // a client keeps its streams open
		srv.Close()
	})
	return srv.URL
}
