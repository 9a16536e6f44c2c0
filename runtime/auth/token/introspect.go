package token

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// IntrospectionConfig says how the issuer is asked about opaque tokens (RFC 7662). The environment overrides it, by
// the name of the scheme in the card: A2A_AUTH_<SCHEME> and _ISSUER, _AUDIENCE, _INTROSPECTION, _CLIENT_ID,
// _CLIENT_SECRET.
type IntrospectionConfig struct {
	Issuer   string   // as that of a [Config]
	Audience []string // as that of a [Config]
	Endpoint string   // where to ask; "": where the issuer says
	// ClientID and ClientSecret are the agent's own at the issuer.
	ClientID, ClientSecret string
	Skew                   time.Duration
	Tenants                string
	HTTP                   *http.Client
}

// Introspection verifies tokens by asking their issuer. Its answer is cached for a minute if the token is valid, else
// for some seconds.
func Introspection(c IntrospectionConfig) auth.Verifier {
	return &introspection{IntrospectionConfig: c}
}

type introspection struct {
	IntrospectionConfig
	terms
	issuer issuer
	known  cache
	bad    cache
	asking chan struct{} // as many as are asked at a time

	endpoint keyset.Set[string] // the address that the issuer names
}

// Limits of requests to the issuer.
const (
	mostAsking = 32
	askTime    = 5 * time.Second
	badFor     = 10 * time.Second
)

// Issuer returns the issuer of the tokens.
func (v *introspection) Issuer() string { return v.terms.issuer }

// TokenForm returns the form of the accepted tokens.
func (v *introspection) TokenForm() auth.TokenForm {
	return auth.TokenForm{Opaque: true, Tenants: v.IntrospectionConfig.Tenants}
}

// Prepare completes the configuration. It does not connect to the issuer, which may start later.
func (v *introspection) Prepare(s *auth.Setup) (err error) {
	if v.terms, err = newTerms(s, v.IntrospectionConfig.Issuer, v.Audience); err != nil {
		return err
	}
	v.terms.skew, v.terms.tenants = cmp.Or(v.Skew, defaultSkew), v.Tenants
	v.Endpoint = cmp.Or(s.Env(auth.EnvIntrospection), v.Endpoint)
	v.ClientID, v.ClientSecret = cmp.Or(s.Env(auth.EnvClientID), v.ClientID), cmp.Or(s.Env(auth.EnvClientSecret), v.ClientSecret)
	if v.ClientID == "" || v.ClientSecret == "" {
		return errors.New("the agent cannot ask about tokens without a client of its own: set " + s.EnvName(auth.EnvClientID) +
			" and " + s.EnvName(auth.EnvClientSecret))
	}
	if v.Endpoint != "" {
		if err := keyset.CheckURL(v.Endpoint, false); err != nil {
			return err
		}
	}
	v.issuer = issuer{name: v.terms.issuer, http: keyset.NoRedirects(v.HTTP)}
	if s.Scheme.Kind == auth.OAuth2 {
		v.issuer.about = s.Scheme.URL
	}
	v.endpoint.Fetch, v.endpoint.MaxAge, v.endpoint.Interval = v.findEndpoint, time.Hour, DefaultInterval
	v.asking = make(chan struct{}, mostAsking)
	v.known.init()
	v.bad.init()
	return nil
}

// Verify returns the caller of a token.
func (v *introspection) Verify(ctx context.Context, c auth.Credential) (auth.Caller, error) {
	mark := digest(c.Value)
	if e := v.known.find(mark, v.now()); e != nil && e.proven(c.Request) {
		return e.caller, nil
	}
	if v.bad.find(mark, v.now()) != nil {
		return auth.Caller{}, refused(errInactive)
	}
	if v.foreign(c.Value) {
		return auth.Caller{}, refused(errForeign)
	}
	claims, err := v.ask(ctx, c.Value)
	if err != nil {
		return auth.Caller{}, &auth.Unavailable{After: time.Second, Err: err}
	}
	if err := v.accept(claims); err != nil {
		v.bad.keep(mark, &entry{caller: auth.Caller{Expires: v.now().Add(badFor)}}, v.now())
		return auth.Caller{}, refused(err)
	}
	e := &entry{caller: claims.caller(&v.terms), bound: claims.certificate}
	if !e.proven(c.Request) {
		return auth.Caller{}, refused(errUnproven)
	}
	v.known.keep(mark, e, v.now())
	return e.caller, nil
}

var (
	errInactive = errors.New("its issuer says that it is not active")
	errForeign  = errors.New("it was made by another issuer")
)

// foreign reports whether a token names another issuer. It must not be sent to this one.
func (v *introspection) foreign(token string) bool {
	parts := strings.SplitN(token, ".", 4)
	if len(parts) != 3 {
		return false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return false
	}
	c, err := readClaims(payload)
	return err == nil && c.issuer != "" && c.issuer != v.terms.issuer
}

// accept checks the issuer's answer. The answer may lack the issuer's own name, and the subject if that is the
// client: oidc-provider leaves both out.
func (v *introspection) accept(c *claims) error {
	if !c.active {
		return errInactive
	}
	c.issuer, c.subject = cmp.Or(c.issuer, v.terms.issuer), cmp.Or(c.subject, c.client)
	return v.terms.check(c)
}

// ask asks the issuer about a token. An error means that the answer is not known.
func (v *introspection) ask(ctx context.Context, token string) (*claims, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	select {
	case v.asking <- struct{}{}:
		defer func() { <-v.asking }()
	case <-ctx.Done():
		return nil, errors.New("too many tokens are being asked about")
	}
	at, err := v.where(ctx)
	if err != nil {
		return nil, err
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(v.ClientID), url.QueryEscape(v.ClientSecret)) // RFC 6749 §2.3.1
	body, err := keyset.Do(v.issuer.http, req)
	if err != nil {
		return nil, fmt.Errorf("ask about a token: %w", err)
	}
	c, err := readClaims(body)
	if err != nil {
		return nil, fmt.Errorf("ask about a token: %w", err)
	}
	return c, nil
}

// where returns the URL of the introspection endpoint.
func (v *introspection) where(ctx context.Context) (string, error) {
	if v.Endpoint != "" {
		return v.Endpoint, nil
	}
	return v.endpoint.Key(ctx, endpointKey)
}

// endpointKey is the cache key of the endpoint that the issuer names.
const endpointKey = "introspection_endpoint"

// findEndpoint reads the endpoint from the issuer's metadata.
func (v *introspection) findEndpoint(ctx context.Context) (map[string]string, error) {
	d, err := v.issuer.describe(ctx)
	if err != nil {
		return nil, err
	}
	if err := keyset.CheckURL(d.Introspection, false); err != nil {
		return nil, fmt.Errorf("where the issuer %s is asked about tokens: %w", v.terms.issuer, err)
	}
	return map[string]string{endpointKey: d.Introspection}, nil
}
