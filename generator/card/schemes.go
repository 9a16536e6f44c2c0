package card

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime/auth"
)

// Scheme is a security scheme that a card declares.
type Scheme struct {
	Name string
	Kind SchemeKind
	In   string // where an API key is, of [runtime.KeyPlaces]
	HTTP string // the name of the HTTP authentication scheme, in lower case
	// Issuer: the scheme says who makes its tokens.
	Issuer bool
	Pos    diag.Pos
}

// SchemeKind is what a scheme is, by the key that says so in cards.
type SchemeKind string

// The kinds.
var (
	APIKey        = SchemeKind(auth.APIKey.CardKey())
	HTTPAuth      = SchemeKind(auth.HTTP.CardKey())
	OAuth2        = SchemeKind(auth.OAuth2.CardKey())
	OpenIDConnect = SchemeKind(auth.OpenIDConnect.CardKey())
	MutualTLS     = SchemeKind(auth.MutualTLS.CardKey())
)

// schemeKind is how agent.yaml writes a kind of scheme, and what can check it. It is a row of schemeKinds; what requests and
// other cards have of it is a row of auth.Kinds.
type schemeKind struct {
	SchemeKind
	doc    string
	object *shape.Object // without a key "type", which cards of 0.3 have
	// foreign are keys that stand beside the kind in cards of 0.3, with what to write under the key of the kind.
	foreign map[string]string
	// verifiers are those that can check it. "" is for all HTTP authentication but that which is named.
	verifiers map[string][]ir.VerifierKind
}

// tokens are the verifiers of what an issuer makes.
var tokens = []ir.VerifierKind{ir.JWT, ir.Introspection}

// schemeKinds are all kinds.
var schemeKinds = []schemeKind{
	{
		APIKey, "A key in a header, query parameter or cookie.", apiKey,
		map[string]string{"in": "{location: …, name: …}"}, map[string][]ir.VerifierKind{"": {ir.Keys}},
	},
	{
		HTTPAuth, "HTTP authentication: bearer, basic, …", httpAuth,
		map[string]string{"scheme": "{scheme: …}"},
		map[string][]ir.VerifierKind{"basic": {ir.Passwords}, "": {ir.Keys, ir.JWT, ir.Introspection}},
	},
	{OAuth2, "OAuth 2.", oauth2, map[string]string{"flows": "{flows: …}"}, map[string][]ir.VerifierKind{"": tokens}},
	{
		OpenIDConnect, "OpenID Connect.", openID,
		map[string]string{"openIdConnectUrl": "{openIdConnectUrl: …}"}, map[string][]ir.VerifierKind{"": tokens},
	},
	{MutualTLS, "A client certificate.", mtls, nil, map[string][]ir.VerifierKind{"": {ir.Certificates}}},
}

// Verifiers returns what can check the scheme.
func (s Scheme) Verifiers() []ir.VerifierKind {
	for _, k := range schemeKinds {
		if k.SchemeKind == s.Kind {
			if list := k.verifiers[s.HTTP]; list != nil {
				return list
			}
			return k.verifiers[""]
		}
	}
	return tokens // of a kind that [Read] reports
}

// schemeObject declares one way to authenticate (A2A 1.0 §4.5; a oneof on the wire).
func schemeObject(kinds []schemeKind) *shape.Object {
	o := &shape.Object{
		Name: "security scheme", Doc: "One way for a caller to authenticate.", OneOf: true,
		OneOfHint: "a scheme has one kind: make two schemes", Foreign: map[string]string{},
	}
	var keys []string
	for _, k := range kinds {
		key := string(k.SchemeKind)
		inner := *k.object
		inner.Foreign = maps.Clone(inner.Foreign)
		if inner.Foreign == nil {
			inner.Foreign = map[string]string{}
		}
		inner.Foreign["type"] = "remove it: the key " + key + " says it"
		o.Fields = append(o.Fields, &shape.Field{Key: key, Type: object(&inner), Doc: k.doc})
		for old, text := range k.foreign {
			o.Foreign[old] = "write " + key + ": " + text
		}
		keys = append(keys, key)
	}
	last := len(keys) - 1
	o.Foreign["type"] = "1.0 names the kind by its key: write " + strings.Join(keys[:last], ", ") + " or " + keys[last]
	return o
}

// securityScheme is the declaration of all kinds.
var securityScheme = schemeObject(schemeKinds)

// Schemes returns the security schemes of the card.
func (c *Card) Schemes() []Scheme { return schemes(c.File, c.Root) }

// SchemesOf reads the security schemes of a card, and nothing else.
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

// Demand is what the card requires of the callers of all its skills, or of one: one of the alternatives, each a list
// of schemes.
type Demand struct {
	Skill        string // its id; "" for all
	Alternatives [][]string
	Pos          diag.Pos
}

// Open reports whether a request without credentials satisfies it, too.
func (d *Demand) Open() bool {
	return slices.ContainsFunc(d.Alternatives, func(names []string) bool { return len(names) == 0 })
}

// Demands returns those of the card, then those of its skills.
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
