package talk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// TestTheTokenGoesWithEveryRequest to the agent.
func TestTheTokenGoesWithEveryRequest(t *testing.T) {
	at, err := url.Parse(agent(t))
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{}
	proxy := httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at); r.Out.Host = r.In.Host }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.Method] = r.Header.Get("Authorization")
		proxy.ServeHTTP(w, r)
	}))
	defer srv.Close()
	o, _, _ := person(srv.URL, "hello", "")
	o.Token = "s3cr-t"
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if asked["GET"] != "Bearer s3cr-t" || asked["POST"] != "Bearer s3cr-t" {
		t.Errorf("sent %v", asked)
	}
}

// TestTheTokenStaysWithTheAgentThatWasNamed: a card that names another host gets no call, and no answer repeats the token.
func TestTheTokenStaysWithTheAgentThatWasNamed(t *testing.T) {
	called := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/agent-card.json" {
			_, _ = w.Write([]byte(`{"name":"a","description":"d","version":"1","supportedInterfaces":[{"url":"` + elsewhere + `","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
				"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`))
			return
		}
		http.Error(w, "not "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	defer srv.Close()
	for path, want := range map[string]string{"": "the card sends calls to " + elsewhere, "/other": "not Bearer …"} {
		o, out, screen := person(srv.URL+path, "hello", "")
		o.Skill, o.Token, o.Verbose = "", "s3cr-t", true
		err := Run(t.Context(), o)
		if err == nil || called || !strings.Contains(err.Error(), want) || strings.Contains(out.String()+screen.String()+err.Error(), o.Token) {
			t.Errorf("%q: called %v; %v; %q", path, called, err, screen)
		}
	}
}

func TestATokenDoesNotTravelInClearText(t *testing.T) {
	for at, ok := range map[string]bool{
		"https://a.example": true, "http://a.example": false, "http://localhost:1": true, "http://127.0.0.2": true, "http://[::1]:1": true,
		"http://localhost.example": false, "http://10.0.0.1": false, "ftp://a.example": false,
	} {
		if encrypted(at) != ok {
			t.Error(at)
		}
	}
}

// TestWhoIsRefusedIsToldWhatToDo, with one exit code however the agent says it: by the status of HTTP, or by an error as gRPC has it; because it does not
// know the caller, or because it does.
func TestWhoIsRefusedIsToldWhatToDo(t *testing.T) {
	for name, tt := range map[string]struct {
		status, code int
		token, want  string
	}{
		"unknown, by the status":     {http.StatusUnauthorized, -31401, "", "prove who you are with a2agen login, by A2A_TOKEN"},
		"unknown, by an error":       {http.StatusOK, -31401, "", "prove who you are with a2agen login, by A2A_TOKEN"},
		"known, by the status":       {http.StatusForbidden, -31403, "s3cr-t", "call with others"},
		"known, by an error":         {http.StatusOK, -31403, "s3cr-t", "call with others"},
		"nobody's, by the status":    {http.StatusForbidden, -31403, "", "prove who you are with a2agen login, by A2A_TOKEN"},
		"by the status and no error": {http.StatusForbidden, 0, "", "prove who you are with a2agen login, by A2A_TOKEN"},
	} {
		var srv *httptest.Server
		srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = w.Write([]byte(`{"name":"a","description":"d","version":"1","supportedInterfaces":[{"url":"` + srv.URL + `","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
					"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`))
				return
			}
			var request struct{ ID json.RawMessage }
			_ = json.NewDecoder(r.Body).Decode(&request)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tt.status)
			if tt.code != 0 {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"who?"}}`, request.ID, tt.code)
			}
		}))
		defer srv.Close()
		o, _, _ := person(srv.URL, "hello", "")
		o.Skill, o.Token = "", tt.token
		var e *Error
		if err := Run(t.Context(), o); !errors.As(err, &e) || e.Code != ExitFailed || !strings.Contains(e.Error(), tt.want) || !strings.HasPrefix(e.Error(), "the agent's error: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
