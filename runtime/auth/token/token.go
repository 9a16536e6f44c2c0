// Package token checks access tokens: JWTs by the keys that their issuer publishes, others by asking the issuer. It is
// a package of its own because only those who take such tokens link its library.
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

// Config says which tokens are taken. The environment has a say in it, for the scheme's name in the card:
// A2A_AUTH_<SCHEME> and _ISSUER, _AUDIENCE (several with commas between them), _JWKS (Keys).
type Config struct {
	// Issuer is who makes the tokens, letter for letter as they have it. "" is what the scheme in the card says.
	Issuer string
	// Audience is for whom they have to be: one of these. Nil is the agent's public URL.
	Audience []string
	Types    []string // of tokens, as their headers have it ["at+jwt"]; issuers that do not say it write "JWT"
	// Algorithms are those of signatures that are taken [ES256, ES384, ES512, RS256, RS384, RS512, PS256, PS384, PS512,
	// EdDSA].
	Algorithms []string
	Skew       time.Duration // by which clocks may differ [30 s]
	Tenants    string        // the claim with the tenants that the caller may act for; "": for any
	Keys       string        // where the issuer's keys are; "": where it says
	HTTP       *http.Client  // to ask the issuer with; nil: one of its own. It follows no redirects.
	// MaxAge is when keys are asked for anew, so that one that was withdrawn is refused [5 min]; Interval is the least
	// time between two requests for them [10 s].
	MaxAge, Interval time.Duration
}

// Defaults of a [Config].
const (
	DefaultSkew     = 30 * time.Second
	DefaultMaxAge   = 5 * time.Minute
	DefaultInterval = 10 * time.Second
)

var defaultTypes = []string{"at+jwt"}

// JWT verifies tokens that are JWTs (RFC 9068). A token that was good is known again for a minute, as long as its key
// is there. When the issuer cannot be reached, tokens made with keys that are known go on being good.
func JWT(c Config) auth.Verifier { return &jwt{Config: c} }

type jwt struct {
	Config
	terms
	issuer issuer
	algs   map[string]*algorithm
	keys   keyset.Set[*key]
	known  cache
}

// Issuer is who makes the tokens.
func (v *jwt) Issuer() string { return v.terms.issuer }

// TokenForm is how the tokens are made that are taken.
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

// Prepare completes the configuration. It does not ask the issuer, which may start later.
func (v *jwt) Prepare(s *auth.Setup) (err error) {
	if v.terms, err = newTerms(s, v.Config.Issuer, v.Audience); err != nil {
		return err
	}
	v.terms.skew, v.terms.tenants = cmp.Or(v.Skew, DefaultSkew), v.Tenants
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

// Verify says whose a token is.
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

// read reads a token whose signature nobody has looked at yet, and refuses what no signature would mend.
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

// Ways in which a token is no good.
var (
	errNoJWT    = errors.New("it is no signed JWT")
	errUnproven = errors.New("it is bound to a key or certificate that its bearer has not shown")
)

// refused makes the error of a token that is no good.
func refused(err error) error { return fmt.Errorf("%w: %w", auth.ErrWrong, err) }

// undecided is the error of a token whose key was not had: one that the issuer did not have a moment ago is no good.
func undecided(err error) error {
	if u, ok := errors.AsType[*keyset.Unavailable](err); ok && !errors.Is(u.Err, keyset.ErrUnknown) {
		return &auth.Unavailable{After: u.After, Err: u.Err}
	}
	return refused(keyset.ErrUnknown)
}
