package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// withInterfaces is a card with these interfaces.
func withInterfaces(list string) string {
	return `{"name":"weather","description":"d","version":"1","supportedInterfaces":[` + list + `],"capabilities":{},
	"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"d","tags":["t"]}],
	"url":"https://old.example","preferredTransport":"JSONRPC","protocolVersion":"0.3.0"}`
}

// R125, §15: the first interface whose binding and version are spoken; patch numbers do not count (R74).
func TestTheFirstSpokenInterfaceIsUsed(t *testing.T) {
	const (
		grpc  = `{"url":"a.example:443","protocolBinding":"GRPC","protocolVersion":"1.0"}`
		rest  = `{"url":"https://a.example/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}`
		old   = `{"url":"https://a.example/old","protocolBinding":"JSONRPC","protocolVersion":"0.9"}`
		first = `{"url":"https://a.example/1","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"acme"}`
		patch = `{"url":"https://a.example/p","protocolBinding":"JSONRPC","protocolVersion":"1.0.1"}`
		bad   = `{"url":"ftp://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`
	)
	tests := []struct{ name, interfaces, url, tenant, err string }{
		{"the only one", first, "https://a.example/1", "acme", ""},
		{"behind others", grpc + "," + old + "," + first + "," + patch, "https://a.example/1", "acme", ""},
		{"of HTTP+JSON", rest + "," + first, "https://a.example/rest", "", ""},
		{"in the order of the card", patch + "," + first, "https://a.example/p", "", ""},
		{"none is spoken", grpc + "," + old, "", "", "that this client speaks (JSONRPC 1.0, JSONRPC 0.3, JSONRPC 0.2, JSONRPC 0.1, HTTP+JSON 1.0, HTTP+JSON 0.3); it offers GRPC 1.0 at a.example:443, JSONRPC 0.9 at https://a.example/old"},
		{"its URL cannot be called", bad, "", "", `"ftp://a.example" is not an absolute http or https URL`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, withInterfaces(tt.interfaces)))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := c.Interface(); got.URL != tt.url || c.Tenant() != tt.tenant {
				t.Errorf("chose %+v", got)
			}
		})
	}
}

