package token_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

const ann = "https://idp.example|ann"

// TestForgedTokens: algorithms, keys and headers that are not what they should be.
func TestForgedTokens(t *testing.T) {
	key, other := newKey(t), newKey(t)
	rsaKey := newRSA(t)
	i := newIssuer(jwk("one", key.Public()), jwk("rsa", rsaKey.Public(), `"alg":"RS256"`, `"use":"sig"`), jwk("enc", other.Public(), `"use":"enc"`),
		jwk("twice", key.Public()), jwk("twice", other.Public()), jwk("", key.Public()), jwk("es384", key.Public(), `"alg":"ES384"`),
		`{"kty":"oct","k":"c2VjcmV0","kid":"oct"}`)
	g := jwts(t, i)
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	head := func(alg, kid, more string) string {
		return `{"alg":"` + alg + `","typ":"at+jwt","kid":"` + kid + `"` + more + `}`
	}
	pay := claims(nil)
	unsigned := func(alg string) string {
		return b64.EncodeToString([]byte(head(alg, "one", ""))) + "." + b64.EncodeToString([]byte(pay))
	}
	whole := sign(key, good, pay)
	for name, c := range map[string]struct{ token, want string }{
		"good":                       {whole, ann},
		"good, RS256":                {sign(rsaKey, head("RS256", "rsa", ""), pay), ann},
		"none":                       {unsigned("none") + ".", "401"},
		"None":                       {unsigned("None") + ".", "401"},
		"NONE":                       {unsigned("NONE") + ".", "401"},
		"none with a signature":      {sign(key, head("none", "one", ""), pay), "401"},
		"no signature":               {unsigned("ES256") + ".", "401"},
		"two parts":                  {unsigned("ES256"), "401"},
		"HS256 with the PEM":         {mac(pemKey, head("HS256", "rsa", ""), pay), "401"},
		"HS256 with the DER":         {mac(der, head("HS256", "rsa", ""), pay), "401"},
		"HS256 with the JWK":         {mac([]byte(jwk("rsa", rsaKey.Public())), head("HS256", "rsa", ""), pay), "401"},
		"HS256 with the modulus":     {mac(rsaKey.N.Bytes(), head("HS256", "rsa", ""), pay), "401"},
		"HS256 with a published key": {mac([]byte("secret"), head("HS256", "oct", ""), pay), "401"},
		"RS key under an ES label":   {sign(rsaKey, head("ES256", "rsa", ""), pay), "401"},
		"ES key under an RS label":   {sign(key, head("RS256", "one", ""), pay), "401"},
		"key of another algorithm":   {sign(key, head("ES256", "es384", ""), pay), "401"},
		"two keys of one kid":        {sign(key, head("ES256", "twice", ""), pay), "401"},
		"two keys of one kid, other": {sign(other, head("ES256", "twice", ""), pay), "401"},
		"key for encryption":         {sign(other, head("ES256", "enc", ""), pay), "401"},
		"another key":                {sign(other, good, pay), "401"},
		"no kid":                     {sign(key, `{"alg":"ES256","typ":"at+jwt"}`, pay), "401"},
		"empty kid":                  {sign(key, head("ES256", "", ""), pay), "401"},
		"kid with a path":            {sign(key, head("ES256", "../../one", ""), pay), "401"},
		"kid with quotes":            {sign(key, head("ES256", `one\" or \"1`, ""), pay), "401"},
		"kid of 10 kB":               {sign(key, head("ES256", strings.Repeat("x", 10_000), ""), pay), "401"},
		"jku":                        {sign(other, head("ES256", "evil", `,"jku":"https://evil.example/"`), pay), "401"},
		"jwk":                        {sign(other, head("ES256", "one", `,"jwk":`+jwk("one", other.Public())), pay), "401"},
		"x5u":                        {sign(other, head("ES256", "one", `,"x5u":"https://evil.example/"`), pay), "401"},
		"x5c":                        {sign(other, head("ES256", "one", `,"x5c":["AAAA"]`), pay), "401"},
		"jku beside a good key":      {sign(key, head("ES256", "one", `,"jku":"https://evil.example/"`), pay), ann},
		"crit":                       {sign(key, head("ES256", "one", `,"crit":["exp"]`), pay), "401"},
		"b64":                        {sign(key, head("ES256", "one", `,"b64":false`), pay), "401"},
		"header twice":               {sign(key, head("ES256", "one", `,"kid":"one"`), pay), "401"},
		"header in another case":     {sign(key, `{"ALG":"ES256","typ":"at+jwt","kid":"one"}`, pay), "401"},
		"encrypted":                  {b64.EncodeToString([]byte(`{"alg":"RSA-OAEP","enc":"A256GCM","kid":"rsa"}`)) + ".a.b.c.d", "401"},
		"64 kB":                      {sign(key, good, claims(map[string]any{"x": strings.Repeat("x", 64<<10)})), "401"},
		"1,000 dots":                 {strings.Repeat(".", 1000), "401"},
		"deep JSON":                  {sign(key, good, strings.Replace(pay, `"jti":"x"`, `"jti":"x","d":`+strings.Repeat("[", 3000)+strings.Repeat("]", 3000), 1)), "401"},
		"padded":                     {whole + "=", "401"},
		"another payload":            {strings.Split(whole, ".")[0] + "." + b64.EncodeToString([]byte(claims(map[string]any{"sub": "eve"}))) + "." + strings.Split(whole, ".")[2], "401"},
	} {
		got := verdict(g, with(c.token))
		if status, _, _ := strings.Cut(got, " "); status != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if strings.Contains(got, "eyJ") {
			t.Errorf("%s: the log has the token: %s", name, got)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for path := range i.fetches {
		if path != "/jwks" && path != "/.well-known/openid-configuration" {
			t.Errorf("%s was fetched", path)
		}
	}
}

// TestClaims: what a token has to say, and how.
func TestClaims(t *testing.T) {
	key := newKey(t)
	g := jwts(t, newIssuer(jwk("one", key.Public())), func(c *token.Config) { c.Audience = []string{agent, "api://a"} })
	type m = map[string]any
	now := float64(time.Now().Unix())
	for name, c := range map[string]struct {
		change m
		want   string
	}{
		"good":                             {nil, ann},
		"no exp":                           {m{"exp": nil}, "401"},
		"exp as text":                      {m{"exp": fmt.Sprint(int(now) + 300)}, "401"},
		"exp 1e30":                         {m{"exp": 1e30}, "401"},
		"exp -1":                           {m{"exp": -1}, "401"},
		"exp with a fraction":              {m{"exp": now + 300.5}, ann},
		"expired within the skew":          {m{"exp": now - 20}, ann},
		"expired beyond the skew":          {m{"exp": now - 31}, "401"},
		"nbf ahead within the skew":        {m{"nbf": now + 20}, ann},
		"nbf ahead beyond it":              {m{"nbf": now + 40}, "401"},
		"nbf as text":                      {m{"nbf": "0"}, "401"},
		"iat ahead within the skew":        {m{"iat": now + 20}, ann},
		"iat an hour ahead":                {m{"iat": now + 3600}, "401"},
		"issuer with a slash":              {m{"iss": idp + "/"}, "401"},
		"issuer with an upper-case host":   {m{"iss": "https://IDP.example"}, "401"},
		"another issuer":                   {m{"iss": "https://evil.example"}, "401"},
		"no issuer":                        {m{"iss": nil}, "401"},
		"another audience":                 {m{"aud": "https://other.example"}, "401"},
		"no audience":                      {m{"aud": nil}, "401"},
		"no audience in a list":            {m{"aud": []string{}}, "401"},
		"a list with ours":                 {m{"aud": []string{"x", "api://a"}}, ann},
		"a list without":                   {m{"aud": []string{"x", "y"}}, "401"},
		"a prefix of ours":                 {m{"aud": "https://agent.example"}, "401"},
		"ours as a prefix":                 {m{"aud": agent + "/b"}, "401"},
		"audience as an object":            {m{"aud": m{"a": agent}}, "401"},
		"no subject":                       {m{"sub": nil}, "401"},
		"empty subject":                    {m{"sub": ""}, "401"},
		"subject as a number":              {m{"sub": 1}, "401"},
		"a client by itself":               {m{"sub": "app"}, "https://idp.example|app|client"},
		"a client named like a person":     {m{"sub": "ann", "client_id": "ann"}, "https://idp.example|ann|client"},
		"a person like a client principal": {m{"sub": "app|client"}, "https://idp.example|app%7Cclient"},
		"the client as azp":                {m{"sub": "app", "client_id": nil, "azp": "app"}, "https://idp.example|app|client"},
		"scope as a list":                  {m{"scope": []string{"run", "ask"}}, ann},
		"scope as scp":                     {m{"scope": nil, "scp": []string{"ask"}}, ann},
		"scope as a substring":             {m{"scope": "asking task a s k"}, "403"},
		"scope in another case":            {m{"scope": "ASK"}, "403"},
		"scopes apart by blanks":           {m{"scope": " run  ask "}, ann},
		"scopes apart by a tab":            {m{"scope": "run\task"}, "403"},
		"scopes apart by a line break":     {m{"scope": "run\nask"}, "403"},
		"scopes apart by a no-break space": {m{"scope": "run\u00a0ask"}, "403"},
		"scopes apart by a wide space":     {m{"scope": "run\u3000ask"}, "403"},
		"no scope":                         {m{"scope": nil}, "403"},
		"empty scope":                      {m{"scope": ""}, "403"},
		"scope as a number":                {m{"scope": 1}, "401"},
		"bound to a certificate":           {m{"cnf": m{"x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}}, "401"},
		"bound to a key of DPoP":           {m{"cnf": m{"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}, "401"},
		"bound to both":                    {m{"cnf": m{"jkt": "x", "x5t#S256": "y"}}, "401"},
		"bound to nothing":                 {m{"cnf": m{}}, "401"},
		"an ID token":                      {m{"nonce": "n"}, "401"},
		"an ID token with a hash":          {m{"at_hash": "h"}, "401"},
		"Keycloak's ID token":              {m{"typ": "ID"}, "401"},
		"Keycloak's refresh token":         {m{"typ": "Refresh"}, "401"},
		"Keycloak's offline token":         {m{"typ": "Offline"}, "401"},
		"Keycloak's access token":          {m{"typ": "Bearer"}, ann},
		"Cognito's ID token":               {m{"token_use": "id"}, "401"},
		"claims in another case":           {m{"ISS": "https://evil.example", "Aud": "x"}, ann},
		"issuer in another case alone":     {m{"ISS": idp, "iss": nil}, "401"},
	} {
		got := verdict(g, with(sign(key, good, claims(c.change))))
		if status, _, _ := strings.Cut(got, " "); status != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, payload := range map[string]string{
		"duplicate claim":        strings.Replace(claims(nil), `{`, `{"sub":"eve",`, 1),
		"duplicate escaped":      strings.Replace(claims(nil), `{`, `{"\u0073ub":"eve",`, 1),
		"duplicate unknown":      strings.Replace(claims(nil), `{`, `{"x":1,"x":2,`, 1),
		"duplicate inside":       strings.Replace(claims(nil), `{`, `{"x":{"y":1,"y":2},`, 1),
		"two claims for a scope": claims(map[string]any{"scp": "ask"}),
		"bad UTF-8":              strings.Replace(claims(nil), `"x"`, "\"\xff\"", 1),
		"a list":                 "[" + claims(nil) + "]",
		"two objects":            claims(nil) + claims(nil),
		"nothing":                "",
	} {
		got := verdict(g, with(sign(key, good, payload)))
		if want := "401"; !strings.HasPrefix(got, want) && name != "two claims for a scope" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for typ, want := range map[string]string{
		"at+jwt": ann, "application/at+jwt": ann, "AT+JWT": ann, "JWT": "401", "": "401", "id+jwt": "401", "application/json": "401", "at+jwt ": "401", "dpop+jwt": "401",
	} {
		got := verdict(g, with(sign(key, `{"alg":"ES256","kid":"one","typ":"`+typ+`"}`, claims(nil))))
		if status, _, _ := strings.Cut(got, " "); status != want {
			t.Errorf("type %q: %s", typ, got)
		}
	}
}

// TestTwoIssuers: each has its own keys, its own subjects, and its own state of health.
func TestTwoIssuers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const two = `{"securitySchemes":{"a":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://idp.example/.well-known/openid-configuration"}},
			"b":{"oauth2SecurityScheme":{"flows":{},"oauth2MetadataUrl":"https://b.example/.well-known/oauth-authorization-server"}}},
			"securityRequirements":[{"schemes":{"a":{"list":[]}}},{"schemes":{"b":{"list":[]}}}]}`
		ka, kb := newKey(t), newKey(t)
		a, b := newIssuer(jwk("one", ka.Public())), newIssuer(jwk("one", kb.Public()))
		b.name = "https://b.example"
		b.answer = func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/.well-known/oauth-authorization-server" {
				return respond(200, `{"issuer":"https://b.example","jwks_uri":"https://keys.example/jwks"}`), nil
			}
			return nil, nil
		}
		g := guardOf(t, two, auth.Verifiers{"a": token.JWT(token.Config{HTTP: a.client()}), "b": token.JWT(token.Config{HTTP: b.client()})})
		byB := claims(map[string]any{"iss": "https://b.example"})
		for name, c := range map[string]struct{ token, want string }{
			"a":                        {sign(ka, good, claims(nil)), ann},
			"b":                        {sign(kb, good, byB), "https://b.example|ann"},
			"a's key, b's name":        {sign(ka, good, byB), "401"},
			"b's key, a's name":        {sign(kb, good, claims(nil)), "401"},
			"the same subject of both": {sign(kb, good, byB), "https://b.example|ann"},
		} {
			if got, _, _ := strings.Cut(verdict(g, with(c.token)), " "); got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		}
		a.fail(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
		time.Sleep(time.Hour)
		byB = claims(map[string]any{"iss": "https://b.example"})
		if got := verdict(g, with(sign(kb, good, byB))); got != "https://b.example|ann" {
			t.Errorf("b, while a is down: %s", got)
		}
		if got := verdict(g, with(sign(ka, good, byB))); !strings.HasPrefix(got, "401") {
			t.Errorf("a forged token of b, while a is down: %s", got)
		}
		if want := []string{idp, "https://b.example"}; fmt.Sprint(g.Issuers()) != fmt.Sprint(want) {
			t.Errorf("issuers %v", g.Issuers())
		}
	})
}

// TestUnknownKeysAreAskedForOnce: 10,000 of them are one request an interval, and good tokens pass.
func TestUnknownKeysAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		i := newIssuer(jwk("one", key.Public()))
		g := jwts(t, i)
		whole := sign(key, good, claims(map[string]any{"exp": time.Now().Unix() + 3600}))
		if got := verdict(g, with(whole)); got != ann {
			t.Fatal(got)
		}
		began, before := time.Now(), i.count("/jwks")
		var all sync.WaitGroup
		for n := range 10_000 {
			all.Go(func() {
				forged := b64.EncodeToString([]byte(fmt.Sprintf(`{"alg":"ES256","typ":"at+jwt","kid":"k%d"}`, n))) + "." + b64.EncodeToString([]byte(claims(nil))) + ".AAAA"
				if got := verdict(g, with(forged)); !strings.HasPrefix(got, "401") {
					t.Errorf("%s", got)
				}
			})
			if n%100 == 0 {
				time.Sleep(time.Second)
				if got := verdict(g, with(whole)); got != ann {
					t.Errorf("a good token: %s", got)
				}
			}
		}
		all.Wait()
		intervals := int(time.Since(began)/token.DefaultInterval) + 1
		if n := i.count("/jwks") - before; n > intervals || n < 2 {
			t.Errorf("%d requests in %d intervals", n, intervals)
		}
	})
}

// TestKeysRotate: a new one is found at once, a withdrawn one is refused in time, also in what is remembered.
func TestKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := newKey(t), newKey(t)
		i := newIssuer(jwk("one", old.Public()))
		g := jwts(t, i)
		two := `{"alg":"ES256","typ":"at+jwt","kid":"two"}`
		late := map[string]any{"exp": time.Now().Unix() + 3600}
		first := sign(old, good, claims(late))
		if got := verdict(g, with(first)); got != ann {
			t.Fatal(got)
		}
		time.Sleep(token.DefaultInterval)
		i.publish(jwk("one", old.Public()), jwk("two", next.Public()))
		if got := verdict(g, with(sign(next, two, claims(late)))); got != ann {
			t.Errorf("the new key: %s", got)
		}
		i.publish(jwk("two", next.Public()))
		for since := time.Duration(0); since < token.DefaultMaxAge; since += 30 * time.Second {
			if got := verdict(g, with(first)); got != ann {
				t.Errorf("the old key, after %v: %s", since, got)
			}
			time.Sleep(30 * time.Second)
		}
		if got := verdict(g, with(first)); !strings.HasPrefix(got, "401") {
			t.Errorf("the key that was withdrawn: %s", got)
		}
	})
}

