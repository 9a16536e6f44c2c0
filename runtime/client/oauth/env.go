package oauth

import (
	"strings"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

var _ rpc.EnvTokens = FromEnv

// FromEnv makes a source of tokens by client credentials of what the environment says of a scheme: for [rpc.FromEnvironment]. The variables are
// those with the suffixes _ISSUER or _TOKEN_URL, _ID and _SECRET; _SCOPES and _RESOURCE may be there. Tokens are kept in memory.
func FromEnv(_ rpc.SchemeInfo, env func(suffix string) string) (rpc.TokenSource, error) {
	return Config{
		Issuer: env(rpc.EnvIssuer), TokenURL: env(rpc.EnvTokenURL), ClientID: env(rpc.EnvID), Secret: env(rpc.EnvSecret),
		Scopes: strings.Fields(env(rpc.EnvScopes)), Resource: env(rpc.EnvResource), Flow: ClientCredentials,
	}.Source()
}
