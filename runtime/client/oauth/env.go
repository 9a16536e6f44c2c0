package oauth

import (
	"strings"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

var _ rpc.EnvTokens = FromEnv

// FromEnv makes a source of tokens by client credentials from the environment variables of a scheme, for [rpc.FromEnvironment]: those with
// the suffixes _ISSUER or _TOKEN_URL, _ID and _SECRET, and optionally _SCOPES and _RESOURCE. Tokens are kept in memory.
func FromEnv(_ rpc.SchemeInfo, env func(suffix string) string) (rpc.TokenSource, error) {
	return Config{
		Issuer: env(rpc.EnvIssuer), TokenURL: env(rpc.EnvTokenURL), ClientID: env(rpc.EnvID), Secret: env(rpc.EnvSecret),
		Scopes: strings.Fields(env(rpc.EnvScopes)), Resource: env(rpc.EnvResource), Flow: ClientCredentials,
	}.Source()
}