func TestTheEndpointOfABadlyDeployedCardCanBeReplaced(t *testing.T) {
	card := decodeCard(t, withInterfaces(`{"url":"http://0.0.0.0:80/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"acme"}`))
	c, err := rpc.FromCard(a2a.Protocol(), card, rpc.Endpoint("https://agent.example/a2a"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Interface().URL != "https://agent.example/a2a" || c.Tenant() != "acme" {
		t.Errorf("uses %+v", c.Interface())
	}
}

func TestNewFetchesTheCard(t *testing.T) {
	tests := []struct{ name, served, asked string }{
		{"below the base URL", "/.well-known/agent-card.json", ""},
		{"below a base URL with a path", "/agents/weather/.well-known/agent-card.json", "/agents/weather/"},
		{"at the place of old protocols", "/.well-known/agent.json", ""},
		{"at its own URL", "/weather.json", "/weather.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var header http.Header
			mux := http.NewServeMux()
			srv := httptest.NewServer(mux)
			defer srv.Close()
			mux.HandleFunc("GET "+tt.served, func(w http.ResponseWriter, r *http.Request) {
				header = r.Header
				_, _ = w.Write([]byte(cardJSON(srv.URL+"/rpc", "", streams)))
			})
			c, err := a2aclient.New(t.Context(), srv.URL+tt.asked, rpc.DefaultHeader("X-Key", "k"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Card().Name != "weather" || c.RPC().Interface().URL != srv.URL+"/rpc" {
				t.Errorf("got the card of %q at %s", c.Card().Name, c.RPC().Interface().URL)
			}
			if header.Get("A2A-Version") != "1.0" || header.Get("X-Key") != "k" {
				t.Errorf("asked with %v", header)
			}
		})
	}
}

func TestNewSaysWhyThereIsNoCard(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"missing", 404, "", "/.well-known/agent-card.json: HTTP 404"},
		{"forbidden", 403, "members only", "HTTP 403 Forbidden: members only"},
		{"no card", 200, "<html>", "not a valid card"},
		{"a card without interfaces", 200, withInterfaces(""), "made for an older protocol version (0.3.0) than 1.0"},
		{"too large", 200, `{"name":"` + strings.Repeat("x", 2<<20) + `"}`, "over 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer srv.Close()
			_, err := a2aclient.New(t.Context(), srv.URL)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	for _, u := range []string{"agent.example", "ftp://agent.example", "http://", "::"} {
		if _, err := a2aclient.New(t.Context(), u); err == nil {
			t.Errorf("%q is taken for a URL", u)
		}
	}
}

// TestACardIsTakenWithItsFaults: what calls can do without is overlooked, and said; what they need is not.
func TestACardIsTakenWithItsFaults(t *testing.T) {
	const (
		newer = `{"name":"w","description":"d","version":"1","supportedInterfaces":[{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
			`"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]}`
		older = `{"name":"w","description":"d","version":"1","url":"https://a.example/","protocolVersion":"0.3.0","capabilities":{"streaming":true},` +
			`"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]}`
		flows = `{"flows":{"authorizationCode":{"authorizationUrl":"https://a","tokenUrl":"https://b","scopes":{}},"clientCredentials":{"tokenUrl":"https://b","scopes":{}}}}`
	)
	tests := []struct{ name, card, old, new, warning string }{
		{"nothing wrong", newer, "", "", ""},
		{"a mode of 0.1 in a card of 0.3", older, "", "", ""},
		{"an odd requirement", newer, `"skills"`, `"securityRequirements":[{"schemes":{"k":7}},{"schemes":{"j":{"list":[]}}}],"skills"`, "/securityRequirements/0 is left out"},
		{"a requirement that is a word", newer, `"skills"`, `"securityRequirements":["k"],"skills"`, "/securityRequirements/0 is left out"},
		{"requirements that are no list", newer, `"skills"`, `"securityRequirements":{"k":[]},"skills"`, "/securityRequirements is left out"},
		{"an odd requirement of a skill", newer, `"tags":["t"]`, `"tags":["t"],"securityRequirements":[{"schemes":{"k":7}}]`, "/skills/0/securityRequirements/0 is left out"},
		{"requirements as in 0.3", newer, `"skills"`, `"security":[{"k":["s"]}],"skills"`, `"security" is read as the securityRequirements`},
		{"requirements of a skill as in 0.3", newer, `"tags":["t"]`, `"tags":["t"],"security":[{"k":[]}]`, `"security" of skill 0 is read`},
		{"requirements as in 0.3 that are words", newer, `"skills"`, `"security":["k"],"skills"`, "/securityRequirements/0 is left out"},
		{"requirements of both", newer, `"skills"`, `"security":[{"k":[]}],"securityRequirements":[],"skills"`, ""},
		{"no capabilities", newer, `"capabilities":{"streaming":true},`, ``, "/capabilities: required, but missing (taken for empty)"},
		{"capabilities that are null", newer, `{"streaming":true}`, `null`, "taken for empty"},
		{"a scheme of 0.3 in a card of 1.0", newer, `"skills"`, `"securitySchemes":{"a/b":{"type":"apiKey","in":"header","name":"X"}},"skills"`, "is left out"},
		{"two flows in a scheme", newer, `"skills"`, `"securitySchemes":{"o":{"oauth2SecurityScheme":` + flows + `}},"skills"`, "flows/clientCredentials is left out"},
		{"a scheme that is a word", newer, `"skills"`, `"securitySchemes":{"p":"bearer"},"skills"`, "/securitySchemes/p is left out"},
		{"two kinds in a scheme", newer, `"skills"`, `"securitySchemes":{"o":{"apiKeySecurityScheme":{"location":"header","name":"X"},"httpAuthSecurityScheme":{"scheme":"Bearer"}}},"skills"`, "httpAuthSecurityScheme is left out"},
		{"a skill without tags", newer, `,"tags":["t"]`, ``, "/skills/0/tags: required, but missing (taken for empty)"},
		{"a description that is a number", newer, `"description":"d","version"`, `"description":7,"version"`, "taken for empty"},
		{"no name", newer, `"name":"w",`, ``, "taken for empty"},
		{"a provider without URL", newer, `"skills"`, `"provider":{"organization":"o","url":{}},"skills"`, "is left out"},
		{"an odd interface beside a good one", newer, `"supportedInterfaces":[`, `"supportedInterfaces":["x",`, "/supportedInterfaces/0 is left out"},
		{"odd security of 0.3", older, `"skills"`, `"security":["x"],"securitySchemes":{"k":{"type":"magic"},"j":7},"skills"`, "is left out"},
		{"a scheme of 1.0 in a card of 0.3", older, `"skills"`, `"securitySchemes":{"o":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},"skills"`, "is left out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			card := strings.Replace(tt.card, tt.old, tt.new, 1)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(card)) }))
			defer srv.Close()
			c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Interface().URL != "https://a.example/" {
				t.Errorf("uses %+v", c.Interface())
			}
			all := strings.Join(c.Warnings(), "\n")
			if (all == "") != (tt.warning == "") || !strings.Contains(all, tt.warning) {
				t.Errorf("warnings %q, want %q", all, tt.warning)
			}
		})
	}
	for name, card := range map[string]string{"no interfaces": strings.Replace(newer, "supportedInterfaces", "interfaces", 1), "interfaces that are none": strings.Replace(newer, `[{"url"`, `7,"x":[{"url"`, 1), "a list": "[]", "no JSON": "{"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(card)) }))
		if c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL); err == nil {
			t.Errorf("%s: taken, with %q", name, c.Warnings())
		}
		srv.Close()
	}
}
