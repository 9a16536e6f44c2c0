package login_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/login"
	"github.com/a2agen/a2agen/internal/talk"
)

// desk is an agent that answers callers with its token, and keeps what others send.
type desk struct {
	url, card string
	token     string
	got       []string // headers Authorization of calls
}

func newDesk(t *testing.T, card string) *desk {
	t.Helper()
	d := &desk{card: card, token: "access-1"}
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	d.url = srv.URL
	return d
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = w.Write([]byte(strings.ReplaceAll(d.card, "SELF", d.url)))
		return
	}
	d.got = append(d.got, r.Header.Get("Authorization"))
	var request struct{ ID json.RawMessage }
	_ = json.NewDecoder(r.Body).Decode(&request)
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") != "Bearer "+d.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(request.ID) + `,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello, person"}]}}}`))
}

const deskCard = `{"name":"Desk","description":"d","version":"1","supportedInterfaces":[{"url":"SELF/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"securitySchemes":{"idp":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://evil.example/.well-known/openid-configuration"}}},
	"securityRequirements":[{"schemes":{"idp":{"list":["ask"]}}}],
	"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// say talks to an agent as a2agen call does.
func say(t *testing.T, target string) (string, error) {
	t.Helper()
	var out, screen bytes.Buffer
	err := talk.Run(t.Context(), talk.Options{Target: target, Text: "hello", OneGo: true, In: strings.NewReader(""), Out: &out, Err: &screen, Again: "again"})
	return strings.TrimSpace(out.String()), err
}

// TestACallUsesTheLogin for the agent, renews a token that the agent does not take any more once, and sends none to another agent.
func TestACallUsesTheLogin(t *testing.T) {
	at, asked := issuer(t)
	d, other := newDesk(t, deskCard), newDesk(t, deskCard)
	o, _, _ := person(t, d.url, "")
	o.Issuer, o.ClientID = at, "cli"
	var refused *talk.Error
	_, err := say(t, d.url)
	if !errors.As(err, &refused) || refused.Code != talk.ExitFailed || !strings.Contains(err.Error(), "give it by a2agen login "+d.url) || len(d.got) > 0 {
		t.Errorf("before the login: %v, sent %q", err, d.got)
	}
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := say(t, d.url); got != "hello, person" || err != nil {
			t.Fatal(got, err)
		}
	}
	d.token = "access-2"
	if got, err := say(t, d.url); got != "hello, person" || err != nil {
		t.Fatal(got, err)
	}
	if want := "Bearer access-1 Bearer access-1 Bearer access-1 Bearer access-2"; strings.Join(d.got, " ") != want {
		t.Errorf("sent %q", d.got)
	}
	d.token = "nobody's"
	requests := len(*asked)
	if _, err := say(t, d.url); err == nil || strings.Contains(err.Error(), "access-") || len(*asked) != requests+1 {
		t.Errorf("%v; %d requests for tokens", err, len(*asked)-requests)
	}
	if _, err := say(t, other.url); err == nil || len(other.got) > 0 {
		t.Errorf("another agent: %v, sent %q", err, other.got)
	}
}

// TestALoginStaysWithItsAgent: a card that has moved its calls to another host gets no token there.
func TestALoginStaysWithItsAgent(t *testing.T) {
	at, _ := issuer(t)
	d, other := newDesk(t, deskCard), newDesk(t, deskCard)
	o, _, _ := person(t, d.url, "")
	o.Issuer, o.ClientID = at, "cli"
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	d.card = strings.ReplaceAll(deskCard, "SELF", strings.Replace(other.url, "127.0.0.1", "localhost", 1))
	if _, err := say(t, d.url); err == nil || len(other.got)+len(d.got) > 0 {
		t.Errorf("%v, sent %q %q", err, d.got, other.got)
	}
}

// TestAVariableComesBeforeALogin, so that a script can call as somebody else.
func TestAVariableComesBeforeALogin(t *testing.T) {
	at, _ := issuer(t)
	d := newDesk(t, deskCard)
	o, _, _ := person(t, d.url, "")
	o.Issuer, o.ClientID = at, "cli"
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	d.token = "of-the-environment"
	t.Setenv("A2A_CLIENT_IDP", d.token)
	if got, err := say(t, d.url); got != "hello, person" || err != nil {
		t.Error(got, err)
	}
	t.Setenv("A2A_CLIENT_IDP", "")
	t.Setenv("A2A_CLIENT_IDP_ISSUER", at)
	t.Setenv("A2A_CLIENT_IDP_ID", "app")
	t.Setenv("A2A_CLIENT_IDP_SECRET", "s3cret")
	d.token = "access-2"
	if got, err := say(t, d.url); got != "hello, person" || err != nil {
		t.Error(got, err)
	}
}