// TestAnIssuerThatCannotBeReached: the agent starts, good tokens pass with the last good keys, others get 503.
func TestAnIssuerThatCannotBeReached(t *testing.T) {
	type answer = func(*http.Request) (*http.Response, error)
	answers := map[string]answer{
		"gone":   func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"status": func(*http.Request) (*http.Response, error) { return respond(500, ""), nil },
		"hanging": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"huge": func(*http.Request) (*http.Response, error) {
			return respond(200, `{"keys":["`+strings.Repeat("x", 10<<20)+`"]}`), nil
		},
		"no JSON": func(*http.Request) (*http.Response, error) { return respond(200, "<html>"), nil },
		"redirecting": func(*http.Request) (*http.Response, error) {
			resp := respond(302, "")
			resp.Header.Set("Location", "https://evil.example/")
			return resp, nil
		},
		"of another issuer": func(r *http.Request) (*http.Response, error) {
			return respond(200, `{"issuer":"https://evil.example","jwks_uri":"https://keys.example/jwks"}`), nil
		},
		"keys by http": func(r *http.Request) (*http.Response, error) {
			return respond(200, `{"issuer":"https://idp.example","jwks_uri":"http://keys.example/jwks"}`), nil
		},
		"keys on a file": func(r *http.Request) (*http.Response, error) {
			return respond(200, `{"issuer":"https://idp.example","jwks_uri":"file:///etc/passwd"}`), nil
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				key := newKey(t)
				i := newIssuer(jwk("one", key.Public()))
				i.fail(answer)
				g := jwts(t, i)
				got, denial := g.Check(with(sign(key, good, claims(nil))))
				if denial == nil || denial.Status != 503 || denial.RetryAfter <= 0 {
					t.Errorf("before keys were had: %v %v", got, denial)
				}
				i.publish(jwk("one", key.Public()))
				time.Sleep(token.DefaultInterval)
				if got := verdict(g, with(sign(key, good, claims(nil)))); got != ann {
					t.Errorf("when it is back: %s", got)
				}
				i.fail(answer)
				time.Sleep(time.Hour)
				for range 3 {
					if got := verdict(g, with(sign(key, good, claims(nil)))); got != ann {
						t.Errorf("with the last good keys: %s", got)
					}
					time.Sleep(time.Minute)
				}
				before := time.Now()
				if got := verdict(g, with(sign(key, good, claims(nil)))); got != ann || time.Since(before) > time.Second {
					t.Errorf("with the last good keys, after %v: %s", time.Since(before), got)
				}
				if got := verdict(g, with(sign(newKey(t), `{"alg":"ES256","typ":"at+jwt","kid":"new"}`, claims(nil)))); !strings.HasPrefix(got, "503") {
					t.Errorf("a key that may be new: %s", got)
				}
				time.Sleep(10 * time.Second)
			})
		})
	}
}

