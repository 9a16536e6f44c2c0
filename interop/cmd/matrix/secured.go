package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/interop/internal/desk"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// scheme is what an agent of ours demands of its callers.
type scheme struct {
	name     string // in the table
	declared string // securitySchemes, without the braces
	demanded string // what is in the list securityRequirements
	skill    string // the same of its skill, on top of that
	httpOnly bool   // gRPC has no place for it
	tls      bool
	verifier func(*keyring) auth.Verifiers
	caller   string // the one with the right credentials
	// Credentials by the names of schemes: of the caller, such as are not good, and good ones that may too little.
	right, wrong, narrow func(*keyring) secrets
}

// secrets are credentials by the names of schemes in the card. A user and a password are one text with a colon between.
type secrets map[string]string

// What callers know.
const (
	key      = "k-7aXb2QpZ"
	password = "correct horse"
	bearer   = "t-0f9Jm3Wd"
	audience = "https://desk.example"
)

var schemes = []*scheme{
	{
		name: "API key, header", caller: "ann", verifier: keys,
		declared: `"key":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}`, demanded: `{"schemes":{"key":{"list":[]}}}`,
		right: always("key", key), wrong: always("key", "other"),
	},
	{
		name: "API key, query", caller: "ann", verifier: keys, httpOnly: true,
		declared: `"key":{"apiKeySecurityScheme":{"location":"query","name":"key"}}`, demanded: `{"schemes":{"key":{"list":[]}}}`,
		right: always("key", key), wrong: always("key", "other"),
	},
	{
		name: "API key, cookie", caller: "ann", verifier: keys, httpOnly: true,
		declared: `"key":{"apiKeySecurityScheme":{"location":"cookie","name":"key"}}`, demanded: `{"schemes":{"key":{"list":[]}}}`,
		right: always("key", key), wrong: always("key", "other"),
	},
	{
		name: "Basic", caller: "ann",
		declared: `"login":{"httpAuthSecurityScheme":{"scheme":"Basic"}}`, demanded: `{"schemes":{"login":{"list":[]}}}`,
		verifier: func(k *keyring) auth.Verifiers {
			return auth.Verifiers{"login": auth.Passwords(auth.Password{User: "ann", Hash: k.passwordHash})}
		},
		right: always("login", "ann:"+password), wrong: always("login", "ann:other"),
	},
	{
		name: "Bearer", caller: "ann", verifier: bearers,
		declared: `"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`, demanded: `{"schemes":{"bearer":{"list":[]}}}`,
		right: always("bearer", bearer), wrong: always("bearer", "other"),
	},
	{
		name: "OAuth 2", caller: "ann", verifier: tokens,
		declared: `"idp":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://idp.example/token","scopes":{"ask":"Ask."}}}}}`,
		demanded: `{"schemes":{"idp":{"list":[]}}}`, skill: `{"schemes":{"idp":{"list":["ask"]}}}`,
		right: ofIssuer(audience, "ask"), wrong: ofIssuer("https://other.example", "ask"), narrow: ofIssuer(audience, "see"),
	},
	{
		name: "OpenID Connect", caller: "ann", verifier: tokens,
		declared: `"idp":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://idp.example/.well-known/openid-configuration"}}`,
		demanded: `{"schemes":{"idp":{"list":["ask"]}}}`,
		right:    ofIssuer(audience, "ask"), wrong: ofIssuer("https://other.example", "ask"), narrow: ofIssuer(audience, "see"),
	},
	{
		name: "mutual TLS", tls: true, caller: "uri:" + clientURI,
		declared: `"cert":{"mtlsSecurityScheme":{}}`, demanded: `{"schemes":{"cert":{"list":[]}}}`,
		verifier: func(k *keyring) auth.Verifiers {
			return auth.Verifiers{"cert": auth.Certificates(auth.CertificateConfig{CAFile: k.authority})}
		},
		right: always(certificate, rightClient), wrong: always(certificate, wrongClient),
	},
	{
		name: "key and Bearer", caller: "ann",
		declared: `"key":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}},"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`,
		demanded: `{"schemes":{"key":{"list":[]},"bearer":{"list":[]}}}`,
		verifier: func(k *keyring) auth.Verifiers {
			return auth.Verifiers{"key": keys(k)["key"], "bearer": bearers(k)["bearer"]}
		},
		right: func(*keyring) secrets { return secrets{"key": key, "bearer": bearer} },
		wrong: func(*keyring) secrets { return secrets{"key": key, "bearer": "other"} },
	},
}

func always(scheme, secret string) func(*keyring) secrets {
	return func(*keyring) secrets { return secrets{scheme: secret} }
}

func ofIssuer(audience, scope string) func(*keyring) secrets {
	return func(k *keyring) secrets { return secrets{"idp": k.issuer.token(audience, scope)} }
}

func keys(*keyring) auth.Verifiers {
	return auth.Verifiers{"key": auth.Keys(auth.Key{Caller: "ann", SHA256: auth.HashKey(key)})}
}

func bearers(*keyring) auth.Verifiers {
	return auth.Verifiers{"bearer": auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
		if c.Value != bearer {
			return auth.Caller{}, auth.ErrWrong
		}
		return auth.Caller{ID: "ann"}, nil
	})}
}

func tokens(k *keyring) auth.Verifiers {
	return auth.Verifiers{"idp": token.JWT(token.Config{Issuer: k.issuer.url, Audience: []string{audience}})}
}

// speaks are the versions over bindings in which the scheme can be met.
func (s *scheme) speaks() []spoken {
	var speaks []spoken
	for _, b := range served {
		if !s.httpOnly || b.binding != grpcBinding {
			speaks = append(speaks, b)
		}
	}
	return speaks
}

// demands are those members of a card.
func (s *scheme) demands() map[string]any {
	skill := map[string]any{"id": desk.Skill, "name": "Desk", "description": "Answers.", "tags": []string{"travel"}}
	if s.skill != "" {
		skill["securityRequirements"] = json.RawMessage("[" + s.skill + "]")
	}
	return map[string]any{
		"securitySchemes": json.RawMessage("{" + s.declared + "}"), "securityRequirements": json.RawMessage("[" + s.demanded + "]"),
		"skills": []any{skill},
	}
}

// start serves an agent that demands the scheme; lists: with requirements on its card as a2a-go reads them.
func (s *scheme) start(k *keyring, lists bool) (base string, stop func(), err error) {
	opts := []server.Option{grpcserver.Serve(), webhooks.Send(), server.WithLogger(slog.New(slog.DiscardHandler)), server.WithAuth(s.verifier(k)),
		server.WithLimits(server.Limits{Grace: time.Second})}
	if lists {
		opts = append(opts, server.WithRequirementLists())
	}
	web := "http"
	if s.tls {
		web, opts = "https", append(opts, server.WithTLS(k.server.cert, k.server.key))
	}
	return startAgent(web, func(base string) (*server.Server, error) {
		p := a2awires.Protocol()
		card, err := p.DecodeCard(ourCard(base, s.speaks(), s.demands()))
		if err != nil {
			return nil, err
		}
		skills := []server.Skill{{ID: desk.Skill, Name: "Desk", Run: s.answer}}
		return server.New(server.Config{Protocol: p, Card: card, Skills: skills}, opts...)
	})
}

// answer answers its one caller.
func (s *scheme) answer(ctx context.Context, t *server.Task, input any) ([]byte, error) {
	if c := server.CallerFrom(ctx); c.ID != s.caller {
		return nil, fmt.Errorf("the caller is %q, not %q", c.ID, s.caller)
	}
	return runDesk(ctx, t, input)
}
