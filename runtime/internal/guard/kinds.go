package guard

import (
	"net/http"
	"net/url"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// credentialKind is how a request brings the credential of some schemes. It is a row of credentialKinds.
type credentialKind struct {
	kind security.Kind
	http string // of kind HTTP, the name of the scheme in lower case; "" is any
	// take takes the credential from a request. An error is [auth.ErrNone] or a [security.ErrMalformed].
	take func(g *Guard, s *security.Scheme, r *http.Request) (auth.Credential, error)
	// challenge writes what the scheme demands. failure is what was wrong with a token; "" when there was none.
	challenge func(g *Guard, s *security.Scheme, scopes []string, failure string) string
	// curl returns the arguments by which curl shows the credential, with a blank before each, by a function that quotes a
	// word for the shell.
	curl func(s *security.Scheme, quote func(string) string) string
}

// credentialKinds are found by kind and HTTP scheme, the first one that fits.
var credentialKinds = []*credentialKind{
	{kind: security.OpenIDConnect, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: security.OAuth2, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: security.HTTP, http: security.Bearer, take: takeBearer, challenge: challengeBearer, curl: curlBearer},
	{kind: security.HTTP, http: security.Basic, take: takeBasic,
		challenge: func(g *Guard, _ *security.Scheme, _ []string, _ string) string {
			return challenge("Basic", "realm", g.realm, "charset", "UTF-8")
		},
		curl: func(*security.Scheme, func(string) string) string { return " --user YOUR_USER:YOUR_PASSWORD" },
	},
	{kind: security.HTTP, take: takeAuthorization,
		challenge: func(g *Guard, s *security.Scheme, _ []string, _ string) string {
			return challenge(tokenOf(s.HTTP), "realm", g.realm)
		},
		curl: func(s *security.Scheme, quote func(string) string) string {
			return " -H " + quote("Authorization: "+s.HTTP+" YOUR_CREDENTIAL")
		},
	},
	{kind: security.MutualTLS, take: takeCertificates,
		challenge: func(g *Guard, _ *security.Scheme, _ []string, _ string) string {
			return challenge("ClientCertificate", "realm", g.realm)
		},
		curl: func(*security.Scheme, func(string) string) string {
			return " --cert YOUR_CERTIFICATE.pem --key YOUR_KEY.pem"
		},
	},
	{kind: security.APIKey, take: takeKey,
		challenge: func(g *Guard, s *security.Scheme, _ []string, _ string) string {
			return challenge("ApiKey", "realm", g.realm, "in", s.In, "name", s.Key)
		},
		curl: func(s *security.Scheme, quote func(string) string) string { return placeOf(s).curl(s, quote) },
	},
}

// wayOf returns how requests bring the scheme's credential.
func wayOf(s *security.Scheme) *credentialKind {
	for _, c := range credentialKinds {
		if c.kind == s.Kind && (c.http == "" || c.http == s.HTTP) {
			return c
		}
	}
	return nil // ReadCard refuses schemes of other kinds
}

// Curl returns the arguments by which curl shows a placeholder for the scheme's credential, with a blank before each. quote
// quotes a word for the shell. What stands in the URL is not among them: see [Query].
func Curl(s *security.Scheme, quote func(string) string) string { return wayOf(s).curl(s, quote) }

// Query returns what a URL has in its query to show a placeholder for the scheme's credential; "" for nothing.
func Query(s *security.Scheme) string {
	if s.Kind != security.APIKey || s.In != "query" {
		return ""
	}
	return url.QueryEscape(s.Key) + "=YOUR_KEY"
}

// keyPlace is where a request has an API key.
type keyPlace struct {
	name   string // of [runtime.KeyPlaces]
	values func(g *Guard, key string, r *http.Request) ([]string, error)
	curl   func(s *security.Scheme, quote func(string) string) string
}

// keyPlaces are all of [runtime.KeyPlaces].
var keyPlaces = []*keyPlace{
	{"header", headerKeys, func(s *security.Scheme, quote func(string) string) string { return " -H " + quote(s.Key+": YOUR_KEY") }},
	{"query", queryKeys, func(*security.Scheme, func(string) string) string { return "" }},
	{"cookie", cookieKeys, func(s *security.Scheme, quote func(string) string) string {
		return " -H " + quote("Cookie: "+s.Key+"=YOUR_KEY")
	}},
}

// placeOf returns where the scheme's API key is; nil if the card does not say.
func placeOf(s *security.Scheme) *keyPlace {
	for _, p := range keyPlaces {
		if p.name == s.In {
			return p
		}
	}
	return nil
}
