package token_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// opaque is a guard that asks an issuer about tokens.
func opaque(t testing.TB, i *issuer) *guard.Guard {
	t.Helper()
	g, err := newGuard(card, auth.Verifiers{"idp": token.Introspection(token.IntrospectionConfig{HTTP: i.client()})},
		map[string]string{"A2A_AUTH_IDP_CLIENT_ID": "agent", "A2A_AUTH_IDP_CLIENT_SECRET": "s:crét"})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// says is what an issuer says of all tokens.
func says(change map[string]any) func(url.Values) string {
	return func(url.Values) string {
		all := map[string]any{"active": true}
		for k, v := range change {
			all[k] = v
		}
		return claims(all)
	}
}

// TestIntrospection (RFC 7662): what the issuer has to say of a token.
func TestIntrospection(t *testing.T) {
	type m = map[string]any
	for name, c := range map[string]struct {
		change m
		want   string
	}{
		"active":                     {nil, ann},
		"without an issuer":          {m{"iss": nil}, ann},
		"active false":               {m{"active": false}, "401"},
		"active missing":             {m{"active": nil}, "401"},
		"active as text":             {m{"active": "true"}, "503"},
		"another issuer":             {m{"iss": "https://b.example"}, "401"},
		"another audience":           {m{"aud": "https://other.example"}, "401"},
		"no audience":                {m{"aud": nil}, "401"},
		"no exp":                     {m{"exp": nil}, "401"},
		"expired":                    {m{"exp": time.Now().Unix() - 60}, "401"},
		"no subject":                 {m{"sub": nil}, "https://idp.example|app|client"},
		"neither subject nor client": {m{"sub": nil, "client_id": nil}, "401"},
		"no scope":                   {m{"scope": nil}, "403"},
		"bound to a key":             {m{"cnf": m{"jkt": "x"}}, "401"},
		"its type":                   {m{"token_type": "Bearer"}, ann},
		"a refresh token":            {m{"token_type": "refresh"}, "401"},
		"a client by itself":         {m{"sub": "app"}, "https://idp.example|app|client"},
	} {
		i := newIssuer()
		i.asked = says(c.change)
		got := verdict(opaque(t, i), with("opaque-token-1"))
		if status, _, _ := strings.Cut(got, " "); status != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if strings.Contains(got, "opaque-token") || strings.Contains(got, "cr") && strings.Contains(got, "ét") {
			t.Errorf("%s: the log has a secret: %s", name, got)
		}
		if want := "agent:s%3Acr%C3%A9t"; len(i.forms) != 1 || i.forms[0] != want {
			t.Errorf("%s: the agent says it is %q", name, i.forms)
		}
	}
}

// TestATokenOfAnotherIssuerIsNotShown to the one that is asked.
func TestATokenOfAnotherIssuerIsNotShown(t *testing.T) {
	i, key := newIssuer(), newKey(t)
	i.asked = says(nil)
	g := opaque(t, i)
	for name, c := range map[string]struct {
		value, want string
		asked       int
	}{
		"another's JWT":   {sign(key, good, claims(map[string]any{"iss": "https://b.example"})), "401", 0},
		"its own JWT":     {sign(key, good, claims(nil)), ann, 1},
		"opaque":          {"opaque", ann, 1},
		"opaque, in dots": {"a.b.c", ann, 1},
	} {
		before := i.count("/ask")
		if got := verdict(g, with(c.value)); !strings.HasPrefix(got, c.want) || i.count("/ask")-before != c.asked {
			t.Errorf("%s: %s, asked %d times", name, got, i.count("/ask")-before)
		}
	}
}

// TestWhatTheIssuerSaidIsKnownForAMinute, and what is no good for some seconds.
func TestWhatTheIssuerSaidIsKnownForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer()
		var mu sync.Mutex
		active := true
		i.asked = func(form url.Values) string {
			mu.Lock()
			defer mu.Unlock()
			return claims(map[string]any{"active": active && form.Get("token") == "good" && form.Get("token_type_hint") == "access_token"})
		}
		g := opaque(t, i)
		check := func(when, value, want string, asked int) {
			t.Helper()
			before := i.count("/ask")
			if got := verdict(g, with(value)); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", when, got)
			}
			if n := i.count("/ask") - before; n != asked {
				t.Errorf("%s: the issuer was asked %d times", when, n)
			}
		}
		check("first", "good", ann, 1)
		check("again", "good", ann, 0)
		check("bad", "bad", "401", 1)
		check("bad again", "bad", "401", 0)
		time.Sleep(11 * time.Second)
		check("bad later", "bad", "401", 1)
		mu.Lock()
		active = false
		mu.Unlock()
		check("revoked, a moment ago", "good", ann, 0)
		time.Sleep(time.Minute)
		check("revoked", "good", "401", 1)
		if n := i.count("/.well-known/openid-configuration"); n != 1 {
			t.Errorf("the issuer was asked %d times where it is asked", n)
		}
	})
}

// TestAnIssuerThatDoesNotSay: slow, failing, with another form: nobody knows, and that is 503.
func TestAnIssuerThatDoesNotSay(t *testing.T) {
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"500":  func(*http.Request) (*http.Response, error) { return respond(500, ""), nil },
		"401":  func(*http.Request) (*http.Response, error) { return respond(401, ""), nil }, // it does not know the agent
		"gone": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"slow": func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
		"HTML": func(*http.Request) (*http.Response, error) { return respond(200, "<html>"), nil },
		"huge": func(*http.Request) (*http.Response, error) {
			return respond(200, `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), nil
		},
		"redirect": func(*http.Request) (*http.Response, error) {
			r := respond(307, "")
			r.Header.Set("Location", "https://evil.example")
			return r, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newIssuer()
				i.asked = says(nil)
				g := opaque(t, i)
				i.fail(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path == "/ask" || name == "gone" {
						return answer(r)
					}
					return nil, nil
				})
				began := time.Now()
				var all sync.WaitGroup
				for n := range 100 {
					all.Go(func() {
						if got := verdict(g, with(fmt.Sprint("t", n))); !strings.HasPrefix(got, "503") {
							t.Errorf("%s", got)
						}
					})
				}
				all.Wait()
				if took := time.Since(began); took > 11*time.Second {
					t.Errorf("they wait for %v", took)
				}
				i.publish()
				time.Sleep(token.DefaultInterval)
				if got := verdict(g, with("t1")); got != ann {
					t.Errorf("when it is back: %s", got)
				}
			})
		})
	}
}

// TestIntrospectionNeedsAClient of the agent's own, and an address that nobody can listen to.
func TestIntrospectionNeedsAClient(t *testing.T) {
	for name, c := range map[string]struct {
		config token.IntrospectionConfig
		want   string
	}{
		"no client": {token.IntrospectionConfig{Issuer: idp}, "A2A_AUTH_IDP_CLIENT_ID"},
		"no secret": {token.IntrospectionConfig{Issuer: idp, ClientID: "a"}, "A2A_AUTH_IDP_CLIENT_SECRET"},
		"by http":   {token.IntrospectionConfig{Issuer: idp, ClientID: "a", ClientSecret: "b", Endpoint: "http://idp.example/ask"}, "use https"},
	} {
		if _, err := newGuard(card, auth.Verifiers{"idp": token.Introspection(c.config)}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
