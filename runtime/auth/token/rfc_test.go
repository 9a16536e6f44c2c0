package token_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// TestRFC7662Request: how the issuer is asked (§2.1), and that a scope, an audience and a time of its answer (§2.2) count
// as those of a JWT.
func TestRFC7662Request(t *testing.T) {
	i := newIssuer()
	i.asked = says(map[string]any{"aud": []string{"https://other.example", agent}, "scope": "see ask", "username": "ann@example.com", "x": 1})
	g := opaque(t, i)
	const value = "2YotnFZFEjr1zCsicMWpAA+/=="
	var asked *http.Request
	i.fail(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/ask" {
			asked = r
		}
		return nil, nil
	})
	i.asked = func(form url.Values) string {
		if len(form) != 2 || form.Get("token") != value || form.Get("token_type_hint") != "access_token" {
			t.Errorf("it is asked %v", form)
		}
		return says(nil)(form)
	}
	if got := verdict(g, with(value)); got != ann {
		t.Fatal(got)
	}
	if asked.Method != http.MethodPost || asked.URL.RawQuery != "" || asked.Header.Get("Accept") != "application/json" ||
		asked.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("it is asked by %s %s %v", asked.Method, asked.URL, asked.Header)
	}
}

// TestRFC8414Places: where an issuer with a path describes itself (§3.1) and as OpenID Connect has it, with and without
// a slash at the end; whose description it is (§3.3).
func TestRFC8414Places(t *testing.T) {
	key := newKey(t)
	for _, c := range []struct{ issuer, described, says, want string }{
		{"https://idp.example/t", "https://idp.example/t/.well-known/openid-configuration", "https://idp.example/t", "https://idp.example/t|ann"},
		{"https://idp.example/t", "https://idp.example/.well-known/oauth-authorization-server/t", "https://idp.example/t", "https://idp.example/t|ann"},
		{"https://idp.example/t/", "https://idp.example/t/.well-known/openid-configuration", "https://idp.example/t/", "https://idp.example/t/|ann"},
		{"https://idp.example/t/", "https://idp.example/.well-known/oauth-authorization-server/t", "https://idp.example/t/", "https://idp.example/t/|ann"},
		{"https://idp.example/", "https://idp.example/.well-known/oauth-authorization-server", "https://idp.example/", "https://idp.example/|ann"},
		{"https://idp.example/t", "https://idp.example/.well-known/oauth-authorization-server", "https://idp.example/t", "503"},
		{"https://idp.example/t", "https://idp.example/t/.well-known/openid-configuration", "https://idp.example", "503"},
		{"https://idp.example/t", "https://idp.example/t/.well-known/openid-configuration", "https://idp.example/t/", "503"},
		{"https://idp.example/t", "https://idp.example/t/.well-known/openid-configuration", "https://IDP.example/t", "503"},
		{"https://idp.example/t", "https://idp.example/t/.well-known/openid-configuration", "", "503"},
	} {
		i := newIssuer(jwk("one", key.Public()))
		i.name = "https://nowhere.example"
		i.fail(func(r *http.Request) (*http.Response, error) {
			if r.URL.String() == c.described {
				return respond(200, fmt.Sprintf(`{"issuer":%q,"jwks_uri":"https://keys.example/jwks"}`, c.says)), nil
			}
			return nil, nil
		})
		g := jwts(t, i, func(config *token.Config) { config.Issuer = c.issuer })
		got := verdict(g, with(sign(key, good, claims(map[string]any{"iss": c.issuer}))))
		if got, _, _ = strings.Cut(got, " "); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestRFC8414Issuers are https URLs without a query or a fragment (§2).
func TestRFC8414Issuers(t *testing.T) {
	for issuer, good := range map[string]bool{
		"https://idp.example": true, "https://idp.example/t/": true, "http://127.0.0.1:9000": true, "http://localhost:9000/": true,
		"http://idp.example": false, "https://idp.example?t=1": false, "https://idp.example/#t": false, "https://u:p@idp.example": false,
		"idp.example": false, "ftp://idp.example": false, "https://": false,
	} {
		_, err := newGuard(card, auth.Verifiers{"idp": token.JWT(token.Config{Issuer: issuer})}, nil)
		if (err == nil) != good {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

// TestRFC9068Tokens: the header (§2.1), the claims that are looked at and those that are not (§2.2), and the answers
// (§4, by RFC 6750 §3.1).
func TestRFC9068Tokens(t *testing.T) {
	key := newKey(t)
	g := jwts(t, newIssuer(jwk("one", key.Public())))
	type m = map[string]any
	const invalid = `401 Bearer realm="Test", error="invalid_token", scope="ask"`
	for _, c := range []struct {
		name, header string
		change       m
		want         string
	}{
		{"§2 of the example's form", `{"typ":"at+jwt","alg":"ES256","kid":"one"}`, m{"auth_time": 1, "acr": "0", "amr": []string{"pwd"}}, ""},
		{"§2.1 application/at+jwt", `{"typ":"application/at+jwt","alg":"ES256","kid":"one"}`, nil, ""},
		{"§2.1 no type", `{"alg":"ES256","kid":"one"}`, nil, invalid},
		{"§2.1 another type", `{"typ":"JWT","alg":"ES256","kid":"one"}`, nil, invalid},
		{"§2.1 none", `{"typ":"at+jwt","alg":"none","kid":"one"}`, nil, invalid},
		{"§2.2 no iss", good, m{"iss": nil}, invalid},
		{"§2.2 no exp", good, m{"exp": nil}, invalid},
		{"§2.2 no aud", good, m{"aud": nil}, invalid},
		{"§2.2 no sub", good, m{"sub": nil}, invalid},
		{"§2.2 no client_id, which §4 does not ask for", good, m{"client_id": nil}, ""},
		{"§2.2 no iat, which §4 does not ask for", good, m{"iat": nil}, ""},
		{"§2.2 no jti, which §4 does not ask for", good, m{"jti": nil}, ""},
		{"§2.2.3 no scope", good, m{"scope": nil}, `403 Bearer realm="Test", error="insufficient_scope", scope="ask"`},
		{"§4 another audience among several", good, m{"aud": []string{"https://other.example", agent}}, ""},
		{"§4 another issuer", good, m{"iss": "https://evil.example"}, invalid},
		{"§4 expired", good, m{"exp": 1}, invalid},
		{"§5 a subject that is the client, who is no person of that name", good, m{"sub": "app"}, ""},
	} {
		_, denial := g.Check(with(sign(key, c.header, claims(c.change))))
		got := ""
		if denial != nil {
			got = fmt.Sprint(denial.Status, " ", strings.Join(denial.Challenges, "|"))
		}
		if got != c.want {
			t.Errorf("%s: %q (%v)", c.name, got, denial)
		}
	}
}

// TestRFC8705Confirmation: a token that is bound to a certificate counts with it alone, whether the token says so (§3.1)
// or the issuer (§3.2); one bound by other means, or to nothing that can be read, never does.
func TestRFC8705Confirmation(t *testing.T) {
	key := newKey(t)
	cert := &x509.Certificate{Raw: []byte("DER")}
	sum := sha256.Sum256(cert.Raw)
	thumb := b64.EncodeToString(sum[:])
	type m = map[string]any
	for name, c := range map[string]struct {
		cnf  any
		want string // with the certificate
	}{
		"§3.1 its thumbprint":    {m{"x5t#S256": thumb}, ann},
		"another one":            {m{"x5t#S256": b64.EncodeToString(make([]byte, 32))}, "401"},
		"padded":                 {m{"x5t#S256": thumb + "="}, "401"},
		"empty":                  {m{"x5t#S256": ""}, "401"},
		"by SHA-1's name":        {m{"x5t": thumb}, "401"},
		"by a key as well":       {m{"x5t#S256": thumb, "jkt": thumb}, "401"},
		"a key (RFC 7800, 9449)": {m{"jkt": thumb}, "401"},
		"by nothing":             {m{}, "401"},
		"no object":              {thumb, "401"},
	} {
		i := newIssuer(jwk("one", key.Public()))
		i.asked = says(m{"cnf": c.cnf})
		for way, shown := range map[string]struct {
			guard *guard.Guard
			token string
		}{
			"the token":  {jwts(t, i), sign(key, good, claims(m{"cnf": c.cnf}))},
			"the issuer": {opaque(t, i), "opaque"},
		} {
			r := with(shown.token)
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
			got, _, _ := strings.Cut(verdict(shown.guard, r), " ")
			if got != c.want && (name != "no object" || got == ann) {
				t.Errorf("%s, %s says so: %s", name, way, got)
			}
			if got := verdict(shown.guard, with(shown.token)); strings.HasPrefix(got, ann) {
				t.Errorf("%s, %s says so: it counts without the certificate", name, way)
			}
		}
	}
}
