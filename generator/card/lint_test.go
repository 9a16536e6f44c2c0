package card

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lintedCard = `name: Vault
description: Keeps things.
version: "1"
securitySchemes:
  header: {apiKeySecurityScheme: {location: header, name: X-Key}}
  query: {apiKeySecurityScheme: {location: query, name: key}}
  cookie: {apiKeySecurityScheme: {location: cookie, name: key}}
  basic: {httpAuthSecurityScheme: {scheme: Basic}}
  bearer: {httpAuthSecurityScheme: {scheme: Bearer}}
  digest: {httpAuthSecurityScheme: {scheme: digest}}
  oauth: {oauth2SecurityScheme: {flows: {clientCredentials: {tokenUrl: "https://id.example/token", scopes: {a: b}}}}}
  oidc: {openIdConnectSecurityScheme: {openIdConnectUrl: "https://id.example/.well-known/openid-configuration"}}
  cert: {mtlsSecurityScheme: {}}
`

// TestLintSaysWhatSDKsDoInstead, for every kind of scheme, unless there is an alternative.
func TestLintSaysWhatSDKsDoInstead(t *testing.T) {
	const (
		meet   = "callers with %s cannot meet this: "
		remedy = " (add an alternative with one credential: an API key in a header, or HTTP Bearer)"
		skills = "it sends what the card itself demands, and does not look at skills" +
			` (demand the same of the card itself; with an empty alternative, "- {}", others may bring nothing)`
		noCert  = "none of the official SDKs brings a client certificate by itself (callers give theirs an HTTP client with it: tell them, or add an alternative)"
		noToken = "none of the official SDKs gets a token from its issuer (callers get one themselves and hand it over: tell them how, or add an alternative)"
	)
	golang, python, java := strings.ReplaceAll(meet, "%s", "a2a-go 2.4.0 and 0.3.15"), strings.ReplaceAll(meet, "%s", "a2a-sdk for Python 1.3.0 and 0.3.26"), strings.ReplaceAll(meet, "%s", "a2a-java-sdk 0.3.3")
	for _, test := range []struct {
		demands, ofSkill string
		want             []string
	}{
		{"", "", nil},
		{"{header: {}}", "", nil},
		{"{bearer: {}}", "", nil},
		{"{query: {}}", "", []string{golang + `for "query" it sends the key as a header` + remedy, java + `for "query" it sends the key as a header` + remedy, python + `for "query" it sends nothing` + remedy}},
		{"{cookie: {}}", "", []string{golang + `for "cookie" it sends the key as a header` + remedy, java + `for "cookie" it sends the key as a header` + remedy, python + `for "cookie" it sends nothing` + remedy}},
		{"{basic: {}}", "", []string{golang + `for "basic" it sends "Bearer" and the secret` + remedy, java + `for "basic" it sends nothing` + remedy, python + `for "basic" it sends nothing` + remedy}},
		{"{digest: {}}", "", []string{golang + `for "digest" it sends "Bearer" and the secret` + remedy, java + `for "digest" it sends nothing` + remedy, python + `for "digest" it sends nothing` + remedy}},
		{"{oauth: {list: [a]}}", "", []string{noToken}},
		{"{oidc: {}}", "", []string{golang + `for "oidc" it sends nothing` + remedy, noToken}},
		{"{cert: {}}", "", []string{noCert}},
		{"{cert: {}, bearer: {}}", "", []string{noCert}},
		{"{header: {}, bearer: {}}", "", []string{golang + `of "header" and "bearer" it sends only one` + remedy, java + `of "header" and "bearer" it sends only one` + remedy, python + `of "header" and "bearer" it sends only one` + remedy}},
		{"{query: {}}|{basic: {}}", "", []string{golang + `for "query" it sends the key as a header; for "basic" it sends "Bearer" and the secret` + remedy, java + `for "query" it sends the key as a header; for "basic" it sends nothing` + remedy, python + `for "query" it sends nothing; for "basic" it sends nothing` + remedy}},
		{"{query: {}}|{oidc: {}}|{cert: {}}|{header: {}, oauth: {}}|{bearer: {}}", "", nil},
		{"{}|{oidc: {}}", "", nil},
		{"", "{header: {}}", []string{golang + skills, python + skills}},
		{"{header: {}}|{bearer: {}}", "{bearer: {list: [a]}}", nil},
		{"{header: {}}|{}", "{bearer: {}}|{cert: {}, header: {}}", nil},
		{"{header: {}}", "{bearer: {}}", []string{golang + skills, python + skills}},
		{"{oidc: {}}", "{oidc: {list: [a]}}", []string{golang + `for "oidc" it sends nothing` + remedy, noToken}},
	} {
		t.Run(test.demands+" "+test.ofSkill, func(t *testing.T) {
			src := lintedCard
			if test.demands != "" {
				src += "securityRequirements: " + requirements(test.demands) + "\n"
			}
			src += "skills:\n  - {id: a, description: A.}\n"
			if test.ofSkill != "" {
				src += "  - {id: b, description: B., securityRequirements: " + requirements(test.ofSkill) + "}\n"
			}
			c, list := Read("agent.yaml", []byte(src), func(string) ([]byte, error) { return nil, fs.ErrNotExist })
			if len(list) > 0 {
				t.Fatal(list)
			}
			var got []string
			for _, d := range c.Lint(Served{Versions: []string{"1.0", "0.3"}, Lists: true}) {
				if own := strings.HasSuffix(d.String(), skills); own != (d.Pos.Col > 1) || d.Severity != "warning" {
					t.Errorf("%v is at %v", d, d.Pos)
				}
				got = append(got, d.Message+" ("+d.Hint+")")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// requirements writes alternatives as a card has them.
func requirements(alternatives string) string {
	var list []string
	for a := range strings.SplitSeq(alternatives, "|") {
		list = append(list, "{schemes: "+a+"}")
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// TestLintKnowsWhichCardsCannotBeRead: of the published ones those of 1.0 as it is specified.
func TestLintKnowsWhichCardsCannotBeRead(t *testing.T) {
	const head = `{"name":"Vault","description":"d","version":"1",`
	const one = `"supportedInterfaces":[{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"securitySchemes":{"k":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},`
	for name, test := range map[string]struct {
		card   string
		cannot bool
	}{
		"as specified":          {head + one + `"securityRequirements":[{"schemes":{"k":{}}}]}`, true},
		"as specified, a skill": {head + one + `"securityRequirements":[{}],"skills":[{"id":"a","name":"A","description":"d","tags":[],"securityRequirements":[{"schemes":{"k":{"list":["a"]}}}]}]}`, true},
		"lists":                 {head + one + `"securityRequirements":[{"schemes":{"k":["a"]}}]}`, false},
		"null":                  {head + one + `"securityRequirements":[{"schemes":{"k":null}}]}`, false},
		"for everybody":         {head + one + `"securityRequirements":[{}]}`, false},
		"0.3":                   {head + `"url":"https://a.example","protocolVersion":"0.3.0","securitySchemes":{"k":{"type":"http","scheme":"bearer"}},"security":[{"k":[]}]}`, false},
	} {
		c, list := Import("card.json", []byte(test.card))
		if c == nil {
			t.Fatal(name, list)
		}
		found := false
		for _, d := range c.Lint(c.Published()) {
			found = found || d.Code == "not-read" && strings.Contains(d.Message, "a2a-go 2.4.0 cannot read the card")
		}
		if found != test.cannot {
			t.Errorf("%s: %v", name, c.Lint(c.Published()))
		}
	}
}

// TestLintNamesTheReleasesThatCall: by the versions that the card offers.
func TestLintNamesTheReleasesThatCall(t *testing.T) {
	const card = `{"name":"Vault","description":"d","version":"1","supportedInterfaces":[%s],"securitySchemes":{"k":{"httpAuthSecurityScheme":{"scheme":"basic"}}},"securityRequirements":[{"schemes":{"k":[]}}]}`
	for versions, want := range map[string]string{
		"1.0": "a2a-go 2.4.0, a2a-sdk for Python 1.3.0", "0.3": "a2a-go 0.3.15, a2a-java-sdk 0.3.3, a2a-sdk for Python 0.3.26", "0.2": "",
		"1.0 0.3 1.0": "a2a-go 2.4.0 and 0.3.15, a2a-java-sdk 0.3.3, a2a-sdk for Python 1.3.0 and 0.3.26",
	} {
		var interfaces, got []string
		for i, v := range strings.Fields(versions) {
			interfaces = append(interfaces, fmt.Sprintf(`{"url":"https://a.example/%d","protocolBinding":"JSONRPC","protocolVersion":%q}`, i, v))
		}
		c, list := Import("card.json", fmt.Appendf(nil, card, strings.Join(interfaces, ",")))
		if c == nil {
			t.Fatal(list)
		}
		for _, d := range c.Lint(c.Published()) {
			name, _, _ := strings.Cut(strings.TrimPrefix(d.Message, "callers with "), " cannot")
			got = append(got, name)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q", versions, got)
		}
	}
}
