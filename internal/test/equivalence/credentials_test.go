package equivalence

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// person is whom a credential of the matrix is of, by its name there. The agent demands the scope "use", its skill the
// scope "work".
type person struct {
	id      string
	scopes  []string
	tenants []string
}

var persons = map[string]person{
	"ann":  {"ann", []string{"use", "work"}, nil},
	"bob":  {"bob", []string{"use", "work"}, nil},
	"idle": {"ann", []string{"use", "works", "wor", "use:work"}, nil}, // who may not use the skill
	"out":  {"ann", []string{"user", "work"}, nil},                    // who may not use the agent
	"acme": {"ann", []string{"use", "work"}, []string{"acme"}},
	"gold": {"ann", []string{"use", "gold"}, nil}, // who may see the extended card
}

// shown is what a caller shows.
type shown struct {
	header      map[string]string
	query       string
	certificate *tls.Certificate
}

func header(name, value string) shown { return shown{header: map[string]string{name: value}} }

// scheme is a security scheme with all that callers may show for it.
type scheme struct {
	card      string // what it is, without the braces of the demand
	verifiers auth.Verifiers
	demand    string                  // the names of the schemes that are demanded together ["mine"]
	show      func(name string) shown // of a person
	wrong     map[string]shown        // what is good for nothing, by what it is
	unsure    *shown                  // what nobody can check for now
	cut       map[string]shown        // with what there is no connection
	challenge func(failure, scope string) string
	slow      string // of the wrong ones that takes long to see
	single    bool   // a person has one credential, so that who has other scopes is another one
	webOnly   bool   // there is no place for it in gRPC
	tls       bool
}

// schemes are those of the matrix, by their names.
func schemes(t *testing.T) map[string]*scheme {
	return map[string]*scheme{
		"API key in a header": apiKey("header", "X-Key", func(key string) shown { return header("X-Key", key) }),
		"API key in a query":  apiKey("query", "my key", func(key string) shown { return shown{query: "my+key=" + url.QueryEscape(key)} }),
		"API key in a cookie": apiKey("cookie", "sid", func(key string) shown {
			return shown{header: map[string]string{"Cookie": "a=b; sid=" + key, "Sec-Fetch-Site": "same-origin"}}
		}),
		"Basic":                         basic(t),
		"Bearer, JWT":                   tokens(t, `{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`, false),
		"OAuth 2, JWT":                  tokens(t, `{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"`+issuerURL+`/token","scopes":{}}},"oauth2MetadataUrl":"`+issuerURL+`/.well-known/oauth-authorization-server"}}`, false),
		"OpenID Connect, JWT":           tokens(t, openIDCard, false),
		"OpenID Connect, opaque":        tokens(t, openIDCard, true),
		"a verifier of one's own":       own(),
		"certificate":                   certificates(t, false),
		"certificate, shown by a proxy": certificates(t, true),
		"token and key together":        together(t),
	}
}

// hashes are the API keys of all persons.
func hashes() (list []auth.Key) {
	for name, p := range persons {
		list = append(list, auth.Key{Caller: p.id, SHA256: auth.HashKey("key-of-" + name), Scopes: p.scopes, Tenants: p.tenants})
	}
	return list
}

func apiKey(in, name string, put func(key string) shown) *scheme {
	s := &scheme{
		card:      fmt.Sprintf(`"mine":{"apiKeySecurityScheme":{"location":%q,"name":%q}}`, in, name),
		verifiers: auth.Verifiers{"mine": auth.Keys(hashes()...)},
		show:      func(name string) shown { return put("key-of-" + name) },
		wrong: map[string]shown{
			"wrong": put("key-of-nobody"), "its hash": put(auth.HashKey("key-of-ann")), "empty": put(""), "a token": header("Authorization", "Bearer key-of-ann"),
		},
		challenge: func(string, string) string { return fmt.Sprintf(`ApiKey realm="Desk", in=%q, name=%q`, in, name) },
		webOnly:   in != "header",
	}
	for place, elsewhere := range map[string]shown{
		"header": header("X-Key", "key-of-ann"), "query": {query: "my+key=key-of-ann"}, "cookie": header("Cookie", "sid=key-of-ann"),
	} {
		if place != in {
			s.wrong["in the "+place] = elsewhere
		}
	}
	return s
}

