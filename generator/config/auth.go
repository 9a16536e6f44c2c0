package config

import (
	"net/netip"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Verifier is an entry of "auth": which credentials of a scheme are valid.
type Verifier struct {
	ir.Verifier
	Own bool // a function of the user's says it, and there is nothing else here
	Pos diag.Pos
}

// ownVerifier is the entry of a scheme that a function of the user checks.
const ownVerifier = "own"

// verifier declares an entry of "auth". Its keys decide what kind of verifier it is; whether that fits the scheme is
// checked against the card.
var verifier = &shape.Object{
	Name: "verifier", Doc: "Which credentials of a security scheme are valid. Write hashes of secrets, never the secrets; or set them in the environment.",
	Fields: []*shape.Field{
		{Key: "keys", Type: listOf(key), Doc: "API keys, or opaque bearer tokens."},
		{Key: "passwords", Type: listOf(password), Doc: "Passwords of HTTP Basic."},
		{Key: "ca", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 1000}, Doc: "The PEM file, on the machine of the agent, with the authorities of client certificates.", Default: "A2A_TLS_CLIENT_CA"},
		{Key: "proxies", Type: &shape.Type{Kind: shape.List, Max: 100, Elem: &shape.Type{Kind: shape.Text, Min: 1, Check: checkNetwork}}, Doc: "Networks of proxies that end TLS and pass on the client's certificate.", Default: "none"},
		{Key: "callers", Type: listOf(certificate), Doc: "The callers who may use a certificate.", Default: "everyone with one"},
		{Key: "issuer", Type: &shape.Type{Kind: shape.URL}, Doc: "The issuer of the tokens, exactly as they name it.", Default: "that of the card's scheme"},
		{Key: "audience", Type: texts, Doc: "The audience that tokens must have: one of these.", Default: "the agent's public URL"},
		{Key: "types", Type: texts, Doc: "The types that the header of a token may have.", Default: "[at+jwt]"},
		{Key: "algorithms", Type: &shape.Type{Kind: shape.List, Min: 1, Max: 10, Elem: &shape.Type{Kind: shape.Text, Choices: algorithms}}, Doc: "Signature algorithms that are accepted.", Default: "all of these"},
		{Key: "skew", Type: &shape.Type{Kind: shape.Duration, Max: 50}, Doc: "By how much clocks may differ.", Default: "30s"},
		{Key: "tenantsClaim", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 200}, Doc: "The claim with the tenants for which the caller may act.", Default: "any tenant"},
		{Key: "jwks", Type: &shape.Type{Kind: shape.URL}, Doc: "The URL of the issuer's keys.", Default: "that of the issuer's metadata"},
		{Key: "introspection", Type: &shape.Type{Kind: shape.Struct, Object: introspection}, Doc: "Tokens are opaque: the issuer is asked about each (RFC 7662).", Default: "tokens are JWTs"},
	},
	Foreign: map[string]string{
		"aud": "write audience", "typ": "write types", "scopes": "what is demanded stands in the card; what a caller may do, with the key, password or certificate",
		"clientSecret": "a secret does not stand here: the environment has it in A2A_AUTH_ and the scheme's name and _CLIENT_SECRET",
	},
}

// algorithms are those of [token.Config] in the runtime.
var algorithms = []string{"ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"}

var texts = &shape.Type{Kind: shape.List, Min: 1, Max: 100, Elem: &shape.Type{Kind: shape.Text, Min: 1}}

// Remedies for a secret in the place of its hash.
const (
	hashKey      = `write what printf %s "$KEY" | sha256sum prints, never the key itself`
	hashPassword = "write what auth.HashPassword of the runtime gives, never the password itself"
)

var key = &shape.Object{
	Name: "key entry", Fields: append([]*shape.Field{
		{Key: "caller", Type: callerName, Required: true, Doc: "The caller who holds it."},
		{Key: "sha256", Type: &shape.Type{Kind: shape.Text, Min: 1, NotScalar: hashKey, Check: checkHash(`^[0-9A-Fa-f]{64}$`, "64 hexadecimal digits", hashKey)}, Required: true, Doc: "The SHA-256 of the key."},
	}, rights...),
	Foreign: map[string]string{"key": hashKey, "value": hashKey, "secret": hashKey, "hash": "write sha256", "name": "write caller", "user": "write caller"},
}

var password = &shape.Object{
	Name: "password entry", Fields: append([]*shape.Field{
		{Key: "user", Type: callerName, Required: true, Doc: "The caller who holds it."},
		{Key: "hash", Type: &shape.Type{Kind: shape.Text, Min: 1, NotScalar: hashPassword, Check: checkHash(`^pbkdf2-sha256\$[0-9]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{43}$`, "of the form pbkdf2-sha256$iterations$salt$hash", hashPassword)}, Required: true, Doc: "The PBKDF2 hash of the password."},
	}, rights...),
	Foreign: map[string]string{"password": hashPassword, "secret": hashPassword, "caller": "write user", "name": "write user"},
}

var certificate = &shape.Object{
	Name: "certificate entry", Fields: append([]*shape.Field{
		{Key: "id", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 1000, Pattern: "^(uri|dns|cn):.", PatternSays: `"uri:", "dns:" or "cn:" and a name`}, Required: true, Doc: "The name that the certificate has first: a URI, a DNS name, the common name."},
	}, rights...),
}

