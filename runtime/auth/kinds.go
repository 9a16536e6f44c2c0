package auth

import (
	"net/http"
	"net/url"

	"github.com/a2agen/a2agen/runtime/internal/security"
)

// What cards say of schemes and requirements; clients read them, too.
type (
	// Kind is what a scheme is.
	Kind = security.Kind
	// KindInfo is how cards write a kind of scheme.
	KindInfo = security.KindInfo
	// Scheme is a security scheme of a card.
	Scheme = security.Scheme
	// Need is one scheme with the scopes that it must grant.
	Need = security.Need
	// Requirement is satisfied if all its needs are. An empty one is satisfied by every request.
	Requirement = security.Requirement
	// Demands are what a card requires: one of the agent's requirements must be satisfied, if it has any, and for a skill
	// also one of the skill's.
	Demands = security.Demands
)

// The kinds, those first that say best who calls: of a requirement with several schemes the first one names the caller.
const (
	OpenIDConnect = security.OpenIDConnect
	OAuth2        = security.OAuth2
	HTTP          = security.HTTP // an Authorization header: bearer, basic, others
	MutualTLS     = security.MutualTLS
	APIKey        = security.APIKey
)

// Kinds are all kinds of schemes, with how cards write them.
var Kinds = security.Kinds

// ReadCard reads what a card of any version requires.
func ReadCard(card []byte) (*Demands, error) { return security.ReadCard(card) }

// ReadSchemes reads the security schemes of somebody else's card of any version, by name. Those with a fault are left out.
func ReadSchemes(card []byte) ([]Scheme, error) {
	d, _, err := security.Read(card)
	if err != nil {
		return nil, err
	}
	return d.Schemes, nil
}

// credentialKind is how a request brings the credential of some schemes. It is a row of credentialKinds.
type credentialKind struct {
	kind Kind
	http string // of kind HTTP, the name of the scheme in lower case; "" is any
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
	{kind: OpenIDConnect, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: OAuth2, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: HTTP, http: security.Bearer, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: HTTP, http: security.Basic, take: takeBasic,
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
		curl: func(s *Scheme, quote func(string) string) string { return placeOf(s).curl(s, quote) },
	},
}

// wayOf returns how requests bring the scheme's credential.
func wayOf(s *Scheme) *credentialKind {
	for _, c := range credentialKinds {
		if c.kind == s.Kind && (c.http == "" || c.http == s.HTTP) {
			return c
		}
	}
	return nil // ReadCard refuses schemes of other kinds
}

// Curl returns the arguments by which curl shows a placeholder for the scheme's credential, with a blank before each. quote
// quotes a word for the shell. What stands in the URL is not among them: see [Query].
func Curl(s *Scheme, quote func(string) string) string { return wayOf(s).curl(s, quote) }

// Query returns what a URL has in its query to show a placeholder for the scheme's credential; "" for nothing.
func Query(s *Scheme) string {
	if s.Kind != APIKey || s.In != "query" {
		return ""
	}
	return url.QueryEscape(s.Key) + "=YOUR_KEY"
}

// keyPlace is where a request has an API key.
type keyPlace struct {
	name   string // of [runtime.KeyPlaces]
	values func(g *Guard, key string, r *http.Request) ([]string, error)
	curl   func(s *Scheme, quote func(string) string) string
}

// keyPlaces are all of [runtime.KeyPlaces].
var keyPlaces = []*keyPlace{
	{"header", headerKeys, func(s *Scheme, quote func(string) string) string { return " -H " + quote(s.Key+": YOUR_KEY") }},
	{"query", queryKeys, func(*Scheme, func(string) string) string { return "" }},
	{"cookie", cookieKeys, func(s *Scheme, quote func(string) string) string { return " -H " + quote("Cookie: "+s.Key+"=YOUR_KEY") }},
}

// placeOf returns where the scheme's API key is; nil if the card does not say.
func placeOf(s *Scheme) *keyPlace {
	for _, p := range keyPlaces {
		if p.name == s.In {
			return p
		}
	}
	return nil
}
