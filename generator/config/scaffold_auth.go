package config

// What a fresh a2agen.yaml says until its owner has put his own there.
const (
	PlaceholderIssuer   = "https://idp.example.com"
	PlaceholderAudience = "https://agent.example.com"
)

// ScaffoldAuth renders what a fresh a2agen.yaml says of the credentials of an agent with that scheme of a fresh card, or of one that is
// for everybody; "" for another one.
func ScaffoldAuth(auth string) []byte {
	lines := map[string]string{
		"none": "# Anybody who reaches the agent may use it.\nauth: none\n",
		"apikey": `# Which keys are good, by their SHA-256: printf %s "$KEY" | sha256sum. Without an entry A2A_AUTH_APIKEY says it: "ci=HASH,bob=HASH".
# auth:
#   apikey:
#     keys: [{caller: ci, sha256: HASH}]
`,
		"bearer": `# Whose tokens are good, and for whom they have to be: put yours here. "bearer: own" is for a verifier of yours in main.go.
auth:
  bearer:
    issuer: ` + PlaceholderIssuer + `
    audience: [` + PlaceholderAudience + `]
`,
		"oidc": `# For whom tokens have to be: put yours here. agent.yaml says who makes them. "types: [JWT]" is for issuers that do not write at+jwt.
auth:
  oidc:
    audience: [` + PlaceholderAudience + `]
`,
		"mtls": `# Whose certificates are good. Without an entry A2A_TLS_CLIENT_CA names the file.
# auth:
#   mtls:
#     ca: ca.pem
`,
	}
	return []byte(lines[auth])
}
