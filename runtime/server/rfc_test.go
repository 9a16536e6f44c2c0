package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
)

// TestRFC6750TokensComeInTheHeaderAlone: not in a form (§2.2), a query (§2.3), a trailer or a cookie, nor beside the header (§2).
func TestRFC6750TokensComeInTheHeaderAlone(t *testing.T) {
	a := start(t, authCard, waiting(), guards())
	const form = "Content-Type: application/x-www-form-urlencoded"
	for name, c := range map[string]struct {
		query, body string
		header      []string
		want        string // of the challenge; "": it is let in
	}{
		"§2.1 the header":          {"", "", []string{as("ann")}, ""},
		"§2.2 a form":              {"", "access_token=ann", []string{form}, "415"}, // no binding has forms
		"§2.3 the query":           {"?access_token=ann", "", nil, `Bearer realm="Test", error="invalid_request", scope="use"`},
		"§2.3 an empty one":        {"?access_token", "", nil, `Bearer realm="Test", error="invalid_request", scope="use"`},
		"§2 the query, the header": {"?access_token=ann", "", []string{as("ann")}, `Bearer realm="Test", error="invalid_request", scope="use"`},
		"a cookie":                 {"", "", []string{"Cookie: access_token=ann"}, `Bearer realm="Test", scope="use"`},
		"a trailer":                {"", "", []string{"trailer"}, `Bearer realm="Test", scope="use"`},
	} {
		body := c.body
		if body == "" {
			body = rpcBody("ListTasks", `{}`)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+c.query, io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("A2A-Version", "1.0")
		for _, h := range c.header {
			if h == "trailer" {
				req.Trailer = http.Header{"Authorization": {"Bearer ann"}}
				continue
			}
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		resp, err := a.web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		got := resp.Header.Values("WWW-Authenticate")
		if is := resp.StatusCode; is == 401 && (len(got) == 0 || got[0] != c.want) || is != 401 && fmt.Sprint(is) != cmp.Or(c.want, "200") {
			t.Errorf("%s: %s %q", name, resp.Status, got)
		}
	}
}

// issued are tokens of an issuer that has a name.
type issued struct {
	tokens
	name string
}

func (i issued) Issuer() string { return i.name }

// TestRFC9728Metadata: what stands there (§2), where (§3.1) and how it is served (§3.2), and that the challenge leads to a
// document of this very resource (§3.3, §5.1).
func TestRFC9728Metadata(t *testing.T) {
	for public, want := range map[string]struct{ resource, at string }{
		"https://agent.example":        {"https://agent.example", "/.well-known/oauth-protected-resource"},
		"https://agent.example/":       {"https://agent.example", "/.well-known/oauth-protected-resource"},
		"https://agent.example:8443/x": {"https://agent.example:8443/x", "/.well-known/oauth-protected-resource/x"},
		"https://agent.example/x/y/":   {"https://agent.example/x/y", "/.well-known/oauth-protected-resource/x/y"},
	} {
		a := start(t, authCard, waiting(), guards(), server.WithAuth(auth.Verifiers{"idp": issued{people, "https://idp.example/"}}), server.WithURL(public))
		v := a.rpc("ListTasks", `{}`)
		host, _, _ := strings.Cut(strings.TrimPrefix(public, "https://"), "/")
		if link := `resource_metadata="https://` + host + want.at + `"`; v.status != 401 || !strings.Contains(fmt.Sprint(v.challenge), link) {
			t.Errorf("%s: the challenge %q does not lead to %s", public, v.challenge, link)
		}
		if resp, _ := a.metadata(http.MethodPost, want.at); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: POST: %s", public, resp.Status)
		}
		if resp, _ := a.metadata(http.MethodHead, want.at); resp.StatusCode != 200 {
			t.Errorf("%s: HEAD: %s", public, resp.Status)
		}
		resp, got := a.metadata(http.MethodGet, want.at)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %s %v", public, resp.Status, resp.Header)
		}
		for name, value := range map[string]any{
			"resource": want.resource, "authorization_servers": []any{"https://idp.example/"}, "scopes_supported": []any{"run", "use"},
			"bearer_methods_supported": []any{"header"}, "resource_name": "Test",
		} {
			if fmt.Sprint(got[name]) != fmt.Sprint(value) {
				t.Errorf("%s: %s is %v", public, name, got[name])
			}
		}
	}
}

// metadata asks what is at a path of the agent's host.
func (a *agent) metadata(method, path string) (*http.Response, map[string]any) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, strings.TrimSuffix(a.url, "/rpc")+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	resp, err := a.web.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&got)
	return resp, got
}

// TestRFC9728NothingWithoutAnAddress: an address that a request names is not the resource's, and who takes no tokens has no metadata.
func TestRFC9728NothingWithoutAnAddress(t *testing.T) {
	keyCard := strings.NewReplacer(`{"schemes":{"idp":{"list":["use"]}}},`, "", `"idp":{"httpAuthSecurityScheme":{"scheme":"Bearer"}},`, "",
		`,"securityRequirements":[{"schemes":{"idp":{"list":["run"]}}}]}]`, `}]`).Replace(authCard)
	key := server.WithAuth(auth.Verifiers{"key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey(aKey)})})
	for name, a := range map[string]*agent{
		"no public URL": start(t, authCard, waiting(), guards()),
		"no tokens":     start(t, keyCard, waiting(), key, server.WithURL("https://agent.example")),
	} {
		resp, _ := a.metadata(http.MethodGet, server.ResourcePath)
		v := a.rpc("ListTasks", `{}`)
		linked := slices.ContainsFunc(v.challenge, func(c string) bool { return strings.Contains(c, "resource_metadata") })
		if resp.StatusCode != 404 || v.status != 401 || linked {
			t.Errorf("%s: %s, %d %q", name, resp.Status, v.status, v.challenge)
		}
	}
}
