// Package oauth obtains OAuth 2 access tokens for calls of agents: by client credentials, by a login in the browser (authorization code
// with PKCE), by a device code, and by refresh tokens. Only its users link golang.org/x/oauth2.
//
//	source, err := oauth.Config{Issuer: "https://id.example.com", ClientID: "app", Secret: secret}.Source()
//
// Secrets, codes and refresh tokens go to the issuer or the token URL of the [Config] alone, and to the endpoints that this issuer names in
// its own metadata. What a card or a 401 says about issuers is never asked and never believed.
//
// Requests need https, except to this machine; they follow no redirects, and have a deadline and a byte budget. Errors are of type [*Error],
// say what to do, and hold no secret.
package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// Flow is how a client gets its first token.
type Flow string

// The flows. Where the issuer gives a refresh token, later tokens come by that.
const (
	ClientCredentials Flow = "client_credentials" // the client is its own user (RFC 6749 §4.4)
	AuthorizationCode Flow = "authorization_code" // a person logs in in a browser on this machine (RFC 6749 §4.1, RFC 7636, RFC 8252)
	DeviceCode        Flow = "device_code"        // a person logs in in a browser anywhere (RFC 8628)
)

// NoResource as [Config].Resource sends no resource: for issuers that reject the parameter.
const NoResource = "-"

// Config names a client and the issuer of its tokens.
type Config struct {
	// Issuer is the issuer's URL, exactly as the issuer writes it. Its endpoints are read from its metadata (OpenID Connect Discovery,
	// RFC 8414), which must name the same issuer.
	Issuer string
	// TokenURL is the token endpoint, where there is no Issuer. Logins need AuthURL or DeviceURL too.
	TokenURL, AuthURL, DeviceURL string

	ClientID string
	Secret   string // of the client; "" for a public one
	// SecretInBody sends the secret as client_secret_post does. By default the issuer's metadata decide; without metadata it goes as Basic.
	SecretInBody bool

	// Scopes to ask for. Without any they are those that the agent's card requires for the call.
	Scopes []string
	// Resource is the audience of tokens (RFC 8707). "" is the resource of the call, which is the agent's URL; [NoResource] is none.
	Resource string
	// Audience is the parameter audience, for issuers that have it in place of resource, such as Auth0.
	Audience string

	// Flow is [ClientCredentials] when there is a Secret, else [AuthorizationCode].
	Flow Flow
	// Cache keeps tokens in files, for other processes and later runs; nil keeps them in the memory of this source.
	Cache *Cache
	// Prompt shows a person where to log in. Without it a source fails with [ErrLogin] unless the cache has a login.
	Prompt func(context.Context, Prompt) error
	// Redirect is the redirect URI of [AuthorizationCode], for clients that are registered with a fixed port. The default is
	// http://127.0.0.1:PORT/callback with a free port. It must be on this machine.
	Redirect string

	// HTTP sends the requests, for a transport of your own; its redirect policy is replaced.
	HTTP *http.Client
}

// Prompt holds what a person needs to log in.
type Prompt struct {
	URL     string    // of the page to open: https, or http on this machine
	Code    string    // to type there; "" with [AuthorizationCode]
	Whole   string    // URL of the page with the code filled in; "" without
	Expires time.Time // until when
}

// Source returns a source of tokens. It makes no request. The source is safe for concurrent use.
func (c Config) Source() (rpc.TokenSource, error) { return c.source() }

// Login gets a new token by the flow, even if the cache has one, and keeps it. The scopes and the resource count if the config has none.
func (c Config) Login(ctx context.Context, resource string, scopes ...string) error {
	s, err := c.source()
	if err != nil {
		return err
	}
	_, err = s.flights.do(ctx, s.targetOf(resource, scopes), func(ctx context.Context, t target) (entry, error) {
		return s.locked(ctx, t, func() (entry, error) { return s.obtain(ctx, t) })
	})
	return err
}

// Logout removes the token of the resource and the scopes from the cache, after a renewal that is under way. The issuer is not notified.
func (c Config) Logout(resource string, scopes ...string) error {
	s, err := c.source()
	if err != nil || c.Cache == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*requestTime)
	defer cancel()
	key := s.keyOf(s.targetOf(resource, scopes))
	release, err := c.Cache.lock(ctx, key)
	if err != nil {
		return &Error{Server: s.server(), Kind: ErrCache, Err: err, Remedy: "end the login that is under way"}
	}
	defer release()
	if err := os.Remove(c.Cache.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the token: %w", err)
	}
	return nil
}

