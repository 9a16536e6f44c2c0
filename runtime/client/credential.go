package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
)

// TokenSource gets access tokens for a scheme that takes bearer tokens: HTTP bearer, OAuth 2, OpenID Connect. Package oauth
// has one for OAuth 2 and OpenID Connect; [StaticToken] and [TokenFile] are for tokens that come from elsewhere. It must be
// safe for concurrent use, and keep its tokens: it is asked before every request.
type TokenSource interface {
	// Token returns a token for the need. An error ends the call before anything is sent; its text must not contain
	// secrets. A [*CredentialError] reaches the caller as it is, any other error as the cause of one.
	Token(ctx context.Context, need TokenNeed) (string, error)
}

// TokenNeed describes the token for a request.
type TokenNeed struct {
	Scheme   string   // its key in the card
	Scopes   []string // that the card's requirements name; none: those that the source has by default
	Resource string   // URL of the agent's interface (RFC 8707)
	// Rejected is the token that the agent has just rejected with 401; "" the first time. The source must not return it
	// again.
	Rejected string
	// Card is the scheme as the card declares it. The agent may be hostile: secrets must go only to an issuer or
	// token URL that the user named.
	Card SchemeInfo
}

// SchemeKind is the kind of a security scheme, as OpenAPI names it.
type SchemeKind string

// The kinds of schemes (A2A 1.0 §4.5).
const (
	SchemeAPIKey        SchemeKind = "apiKey"
	SchemeHTTP          SchemeKind = "http" // an Authorization header: bearer, basic, others
	SchemeOAuth2        SchemeKind = "oauth2"
	SchemeOpenIDConnect SchemeKind = "openIdConnect"
	SchemeMutualTLS     SchemeKind = "mutualTLS"
)

// SchemeInfo is a security scheme as the card declares it. None of it is verified.
type SchemeInfo struct {
	Name        string // its key in the card
	Kind        SchemeKind
	Description string

	In, Key string // of an API key: "header", "query" or "cookie", and the name in it

	HTTP         string // of HTTP authentication: the name of its scheme, in lower case: "bearer"
	BearerFormat string // of HTTP bearer: "JWT"

	Flows            []OAuthFlow // of OAuth 2
	MetadataURL      string      // of OAuth 2: its authorization server's metadata (RFC 8414)
	OpenIDConnectURL string      // of OpenID Connect: its discovery document
}

// Tokens reports whether the scheme takes bearer tokens, for which a [TokenSource] is given.
func (s SchemeInfo) Tokens() bool {
	return s.Kind == SchemeOAuth2 || s.Kind == SchemeOpenIDConnect || s.Kind == SchemeHTTP && s.HTTP == "bearer"
}

// OAuthFlow is one flow of an OAuth 2 scheme (A2A 1.0 §4.5.5).
type OAuthFlow struct {
	// Name is the flow's key in cards: "clientCredentials", "authorizationCode", "deviceCode", "implicit", "password".
	Name                                              string
	AuthorizationURL, DeviceURL, TokenURL, RefreshURL string            // "" for none
	Scopes                                            map[string]string // names → what they are for
	PKCE                                              bool              // required, by the card
}

// credential is a credential for a scheme. Only schemes that take its form get it.
type credential struct {
	form   form
	secret TokenSource // nil for a certificate
	// certificate is called for each connection.
	certificate func() (*tls.Certificate, error)
}

// form is the form of a credential.
type form uint8

const (
	formToken         form = iota // a bearer token
	formKey                       // an API key
	formBasic                     // user:password
	formAuthorization             // the value after the name of another HTTP scheme
	formCertificate
)

// give sets the credential for a scheme. A later one replaces an earlier one.
func give(scheme string, given credential) Option {
	return func(c *Client) { c.credentials.set(scheme, given) }
}

func (g *credentials) set(scheme string, given credential) {
	if g.given == nil {
		g.given = map[string]credential{}
	}
	g.given[scheme] = given
}

// WithToken sets the source of tokens for the card's scheme of that name. This, or any other credential, implies [OneHost], and https except on
// this machine.
func WithToken(scheme string, source TokenSource) Option {
	return give(scheme, credential{form: formToken, secret: source})
}

