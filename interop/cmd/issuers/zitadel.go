package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
)

const zitadel = "zitadel/oidc v3.45.1"

// zitadelAgent is for whom its tokens are.
const zitadelAgent = "https://agent.example/zitadel"

// tryZitadel calls agents with tokens of the example server of zitadel/oidc. Its name ends with a slash, its JWTs do not say that
// they are access tokens, and what it says of opaque ones is neither for whom they are nor until when.
func tryZitadel(ctx context.Context) error {
	issuer, stop, err := startZitadel()
	if err != nil {
		return err
	}
	defer stop()
	if err := tryPerson(ctx, issuer); err != nil {
		return err
	}
	audience := []string{zitadelAgent}
	jwt := token.Config{Issuer: issuer, Audience: audience, Types: []string{"JWT"}}
	strict, unnamed := jwt, jwt
	strict.Types, unnamed.Issuer = nil, ""
	for _, c := range []struct {
		name, client, scope, method string
		verifier                    auth.Verifier
		status                      int
	}{
		{"right", jwtClient, "ask run", "SendMessage", token.JWT(jwt), 200},
		{"without the skill's scope", jwtClient, "ask", "SendMessage", token.JWT(jwt), 403},
		{"without a claim of scopes", plainClient, "ask run", "ListTasks", token.JWT(jwt), 403},
		{"for somebody else", strangeClient, "ask run", "ListTasks", token.JWT(jwt), 401},
		{"of the type that it does not write", jwtClient, "ask run", "ListTasks", token.JWT(strict), 401},
		{"of an issuer that is another one without the slash", jwtClient, "ask run", "ListTasks", token.JWT(unnamed), 401},
		{"without audience and expiry", opaqueClient, "ask run", "ListTasks", token.Introspection(token.IntrospectionConfig{
			Issuer: issuer, Audience: audience, ClientID: "api", ClientSecret: "secret"}), 401},
	} {
		agent, err := newAgent(issuer, issuer+"|"+c.client+"|client", c.verifier)
		if err != nil {
			return err
		}
		t, err := obtain(ctx, issuer+"oauth/token", "", c.scope, c.client)
		if err == nil {
			err = call(ctx, agent.URL, c.method, t, c.status)
		}
		agent.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// tryPerson has somebody log in at a client, whose tokens are for that client. By the access token alone the person comes in: the
// ID token, of the same type, issuer, audience and key, and the refresh token are none.
func tryPerson(ctx context.Context, issuer string) error {
	got, err := login(ctx, issuer)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	verifier := token.JWT(token.Config{Issuer: issuer, Audience: []string{webClient}, Types: []string{"JWT"}})
	agent, err := newAgent(issuer, issuer+"|id1", verifier)
	if err != nil {
		return err
	}
	defer agent.Close()
	for _, c := range []struct {
		name, token string
		status      int
	}{{"a person's access token", got.Access, 200}, {"an ID token", got.ID, 401}, {"a refresh token", got.Refresh, 401}} {
		if err := call(ctx, agent.URL, "SendMessage", c.token, c.status); err != nil || c.token == "" {
			return fmt.Errorf("%s: %q %w", c.name, c.token, err)
		}
	}
	return nil
}

// login goes the way of a browser: to the client's page of the issuer, through its form, and back with a code.
func login(ctx context.Context, issuer string) (got obtained, err error) {
	const back = "http://localhost:9999/auth/callback"
	follow := func(req *http.Request, err error) (*url.URL, error) {
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return resp.Location()
	}
	form := func(at string, values url.Values) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(values.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	}
	query := url.Values{"client_id": {webClient}, "redirect_uri": {back}, "response_type": {"code"}, "scope": {"openid offline_access ask run"}, "state": {"s"}}
	page, err := follow(http.NewRequestWithContext(ctx, http.MethodGet, issuer+"auth?"+query.Encode(), nil))
	if err != nil {
		return got, err
	}
	next, err := follow(form(issuer+"login/username", url.Values{"username": {"test-user@127.0.0.1"}, "password": {"verysecure"},
		"id": {page.Query().Get("authRequestID")}}))
	if err != nil {
		return got, err
	}
	end, err := follow(http.NewRequestWithContext(ctx, http.MethodGet, next.String(), nil))
	if err != nil {
		return got, err
	}
	req, err := form(issuer+"oauth/token", url.Values{"grant_type": {"authorization_code"}, "code": {end.Query().Get("code")}, "redirect_uri": {back}})
	if err != nil {
		return got, err
	}
	req.SetBasicAuth(webClient, "secret")
	return fetch(req)
}

// Clients of the example server. Their secrets are those of [obtain].
const (
	jwtClient     = "app"     // its tokens are JWTs for the agent, with the claim scope, as an installation has them that adds it
	plainClient   = "plain"   // the same, without that claim, as the library makes them
	strangeClient = "strange" // its tokens are for itself, as the example has them
	opaqueClient  = "opaque"
	webClient     = "web" // people log in there
	nativeClient  = "native"
	deviceClient  = "device"
)

// startZitadel serves the example server, which by itself listens on all addresses, on this client alone.
func startZitadel() (issuer string, stop func(), err error) {
	storage.RegisterClients(storage.WebClient("api", "secret"), storage.WebClient(webClient, "secret"), storage.NativeClient(nativeClient),
		storage.DeviceClient(deviceClient, "secret"))
	web := httptest.NewUnstartedServer(nil)
	issuer = "http://" + web.Listener.Addr().String() + "/"
	kept := &clients{storage.NewStorage(storage.NewUserStore(issuer))}
	web.Config.Handler = exampleop.SetupServer(issuer, kept, slog.New(slog.DiscardHandler), false)
	web.Start()
	return issuer, web.Close, nil
}

// clients is the example's storage with clients that get tokens by their own credentials.
type clients struct{ *storage.Storage }

// ClientCredentials finds a client.
func (c *clients) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	example, err := c.Storage.ClientCredentials(ctx, "sid1", "verysecret")
	if err != nil || secret != id+"-secret" {
		return nil, errors.Join(errors.New("not a client"), err)
	}
	return &client{example, id}, nil
}

// GetClientByClientID finds a client of people.
func (c *clients) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := c.Storage.GetClientByClientID(ctx, id)
	return &client{found, id}, err
}

