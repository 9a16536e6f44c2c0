package card

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Scheme is a security scheme that a card declares.
type Scheme struct {
	Name string
	Kind SchemeKind
	In   string // where an API key is: "header", "query" or "cookie"
	HTTP string // the name of the HTTP authentication scheme, in lower case
	Pos  diag.Pos
}

// SchemeKind is what a scheme is, by the key that says so.
type SchemeKind string

// The kinds.
const (
	APIKey        SchemeKind = "apiKeySecurityScheme"
	HTTPAuth      SchemeKind = "httpAuthSecurityScheme"
	OAuth2        SchemeKind = "oauth2SecurityScheme"
	OpenIDConnect SchemeKind = "openIdConnectSecurityScheme"
	MutualTLS     SchemeKind = "mtlsSecurityScheme"
)

// Schemes are the security schemes of the card.
func (c *Card) Schemes() []Scheme { return schemes(c.File, c.Root) }

// SchemesOf reads the security schemes of a card whose other parts do not matter.
func SchemesOf(file string, src []byte) []Scheme {
	root, _ := yamlx.Parse(file, src)
	return schemes(file, root)
}

func schemes(file string, root *yaml.Node) (list []Scheme) {
	for name, scheme := range yamlx.Pairs(yamlx.Get(root, "securitySchemes")) {
		s := Scheme{Name: name.Value, Pos: yamlx.Pos(file, name)}
		for kind, about := range yamlx.Pairs(scheme) {
			s.Kind = SchemeKind(kind.Value)
			s.In = yamlx.Text(yamlx.Get(about, "location"))
			s.HTTP = strings.ToLower(yamlx.Text(yamlx.Get(about, "scheme")))
		}
		list = append(list, s)
	}
	return list
}
