package card

import (
	"slices"
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
	// Issuer: the scheme says who makes its tokens.
	Issuer bool
	Pos    diag.Pos
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

// ListsInterfaces reports whether a card says where and how its agent is served.
func ListsInterfaces(src []byte) bool {
	root, _ := yamlx.Parse("", src)
	return yamlx.Get(root, "supportedInterfaces") != nil
}

func schemes(file string, root *yaml.Node) (list []Scheme) {
	for name, scheme := range yamlx.Pairs(yamlx.Get(root, "securitySchemes")) {
		s := Scheme{Name: name.Value, Pos: yamlx.Pos(file, name)}
		for kind, about := range yamlx.Pairs(scheme) {
			s.Kind = SchemeKind(kind.Value)
			s.In = yamlx.Text(yamlx.Get(about, "location"))
			s.HTTP = strings.ToLower(yamlx.Text(yamlx.Get(about, "scheme")))
			s.Issuer = yamlx.Text(yamlx.Get(about, "openIdConnectUrl"))+yamlx.Text(yamlx.Get(about, "oauth2MetadataUrl")) != ""
		}
		list = append(list, s)
	}
	return list
}

// Demand is what the card demands of the callers of all or of one of its skills: one of the alternatives, each of
// which names schemes.
type Demand struct {
	Skill        string // its id; "" for all
	Alternatives [][]string
	Pos          diag.Pos
}

// Open reports whether who brings nothing meets it, too.
func (d *Demand) Open() bool {
	return slices.ContainsFunc(d.Alternatives, func(names []string) bool { return len(names) == 0 })
}

// Demands are those of the card, then those of its skills.
func (c *Card) Demands() (list []Demand) {
	for _, n := range append([]*yaml.Node{c.Root}, yamlx.Items(yamlx.Get(c.Root, "skills"))...) {
		key, demands := yamlx.Pair(n, "securityRequirements")
		if len(yamlx.Items(demands)) == 0 {
			continue
		}
		d := Demand{Pos: yamlx.Pos(c.File, key)}
		if n != c.Root {
			d.Skill = yamlx.Text(yamlx.Get(n, "id"))
		}
		for _, r := range yamlx.Items(demands) {
			var names []string
			for name := range yamlx.Pairs(yamlx.Get(r, "schemes")) {
				names = append(names, name.Value)
			}
			d.Alternatives = append(d.Alternatives, names)
		}
		list = append(list, d)
	}
	return list
}
