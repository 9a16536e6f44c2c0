package server_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

const publicSkills = `[{"id":"open","name":"Open","description":"For all.","tags":[]}]`

// extendedCard is a card of all versions, in the bindings that they have at one URL.
const extendedCard = `{"name":"Desk","description":"DESCRIPTION","version":"1.0.0","supportedInterfaces":[
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"},{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.2"}],
	"capabilities":{"streaming":true,"extendedAgentCard":true},"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"Who"}}},
	"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":` + publicSkills + `}`

// caller is who the header Who names; "bad" is refused.
func caller(r *http.Request) (string, error) {
	if who := r.Header.Get("Who"); who != "bad" {
		return who, nil
	}
	return "", errors.New("unknown")
}

// extendedAgent has a skill for all and one for identified callers.
func extendedAgent(t *testing.T, opts ...server.Option) *agent {
	t.Helper()
	return extendedAgentOf(t, strings.NewReplacer(), opts...)
}

// extendedAgentOf is that agent with something else in its cards.
func extendedAgentOf(t *testing.T, change *strings.Replacer, opts ...server.Option) *agent {
	t.Helper()
	p := a2awires.Protocol()
	cardOf := func(text string) runtime.Card {
		card, err := p.DecodeCard([]byte(change.Replace(text)))
		if err != nil {
			t.Fatal(err)
		}
		return card
	}
	says := func(id string) server.Skill {
		return run(id, func(context.Context, *server.Task) (string, error) { return "by " + id, nil })
	}
	hidden := says("vault")
	hidden.Name, hidden.Tags, hidden.Hidden = "Vault", []string{"gold"}, true
	whole := strings.Replace(extendedCard, publicSkills, strings.TrimSuffix(publicSkills, "]")+`,{"id":"vault","name":"Vault","description":"For some.","tags":["gold"]}]`, 1)
	s, err := server.New(server.Config{
		Protocol: p, Card: cardOf(strings.Replace(extendedCard, "DESCRIPTION", "For all.", 1)),
		Extended: cardOf(strings.Replace(whole, "DESCRIPTION", "For some.", 1)),
		Skills:   []server.Skill{says("open"), hidden},
	}, append([]server.Option{server.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	web := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		_ = s.Close()
		web.CloseIdleConnections()
		h.Close()
	})
	return &agent{s, t, h.URL + "/rpc", web}
}

// asks are the requests for the extended card that there are, by version and binding.
func (a *agent) asks() map[string]func(header ...string) (status int, body string) {
	read := func(resp *http.Response) (int, string) {
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			a.t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	return map[string]func(header ...string) (int, string){
		"1.0 over JSON-RPC": func(header ...string) (int, string) {
			return read(a.open(rpcBody("GetExtendedAgentCard", `{}`), header...))
		},
		"1.0 over HTTP+JSON": func(header ...string) (int, string) {
			return read(a.rest("GET", "/extendedAgentCard", "", header...))
		},
		"0.3 over JSON-RPC": func(header ...string) (int, string) {
			return read(a.open(`{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`, append(header, "A2A-Version: ")...))
		},
		"0.3 over HTTP+JSON": func(header ...string) (int, string) {
			return read(a.rest("GET", "/v1/card", "", append(header, "A2A-Version: ")...))
		},
		"0.2 with GET": func(header ...string) (int, string) {
			req, _ := http.NewRequestWithContext(a.t.Context(), http.MethodGet, strings.TrimSuffix(a.url, "/rpc")+"/agent/authenticatedExtendedCard", nil)
			for _, h := range header {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Set(name, value)
			}
			resp, err := a.web.Do(req)
			if err != nil {
				a.t.Fatal(err)
			}
			return read(resp)
		},
	}
}

// R22, R48: the extended card is for identified callers, in every version, and says where the agent is as the public one does.
func TestTheExtendedCardIsForIdentifiedCallers(t *testing.T) {
	a := extendedAgent(t, server.WithProxyIdentity(caller))
	for name, ask := range a.asks() {
		t.Run(name, func(t *testing.T) {
			status, body := ask("Who: alice")
			if status != http.StatusOK || !strings.Contains(body, `"vault"`) || !strings.Contains(body, "For some.") || !strings.Contains(body, a.url) {
				t.Errorf("alice gets %d %s", status, body)
			}
			for _, header := range [][]string{nil, {"Who: bad"}} {
				status, body := ask(header...)
				if status != http.StatusUnauthorized || strings.Contains(body, "vault") || strings.Contains(body, "For some.") {
					t.Errorf("%v gets %d %s", header, status, body)
				}
			}
		})
	}
}

// R48: where nobody is identified there is no extended card, whatever was configured.
func TestWithoutIdentitiesThereIsNoExtendedCard(t *testing.T) {
	a := extendedAgent(t)
	for name, ask := range a.asks() {
		status, body := ask("Who: alice")
		refused := strings.Contains(body, "-32007") || strings.Contains(body, "EXTENDED_AGENT_CARD_NOT_CONFIGURED") || status == http.StatusNotFound
		if !refused || strings.Contains(body, "vault") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// A hidden skill is not there for callers who do not say who they are, however they ask for it.
func TestHiddenSkillsAreForIdentifiedCallers(t *testing.T) {
	router := server.WithRouter(func(context.Context, runtime.Message) (string, error) { return "vault", nil })
	asks := map[string]string{
		"by the extension": message("x", `"metadata":{"`+runtime.SkillsExtension+`":{"skill":"vault"}}`),
		"by metadata":      message("x", `"metadata":{"skillId":"vault"}`),
		"by data":          data(`{"skill":"vault","input":{}}`),
		"by words":         message("open the gold vault"),
	}
	for _, opts := range [][]server.Option{nil, {router}} {
		a := extendedAgent(t, append(opts, server.WithProxyIdentity(caller))...)
		for name, params := range asks {
			if got := str(a.ok("SendMessage", params, "Who: alice"), "task", "artifacts", 0, "parts", 0, "text"); got != "by vault" {
				t.Errorf("%s: alice gets %q", name, got)
			}
			_, body := a.post(rpcBody("SendMessage", params))
			if strings.Contains(body, "by vault") || strings.Contains(body, "Vault") || strings.Contains(body, "open, vault") {
				t.Errorf("%s: a stranger gets %s", name, body)
			}
		}
	}
	a := extendedAgent(t, server.WithProxyIdentity(caller))
	resp, err := a.web.Get(strings.TrimSuffix(a.url, "/rpc") + server.CardPath)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if b, _ := io.ReadAll(resp.Body); strings.Contains(string(b), "vault") || strings.Contains(string(b), "For some.") {
		t.Errorf("the public card shows it: %s", b)
	}
}
