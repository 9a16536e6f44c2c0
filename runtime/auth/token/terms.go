package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// terms are the requirements on a token, be it a JWT or opaque.
type terms struct {
	issuer   string
	audience []string
	skew     time.Duration
	tenants  string // the claim
	now      func() time.Time
}

// newTerms completes a configuration from the environment, the card and the agent's URL.
func newTerms(s *auth.Setup, issuer string, audience []string) (terms, error) {
	t := terms{issuer: issuer, audience: audience, now: s.Now}
	if from := s.Env(auth.EnvIssuer); from != "" {
		t.issuer = from
	}
	if from := s.Env(auth.EnvAudience); from != "" {
		t.audience = strings.FieldsFunc(from, func(r rune) bool { return r == ',' || r == ' ' })
	}
	if t.issuer == "" {
		t.issuer = issuerIn(s.Scheme.URL)
	}
	if len(t.audience) == 0 && s.URL != "" {
		t.audience = []string{s.URL}
	}
	switch {
	case t.issuer == "":
		return t, errors.New("nobody says who makes the tokens: set issuer in a2agen.yaml under \"auth\", or " +
			s.EnvName(auth.EnvIssuer))
	case len(t.audience) == 0 || slices.Contains(t.audience, ""):
		return t, errors.New("nobody says for whom tokens have to be: set audience in a2agen.yaml under \"auth\", " +
			s.EnvName(auth.EnvAudience) + ", or the agent's public URL")
	}
	if err := keyset.CheckURL(t.issuer, false); err != nil {
		return t, fmt.Errorf("issuer: %w", err)
	}
	if strings.ContainsAny(t.issuer, "?#") { // RFC 8414 §2
		return t, fmt.Errorf("issuer: %s has a query or a fragment, which no issuer has", t.issuer)
	}
	return t, nil
}

// Where an issuer describes itself: OpenID Connect puts it behind the issuer's path, RFC 8414 in front.
const (
	openIDPath = "/.well-known/openid-configuration"
	oauthPath  = "/.well-known/oauth-authorization-server"
)

// issuerIn returns the issuer whose metadata is at a URL; "" if the URL is of no such form.
func issuerIn(address string) string {
	if issuer, ok := strings.CutSuffix(address, openIDPath); ok {
		return issuer
	}
	if host, path, ok := strings.Cut(address, oauthPath); ok && (path == "" || path[0] == '/') {
		return host + path
	}
	return ""
}

// farthest is the last time that a token may have, in seconds: the end of the year 9999.
const farthest = 253402300799

// check compares claims with the terms.
func (t *terms) check(c *claims) error {
	now := float64(t.now().UnixMilli()) / 1000
	skew := t.skew.Seconds()
	switch {
	case c.issuer != t.issuer:
		return errForeign
	case !slices.ContainsFunc(c.audience, func(a string) bool { return slices.Contains(t.audience, a) }):
		return errors.New("it is for somebody else")
	case c.expires <= 0 || c.expires > farthest:
		return errors.New("it says no time at which it expires")
	case now >= c.expires+skew:
		return errors.New("it has expired")
	case c.notBefore > now+skew || c.issued > now+skew:
		return errors.New("it is of the future")
	case c.subject == "" || len(c.subject) > mostName:
		return errors.New("it names nobody")
	case c.other != "":
		return errors.New("it is " + c.other + ", not an access token")
	case c.confirmed && c.certificate == "":
		return errUnproven
	}
	return nil
}

// mostName is the size of the longest subject, in bytes.
const mostName = 512