// TestATokenBoundToACertificate counts with that certificate alone (RFC 8705 §3), also when it is remembered.
func TestATokenBoundToACertificate(t *testing.T) {
	key := newKey(t)
	g := jwts(t, newIssuer(jwk("one", key.Public())))
	cert, other := &x509.Certificate{Raw: []byte("one")}, &x509.Certificate{Raw: []byte("other")}
	sum := sha256.Sum256(cert.Raw)
	bound := sign(key, good, claims(map[string]any{"cnf": map[string]any{"x5t#S256": b64.EncodeToString(sum[:])}}))
	for range 2 {
		for name, c := range map[string]struct {
			cert *x509.Certificate
			want string
		}{"its own": {cert, ann}, "another": {other, "401"}, "none": {nil, "401"}} {
			r := with(bound)
			if c.cert != nil {
				r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c.cert}}
			}
			if got := verdict(g, r); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// TestATokenIsRememberedUntilItExpires, and for a minute at most.
func TestATokenIsRememberedUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		g := jwts(t, newIssuer(jwk("one", key.Public())), func(c *token.Config) { c.Skew = time.Second })
		short := sign(key, good, claims(map[string]any{"exp": time.Now().Unix() + 20}))
		for _, c := range []struct {
			wait time.Duration
			want string
		}{{0, ann}, {10 * time.Second, ann}, {9 * time.Second, ann}, {3 * time.Second, "401"}} {
			time.Sleep(c.wait)
			if got := verdict(g, with(short)); !strings.HasPrefix(got, c.want) {
				t.Errorf("after %v more: %s", c.wait, got)
			}
		}
	})
}

