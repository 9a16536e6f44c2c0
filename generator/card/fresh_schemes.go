package card

import (
	"fmt"
	"slices"
)

// What the files of a new agent say until their owner has put in his own.
const (
	PlaceholderIssuer   = "https://idp.example.com"
	PlaceholderAudience = "https://agent.example.com"
)

// FreshScheme is what a new agent may demand of its callers. It is a row of [FreshSchemes].
type FreshScheme struct {
	Name   string // after "init --auth", and of the scheme in agent.yaml
	Since  string // the oldest version of the protocol whose cards can say it; "": all can
	Card   string // the scheme in agent.yaml; "" demands nothing
	Config string // what a2agen.yaml says of it, with comments
	Next   string // what to do before the agent is started, for the report of init: lines that begin with two blanks
}

// FreshSchemes are all of them, by name. Only tests change it.
var FreshSchemes = []FreshScheme{
	{
		Name: "apikey", Since: "0.2", Card: `{apiKeySecurityScheme: {location: header, name: X-API-Key}}`,
		Config: `# Which keys are good, by their SHA-256: printf %s "$KEY" | sha256sum. Without an entry A2A_AUTH_APIKEY says it: "ci=HASH,bob=HASH".
# auth:
#   apikey:
#     keys: [{caller: ci, sha256: HASH}]
`,
		Next: `  KEY=$(openssl rand -base64 32); export A2A_AUTH_APIKEY="ci=$(echo -n "$KEY" | sha256sum | cut -d' ' -f1)"
                    # callers need --header "X-API-Key: $KEY"
`,
	},
	{
		Name: "bearer", Card: `{httpAuthSecurityScheme: {scheme: bearer}}`,
		Config: `# Whose tokens are good, and for whom they have to be: put yours here. "bearer: own" is for a verifier of yours in main.go.
auth:
  bearer:
    issuer: ` + PlaceholderIssuer + `
    audience: [` + PlaceholderAudience + `]
`,
		Next: fmt.Sprintf("  put your issuer and the agent's address into a2agen.yaml, in place of %s and %s\n", PlaceholderIssuer, PlaceholderAudience),
	},
	{
		Name: "mtls", Since: "0.3", Card: `{mtlsSecurityScheme: {}}`,
		Config: `# Whose certificates are good. Without an entry A2A_TLS_CLIENT_CA names the file.
# auth:
#   mtls:
#     ca: ca.pem
`,
		Next: "  say in a2agen.yaml and agent.yaml whose credentials are good: see docs/security.md of a2agen\n",
	},
	{
		Name: "oidc", Since: "0.2",
		Card: `{openIdConnectSecurityScheme: {openIdConnectUrl: "` + PlaceholderIssuer + `/.well-known/openid-configuration"}}`,
		Config: `# For whom tokens have to be: put yours here. agent.yaml says who makes them. "types: [JWT]" is for issuers that do not write at+jwt.
auth:
  oidc:
    audience: [` + PlaceholderAudience + `]
`,
		Next: fmt.Sprintf("  put your provider's address into agent.yaml (openIdConnectUrl), and the agent's into a2agen.yaml, in place of %s\n", PlaceholderAudience),
	},
	{Name: "none", Config: "# Anybody who reaches the agent may use it.\nauth: none\n"},
}

// FreshSchemeNames returns the names of all.
func FreshSchemeNames() []string {
	names := make([]string, len(FreshSchemes))
	for i, s := range FreshSchemes {
		names[i] = s.Name
	}
	return names
}

// FreshSchemeOf returns that of a name; the zero value for "" and for a name that is none.
func FreshSchemeOf(name string) (s FreshScheme) {
	if i := slices.IndexFunc(FreshSchemes, func(s FreshScheme) bool { return s.Name == name }); i >= 0 {
		s = FreshSchemes[i]
	}
	return s
}
