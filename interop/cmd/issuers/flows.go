package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// flow is a way to tokens of an issuer, with what the agent that they are for checks.
type flow struct {
	name      string
	config    oauth.Config
	resource  string // "" or for whom the tokens are
	verifier  auth.Verifier
	principal string
	refreshes bool // the issuer gives refresh tokens
}

// tryFlows gets a token by each flow, calls the agent with it, and renews it: by its refresh token, which the next process finds in the cache, or by the flow
// once more.
func tryFlows(ctx context.Context, of, issuer string, flows []flow) error {
	for _, f := range flows {
		if err := tryFlow(ctx, issuer, f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		renewed := "renewed by the flow"
		if f.refreshes {
			renewed = "renewed by its refresh token"
		}
		fmt.Printf("%s %s: a token that the agent accepts, and %s\n", of, f.name, renewed)
	}
	return nil
}

func tryFlow(ctx context.Context, issuer string, f flow) error {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if f.config.Cache, err = oauth.OpenCache(dir); err != nil {
		return err
	}
	agent, err := newAgent(issuer, f.principal, f.verifier)
	if err != nil {
		return err
	}
	defer agent.Close()
	need := rpc.TokenNeed{Resource: f.resource}
	seen := map[string]bool{}
	for n := range 3 {
		if f.refreshes && n > 0 {
			f.config.Prompt = nil // nobody is there
		}
		source, err := f.config.Source() // of another process, as it were
		if err != nil {
			return err
		}
		got, err := source.Token(ctx, need)
		if err != nil {
			return fmt.Errorf("token %d: %w", n+1, err)
		}
		if again, err := source.Token(ctx, rpc.TokenNeed{Resource: f.resource}); err != nil || again != got || seen[got] {
			return fmt.Errorf("token %d: it is not kept, or was there before: %w", n+1, err)
		}
		if err := call(ctx, agent.URL, "SendMessage", got, 200); err != nil {
			return fmt.Errorf("token %d: %w", n+1, err)
		}
		seen[got], need.Rejected = true, got
	}
	return nil
}

// tryProviderFlows: oidc-provider has them all, answers with iss, rotates refresh tokens, and has tokens for resources.
func tryProviderFlows(ctx context.Context, issuer string) error {
	const audience = "https://agent.example/ec"
	verifier := token.JWT(token.Config{Audience: []string{audience}})
	scopes := []string{"ask", "run"}
	app := oauth.Config{Issuer: issuer, ClientID: "app", Secret: "app-secret", Scopes: scopes}
	code := oauth.Config{Issuer: issuer, ClientID: "cli", Scopes: append([]string{"openid", "offline_access"}, scopes...), Prompt: browse}
	device := code
	device.Flow = oauth.DeviceCode
	err := tryFlows(ctx, provider, issuer, []flow{
		{"client credentials", app, audience, verifier, issuer + "|app|client", false},
		{"code with PKCE", code, audience, verifier, issuer + "|ann", true},
		{"device code", device, audience, verifier, issuer + "|ann", true},
	})
	if err != nil {
		return err
	}
	return tryRefusals(ctx, provider, app)
}

// tryZitadelFlows: the example of zitadel/oidc knows no resources and gives no refresh token to devices; a client that gets device codes has a secret, and no ID token
// (its storage looks for the user of a device by another id).
func tryZitadelFlows(ctx context.Context) error {
	issuer, stop, err := startZitadel()
	if err != nil {
		return err
	}
	defer stop()
	jwt := func(audience string) auth.Verifier {
		return token.JWT(token.Config{Issuer: issuer, Audience: []string{audience}, Types: []string{"JWT"}})
	}
	scopes := []string{"openid", "offline_access", "ask", "run"}
	app := oauth.Config{Issuer: issuer, ClientID: jwtClient, Secret: jwtClient + "-secret", Scopes: scopes[2:], Resource: oauth.NoResource}
	code := oauth.Config{
		Issuer: issuer, ClientID: nativeClient, Scopes: scopes, Resource: oauth.NoResource, Prompt: browse, Redirect: "http://localhost:0/auth/callback",
	}
	device := oauth.Config{
		Issuer: issuer, ClientID: deviceClient, Secret: "secret", Flow: oauth.DeviceCode, Scopes: scopes[2:], Resource: oauth.NoResource, Prompt: browse,
	}
	err = tryFlows(ctx, zitadel, issuer, []flow{
		{"client credentials", app, "", jwt(zitadelAgent), issuer + "|app|client", false},
		{"code with PKCE", code, "", jwt(nativeClient), issuer + "|id1", true},
		{"device code", device, "", jwt(deviceClient), issuer + "|test-user@127.0.0.1", false},
	})
	if err != nil {
		return err
	}
	return tryRefusals(ctx, zitadel, app)
}

// tryRefusals: what an issuer refuses is an error that says what to do, without the secret.
func tryRefusals(ctx context.Context, of string, app oauth.Config) error {
	wrong, slash := app, app
	wrong.Secret = "wr0ng"
	if trimmed := strings.TrimSuffix(app.Issuer, "/"); trimmed != app.Issuer {
		slash.Issuer = trimmed
	} else {
		slash.Issuer += "/"
	}
	for name, c := range map[string]struct {
		config oauth.Config
		kind   error
	}{"a wrong secret": {wrong, oauth.ErrRefused}, "another name of the issuer": {slash, oauth.ErrUntrusted}} {
		source, err := c.config.Source()
		if err != nil {
			return err
		}
		if _, err = source.Token(ctx, rpc.TokenNeed{}); !errors.Is(err, c.kind) {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%s %s: %v\n", of, name, err)
	}
	return nil
}
