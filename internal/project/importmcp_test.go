package project

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/mcptools"
)

func TestAServerIsNamedInOneWayAndWithoutCredentials(t *testing.T) {
	tests := []struct {
		name string
		args []string
		dash int
		o    MCPOptions
		want string // in the error
	}{
		{"nothing", nil, -1, MCPOptions{}, "name one server: its URL, a file with its answer to tools/list, or a command behind two hyphens"},
		{"a command", []string{"npx", "it's"}, -1, MCPOptions{}, `write a command behind two hyphens: a2agen import mcp -- npx 'it'\''s'`},
		{"a command behind a file", []string{"f", "npx"}, 1, MCPOptions{}, "name one server"},
		{"http", []string{"http://127.0.0.1:1/mcp"}, -1, MCPOptions{}, "only https is safe"},
		{"credentials in the URL", []string{"https://me:secret@mcp.example.com/mcp"}, -1, MCPOptions{}, "holds credentials, which would end up in files"},
		{"another scheme", []string{"ftp://mcp.example.com"}, -1, MCPOptions{}, "is no http or https URL"},
		{"a credential", []string{"https://mcp.example.com"}, -1, MCPOptions{Headers: []string{"Authorization: Bearer secret"}}, "a credential must not be in a file"},
		{"no header", []string{"https://mcp.example.com"}, -1, MCPOptions{Headers: []string{"${X}"}}, "write 'Name: value'"},
		{"a header for a command", []string{"npx"}, 0, MCPOptions{Headers: []string{"A: ${X}"}}, "--header is for a server at a URL"},
		{"a value", []string{"npx"}, 0, MCPOptions{Env: []string{"KEY=secret"}}, "write the name of a variable, without its value"},
		{"a variable for a URL", []string{"https://mcp.example.com"}, -1, MCPOptions{Env: []string{"KEY"}}, "--env is for a command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.o.Place(tt.args, tt.dash)
			if err == nil {
				_, err = tt.o.address()
			}
			var bad *ArgumentError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) || strings.HasSuffix(tt.name, "URL") && strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTheCommandThatTakesAListingOverIsOneForAShell(t *testing.T) {
	for want, at := range map[string]mcptools.Address{
		"https://mcp.example.com/mcp":                                       {URL: "https://mcp.example.com/mcp"},
		"--header 'Authorization: Bearer ${T}' https://mcp.example.com/mcp": {URL: "https://mcp.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer ${T}"}},
		"--env KEY -- npx -y 'a b'":                                         {Command: []string{"npx", "-y", "a b"}, Env: []string{"KEY"}},
	} {
		if got := importTarget(at); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