func basic(t *testing.T) *scheme {
	say := func(user, password string) shown {
		return header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	s := &scheme{
		card:      `"mine":{"httpAuthSecurityScheme":{"scheme":"basic"}}`,
		show:      func(name string) shown { return say(name, "password:of "+name) },
		challenge: func(string, string) string { return `Basic realm="Desk", charset="UTF-8"` },
		wrong: map[string]shown{
			"another's password": say("ann", "password:of bob"), "malformed": header("Authorization", "Basic YTpi="),
			"a token": header("Authorization", "Bearer key-of-ann"),
		},
		single: true, slow: "another's password",
	}
	var users []auth.Password
	for name, p := range persons {
		const rounds = 100_000 // as few as are taken
		sum, err := pbkdf2.Key(sha256.New, "password:of "+name, []byte("salt of "+name), rounds, sha256.Size)
		if err != nil {
			t.Fatal(err)
		}
		b64 := base64.RawStdEncoding.EncodeToString
		hash := fmt.Sprintf("pbkdf2-sha256$%d$%s$%s", rounds, b64([]byte("salt of "+name)), b64(sum))
		users = append(users, auth.Password{User: name, Hash: hash, Scopes: p.scopes, Tenants: p.tenants})
	}
	s.verifiers = auth.Verifiers{"mine": auth.Passwords(users...)}
	return s
}

const (
	issuerURL  = "https://idp.example"
	openIDCard = `{"openIdConnectSecurityScheme":{"openIdConnectUrl":"` + issuerURL + `/.well-known/openid-configuration"}}`
)

// issuer makes tokens, and answers what agents ask about them.
type issuer struct {
	key   *ecdsa.PrivateKey
	asked atomic.Int64 // for its keys, which it gives once
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{key: key}
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(status int, v any) (*http.Response, error) {
		body, err := json.Marshal(v)
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(body)))}, err
	}
	switch r.URL.String() {
	case issuerURL + "/.well-known/openid-configuration", issuerURL + "/.well-known/oauth-authorization-server":
		return answer(200, map[string]any{"issuer": issuerURL, "jwks_uri": issuerURL + "/jwks", "introspection_endpoint": issuerURL + "/ask"})
	case issuerURL + "/jwks":
		if i.asked.Add(1) > 1 {
			return answer(500, nil)
		}
		return answer(200, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: "one"}}})
	case issuerURL + "/ask":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		claims, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(r.PostForm.Get("token"), "opaque."))
		if err != nil {
			return answer(200, map[string]any{"active": false})
		}
		if !json.Valid(claims) {
			return answer(500, nil)
		}
		return answer(200, json.RawMessage(claims))
	}
	return answer(404, nil)
}

// claims are those of a person's token, with what is changed in them.
func claims(name string, change map[string]any) map[string]any {
	p, now := persons[name], time.Now().Unix()
	c := map[string]any{
		"active": true, "iss": issuerURL, "aud": "https://agent.example", "sub": p.id, "client_id": "app", "jti": name, "iat": now, "exp": now + 600,
		"scope": strings.Join(p.scopes, " "), "org": []string{"acme", "", "other"},
	}
	if p.tenants != nil {
		c["org"] = p.tenants
	}
	for k, v := range change {
		c[k] = v
	}
	return c
}

// jwt signs claims by a key of an id.
func jwt(t *testing.T, key *ecdsa.PrivateKey, kid string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", kid))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// opaque is a token that says nothing, except to its issuer.
func opaque(claims map[string]any) string {
	text, _ := json.Marshal(claims)
	return "opaque." + base64.RawURLEncoding.EncodeToString(text)
}

func bearer(token string) shown { return header("Authorization", "Bearer "+token) }

// tokens is a scheme of bearer tokens.
func tokens(t *testing.T, card string, asks bool) *scheme {
	i, other, web := newIssuer(t), newIssuer(t), (*http.Client)(nil)
	web = &http.Client{Transport: i}
	audience := []string{"https://agent.example"}
	make := func(change map[string]any) shown { return bearer(jwt(t, i.key, "one", claims("ann", change))) }
	s := &scheme{
		card:      `"mine":` + card,
		verifiers: auth.Verifiers{"mine": token.JWT(token.Config{Issuer: issuerURL, Audience: audience, Tenants: "org", HTTP: web, Interval: time.Millisecond})},
		show:      func(name string) shown { return bearer(jwt(t, i.key, "one", claims(name, nil))) },
		challenge: bearerChallenge,
	}
	s.wrong = map[string]shown{"wrong": bearer(jwt(t, other.key, "one", claims("ann", nil)))}
	late := bearer(jwt(t, i.key, "rotated", claims("ann", nil)))
	s.unsure = &late
	if asks {
		s.verifiers = auth.Verifiers{"mine": token.Introspection(token.IntrospectionConfig{
			Issuer: issuerURL, Audience: audience, ClientID: "agent", ClientSecret: "agent's", Tenants: "org", HTTP: web,
		})}
		s.show = func(name string) shown { return bearer(opaque(claims(name, nil))) }
		make = func(change map[string]any) shown { return bearer(opaque(claims("ann", change))) }
		s.wrong["wrong"] = make(map[string]any{"active": false})
		down := bearer("opaque." + base64.RawURLEncoding.EncodeToString([]byte("down")))
		s.unsure = &down
	}
	s.wrong["expired"] = make(map[string]any{"exp": time.Now().Unix() - 3600})
	s.wrong["for another"] = make(map[string]any{"aud": "https://other.example"})
	s.wrong["of another issuer"] = make(map[string]any{"iss": "https://other.example"})
	s.wrong["bound"] = make(map[string]any{"cnf": map[string]any{"jkt": "x"}})
	s.wrong["malformed"] = bearer("a,b")
	s.wrong["a password"] = header("Authorization", "Basic YW5uOng=")
	return s
}

func bearerChallenge(failure, scope string) string {
	if failure != "" {
		failure = `, error="` + failure + `"`
	}
	return `Bearer realm="Desk"` + failure + `, scope="` + scope + `"`
}

// own is a scheme of HTTP that nobody else has, with a verifier of one's own.
func own() *scheme {
	down := header("Authorization", "Hand down")
	return &scheme{
		card: `"mine":{"httpAuthSecurityScheme":{"scheme":"Hand"}}`,
		verifiers: auth.Verifiers{"mine": auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
			if c.Value == "down" {
				return auth.Caller{}, &auth.Unavailable{Err: errors.New("nobody answers")}
			}
			p, ok := persons[c.Value]
			if !ok {
				return auth.Caller{}, errors.New("not one of us")
			}
			return auth.Caller{ID: p.id, Scopes: p.scopes, Tenants: p.tenants}, nil
		})},
		show:      func(name string) shown { return header("Authorization", "hand "+name) },
		wrong:     map[string]shown{"wrong": header("Authorization", "Hand eve"), "a token": bearer("ann"), "malformed": header("Authorization", "Hand")},
		unsure:    &down,
		challenge: func(string, string) string { return `hand realm="Desk"` },
	}
}

