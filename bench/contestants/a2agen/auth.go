package main

import (
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/server"

	"github.com/a2agen/a2agen/bench/internal/pass"
)

// scheme is what a card says of who may call.
type scheme struct {
	card   string // the security scheme
	scopes string // that are demanded
	verify func(token string) (auth.Verifier, error)
}

// schemes by what -auth asks for.
var schemes = map[string]scheme{
	"key": {`{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}`, "", func(token string) (auth.Verifier, error) {
		return auth.Keys(auth.Key{Caller: pass.User, SHA256: auth.HashKey(token)}), nil
	}},
	"basic": {`{"httpAuthSecurityScheme":{"scheme":"Basic"}}`, "", func(token string) (auth.Verifier, error) {
		hash, err := auth.HashPassword(token)
		return auth.Passwords(auth.Password{User: pass.User, Hash: hash}), err
	}},
	"jwt": {`{"openIdConnectSecurityScheme":{"openIdConnectUrl":"` + pass.Issuer + `/.well-known/openid-configuration"}}`, `"ask"`,
		func(string) (auth.Verifier, error) {
			return token.JWT(token.Config{Issuer: pass.Issuer, Audience: []string{pass.Audience}, Keys: pass.Keys, HTTP: pass.Client(*keys)}), nil
		}},
	"mtls": {`{"mtlsSecurityScheme":{}}`, "", func(string) (auth.Verifier, error) {
		return auth.Certificates(auth.CertificateConfig{CAFile: pass.Authority(*keys)}), nil
	}},
}

// demand is what the card says of the scheme, and what checks it. Without a scheme there is neither.
func demand(name, token string) (card string, options []server.Option, err error) {
	s, ok := schemes[name]
	if !ok {
		return "", nil, nil
	}
	v, err := s.verify(token)
	card = `,"securitySchemes":{"who":` + s.card + `},"securityRequirements":[{"schemes":{"who":{"list":[` + s.scopes + `]}}}]`
	return card, []server.Option{server.WithAuth(auth.Verifiers{"who": v})}, err
}
