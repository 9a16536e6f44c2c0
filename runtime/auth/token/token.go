// Package token verifies access tokens: JWTs by the keys that their issuer publishes, opaque ones by asking the issuer. It
// is a package of its own, so that only agents that accept tokens link its library.
package token

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// Config says which tokens are accepted. The environment overrides it, by the name of the scheme in the card:
// A2A_AUTH_<SCHEME> and _ISSUER, _AUDIENCE (several are separated by commas), _JWKS (Keys).
type Config struct {
	// Issuer is the issuer of the tokens, exactly as they name it. "" is that of the scheme in the card.
	Issuer string
	// Audience is what tokens must have as audience: one of these. Nil is the agent's public URL.
	Audience []string
	Types    []string // of tokens, as their headers have it ["at+jwt"]; issuers that do not say it write "JWT"
	// Algorithms are the signature algorithms that are accepted [ES256, ES384, ES512, RS256, RS384, RS512, PS256, PS384, PS512,
	// EdDSA].
	Algorithms []string
	Skew       time.Duration // by which clocks may differ [30 s]
	Tenants    string        // the claim with the tenants that the caller may act for; "": for any
	Keys       string        // where the issuer's keys are; "": where it says
	HTTP       *http.Client  // to ask the issuer with; nil: one of its own. It follows no redirects.
	// MaxAge is when keys are fetched again, so that a withdrawn one is rejected [5 min]; Interval is the shortest time
	// between two requests for them [10 s].
	MaxAge, Interval time.Duration
}

// Defaults of a [Config].
const (
	defaultSkew     = 30 * time.Second
	DefaultMaxAge   = 5 * time.Minute
	DefaultInterval = 10 * time.Second
)

var defaultTypes = []string{"at+jwt"}

// JWT verifies tokens that are JWTs (RFC 9068). A valid token is cached for a minute, as long as its key exists. If
// the issuer cannot be reached, tokens signed with known keys stay valid.
func JWT(c Config) auth.Verifier { return &jwt{Config: c} }

type jwt struct {
	Config
	terms
	issuer issuer
	algs   map[string]*algorithm
	keys   keyset.Set[*key]
	known  cache
}

// Issuer returns the issuer of the tokens.
func (v *jwt) Issuer() string { return v.terms.issuer }

// TokenForm returns the form of the accepted tokens.
func (v *jwt) TokenForm() auth.TokenForm {
	form := auth.TokenForm{Type: defaultTypes[0], Algorithm: algorithms[0].name, Tenants: v.Config.Tenants}
	if len(v.Types) > 0 {
		form.Type = v.Types[0]
	}
	if len(v.Algorithms) > 0 && !slices.Contains(v.Algorithms, form.Algorithm) {
		form.Algorithm = v.Algorithms[0]
	}
	return form
}

// Prepare completes the configuration. It does not connect to the issuer, which may start later.
func (v *jwt) Prepare(s *auth.Setup) (err error) {
	if v.terms, err = newTerms(s, v.Config.Issuer, v.Audience); err != nil {
		return err
	}
	v.terms.skew, v.terms.tenants = cmp.Or(v.Skew, defaultSkew), v.Tenants
	if len(v.Types) == 0 {
		v.Types = defaultTypes
	}
	v.algs = map[string]*algorithm{}
	for i, a := range algorithms {
		if len(v.Algorithms) == 0 || slices.Contains(v.Algorithms, a.name) {
			v.algs[a.name] = &algorithms[i]
		}
	}
	for _, name := range v.Algorithms {
		if v.algs[name] == nil {
			return fmt.Errorf("%q is no algorithm of signatures with public keys, or one that nobody should take", name)
		}
	}
	v.issuer = issuer{name: v.terms.issuer, keys: cmp.Or(s.Env(auth.EnvKeySet), v.Keys), http: keyset.NoRedirects(v.HTTP)}
	if v.issuer.keys != "" {
		if err := keyset.CheckURL(v.issuer.keys, false); err != nil {
			return err
		}
	}
	if s.Scheme.Kind == auth.OAuth2 {
		v.issuer.about = s.Scheme.URL
	}
	v.keys.Fetch = v.issuer.fetchKeys
	v.keys.MaxAge, v.keys.Interval = cmp.Or(v.MaxAge, DefaultMaxAge), cmp.Or(v.Interval, DefaultInterval)
	v.known.init()
	return nil
}

// Verify returns the caller of a token.
func (v *jwt) Verify(ctx context.Context, c auth.Credential) (auth.Caller, error) {
	mark := digest(c.Value)
	if e := v.known.find(mark, v.now()); e != nil {
		key, err := v.keys.Key(ctx, e.kid)
		if err == nil && key == e.key && e.proven(c.Request) {
			return e.caller, nil
		}
		v.known.drop(mark)
	}
	h, claims, err := v.read(c.Value)
	if err != nil {
		return auth.Caller{}, refused(err)
	}
	key, err := v.keys.Key(ctx, h.kid)
	if err != nil {
		return auth.Caller{}, undecided(err)
	}
	if err := key.verify(c.Value, v.algs[h.alg]); err != nil {
		return auth.Caller{}, refused(err)
	}
	e := &entry{caller: claims.caller(&v.terms), kid: h.kid, key: key, bound: claims.certificate}
	if !e.proven(c.Request) {
		return auth.Caller{}, refused(errUnproven)
	}
	v.known.keep(mark, e, v.now())
	return e.caller, nil
}

// read reads a token without checking its signature, and rejects what no signature would make valid.
func (v *jwt) read(token string) (*header, *claims, error) {
	h, payload, err := v.open(token)
	if err != nil {
		return nil, nil, err
	}
	c, err := readClaims(payload)
	if err != nil {
		return nil, nil, err
	}
	return h, c, v.terms.check(c)
}

// Errors of invalid tokens.
var (
	errNoJWT    = errors.New("it is no signed JWT")
	errUnproven = errors.New("it is bound to a key or certificate that its bearer has not shown")
)

// refused returns the error of an invalid token.
func refused(err error) error { return fmt.Errorf("%w: %w", auth.ErrWrong, err) }

// undecided returns the error of a token whose key could not be fetched. It is invalid if the issuer did not have the
// key a moment ago.
func undecided(err error) error {
	if u, ok := errors.AsType[*keyset.Unavailable](err); ok && !errors.Is(u.Err, keyset.ErrUnknown) {
		return &auth.Unavailable{After: u.After, Err: u.Err}
	}
	return refused(keyset.ErrUnknown)
}
