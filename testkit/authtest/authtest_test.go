package authtest_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// Schemes of cards.
const (
	key    = `"key":{"apiKeySecurityScheme":{"location":"header","name":"x-key"}}`
	query  = `"query":{"apiKeySecurityScheme":{"location":"query","name":"k"}}`
	cookie = `"cookie":{"apiKeySecurityScheme":{"location":"cookie","name":"c"}}`
	basic  = `"basic":{"httpAuthSecurityScheme":{"scheme":"Basic"}}`
	bearer = `"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`
	oidc   = `"oidc":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://idp.example.com/.well-known/openid-configuration"}}`
	oauth  = `"oauth":{"oauth2SecurityScheme":{"oauth2MetadataUrl":"https://idp.example.com/about","flows":{"clientCredentials":{"tokenUrl":"https://idp.example.com/token","scopes":{}}}}}`
	mtls   = `"mtls":{"mtlsSecurityScheme":{}}`
)

// verifiers are those of generated code, by scheme.
func verifiers(names ...string) auth.Verifiers {
	all := auth.Verifiers{
		"key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey("of CI")}), "query": auth.Keys(), "cookie": auth.Keys(),
		"basic": auth.Passwords(), "mtls": auth.Certificates(auth.CertificateConfig{CAFile: "is-not-there.pem"}),
		"oidc":   token.JWT(token.Config{Types: []string{"JWT"}, Algorithms: []string{"RS256", "PS256"}, Tenants: "org", Keys: "https://idp.example.com/keys"}),
		"oauth":  token.Introspection(token.IntrospectionConfig{Issuer: "https://idp.example.com"}),
		"bearer": token.JWT(token.Config{Issuer: "https://idp.example.com", Audience: []string{"https://agent.example.com"}}),
	}
	vs := auth.Verifiers{}
	for _, name := range names {
		vs[name] = all[name]
	}
	return vs
}

// agent is an agent that speaks so many versions, the newest ones, over every binding.
func agent(versions int, schemes []string, security, skill string, vs auth.Verifiers, opts ...server.Option) authtest.Agent {
	p := a2awires.Protocol()
	p.Versions = p.Versions[:versions]
	text := card(p, schemes, security, skill)
	return authtest.Agent{
		Protocol: p, Cards: []string{text}, Verifiers: vs,
		NewServer: func(more ...server.Option) (*server.Server, error) {
			card, err := p.DecodeCard([]byte(text))
			if err != nil {
				return nil, err
			}
			own := append([]server.Option{grpcserver.Serve(), webhooks.Send(), server.WithAuth(vs)}, opts...)
			return server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{
				{ID: "open", Name: "Open", Run: never},
				{ID: "desk", Name: "Desk", InputSchema: `{"type":"object"}`, InputModes: []string{"application/json"}, Run: never},
			}}, append(own, more...)...)
		},
		Bindings: func(c *tls.Config) []client.Binding {
			return []client.Binding{grpcclient.Binding(grpcclient.TLS(c))}
		},
	}
}

func never(context.Context, *server.Task, any) ([]byte, error) { panic("a skill is called") }

func card(p *runtime.Protocol, schemes []string, security, skill string) string {
	var faces []map[string]string
	for _, v := range p.Versions {
		for _, row := range runtime.Bindings {
			b := row.Name
			if v.Over(b) != nil {
				faces = append(faces, map[string]string{"url": "/", "protocolBinding": b, "protocolVersion": v.Name})
			}
		}
	}
	list, _ := json.Marshal(faces)
	return fmt.Sprintf(`{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":%s,
		"capabilities":{"streaming":true,"pushNotifications":true},"securitySchemes":{%s},%s
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[
		{"id":"open","name":"Open","description":"o","tags":["o"]},{"id":"desk",%s"name":"Desk","description":"d","tags":["d"]}]}`,
		list, strings.Join(schemes, ","), security, skill)
}

