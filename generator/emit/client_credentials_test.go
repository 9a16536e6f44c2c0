package emit

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/runtime/auth"
)

// TestAClientHasAnOptionForEachScheme, named after it, with the card's words and the variables of the environment; none is missing for a kind.
func TestAClientHasAnOptionForEachScheme(t *testing.T) {
	a := &ir.Agent{Name: "weather", Types: []*ir.DataType{{Go: "WithBoss", Kind: ir.DataStruct}}}
	a.Calls.Environment = "weather"
	a.Calls.Credentials = []*ir.Credential{
		{Scheme: "api-key", Kind: "apiKeySecurityScheme", In: "query", Key: "k", Description: "Ask */ us.\nSoon."},
		{Scheme: "boss", Kind: "httpAuthSecurityScheme", HTTP: "basic"},
		{Scheme: "corp", Kind: "oauth2SecurityScheme", Flows: []ir.OAuthFlow{{Name: "clientCredentials", TokenURL: "https://id.example.com/t", Scopes: map[string]string{"run": ""}}}},
		{Scheme: "hoba", Kind: "httpAuthSecurityScheme", HTTP: "hoba"},
		{Scheme: "jwt", Kind: "httpAuthSecurityScheme", HTTP: "bearer"},
		{Scheme: "mtls", Kind: "mtlsSecurityScheme"},
		{Scheme: "oidc", Kind: "openIdConnectSecurityScheme", URL: "https://id.example.com/.well-known/openid-configuration"},
	}
	names.ClientOptions(a)
	files, err := RemoteClient(carriedProtocol(), a, Paths{Protocol: clientPaths.Protocol, Client: "example.com/x/weather", Card: "card.json"}, "weather")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(files[0].Data), "//", "")), " ")
	for _, want := range []string{
		`func WithAPIKey(key string) rpc.Option { return rpc.WithAPIKey("api-key", key) }`,
		`func WithBoss2(user, password string) rpc.Option { return rpc.WithBasic("boss", user, password) }`,
		`func WithCorp(config oauth.Config) rpc.Option { return rpc.WithTokensOf("corp", config.Source) }`,
		`func WithHoba(value string) rpc.Option { return rpc.WithAuthorization("hoba", value) }`,
		`func WithJWT(source rpc.TokenSource) rpc.Option { return rpc.WithToken("jwt", source) }`,
		`func WithMTLS(certificate tls.Certificate) rpc.Option { return rpc.WithCertificate("mtls", certificate) }`,
		`func WithOIDC(config oauth.Config) rpc.Option { return rpc.WithTokensOf("oidc", config.Source) }`,
		`rpc.FromEnvironment("weather", oauth.FromEnv)`,
		`which is sent in the query k.`, `The card says: Ask */ us. Soon.`, `A2A_CLIENT_WEATHER__API_KEY gives it as well`, `at https:id.example.com/t, with the scopes run.`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the client lacks %s", want)
		}
	}
	for _, k := range auth.Kinds {
		if optionOf(&ir.Credential{Kind: k.Key}) == nil {
			t.Errorf("there is no option for schemes of kind %s", k.Type)
		}
	}
}
