package generator

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// TestClientsDoNotShareVariables: the secret of one agent must not go to another.
func TestClientsDoNotShareVariables(t *testing.T) {
	const card = `{"name": "A", "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
		"skills": [{"id": "a", "name": "a", "tags": ["a"]}]}`
	for names, want := range map[string]string{
		"corp_desk corp__desk": `a2agen.yaml:3:5: the clients "corp_desk" and "corp__desk" have the same environment variables (A2A_AGENT_CORP_DESK, …) (rename one of them)`,
		"corp corp_":           `a2agen.yaml:3:5: the clients "corp" and "corp_" have the same environment variables (A2A_AGENT_CORP, …) (rename one of them)`,
		"corp corp_url":        "",
	} {
		first, second, _ := strings.Cut(names, " ")
		_, list := Generate(t.Context(), inputs(map[string]string{
			"a.json":      card,
			"a2agen.yaml": "clients:\n  - {name: " + first + ", file: a.json}\n  - {name: " + second + ", file: a.json}\n",
		}))
		var errs []string
		for _, d := range list {
			if d.Severity == diag.Error {
				errs = append(errs, d.String())
			}
		}
		if got, _, _ := strings.Cut(strings.Join(errs, "\n"), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", names, got, want)
		}
	}
}

// TestHandlersHaveTheClientsThatCallByThemselves: one that needs a binding of the user's own would keep the agent
// from starting.
func TestHandlersHaveTheClientsThatCallByThemselves(t *testing.T) {
	for binding, want := range map[string]bool{"JSONRPC": true, "QUIC": false} {
		out, list := Generate(t.Context(), inputs(map[string]string{
			"agent.yaml": projecttest.Skills(1), "other.json": cardOf("1.0/" + binding),
			"a2agen.yaml": "protocol: [\"1.0\"]\nclients: [{name: other, file: other.json}]\n",
		}))
		if list.HasErrors() {
			t.Fatal(list)
		}
		made := slices.ContainsFunc(out.Files, func(f output.File) bool { return f.Path == "agent/clients.gen.go" })
		if made != want {
			t.Errorf("%s: handlers have the client: %v", binding, made)
		}
	}
}