// security demands alternatives: "key ask" is the scheme key with the scope ask, "key+basic" are two schemes, and "" is
// nobody in particular.
func security(alternatives ...string) string {
	if len(alternatives) == 0 {
		return ""
	}
	var list []string
	for _, a := range alternatives {
		var needs []string
		for need := range strings.SplitSeq(a, "+") {
			if name, scopes, _ := strings.Cut(need, " "); name != "" {
				quoted, _ := json.Marshal(strings.Fields(scopes))
				needs = append(needs, fmt.Sprintf(`%q:{"list":%s}`, name, quoted))
			}
		}
		list = append(list, `{"schemes":{`+strings.Join(needs, ",")+`}}`)
	}
	return `"securityRequirements":[` + strings.Join(list, ",") + `],`
}

func TestEveryScheme(t *testing.T) {
	both := verifiers("bearer", "oauth")
	both["oidc"] = verifiers("bearer")["bearer"]
	two := verifiers("bearer")
	two["oidc"] = token.JWT(token.Config{Algorithms: []string{"RS256"}})
	for name, a := range map[string]authtest.Agent{
		"key":                       agent(1, []string{key}, security("key"), "", verifiers("key")),
		"query":                     agent(1, []string{query}, security("query"), "", verifiers("query")),
		"cookie":                    agent(1, []string{cookie}, security("cookie"), "", verifiers("cookie")),
		"basic":                     agent(1, []string{basic}, security("basic ask"), security("basic run"), verifiers("basic")),
		"bearer":                    agent(1, []string{bearer}, security("bearer ask"), security("bearer run"), verifiers("bearer")),
		"oidc":                      agent(1, []string{oidc}, security("oidc"), security("oidc run"), verifiers("oidc")),
		"oauth":                     agent(1, []string{oauth}, security("oauth"), "", verifiers("oauth")),
		"mtls":                      agent(1, []string{mtls}, security("mtls ask"), security("mtls run"), verifiers("mtls")),
		"one's own":                 agent(1, []string{bearer}, security("bearer ask"), security("bearer run"), verifiers()),
		"either":                    agent(1, []string{key, oidc, query}, security("key", "oidc ask", "query"), "", verifiers("key", "oidc", "query")),
		"tokens by two algorithms":  agent(1, []string{bearer, oidc}, security("oidc", "bearer ask"), "", two),
		"both":                      agent(4, []string{key, oidc}, security("key run+oidc ask"), security("oidc run"), verifiers("key", "oidc")),
		"one token for both":        agent(1, []string{bearer, oidc, oauth}, security("bearer ask"), security("oidc run", "oauth run"), both),
		"another one for the skill": agent(1, []string{key, basic}, security("key"), security("basic"), verifiers("key", "basic")),
		"nobody or somebody":        agent(1, []string{key}, security("", "key"), security("key run"), verifiers("key")),
		"the skill alone":           agent(1, []string{key}, "", security("key run"), verifiers("key")),
		"what nobody can show":      agent(1, []string{basic, bearer}, security("basic+bearer"), "", verifiers("basic", "bearer")),
		"nothing":                   agent(1, []string{key}, "", "", verifiers("key")),
	} {
		t.Run(name, func(t *testing.T) { authtest.Run(t, a) })
	}
}

// TestExtendedCard: skills that are in the extended card alone are not there for others.
func TestExtendedCard(t *testing.T) {
	for name, c := range map[string]struct {
		security string
		scopes   []string
	}{
		"whoever says who it is": {security(), nil}, "with scopes": {security("key ask"), []string{"gold"}},
		"nobody or who has the scopes": {security("", "key"), []string{"gold"}},
	} {
		t.Run(name, func(t *testing.T) {
			authtest.Run(t, hiding(agent(4, []string{key}, c.security, "", verifiers("key")), c.scopes))
		})
	}
}