// source is the source of a config.
type source struct {
	Config
	http    *http.Client
	flights flights

	mu       sync.Mutex
	tokens   map[target]entry
	rejected rejected
	issuer   *endpoints // as last discovered
}

// target is the resource and the scopes of a token.
type target struct {
	resource string
	scopes   string // sorted, with blanks between them
}

func (c Config) source() (*source, error) {
	if c.Flow == "" {
		c.Flow = AuthorizationCode
		if c.Secret != "" {
			c.Flow = ClientCredentials
		}
	}
	if err := c.check(); err != nil {
		return nil, &Error{Server: c.server(), Kind: ErrConfig, Err: err}
	}
	return &source{Config: c, http: guarded(c.HTTP), tokens: map[target]entry{}}, nil
}

// server names the issuer in messages.
func (c *Config) server() string {
	u, err := url.Parse(cmp.Or(c.Issuer, c.TokenURL))
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// check finds what is missing or contradictory.
func (c *Config) check() error {
	switch {
	case c.Issuer == "" && c.TokenURL == "":
		return fmt.Errorf("there is neither Issuer nor TokenURL: say who issues tokens")
	case c.Issuer != "" && c.TokenURL+c.AuthURL+c.DeviceURL != "":
		return fmt.Errorf("both Issuer and TokenURL, AuthURL or DeviceURL are set: the issuer says where they are")
	case c.ClientID == "":
		return fmt.Errorf("there is no ClientID: register a client at the issuer")
	case !slices.Contains([]Flow{ClientCredentials, AuthorizationCode, DeviceCode}, c.Flow):
		return fmt.Errorf("there is no flow %.40q", c.Flow)
	case c.Flow == ClientCredentials && c.Secret == "":
		return fmt.Errorf("client credentials need a Secret: give it, or choose another Flow")
	case c.TokenURL != "" && c.Flow == AuthorizationCode && c.AuthURL == "":
		return fmt.Errorf("a login in the browser needs AuthURL beside TokenURL, or an Issuer")
	case c.TokenURL != "" && c.Flow == DeviceCode && c.DeviceURL == "":
		return fmt.Errorf("a login by device code needs DeviceURL beside TokenURL, or an Issuer")
	}
	for _, u := range []string{c.Issuer, c.TokenURL, c.AuthURL, c.DeviceURL} {
		if u == "" {
			continue
		}
		if err := keyset.CheckURL(u, false); err != nil {
			return err
		}
	}
	_, err := redirectOf(c.Redirect)
	return err
}

// targetOf returns the target for a resource and scopes, where the config does not set others.
func (s *source) targetOf(resource string, scopes []string) target {
	if len(s.Scopes) > 0 {
		scopes = s.Scopes
	}
	resource = cmp.Or(s.Resource, resource)
	if resource == NoResource {
		resource = ""
	}
	sorted := slices.Sorted(slices.Values(scopes))
	return target{resource, strings.Join(slices.Compact(sorted), " ")}
}

// Token returns a token that no agent rejected and that does not expire soon: from memory, from the cache, by refreshing, or by the
// flow. One goroutine and one process at a time ask the issuer; the others wait for the result.
func (s *source) Token(ctx context.Context, need rpc.TokenNeed) (string, error) {
	t := s.targetOf(need.Resource, need.Scopes)
	s.mu.Lock()
	s.rejected.add(need.Rejected)
	e, now := s.tokens[t], time.Now()
	good := s.usable(e, now)
	s.mu.Unlock()
	if good {
		return e.Access, nil
	}
	for range 2 { // the first may have begun before the token was rejected
		e, err := s.flights.do(ctx, t, s.renew)
		if err != nil {
			return "", err
		}
		if !s.rejects(e.Access) {
			return e.Access, nil
		}
	}
	return "", &Error{
		Server: s.server(), Kind: ErrRefused, Err: fmt.Errorf("it issues the token that the agent rejected again"),
		Remedy: "log in again, or ask who runs the agent which issuer, audience and scopes it accepts",
	}
}

// usable reports whether a token can be used without asking the issuer: until a minute before it expires, or the last quarter of a shorter
// life. Callers must hold mu.
func (s *source) usable(e entry, now time.Time) bool {
	return e.Access != "" && !s.rejected.has(e.Access) &&
		(e.Expires.IsZero() || now.Before(e.Expires.Add(-min(time.Minute, e.Expires.Sub(e.Obtained)/4))))
}

// rejects reports whether an agent rejected a token.
func (s *source) rejects(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejected.has(token)
}

// remember keeps a token in memory.
func (s *source) remember(t target, e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens) >= mostTargets {
		clear(s.tokens)
	}
	s.tokens[t] = e
}

