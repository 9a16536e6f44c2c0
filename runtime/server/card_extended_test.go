package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

const publicSkills = `[{"id":"open","name":"Open","description":"For all.","tags":[]}]`

// extendedCard is a card of all versions, in the bindings that they have at one URL.
const extendedCard = `{"name":"Desk","description":"DESCRIPTION","version":"1.0.0","supportedInterfaces":[
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"},{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.2"}],
	"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true},"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"Who"}}},
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
	return extendedAgentOf(t, nil, strings.NewReplacer(), opts...)
}

// extendedAgentOf is that agent with something else in its cards, and an extended one that is for callers with scopes.
func extendedAgentOf(t *testing.T, scopes []string, change *strings.Replacer, opts ...server.Option) *agent {
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
		Extended: cardOf(strings.Replace(whole, "DESCRIPTION", "For some.", 1)), ExtendedScopes: scopes,
		Skills: []server.Skill{says("open"), hidden},
	}, append([]server.Option{server.WithLogger(slog.New(slog.DiscardHandler)), webhooks.Send()}, opts...)...)
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

// R206: caches on the way do not keep it, and its caller asks again.
func TestTheExtendedCardIsKeptByNobodyElse(t *testing.T) {
	a := extendedAgent(t, server.WithProxyIdentity(caller))
	get, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(a.url, "/rpc")+"/agent/authenticatedExtendedCard", nil)
	get.Header.Set("Who", "alice")
	of02, err := a.web.Do(get)
	if err != nil {
		t.Fatal(err)
	}
	for name, resp := range map[string]*http.Response{
		"JSON-RPC":  a.open(rpcBody("GetExtendedAgentCard", `{}`), "Who: alice"),
		"HTTP+JSON": a.rest("GET", "/extendedAgentCard", "", "Who: alice"),
		"0.3":       a.rest("GET", "/v1/card", "", unversioned, "Who: alice"),
		"0.2":       of02,
	} {
		_ = resp.Body.Close()
		if got := resp.Header.Get("Cache-Control"); resp.StatusCode != http.StatusOK || got != "private, no-cache" {
			t.Errorf("%s: %s with Cache-Control %q", name, resp.Status, got)
		}
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

// clerks are callers by the key in the header Who: ann with the scope of the extended card and without it, and bob.
var clerks = server.WithAuth(auth.Verifiers{"key": auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
	scopes := map[string][]string{"ann": {"gold", "more"}, "ann-": {"golden", "more"}, "bob": nil}
	if _, known := scopes[c.Value]; !known {
		return auth.Caller{}, auth.ErrWrong
	}
	return auth.Caller{ID: strings.TrimSuffix(c.Value, "-"), Scopes: scopes[c.Value]}, nil
})})

// R204, R250: the extended card with scopes is for callers who have them.
func TestTheExtendedCardIsForCallersWithItsScopes(t *testing.T) {
	a := extendedAgentOf(t, []string{"gold", "more"}, strings.NewReplacer(), clerks)
	for name, ask := range a.asks() {
		if status, body := ask("Who: ann"); status != http.StatusOK || !strings.Contains(body, `"vault"`) {
			t.Errorf("%s: ann gets %d %s", name, status, body)
		}
		for who, want := range map[string]int{"Who: ann-": 403, "Who: bob": 403, "Who: eve": 401, "X: ": 401} {
			if status, body := ask(who); status != want || strings.Contains(body, "vault") || strings.Contains(body, "For some.") {
				t.Errorf("%s: %s gets %d %s", name, who, status, body)
			}
		}
	}
}

// What is only in the extended card is not there for who lacks its scopes: neither the skill, however it is asked for,
// nor a task of it that the caller has from when the scopes were there.
func TestHiddenSkillsAreNotThereWithoutTheScopes(t *testing.T) {
	a := extendedAgentOf(t, []string{"gold", "more"}, strings.NewReplacer(), clerks)
	id := str(a.ok("SendMessage", message("x", `"metadata":{"skillId":"vault"}`), "Who: ann", "Idempotency-Key: k"), "task", "id")
	if got := a.ok("ListTasks", `{}`, "Who: ann-"); at(got, "totalSize") != 0.0 || at(got, "tasks", 0) != nil {
		t.Errorf("the list shows %v", got)
	}
	if got := a.ok("ListTasks", `{}`, "Who: ann"); at(got, "totalSize") != 1.0 {
		t.Errorf("ann's list has %v", got)
	}
	for name, params := range map[string]string{
		"by the extension": message("x", `"metadata":{"`+runtime.SkillsExtension+`":{"skill":"vault"}}`),
		"by data":          data(`{"skill":"vault","input":{}}`),
		"by words":         message("open the gold vault"),
	} {
		a.ok("SendMessage", params, "Who: ann")
		for _, who := range []string{"Who: ann-", "Who: bob"} {
			if _, body := a.post(rpcBody("SendMessage", params), who); strings.Contains(body, "by vault") || strings.Contains(body, "Vault") || strings.Contains(body, "open, vault") {
				t.Errorf("%s: %s gets %s", name, who, body)
			}
		}
	}
	unknown := strings.Repeat("n", len(id))
	for _, op := range operations(id)[2:] {
		for _, rest := range []bool{false, true} {
			tell := func(task string) string {
				op := op
				for _, part := range []*string{&op.params, &op.path, &op.body} {
					*part = strings.ReplaceAll(*part, id, task)
				}
				status, code, body := a.status(op, rest, "Who: ann-")
				return fmt.Sprint(status, code, strings.ReplaceAll(body, task, "ID"))
			}
			if got, want := tell(id), tell(unknown); got != want || !strings.Contains(got, "404") && !strings.Contains(got, "-32001") {
				t.Errorf("%s (rest: %t):\n got %s\nwant %s", op.method, rest, got, want)
			}
		}
	}
	_, err := a.call("SendMessage", message("x"), "Who: ann-", "Idempotency-Key: k")
	if !errors.Is(err, runtime.ErrTaskNotFound) {
		t.Errorf("the message's key: %v", err)
	}
}
