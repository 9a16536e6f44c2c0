package security

import (
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

	// Read takes what the kind needs from the scheme of a card.
	Read func(s *Scheme, card *CardScheme)
}

// Kinds are all kinds of schemes. Only tests change it.
var Kinds = []KindInfo{
	{APIKey, "apiKeySecurityScheme", "apiKey", func(s *Scheme, c *CardScheme) { s.In, s.Key = c.Location+c.In, c.Name }},
	{HTTP, "httpAuthSecurityScheme", "http", func(s *Scheme, c *CardScheme) { s.HTTP = strings.ToLower(c.Scheme) }},
	{OAuth2, "oauth2SecurityScheme", "oauth2", func(s *Scheme, c *CardScheme) { s.URL = c.OAuth2MetadataURL }},
	{OpenIDConnect, "openIdConnectSecurityScheme", "openIdConnect", func(s *Scheme, c *CardScheme) { s.URL = c.OpenIDConnectURL }},
	{MutualTLS, "mtlsSecurityScheme", "mutualTLS", func(*Scheme, *CardScheme) {}},
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
	Bearer = "bearer"
	Basic  = "basic"
)