// WithTokensOf is [WithToken] with a source that open makes, such as oauth.Config.Source. Its error is that of [New].
func WithTokensOf(scheme string, open func() (TokenSource, error)) Option {
	return func(c *Client) {
		source, err := open()
		if err != nil {
			c.credentials.fault = cmp.Or(c.credentials.fault, fmt.Errorf("the credential for the security scheme %q: %w", scheme, err))
			return
		}
		WithToken(scheme, source)(c)
	}
}

// WithAPIKey sets the key for the card's scheme of that name. It is sent where the card declares: in a header, a cookie, or the query of the URL.
func WithAPIKey(scheme, key string) Option {
	return give(scheme, credential{form: formKey, secret: StaticToken(key)})
}

// WithBasic sets user and password for the card's scheme of that name (HTTP Basic, RFC 7617).
func WithBasic(scheme, user, password string) Option {
	if strings.Contains(user, ":") {
		user = "" // an error: the password would begin in it
	}
	return give(scheme, credential{form: formBasic, secret: StaticToken(user + ":" + password)})
}

// WithAuthorization sets the value after the name of the HTTP authentication scheme in the header Authorization, for schemes that are neither
// bearer nor basic.
func WithAuthorization(scheme, value string) Option {
	return give(scheme, credential{form: formAuthorization, secret: StaticToken(value)})
}

// WithCertificate sets the client certificate for the card's scheme of that name (mutual TLS), over every binding.
func WithCertificate(scheme string, certificate tls.Certificate) Option {
	return give(scheme, credential{
		form: formCertificate, certificate: func() (*tls.Certificate, error) { return &certificate, nil },
	})
}

// SendAnyway sends a call without a credential that the card demands and that was not given: for agents whose cards demand more than they check.
func SendAnyway() Option { return func(c *Client) { c.credentials.anyway = true } }

// WithoutCredentials ignores the credentials of options and of the environment. Where the card demands one, a placeholder
// is sent. It is for a client that reaches no agent, such as one in a test that plays a recording.
func WithoutCredentials() Option { return func(c *Client) { c.credentials.none = true } }

// CredentialError is a call that lacks a credential. Nothing was sent.
type CredentialError struct {
	Scheme SchemeInfo // without a credential, of the card's alternative that lacks the fewest
	Scopes []string   // that the card demands
	Skill  string     // the id of the skill that demands it; "" when the agent does
	Option string     // that sets it in Go code: "rpc.WithAPIKey("key", …)"
	Env    []string   // the environment variables of which each sets it, if the client reads any
	Err    error      // why the given credential cannot be used, or why its source has none; nil if there is none
}

// Error renders which credential is missing, where to get it and how to give it.
func (e *CredentialError) Error() string {
	var b strings.Builder
	owner := "the agent"
	if e.Skill != "" {
		owner = fmt.Sprintf("the agent's skill %q", e.Skill)
	}
	fmt.Fprintf(&b, "%s demands %s (security scheme %q)", owner, e.Scheme.title(), Printable(e.Scheme.Name))
	if len(e.Scopes) > 0 {
		fmt.Fprintf(&b, " with the scopes %s", Printable(strings.Join(e.Scopes, ", ")))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	} else {
		b.WriteString(", and none was given")
	}
	issuer := e.Scheme.OpenIDConnectURL
	for _, f := range e.Scheme.Flows {
		issuer = cmp.Or(issuer, f.TokenURL)
	}
	if issuer = cmp.Or(issuer, e.Scheme.MetadataURL); issuer != "" {
		fmt.Fprintf(&b, "; the card says that %s gives it out", Printable(issuer))
	}
	if e.Option != "" {
		fmt.Fprintf(&b, "; give it by %s", e.Option)
	}
	if len(e.Env) > 0 {
		fmt.Fprintf(&b, "; or set %s", strings.Join(e.Env, " or "))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *CredentialError) Unwrap() error { return e.Err }

// TryLater reports whether the source may have a credential later, by the method of that name of its error.
func (e *CredentialError) TryLater() bool {
	var says interface{ TryLater() bool }
	return errors.As(e.Err, &says) && says.TryLater()
}

// title names the credential of the scheme.
func (s *SchemeInfo) title() string {
	kind := kindOf(s)
	switch {
	case kind == nil:
		return "a credential"
	case s.Kind == SchemeAPIKey:
		return fmt.Sprintf("an API key in the %s %s", s.In, Printable(s.Key))
	case kind.http == "" && s.Kind == SchemeHTTP:
		return kind.title + " of the kind " + Printable(s.HTTP)
	}
	return kind.title
}