// ClientCredentialsTokenRequest says for whom the token is.
func (c *clients) ClientCredentialsTokenRequest(ctx context.Context, id string, scopes []string) (op.TokenRequest, error) {
	audience := []string{zitadelAgent, "api"} // the latter may ask about it
	if id == strangeClient {
		audience = []string{id}
	}
	return &tokenRequest{id, audience, scopes}, nil
}

type tokenRequest struct {
	subject  string
	audience []string
	scopes   []string
}

func (r *tokenRequest) GetSubject() string    { return r.subject }
func (r *tokenRequest) GetAudience() []string { return r.audience }
func (r *tokenRequest) GetScopes() []string   { return r.scopes }

// GetPrivateClaimsFromScopes adds to a JWT.
func (c *clients) GetPrivateClaimsFromScopes(_ context.Context, _, id string, scopes []string) (map[string]any, error) {
	if !slices.Contains([]string{jwtClient, webClient, nativeClient, deviceClient}, id) {
		return nil, nil
	}
	return map[string]any{"scope": strings.Join(scopes, " ")}, nil
}

// client is one with tokens that are as they are here.
type client struct {
	op.Client
	id string
}

func (m *client) GetID() string              { return m.id }
func (m *client) IsScopeAllowed(string) bool { return true }

func (m *client) AccessTokenType() op.AccessTokenType {
	if m.id == opaqueClient {
		return op.AccessTokenTypeBearer
	}
	return op.AccessTokenTypeJWT
}
