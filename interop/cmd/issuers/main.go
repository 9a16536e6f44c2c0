// Command issuers has agents check tokens of real issuers, and clients get them there by every flow: of oidc-provider from npm, JWTs by its keys and others by asking it, and
// of the example server of zitadel/oidc, which runs in this process.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/server"
)

// card is what an agent demands of callers: the scope "ask", and for its skill "run".
const card = `{"name":"Desk","description":"for tests","version":"1","supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"securitySchemes":{"idp":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"ISSUER/.well-known/openid-configuration"}}},
	"securityRequirements":[{"schemes":{"idp":{"list":["ask"]}}}],
	"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
	"skills":[{"id":"run","name":"Run","description":"Runs.","tags":[],"securityRequirements":[{"schemes":{"idp":{"list":["run"]}}}]}]}`

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "issuers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if err := tryZitadel(ctx); err != nil {
		return fmt.Errorf("%s: %w", zitadel, err)
	}
	fmt.Println(zitadel, "tokens: as they must be")
	if err := tryZitadelFlows(ctx); err != nil {
		return fmt.Errorf("%s: %w", zitadel, err)
	}
	for _, needed := range []string{"npm", "node", "bash", "curl", "jq"} {
		if _, err := exec.LookPath(needed); err != nil {
			fmt.Printf("%s: left out: %s is not on this machine\n", provider, needed)
			return nil
		}
	}
	p, err := install(ctx)
	if err != nil {
		return err
	}
	defer p.remove()
	if err := p.start(ctx); err != nil {
		return err
	}
	defer p.stop()
	issuer := p.issuer()
	for _, kind := range []string{"rsa", "ec", "opaque"} {
		if err := try(ctx, issuer, kind); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		fmt.Println(provider, kind, "tokens: as they must be")
	}
	if err := tryProviderFlows(ctx, issuer); err != nil {
		return fmt.Errorf("%s: %w", provider, err)
	}
	if err := tryLogin(ctx, issuer); err != nil {
		return fmt.Errorf("the commands of %s: %w", loginPage, err)
	}
	fmt.Println(provider, "as", loginPage, "has it: as it must be")
	if err := tryOutage(ctx, p); err != nil {
		return fmt.Errorf("%s stops: %w", provider, err)
	}
	fmt.Println(provider, "that stops, and comes back with other keys: as it must be")
	if err := tryStory(ctx, issuer); err != nil {
		return fmt.Errorf("the commands of %s: %w", document, err)
	}
	fmt.Println(provider, "as", document, "has it: as it must be")
	return nil
}

// try calls an agent with tokens of a kind.
func try(ctx context.Context, issuer, kind string) error {
	const base = "https://agent.example/"
	verifier := token.JWT(token.Config{Audience: []string{base + kind}})
	if kind == "opaque" {
		verifier = token.Introspection(token.IntrospectionConfig{Audience: []string{base + kind}, ClientID: "agent", ClientSecret: "agent-secret"})
	}
	agent, err := newAgent(issuer, issuer+"|app|client", verifier)
	if err != nil {
		return err
	}
	defer agent.Close()
	for _, c := range []struct {
		name, resource, scope, method string
		status                        int
	}{
		{"right", base + kind, "ask run", "SendMessage", 200},
		{"without the skill's scope", base + kind, "ask", "SendMessage", 403},
		{"without the agent's scope", base + kind, "run", "ListTasks", 403},
		{"for somebody else", base + "other/" + kind, "ask run", "ListTasks", 401},
	} {
		t, err := obtain(ctx, issuer+"/token", c.resource, c.scope, "app")
		if err != nil {
			return err
		}
		for range 2 { // the second time it is known
			if err := call(ctx, agent.URL, c.method, t, c.status); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		if err := call(ctx, agent.URL, c.method, t[:len(t)-4]+"AAAA", 401); err != nil {
			return fmt.Errorf("%s, changed: %w", c.name, err)
		}
	}
	return nil
}

// newAgent is one that has one caller, on this machine.
func newAgent(issuer, principal string, verifier auth.Verifier) (*httptest.Server, error) {
	handler, err := newHandler(issuer, principal, verifier)
	if err != nil {
		return nil, err
	}
	return httptest.NewServer(handler), nil
}

func newHandler(issuer, principal string, verifier auth.Verifier) (http.Handler, error) {
	p := a2a.Protocol()
	c, err := p.DecodeCard([]byte(strings.ReplaceAll(card, "ISSUER", strings.TrimSuffix(issuer, "/"))))
	if err != nil {
		return nil, err
	}
	says := server.Skill{ID: "run", Name: "Run", Run: func(ctx context.Context, _ *server.Task, _ any) ([]byte, error) {
		caller := server.CallerFrom(ctx)
		if caller.Principal() != principal {
			return nil, fmt.Errorf("the caller is %s, not %s", caller.Principal(), principal)
		}
		return []byte("done"), nil
	}}
	return server.New(server.Config{Protocol: p, Card: c, Skills: []server.Skill{says}}, server.WithAuth(auth.Verifiers{"idp": verifier}),
		server.WithLogger(slog.New(slog.DiscardHandler)))
}

// obtain gets a token by client credentials. The secret of a client is its name and "-secret".
func obtain(ctx context.Context, endpoint, resource, scope, client string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {scope}}
	if resource != "" {
		form.Set("resource", resource)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(client, client+"-secret")
	got, err := fetch(req)
	return got.Access, err
}

// obtained is what an issuer gives.
type obtained struct {
	Access  string `json:"access_token"`
	ID      string `json:"id_token"`
	Refresh string `json:"refresh_token"`
}

func fetch(req *http.Request) (got obtained, err error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.Access == "" {
		return got, fmt.Errorf("no token: %s %w", resp.Status, err)
	}
	return got, nil
}

// call makes a call with a token, which has to get a status.
func call(ctx context.Context, at, method, value string, want int) error {
	params := `{}`
	if method == "SendMessage" {
		params = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+value)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != want || want == 200 && !strings.Contains(string(answer), "TASK_STATE_COMPLETED") {
		return fmt.Errorf("%s, want %d: %s %s", resp.Status, want, answer, resp.Header.Get("WWW-Authenticate"))
	}
	return nil
}
