package generator

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
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
