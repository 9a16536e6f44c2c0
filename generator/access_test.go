package generator

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
)

// "auth: none" goes with a card that demands nothing, and with one that lets in who brings nothing.
func TestAnAgentForEverybodyDemandsNothing(t *testing.T) {
	const agent = "name: Vault\ndescription: Keeps things.\nsecuritySchemes:\n  key: {apiKeySecurityScheme: {location: header, name: X-Key}}\n"
	const plain = "skills: [{id: a, description: A.}]\n"
	for demands, want := range map[string]string{
		plain: "", "securityRequirements: [{}]\n" + plain: "", "securityRequirements: [{schemes: {key: {}}}, {}]\n" + plain: "",
		"securityRequirements: [{schemes: {key: {}}}]\n" + plain:                             "agent.yaml:5:1",
		"skills: [{id: a, description: A., securityRequirements: [{schemes: {key: {}}}]}]\n": "agent.yaml:5:35",
	} {
		cfg, list := config.Read(config.File, []byte("auth: none\n"))
		c, problems := card.Read("agent.yaml", []byte(agent+demands), func(string) ([]byte, error) { return nil, fs.ErrNotExist })
		list.Add(problems...)
		list.Add(openAlthough(cfg, c)...)
		var b strings.Builder
		if err := list.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", demands, got)
		}
	}
}

// What a2agen.yaml says of credentials has to fit what the card demands.
func TestVerifiersFitTheCard(t *testing.T) {
	const agent = `name: Vault
description: Keeps things.
securitySchemes:
  key: {apiKeySecurityScheme: {location: header, name: X-Key}}
  query: {apiKeySecurityScheme: {location: query, name: key}}
  bearer: {httpAuthSecurityScheme: {scheme: Bearer}}
skills:
  - {id: list, description: Lists.}
`
	const twin = "  bear-er: {mtlsSecurityScheme: {}}\n  bear.er: {mtlsSecurityScheme: {}}\nskills:"
	hash := strings.Repeat("0", 64)
	for _, test := range []struct{ name, auth, demands, want string }{
		{"nothing says whose tokens are good", "", "", `agent.yaml:6:3: warning: generated code cannot check the scheme "bearer", and the server does not start until something does (say under auth in a2agen.yaml whose tokens are good, or "bearer: own" for a verifier of yours in main.go: server.WithAuth(auth.Verifiers{"bearer": …}))
`},
		{"an issuer says it", "auth: {bearer: {issuer: \"https://id.example\"}}\n", "", ""},
		{"tokens that are known as a whole", "auth: {bearer: {keys: [{caller: ci, sha256: \"" + hash + "\"}]}}\n", "", ""},
		{"a verifier of one's own", "auth: {bearer: own, key: own}\n", "", ""},
		{"one of one's own for what is not there", "auth: {bearer: own, bearr: own}\n", "", `a2agen.yaml:1:21: the card declares no security scheme "bearr" (did you mean "bearer"?)
`},
		{"no issuer", "auth: {bearer: {audience: [vault]}}\n", "", `a2agen.yaml:1:8: nobody says who makes the tokens of the scheme "bearer" (add issuer: the URL that tokens have as iss)
	agent.yaml:6:3: declared here
`},
		{"another kind", "auth: {key: {issuer: \"https://id.example\"}, bearer: {ca: a.pem}}\n", "", `a2agen.yaml:1:8: the entry says issuer and audience, which is not how the scheme "key" is checked (write keys)
	agent.yaml:4:3: declared here
a2agen.yaml:1:45: the entry says ca, proxies or callers, which is not how the scheme "bearer" is checked (write keys or issuer and audience)
	agent.yaml:6:3: declared here
`},
		{"a scheme that is not there", "auth: {bearer: {issuer: \"https://id.example\"}, bearr: {ca: a.pem}}\n", "", `a2agen.yaml:1:48: the card declares no security scheme "bearr" (did you mean "bearer"?)
`},
		{"two schemes of one environment variable", "auth: {bearer: {issuer: \"https://id.example\"}}\n", twin, `agent.yaml:8:3: the environment variable A2A_AUTH_BEAR_ER belongs to both schemes "bear-er" and "bear.er" (name one of them otherwise)
	agent.yaml:7:3: first here
`},
		{"a key in the query has no place in gRPC", "auth: {bearer: {issuer: \"https://id.example\"}}\n", "securityRequirements: [{schemes: {query: {}}}, {schemes: {query: {}, key: {}}}]\n",
			`agent.yaml:9:1: nobody can meet this over gRPC, which has no place for an API key in a query or a cookie (add an alternative with a key in a header or a token, or take GRPC out of bindings in a2agen.yaml)
`},
		{"but an alternative has", "auth: {bearer: {issuer: \"https://id.example\"}}\n", "securityRequirements: [{schemes: {query: {}}}, {schemes: {key: {}}}]\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, list := config.Read(config.File, []byte(test.auth))
			source := agent + test.demands
			if test.demands == twin {
				source = strings.Replace(agent, "skills:", twin, 1)
			}
			c, problems := card.Read("agent.yaml", []byte(source), func(string) ([]byte, error) { return nil, fs.ErrNotExist })
			if list.Add(problems...); len(list) > 0 {
				t.Fatal(list)
			}
			_, list = verify(cfg, c.Schemes())
			list.Add(unreachable(c, []string{"JSONRPC", "GRPC"})...)
			var b strings.Builder
			if err := list.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(unreachable(c, []string{"JSONRPC"})) > 0 {
				t.Error("an agent without gRPC is refused for it")
			}
		})
	}
}
