package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/keyset"
	"github.com/a2agen/a2agen/runtime/wire"
)

// endpoints are the metadata of an issuer (RFC 8414 §2), or what the config has in place of them.
type endpoints struct {
	issuer              string
	token, auth, device string
	methods             []string // of authenticating a client
	challenges          []string // of PKCE
	namesItself         bool     // in answers to logins (RFC 9207)
	read                time.Time
}

// endpointsFor is how long metadata are used.
const endpointsFor = time.Hour

// endpoints returns those of the issuer, which are discovered once an hour.
func (s *source) endpoints(ctx context.Context) (*endpoints, error) {
	if s.Issuer == "" {
		return &endpoints{token: s.TokenURL, auth: s.AuthURL, device: s.DeviceURL, challenges: []string{"S256"}}, nil
	}
	s.mu.Lock()
	known := s.issuer
	s.mu.Unlock()
	if known != nil && time.Since(known.read) < endpointsFor {
		return known, nil
	}
	e, err := s.discover(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issuer = e
	return e, nil
}

// discover fetches the metadata of the issuer, from where OpenID Connect or RFC 8414 has them.
func (s *source) discover(ctx context.Context) (*endpoints, error) {
	u, err := url.Parse(s.Issuer)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var body []byte
	for _, at := range []string{
		strings.TrimSuffix(s.Issuer, "/") + "/.well-known/openid-configuration",
		u.Scheme + "://" + u.Host + "/.well-known/oauth-authorization-server" + strings.TrimSuffix(u.EscapedPath(), "/"),
	} {
		body, err = keyset.Get(ctx, s.http, at, "application/json")
		if status := keyset.Status(0); !errors.As(err, &status) || status != http.StatusNotFound {
			break
		}
	}
	switch status := keyset.Status(0); {
	case err == nil:
	case !errors.As(err, &status) || status >= 500:
		return nil, s.failed(err)
	case status/100 == 3:
		return nil, s.untrusted("its metadata are redirected, which is not followed: use the address that it redirects to if that is right")
	default:
		return nil, &Error{
			Server: s.server(), Kind: ErrRefused, Err: err,
			Remedy: "check the issuer's URL, or give its endpoints in place of it: TokenURL, AuthURL, DeviceURL",
		}
	}
	e, err := wire.Decode(body, readEndpoints)
	if err != nil {
		return nil, s.untrusted("its metadata cannot be read: %s", clean(err.Error(), nil))
	}
	if e.issuer != s.Issuer {
		return nil, s.untrusted("its metadata are of another issuer, %q: if that is right, write the issuer so", clean(e.issuer, nil))
	}
	e.read = time.Now()
	for _, u := range []string{e.token, e.auth, e.device} { // secrets must not go in clear text
		if u == "" {
			continue
		}
		err := keyset.CheckURL(u, false)
		if err == nil && strings.HasPrefix(s.Issuer, "https:") && !strings.HasPrefix(u, "https:") {
			err = errors.New("an endpoint has no https URL")
		}
		if err != nil {
			return nil, s.untrusted("%s", clean(err.Error(), nil))
		}
	}
	if e.token == "" {
		return nil, s.untrusted("its metadata have no token_endpoint")
	}
	return e, nil
}

// readEndpoints reads metadata strictly: no member twice.
func readEndpoints(r *wire.Reader, e *endpoints) {
	var seen wire.Seen
	text := func(to *string) func() { return func() { *to = r.String() } }
	list := func(to *[]string) func() { return func() { *to = r.Strings() } }
	members := []struct {
		name string
		read func()
	}{
		{"issuer", text(&e.issuer)},
		{"token_endpoint", text(&e.token)},
		{"authorization_endpoint", text(&e.auth)},
		{"device_authorization_endpoint", text(&e.device)},
		{"token_endpoint_auth_methods_supported", list(&e.methods)},
		{"code_challenge_methods_supported", list(&e.challenges)},
		{"authorization_response_iss_parameter_supported", func() { e.namesItself = r.Bool() }},
	}
next:
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		for bit, m := range members {
			if string(key) != m.name {
				continue
			}
			if r.Field(&seen, uint(bit)) {
				m.read()
			}
			continue next
		}
		r.Unknown(key)
	}
}