// hiding makes an agent hide its second skill.
func hiding(a authtest.Agent, scopes []string) authtest.Agent {
	whole := strings.Replace(a.Cards[0], `"streaming":true`, `"streaming":true,"extendedAgentCard":true`, 1)
	at := strings.LastIndex(whole, `,{"id":"desk"`)
	a.Cards = []string{whole[:at] + "]}", whole}
	a.ExtendedScopes = scopes
	a.NewServer = func(more ...server.Option) (*server.Server, error) {
		public, err := a.Protocol.DecodeCard([]byte(a.Cards[0]))
		if err != nil {
			return nil, err
		}
		extended, err := a.Protocol.DecodeCard([]byte(a.Cards[1]))
		if err != nil {
			return nil, err
		}
		return server.New(server.Config{
			Protocol: a.Protocol, Card: public, Extended: extended, ExtendedScopes: scopes,
			Skills: []server.Skill{{ID: "open", Name: "Open", Run: never}, {ID: "desk", Name: "Desk", Hidden: true, Run: never}},
		}, append([]server.Option{grpcserver.Serve(), webhooks.Send(), server.WithAuth(a.Verifiers)}, more...)...)
	}
	return a
}

func TestTenants(t *testing.T) {
	a := agent(1, []string{key}, security("key"), "", verifiers("key"))
	a.Cards[0] = strings.ReplaceAll(a.Cards[0], `"protocolVersion":"1.0"`, `"protocolVersion":"1.0","tenant":"acme"`)
	authtest.Run(t, a)
}

// brokenEnv says which agent runs, in a process of its own.
const brokenEnv = "AUTHTEST_BROKEN"

// broken are ways in which an agent may fail to enforce what its card says, with what a run says then.
var broken = map[string]struct {
	opt  server.Option
	says string
}{
	"nothing is checked": {
		server.WithProxyIdentity(func(*http.Request) (string, error) { return "all", nil }), "nobody: SendMessage is let in",
	},
	"any key will do": {
		server.WithAuth(auth.Verifiers{"key": auth.Func(func(context.Context, auth.Credential) (auth.Caller, error) {
			return auth.Caller{ID: "all", Scopes: []string{"ask", "run"}}, nil
		})}), "wrong credentials: GetTask is let in",
	},
	"all are one":            {forgetful(func(c *auth.Caller) { c.ID = "all" }), "somebody else: GetTask reaches the task of ann"},
	"all may do everything":  {forgetful(func(c *auth.Caller) { c.Scopes = []string{"ask", "run"} }), "no scopes: SendMessage is let in"},
	"scopes of skills alone": {forgetful(func(c *auth.Caller) { c.Scopes = append(c.Scopes, "run") }), "the agent's scopes: CancelTask is let in"},
	"any tenant will do":     {forgetful(func(c *auth.Caller) { c.Tenants = nil }), "another tenant's credentials: SendMessage is let in"},
}

// forgetful has keys checked as ever, and then changes the caller.
func forgetful(change func(*auth.Caller)) server.Option {
	return server.WithAuth(auth.Verifiers{"key": &forgetting{auth.Keys(), change}})
}

type forgetting struct {
	auth.Verifier
	change func(*auth.Caller)
}

func (f *forgetting) Prepare(s *auth.Setup) error { return f.Verifier.(auth.Preparer).Prepare(s) }

func (f *forgetting) Verify(ctx context.Context, c auth.Credential) (auth.Caller, error) {
	caller, err := f.Verifier.Verify(ctx, c)
	f.change(&caller)
	return caller, err
}

func TestARunFindsWhatIsNotEnforced(t *testing.T) {
	if name := os.Getenv(brokenEnv); name != "" {
		authtest.Run(t, agent(1, []string{key}, security("key ask"), security("key run"), verifiers("key"), broken[name].opt))
		return
	}
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestARunFindsWhatIsNotEnforced$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), b.says) {
				t.Errorf("%v, and it does not say %q: %s", err, b.says, out)
			}
		})
	}
}
