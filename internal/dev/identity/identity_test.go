package identity

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const card = `{"name":"a","description":"d","version":"1","capabilities":{},"skills":[],"defaultInputModes":[],"defaultOutputModes":[],
"supportedInterfaces":[{"url":"http://127.0.0.1:1/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
"securityRequirements":[{"schemes":{"key":{"list":[]}}}],
"securitySchemes":{
 "basic":{"httpAuthSecurityScheme":{"scheme":"Basic"}},
 "bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer","description":"from <b>us</b>"}},
 "digest":{"httpAuthSecurityScheme":{"scheme":"Digest"}},
 "key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}},
 "oidc":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://id.test/.well-known/openid-configuration"}},
 "tls":{"mtlsSecurityScheme":{}}}}`

func start() (*Set, http.Handler) {
	s := &Set{Card: func(_ context.Context, n int) ([]byte, error) {
		if n == 0 {
			return []byte(card), nil
		}
		return nil, errors.New("the agent is down")
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/agents/{agent}/identities", s.Serve)
	mux.HandleFunc("PUT /api/agents/{agent}/identities/{name}", s.Change)
	mux.HandleFunc("DELETE /api/agents/{agent}/identities/{name}", s.Change)
	return s, mux
}

func ask(h http.Handler, method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, "/api/agents/"+path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// TestIdentitiesAreMadeOfTheCardsSchemes, and their secrets are told to nobody.
func TestIdentitiesAreMadeOfTheCardsSchemes(t *testing.T) {
	s, h := start()
	_, said := ask(h, "GET", "0/identities", "")
	for _, want := range []string{
		`{"name":"basic","credential":"user and password","place":"header Authorization","user":true}`,
		`{"name":"bearer","credential":"access token","place":"header Authorization","description":"from \u003cb\u003eus\u003c/b\u003e"}`,
		`{"name":"digest","credential":"what follows digest"`, `{"name":"key","credential":"API key","place":"header X-Key"}`,
		`{"name":"oidc","credential":"access token"`, `{"name":"tls","credential":"client certificate","place":"connection","problem":"`, `"identities":[]`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in %s", want, said)
		}
	}
	if code, said := ask(h, "PUT", "0/identities/Zo%C3%AB%20%2F1", `{"credentials":{"basic":{"user":"zoe","secret":"s3cret"},"key":{"secret":"k3y"},"tls":{"secret":"x"},"none":{"secret":"y"}}}`); code != 204 {
		t.Fatal(code, said)
	}
	if _, said = ask(h, "GET", "0/identities", ""); !strings.Contains(said, `"identities":[{"name":"Zoë /1","schemes":["basic","key"]}]`) || strings.Contains(said, "s3cret") || strings.Contains(said, "k3y") {
		t.Error(said)
	}
	if opts, err := s.Options(0, "Zo%C3%AB%20%2F1"); err != nil || len(opts) != 2 {
		t.Error(opts, err)
	}
	if opts, err := s.Options(0, ""); err != nil || opts != nil {
		t.Error(opts, err)
	}
	if _, err := s.Options(1, "Zo%C3%AB%20%2F1"); err == nil {
		t.Error("an identity of one agent is one of another")
	}
	if code, _ := ask(h, "DELETE", "0/identities/Zo%C3%AB%20%2F1", ""); code != 204 {
		t.Error(code)
	}
	if _, err := s.Options(0, "Zo%C3%AB%20%2F1"); err == nil {
		t.Error("an identity that was removed is there")
	}
}

// TestAnIdentityThatCannotBe says why.
func TestAnIdentityThatCannotBe(t *testing.T) {
	_, h := start()
	for _, tt := range [][3]string{
		{"0/identities/a", `{"credentials":{}}`, "at least one"},
		{"0/identities/a", `{"credentials":{"tls":{"secret":"x"}}}`, "at least one"},
		{"0/identities/a", `x`, "is not the JSON"},
		{"0/identities/" + strings.Repeat("a", 61), `{"credentials":{"key":{"secret":"k"}}}`, "at most 60"},
		{"0/identities/a%0A", `{"credentials":{"key":{"secret":"k"}}}`, ""},
		{"0/identities/a", `{"credentials":{"key":{"secret":"` + strings.Repeat("a", maxSecret+1) + `"}}}`, "over 8192 bytes"},
		{"1/identities/a", `{"credentials":{"key":{"secret":"k"}}}`, "the agent is down"},
	} {
		code, said := ask(h, "PUT", tt[0], tt[1])
		if tt[2] == "" && code == 204 {
			continue // the name is trimmed
		}
		if code != 400 || !strings.Contains(said, tt[2]) {
			t.Errorf("%s: %d %s", tt[0], code, said)
		}
	}
	if code, said := ask(h, "GET", "1/identities", ""); code != 200 || !strings.Contains(said, `"problem":"the agent is down"`) {
		t.Error(code, said)
	}
	for i := range maxIdentities + 1 {
		code, said := ask(h, "PUT", "0/identities/a"+strings.Repeat("b", i), `{"credentials":{"key":{"secret":"k"}}}`)
		if i < maxIdentities != (code == 204) {
			t.Error(i, code, said)
		}
	}
}