var introspection = &shape.Object{
	Name: "introspection", Fields: []*shape.Field{
		{Key: "endpoint", Type: &shape.Type{Kind: shape.URL}, Doc: "The URL to ask.", Default: "that of the issuer's metadata"},
		{Key: "clientId", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 500}, Doc: "The agent's own client at the issuer. Set its secret in the environment.", Default: "that of the environment"},
	},
	Foreign: map[string]string{"clientSecret": "a secret does not stand here: the environment has it in A2A_AUTH_ and the scheme's name and _CLIENT_SECRET"},
}

var callerName = &shape.Type{Kind: shape.Text, Min: 1, Max: 200}

// rights are the scopes and tenants of a credential.
var rights = []*shape.Field{
	{Key: "scopes", Type: texts, Doc: "The scopes of the caller, as the card's requirements name them.", Default: "none"},
	{Key: "tenants", Type: texts, Doc: "Tenants for which the caller may act.", Default: "any"},
}

func listOf(o *shape.Object) *shape.Type {
	return &shape.Type{Kind: shape.List, Min: 1, Max: 200, Elem: &shape.Type{Kind: shape.Struct, Object: o}}
}

// checkHash rejects what is not a hash, without repeating it: it may be the secret itself.
func checkHash(pattern, says, hint string) func(*shape.Checker, *yaml.Node) {
	form := regexp.MustCompile(pattern)
	return func(c *shape.Checker, n *yaml.Node) {
		if !form.MatchString(n.Value) {
			c.Errorf(n, "bad-value", hint, "the hash is not %s", says)
		}
	}
}

func checkNetwork(c *shape.Checker, n *yaml.Node) {
	_, err := netip.ParsePrefix(n.Value)
	if _, failed := netip.ParseAddr(n.Value); err != nil && failed != nil {
		c.Errorf(n, "bad-value", "such as 10.1.2.3 or 10.1.0.0/16", "%q is no address and no network", shape.Short(n.Value))
	}
}

// kinds are the kinds of verifiers, by the keys of an entry.
var kinds = map[string]ir.VerifierKind{"keys": ir.Keys, "passwords": ir.Passwords, "ca": ir.Certificates, "proxies": ir.Certificates, "callers": ir.Certificates}

// kindOf returns the kind of verifier that a key belongs to: most keys are of tokens.
func kindOf(key string) ir.VerifierKind {
	if kind, ok := kinds[key]; ok {
		return kind
	}
	return ir.JWT
}

// checkVerifier rejects an entry without keys, or with keys of two kinds. It ignores their values.
func checkVerifier(c *shape.Checker, n *yaml.Node) bool {
	if len(n.Content) == 0 {
		c.Errorf(n, "empty", "leave it out for what the environment says", "the verifier says nothing")
		return false
	}
	first := n.Content[0]
	for k := range yamlx.Pairs(n) {
		if kindOf(k.Value) != kindOf(first.Value) {
			c.Errorf(k, "one-of", "", "%q and %q exclude each other: they are of different kinds of credentials", first.Value, k.Value)
			return false
		}
	}
	return true
}

// fillAuth reads "auth": that the agent is open to everyone, or which credentials are valid.
func (cfg *Config) fillAuth(c *shape.Checker, n *yaml.Node) {
	if yamlx.Text(n) != "" {
		cfg.Open = yamlx.Pos(c.File, n)
		return
	}
	for name, entry := range yamlx.Pairs(n) {
		v := Verifier{Pos: yamlx.Pos(c.File, name)}
		switch {
		case yamlx.Text(entry) == ownVerifier:
			v.Own, v.Scheme = true, name.Value
		case entry.Kind == yaml.MappingNode && checkVerifier(c, entry):
			v.Verifier = readVerifier(name.Value, entry)
		default:
			continue // reported
		}
		cfg.Auth = append(cfg.Auth, v)
	}
}

func readVerifier(scheme string, n *yaml.Node) ir.Verifier {
	text := func(key string) string { return yamlx.Text(yamlx.Get(n, key)) }
	v := ir.Verifier{
		Scheme: scheme, Kind: kindOf(n.Content[0].Value),
		CAFile: text("ca"), Proxies: yamlx.Texts(yamlx.Get(n, "proxies")),
		Issuer: strings.TrimSpace(text("issuer")), Audience: yamlx.Texts(yamlx.Get(n, "audience")), Types: yamlx.Texts(yamlx.Get(n, "types")),
		Algorithms: yamlx.Texts(yamlx.Get(n, "algorithms")), TenantsClaim: text("tenantsClaim"), KeySet: text("jwks"),
	}
	v.Skew, _ = time.ParseDuration(text("skew"))
	for _, list := range []struct{ key, name, hash string }{{"keys", "caller", "sha256"}, {"passwords", "user", "hash"}, {"callers", "id", ""}} {
		for _, h := range yamlx.Items(yamlx.Get(n, list.key)) {
			v.Holders = append(v.Holders, ir.Holder{
				Name: yamlx.Text(yamlx.Get(h, list.name)), Hash: yamlx.Text(yamlx.Get(h, list.hash)),
				Scopes: yamlx.Texts(yamlx.Get(h, "scopes")), Tenants: yamlx.Texts(yamlx.Get(h, "tenants")),
			})
		}
	}
	if asked := yamlx.Get(n, "introspection"); asked != nil {
		v.Kind, v.Endpoint, v.ClientID = ir.Introspection, yamlx.Text(yamlx.Get(asked, "endpoint")), yamlx.Text(yamlx.Get(asked, "clientId"))
	}
	return v
}
