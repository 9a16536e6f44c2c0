package auth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Kind is what a scheme is.
type Kind uint8

// The kinds, those first that say best who calls: of a requirement with several schemes the first one names the caller.
const (
	OpenIDConnect Kind = iota
	OAuth2
	HTTP // an Authorization header: bearer, basic, others
	MutualTLS
	APIKey
)

// KindInfo is how cards write a kind of scheme. It is a row of [Kinds], which the guard, the generator and the tests range
// over.
type KindInfo struct {
	Kind Kind
	Key  string // of a scheme in cards since 1.0: "apiKeySecurityScheme"
	Type string // of a scheme in cards of 0.2 and 0.3: "apiKey"

	// read takes what the kind needs from the scheme of a card.
	read func(s *Scheme, card *cardScheme)
}

// Kinds are all kinds of schemes. Only tests change it.
var Kinds = []KindInfo{
	{APIKey, "apiKeySecurityScheme", "apiKey", func(s *Scheme, c *cardScheme) { s.In, s.Key = c.Location+c.In, c.Name }},
	{HTTP, "httpAuthSecurityScheme", "http", func(s *Scheme, c *cardScheme) { s.HTTP = strings.ToLower(c.Scheme) }},
	{OAuth2, "oauth2SecurityScheme", "oauth2", func(s *Scheme, c *cardScheme) { s.URL = c.OAuth2MetadataURL }},
	{OpenIDConnect, "openIdConnectSecurityScheme", "openIdConnect", func(s *Scheme, c *cardScheme) { s.URL = c.OpenIDConnectURL }},
	{MutualTLS, "mtlsSecurityScheme", "mutualTLS", func(*Scheme, *cardScheme) {}},
}

// CardKey returns the key by which cards name the kind since 1.0.
func (k Kind) CardKey() string {
	i := slices.IndexFunc(Kinds, func(row KindInfo) bool { return row.Kind == k })
	if i < 0 {
		return ""
	}
	return Kinds[i].Key
}

// Names of HTTP authentication schemes, in lower case.
const (
	schemeBearer = "bearer"
	schemeBasic  = "basic"
)

// credentialKind is how a request brings the credential of some schemes. It is a row of credentialKinds.
type credentialKind struct {
	kind  Kind
	http  string // of kind HTTP, the name of the scheme in lower case; "" is any
	token bool   // the credential is a bearer token
	// take takes the credential from a request. An error is [ErrNone] or an errMalformed.
	take func(g *Guard, s *Scheme, r *http.Request) (Credential, error)
	// challenge writes what the scheme demands. failure is what was wrong with a token; "" when there was none.
	challenge func(g *Guard, s *Scheme, scopes []string, failure string) string
	// curl returns the arguments by which curl shows the credential, with a blank before each, by a function that quotes a
	// word for the shell.
	curl func(s *Scheme, quote func(string) string) string
}

// credentialKinds are found by kind and HTTP scheme, the first one that fits.
var credentialKinds = []*credentialKind{
	{kind: OpenIDConnect, token: true, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: OAuth2, token: true, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: HTTP, http: schemeBearer, token: true, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: HTTP, http: schemeBasic, take: takeBasic,
		challenge: func(g *Guard, _ *Scheme, _ []string, _ string) string {
			return challenge("Basic", "realm", g.realm, "charset", "UTF-8")
		},
		curl: func(*Scheme, func(string) string) string { return " --user YOUR_USER:YOUR_PASSWORD" },
	},
	{kind: HTTP, take: takeAuthorization,
		challenge: func(g *Guard, s *Scheme, _ []string, _ string) string {
			return challenge(tokenOf(s.HTTP), "realm", g.realm)
		},
		curl: func(s *Scheme, quote func(string) string) string {
			return " -H " + quote("Authorization: "+s.HTTP+" YOUR_CREDENTIAL")
		},
	},
	{kind: MutualTLS, take: takeCertificates,
		challenge: func(g *Guard, _ *Scheme, _ []string, _ string) string {
			return challenge("ClientCertificate", "realm", g.realm)
		},
		curl: func(*Scheme, func(string) string) string { return " --cert YOUR_CERTIFICATE.pem --key YOUR_KEY.pem" },
	},
	{kind: APIKey, take: takeKey,
		challenge: func(g *Guard, s *Scheme, _ []string, _ string) string {
			return challenge("ApiKey", "realm", g.realm, "in", s.In, "name", s.Key)
		},
		curl: func(s *Scheme, quote func(string) string) string { return s.place().curl(s, quote) },
	},
}

// way returns how requests bring the scheme's credential.
func (s *Scheme) way() *credentialKind {
	for _, c := range credentialKinds {
		if c.kind == s.Kind && (c.http == "" || c.http == s.HTTP) {
			return c
		}
	}
	return nil // ReadCard refuses schemes of other kinds
}

// token reports whether the scheme's credential is a bearer token.
func (s *Scheme) token() bool { return s.way().token }

// Curl returns the arguments by which curl shows a placeholder for the scheme's credential, with a blank before each. quote
// quotes a word for the shell. What stands in the URL is not among them: see [Scheme.Query].
func (s *Scheme) Curl(quote func(string) string) string { return s.way().curl(s, quote) }

// Query returns what a URL has in its query to show a placeholder for the scheme's credential; "" for nothing.
func (s *Scheme) Query() string {
	if s.Kind != APIKey || s.In != "query" {
		return ""
	}
	return url.QueryEscape(s.Key) + "=YOUR_KEY"
}

// keyPlace is where a request has an API key.
type keyPlace struct {
	name   string // on cards: "header"
	values func(g *Guard, key string, r *http.Request) ([]string, error)
	curl   func(s *Scheme, quote func(string) string) string
}

// keyPlaces are all places.
var keyPlaces = []*keyPlace{
	{"header", headerKeys, func(s *Scheme, quote func(string) string) string { return " -H " + quote(s.Key+": YOUR_KEY") }},
	{"query", queryKeys, func(*Scheme, func(string) string) string { return "" }},
	{"cookie", cookieKeys, func(s *Scheme, quote func(string) string) string { return " -H " + quote("Cookie: "+s.Key+"=YOUR_KEY") }},
}

// place returns where the scheme's API key is; nil if the card does not say.
func (s *Scheme) place() *keyPlace {
	for _, p := range keyPlaces {
		if p.name == s.In {
			return p
		}
	}
	return nil
}
