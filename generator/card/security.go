package card

import (
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/runtime"
)

var about = &shape.Field{Key: "description", Type: &shape.Type{Kind: shape.Text, Max: maxDescription}, Doc: "For people."}

var apiKey = &shape.Object{
	Name: "API key scheme",
	Fields: []*shape.Field{
		{Key: "location", Type: &shape.Type{Kind: shape.Text, Choices: runtime.KeyPlaces}, Required: true, Doc: "Where the key travels."},
		{Key: "name", Type: name, Required: true, Doc: "The name of the header, parameter or cookie."},
		about,
	},
	Foreign: map[string]string{"in": "write location"},
}

var httpAuth = &shape.Object{
	Name: "HTTP authentication scheme",
	Fields: []*shape.Field{
		{Key: "scheme", Type: &shape.Type{Kind: shape.Text, Max: 100, Pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", PatternSays: "the name of an HTTP authentication scheme such as bearer"}, Required: true, Doc: "The name in the IANA registry: bearer, basic, …"},
		{Key: "bearerFormat", Type: text, Doc: "The format of bearer tokens, such as JWT."},
		about,
	},
}

var oauth2 = &shape.Object{
	Name: "OAuth 2 scheme",
	Fields: []*shape.Field{
		{Key: "flows", Type: object(oauthFlows), Required: true, Doc: "The one flow of this scheme."},
		{Key: "oauth2MetadataUrl", Type: secure, Doc: "Where the authorization server describes itself (RFC 8414)."},
		about,
	},
}

var openID = &shape.Object{
	Name: "OpenID Connect scheme",
	Fields: []*shape.Field{
		{Key: "openIdConnectUrl", Type: link, Required: true, Doc: "Where the provider describes itself."},
		about,
	},
}

var mtls = &shape.Object{
	Name: "mutual TLS scheme", Fields: []*shape.Field{about},
}

// oauthFlows is a oneof on the wire: two flows in one scheme cannot be encoded (T22, R313).
var oauthFlows = &shape.Object{
	Name: "OAuth flows", OneOf: true, OneOfHint: "A2A 1.0 has one flow a scheme: make two schemes and list both in securityRequirements",
	Fields: []*shape.Field{
		{Key: "authorizationCode", Type: object(flow("authorization code flow", authorizationURL, tokenURL, refreshURL, flowScopes, pkce)), Doc: "A person signs in with a browser."},
		{Key: "clientCredentials", Type: object(flow("client credentials flow", tokenURL, refreshURL, flowScopes)), Doc: "A program signs in by itself."},
		{Key: "deviceCode", Type: object(flow("device code flow", deviceURL, tokenURL, refreshURL, flowScopes)), Doc: "A person signs in on another device."},
		{Key: "implicit", Type: object(flow("implicit flow", optional(authorizationURL), refreshURL, optional(flowScopes))), Doc: "Deprecated."},
		{Key: "password", Type: object(flow("password flow", optional(tokenURL), refreshURL, optional(flowScopes))), Doc: "Deprecated."},
	},
}

var (
	authorizationURL = &shape.Field{Key: "authorizationUrl", Type: link, Required: true, Doc: "Where the person signs in."}
	deviceURL        = &shape.Field{Key: "deviceAuthorizationUrl", Type: link, Required: true, Doc: "Where a device code is asked for."}
	tokenURL         = &shape.Field{Key: "tokenUrl", Type: link, Required: true, Doc: "Where tokens are issued."}
	refreshURL       = &shape.Field{Key: "refreshUrl", Type: link, Doc: "Where tokens are renewed."}
	flowScopes       = &shape.Field{Key: "scopes", Type: scopes, Required: true, Doc: "Each scope with its meaning."}
	pkce             = &shape.Field{Key: "pkceRequired", Type: boolean, Doc: "PKCE is required (RFC 7636).", Default: "false"}
)

func flow(name string, fields ...*shape.Field) *shape.Object {
	return &shape.Object{Name: name, Fields: fields}
}

func optional(f *shape.Field) *shape.Field {
	g := *f
	g.Required = false
	return &g
}

var securityRequirement = &shape.Object{
	Name: "security requirement", Doc: "Schemes that must all be satisfied; an empty requirement admits everyone.",
	Fields: []*shape.Field{
		{Key: "schemes", Type: &shape.Type{Kind: shape.Map, Max: 50, Elem: object(scopeList)}, Doc: "The names of schemes, each with the scopes it needs."},
	},
}

var scopeList = &shape.Object{
	Name: "scope list",
	Fields: []*shape.Field{
		{Key: "list", Type: &shape.Type{Kind: shape.List, Max: 200, Elem: needed}, Doc: "Scopes that a token must have.", Default: "none"},
	},
}