// TestTenantsOfAToken: the claim says them; a token without it is for none.
func TestTenantsOfAToken(t *testing.T) {
	key := newKey(t)
	g := jwts(t, newIssuer(jwk("one", key.Public())), func(c *token.Config) { c.Tenants = "org" })
	for name, c := range map[string]struct {
		org  any
		want string
	}{"one": {"acme", "[acme]"}, "several": {[]string{"acme", "b"}, "[acme b]"}, "none": {nil, "[]"}, "a number": {1, "[]"}, "an object": {map[string]any{"a": 1}, "[]"}} {
		grant, denial := g.Check(with(sign(key, good, claims(map[string]any{"org": c.org}))))
		if denial != nil || grant.Caller.Tenants == nil || fmt.Sprint(grant.Caller.Tenants) != c.want {
			t.Errorf("%s: %v", name, denial)
		} else if grant.Caller.MayActFor("other") {
			t.Errorf("%s: it is for any tenant", name)
		}
	}
}

// TestWhatATokenVerifierNeeds to start: an issuer, an audience, algorithms with public keys.
func TestWhatATokenVerifierNeeds(t *testing.T) {
	const bare = `{"securitySchemes":{"my-idp":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"securityRequirements":[]}`
	for name, c := range map[string]struct {
		config token.Config
		env    map[string]string
		want   string
	}{
		"no issuer":       {token.Config{}, nil, "A2A_AUTH_MY_IDP_ISSUER"},
		"from outside":    {token.Config{}, map[string]string{"A2A_AUTH_MY_IDP_ISSUER": idp}, ""},
		"empty audience":  {token.Config{Issuer: idp, Audience: []string{""}}, nil, "A2A_AUTH_MY_IDP_AUDIENCE"},
		"issuer by http":  {token.Config{Issuer: "http://idp.example"}, nil, "use https"},
		"issuer at home":  {token.Config{Issuer: "http://127.0.0.1:8080"}, nil, ""},
		"keys by http":    {token.Config{Issuer: idp, Keys: "http://idp.example/keys"}, nil, "use https"},
		"other keys":      {token.Config{Issuer: idp, Keys: "http://idp.example/keys"}, map[string]string{"A2A_AUTH_MY_IDP_JWKS": "https://idp.example/keys"}, ""},
		"HS256":           {token.Config{Issuer: idp, Algorithms: []string{"HS256"}}, nil, `"HS256" is no algorithm`},
		"none":            {token.Config{Issuer: idp, Algorithms: []string{"none"}}, nil, `"none" is no algorithm`},
		"another of ours": {token.Config{Issuer: idp, Algorithms: []string{"EdDSA"}}, nil, ""},
	} {
		_, err := newGuard(bare, auth.Verifiers{"my-idp": token.JWT(c.config)}, c.env)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := auth.ReadCard([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guard.New(d, auth.Verifiers{"idp": token.JWT(token.Config{})}, guard.Options{Getenv: func(string) string { return "" }, Now: time.Now}); err == nil ||
		!strings.Contains(err.Error(), "public URL") {
		t.Errorf("without a public URL: %v", err)
	}
}

// TestAlgorithms: each signature is taken with its own kind of key, and under no other label.
func TestAlgorithms(t *testing.T) {
	p256, rsaKey := newKey(t), newRSA(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p521, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	makers := map[string]struct {
		key crypto.Signer
		alg jose.SignatureAlgorithm
	}{
		"ES256": {p256, jose.ES256}, "ES384": {p384, jose.ES384}, "ES512": {p521, jose.ES512}, "RS256": {rsaKey, jose.RS256}, "RS384": {rsaKey, jose.RS384},
		"RS512": {rsaKey, jose.RS512}, "PS256": {rsaKey, jose.PS256}, "PS384": {rsaKey, jose.PS384}, "PS512": {rsaKey, jose.PS512}, "EdDSA": {ed, jose.EdDSA},
	}
	var set []string
	for name, m := range makers {
		k, err := json.Marshal(jose.JSONWebKey{Key: m.key.Public(), KeyID: name})
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, string(k))
	}
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	g := jwts(t, newIssuer(append(set, jwk("short", short.Public()))...))
	if got := verdict(g, with(sign(short, `{"alg":"RS256","typ":"at+jwt","kid":"short"}`, claims(nil)))); !strings.HasPrefix(got, "401") {
		t.Errorf("a key of 1024 bits: %s", got)
	}
	for name, m := range makers {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: m.alg, Key: m.key}, (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", name))
		if err != nil {
			t.Fatal(err)
		}
		jws, err := signer.Sign([]byte(claims(nil)))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := jws.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict(g, with(whole)); got != ann {
			t.Errorf("%s: %s", name, got)
		}
		_, rest, _ := strings.Cut(whole, ".")
		for other := range makers {
			head := b64.EncodeToString([]byte(`{"alg":"` + other + `","typ":"at+jwt","kid":"` + name + `"}`))
			if got := verdict(g, with(head+"."+rest)); !strings.HasPrefix(got, "401") {
				t.Errorf("%s as %s: %s", name, other, got)
			}
		}
	}
}

func newRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestNobodyIsTakenForAnother, however many call at once, what is remembered is thrown out, and keys change.
func TestNobodyIsTakenForAnother(t *testing.T) {
	const all = `{"securitySchemes":{"jwt":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://idp.example/.well-known/openid-configuration"}},
		"opaque":{"oauth2SecurityScheme":{"flows":{},"oauth2MetadataUrl":"https://b.example/.well-known/oauth-authorization-server"}},
		"key":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},
		"securityRequirements":[{"schemes":{"jwt":{"list":["ask"]}}},{"schemes":{"opaque":{"list":[]}}},{"schemes":{"key":{"list":[]}}}]}`
	key, forger := newKey(t), newKey(t)
	a, b := newIssuer(jwk("one", key.Public())), newIssuer()
	b.name = "https://b.example"
	b.asked = func(form url.Values) string {
		return claims(map[string]any{"active": true, "iss": nil, "sub": form.Get("token"), "client_id": nil})
	}
	b.answer = func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/.well-known/oauth-authorization-server" {
			return respond(200, `{"issuer":"https://b.example","introspection_endpoint":"https://b.example/ask"}`), nil
		}
		return nil, nil
	}
	var keys []auth.Key
	for n := range 20 {
		keys = append(keys, auth.Key{Caller: fmt.Sprint("k", n), SHA256: auth.HashKey(fmt.Sprint("key", n))})
	}
	g := guardOf(t, all, auth.Verifiers{
		"jwt": token.JWT(token.Config{HTTP: a.client(), Interval: time.Millisecond, MaxAge: 5 * time.Millisecond}), "key": auth.Keys(keys...),
		"opaque": token.Introspection(token.IntrospectionConfig{Issuer: "https://b.example", HTTP: b.client(), ClientID: "c", ClientSecret: "s"}),
	})
	var callers sync.WaitGroup
	for n := range 20 {
		who := fmt.Sprint("u", n)
		good, forged := sign(key, good, claims(map[string]any{"sub": who})), sign(forger, good, claims(map[string]any{"sub": who}))
		weak := sign(key, `{"alg":"ES256","typ":"at+jwt","kid":"one"}`, claims(map[string]any{"sub": who, "scope": "x"}))
		callers.Go(func() {
			for i := range 50 {
				r, want := with(good), "https://idp.example|"+who
				switch i % 5 {
				case 1:
					r, want = with(forged), "401"
				case 2:
					r, want = with("opaque-"+who), "https://b.example|opaque-"+who
				case 3:
					r, want = with(weak), "403"
				case 4:
					r, want = with("x"), fmt.Sprint("key|k", n)
					r.Header["K"] = []string{fmt.Sprint("key", n)}
					delete(r.Header, "Authorization")
				}
				if got, _, _ := strings.Cut(verdict(g, r), " "); got != want {
					t.Errorf("%s at %d is %s, want %s", who, i, got, want)
				}
			}
		})
	}
	callers.Wait()
}