// certificates is the scheme of client certificates: of the connection, or as a proxy says.
func certificates(t *testing.T, proxied bool) *scheme {
	ours := authtest.NewAuthority(t)
	named := func(by *authtest.Authority, name string, change func(*x509.Certificate)) shown {
		cert := by.Client(func(c *x509.Certificate) {
			if c.DNSNames = []string{name + ".example"}; change != nil {
				change(c)
			}
		})
		if proxied {
			return header("Client-Cert", ":"+base64.StdEncoding.EncodeToString(cert.Leaf.Raw)+":")
		}
		return shown{certificate: &cert}
	}
	config := auth.CertificateConfig{CAFile: ours.File()}
	for name, p := range persons {
		config.Callers = append(config.Callers, auth.CertificateCaller{ID: "dns:" + name + ".example", Scopes: p.scopes, Tenants: p.tenants})
	}
	late := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	serve := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	bad := map[string]shown{
		"expired": named(ours, "ann", late), "of another authority": named(authtest.NewAuthority(t), "ann", nil), "for servers": named(ours, "ann", serve),
	}
	s := &scheme{
		card: `"mine":{"mtlsSecurityScheme":{}}`, show: func(name string) shown { return named(ours, name, nil) },
		wrong:     map[string]shown{"who is not listed": named(ours, "eve", nil), "a token": bearer("ann")},
		challenge: func(string, string) string { return `ClientCertificate realm="Desk"` },
		single:    true, tls: !proxied, cut: bad,
	}
	if proxied {
		config.Proxies = []string{"127.0.0.1"}
		for name, c := range bad {
			s.wrong[name] = c
		}
		s.wrong["malformed"], s.cut = header("Client-Cert", "ann"), nil
	} else {
		s.wrong["a header of the client's own"] = header("Client-Cert", ":"+base64.StdEncoding.EncodeToString(ours.Client(nil).Leaf.Raw)+":")
	}
	s.verifiers = auth.Verifiers{"mine": auth.Certificates(config)}
	return s
}

// together demands a token and a key.
func together(t *testing.T) *scheme {
	s, key := tokens(t, openIDCard, false), apiKey("header", "X-Key", func(key string) shown { return header("X-Key", key) })
	with := func(a, b shown) shown {
		return shown{header: map[string]string{"Authorization": a.header["Authorization"], "X-Key": b.header["X-Key"]}}
	}
	alone := s.show
	s.card += strings.Replace(","+key.card, "mine", "other", 1)
	s.verifiers["other"] = key.verifiers["mine"]
	s.demand = `"mine":{"list":["use"]},"other":{"list":[]}`
	s.show = func(name string) shown { return with(alone(name), key.show("ann")) }
	for name, c := range s.wrong {
		s.wrong[name] = with(c, key.show("ann"))
	}
	for name, c := range key.wrong {
		if c.header["X-Key"] != "" {
			s.wrong["with a key: "+name] = with(alone("ann"), c)
		}
	}
	s.wrong["a token without the key"], s.wrong["a key without the token"] = alone("ann"), key.show("ann")
	down := with(*s.unsure, key.show("ann"))
	s.unsure = &down
	single := s.challenge
	s.challenge = func(failure, scope string) string {
		return single(failure, scope) + `|ApiKey realm="Desk", in="header", name="X-Key"`
	}
	return s
}