// mostTargets is how many tokens a source keeps in memory.
const mostTargets = 256

// renew finds a token in the cache, or gets one from the issuer, while no other process does. A good token in the cache is used without the
// lock, which is held while a person logs in.
func (s *source) renew(ctx context.Context, t target) (entry, error) {
	if e, good := s.find(t); good {
		s.remember(t, e)
		return e, nil
	}
	return s.locked(ctx, t, func() (entry, error) {
		e, good := s.find(t)
		if good {
			return e, nil
		}
		if e.Refresh == "" {
			return s.obtainUnlessGood(ctx, t, e)
		}
		// The answer may have a new refresh token; else the old one goes on being good.
		fresh, err := s.obtainBy(ctx, t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {e.Refresh}})
		var refused *Error
		switch {
		case err == nil:
			return fresh, s.store(t, fresh)
		case errors.As(err, &refused) && refused.Code == "invalid_grant": // used, withdrawn or expired
			e.Refresh = ""
			if err := s.store(t, e); err != nil {
				return entry{}, err
			}
			return s.obtainUnlessGood(ctx, t, e)
		case s.stillGood(e):
			return e, nil
		}
		return entry{}, err
	})
}

// find returns the token of a target in the cache, without a cache in memory, and whether it can be used without asking the issuer.
func (s *source) find(t target) (entry, bool) {
	s.mu.Lock()
	e := s.tokens[t]
	s.mu.Unlock()
	if s.Cache != nil {
		e = s.Cache.load(s.keyOf(t))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return e, s.usable(e, time.Now())
}

// obtainUnlessGood gets a token by the flow. Where that fails, one that has not expired yet will do.
func (s *source) obtainUnlessGood(ctx context.Context, t target, old entry) (entry, error) {
	e, err := s.obtain(ctx, t)
	if err != nil && s.stillGood(old) {
		return old, nil
	}
	return e, err
}

// stillGood reports whether a token that should be renewed can be used all the same.
func (s *source) stillGood(e entry) bool {
	return e.Access != "" && !s.rejects(e.Access) && time.Now().Before(e.Expires)
}

// obtain gets a token by the flow and keeps it.
func (s *source) obtain(ctx context.Context, t target) (e entry, err error) {
	switch {
	case s.Flow == ClientCredentials:
		grant := url.Values{"grant_type": {"client_credentials"}}
		if t.scopes != "" {
			grant.Set("scope", t.scopes)
		}
		e, err = s.obtainBy(ctx, t, grant)
	case s.Prompt == nil:
		return e, &Error{
			Server: s.server(), Kind: ErrLogin, Err: errors.New("nobody is logged in, or the login has expired"),
			Remedy: "log in with a2agen login, or with Config.Login",
		}
	case s.Flow == DeviceCode:
		e, err = s.byDevice(ctx, t)
	default:
		e, err = s.byCode(ctx, t)
	}
	if err != nil {
		return entry{}, err
	}
	return e, s.store(t, e)
}

// locked runs do while no other process does so for the target, and keeps its result in memory.
func (s *source) locked(ctx context.Context, t target, do func() (entry, error)) (entry, error) {
	if s.Cache != nil {
		release, err := s.Cache.lock(ctx, s.keyOf(t))
		if err != nil {
			return entry{}, &Error{Server: s.server(), Kind: ErrCache, Err: err}
		}
		defer release()
	}
	e, err := do()
	if err == nil {
		s.remember(t, e)
	}
	return e, err
}

// store keeps a token. An error must not be ignored: the next process needs the new refresh token.
func (s *source) store(t target, e entry) error {
	if s.Cache == nil {
		s.remember(t, e)
		return nil
	}
	if err := s.Cache.store(s.keyOf(t), e); err != nil {
		return &Error{Server: s.server(), Kind: ErrCache, Err: err, Remedy: "make the folder writable, or use another one"}
	}
	return nil
}

// keyOf returns the key of a token in the cache: a digest of all that the token depends on.
func (s *source) keyOf(t target) string {
	text, err := json.Marshal([]string{cmp.Or(s.Issuer, s.TokenURL), s.ClientID, string(s.Flow), t.resource, s.Audience, t.scopes})
	if err != nil {
		panic(err) // a list of texts can be written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
