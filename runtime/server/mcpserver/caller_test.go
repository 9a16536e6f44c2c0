package mcpserver_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// people know callers by their credentials.
type people map[string]auth.Caller

func (p people) Verify(_ context.Context, c auth.Credential) (auth.Caller, error) {
	caller, ok := p[c.Value+c.Password]
	if !ok {
		return auth.Caller{}, auth.ErrWrong
	}
	return caller, nil
}

var known = people{
	"ann": {ID: "ann", Scopes: []string{"use", "run"}}, "bob": {ID: "bob", Scopes: []string{"use"}},
	"acme": {ID: "ann", Scopes: []string{"use", "run"}, Tenants: []string{"acme"}},
}

// guarded is the open card with a scheme that all callers need, and scopes of a skill.
func guarded(scheme, ofSkill string) string {
	return strings.NewReplacer(`"skills":`, `"securitySchemes":{"s":`+scheme+`},"securityRequirements":[{"schemes":{"s":{"list":[]}}}],"skills":`,
		`"tags":["t"]`, `"tags":["t"]`+ofSkill).Replace(openCard)
}

const bearer = `{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`

// named is a skill that says who calls it.
func named() server.Skill {
	return skill("do", func(ctx context.Context, _ *server.Task, _ []byte) (string, error) {
		return `{"sky":"` + server.CallerFrom(ctx).ID + `"}`, nil
	})
}

func TestEverySchemeIsEnforcedAsOverA2A(t *testing.T) {
	authority := authtest.NewAuthority(t)
	certificate := func(name string) string {
		c := authority.Client(func(c *x509.Certificate) { c.DNSNames = []string{name} })
		return "Client-Cert: :" + base64.StdEncoding.EncodeToString(c.Certificate[0]) + ":"
	}
	basic := func(password string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+password))
	}
	oneOf := auth.Certificates(auth.CertificateConfig{CAFile: authority.File(), Proxies: []string{"127.0.0.1"}, Callers: []auth.CertificateCaller{{ID: "dns:ann"}}})
	for name, test := range map[string]struct {
		scheme      string
		verifier    auth.Verifier
		right, good string // "?key=value" or a line of the header
	}{
		"a key in a header": {`{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}`, known, "X-Key: ann", "X-Key: eve"},
		"a key in a query":  {`{"apiKeySecurityScheme":{"location":"query","name":"key"}}`, known, "?key=ann", "?key=eve"},
		"a key in a cookie": {`{"apiKeySecurityScheme":{"location":"cookie","name":"key"}}`, known, "Cookie: key=ann", "Cookie: key=eve"},
		"a password":        {`{"httpAuthSecurityScheme":{"scheme":"Basic"}}`, known, basic("ann"), basic("eve")},
		"a token":           {bearer, known, "Authorization: Bearer ann", "Authorization: Bearer eve"},
		"another scheme":    {`{"httpAuthSecurityScheme":{"scheme":"Own"}}`, known, "Authorization: Own ann", "Authorization: Own eve"},
		"a certificate":     {`{"mtlsSecurityScheme":{}}`, oneOf, certificate("ann"), certificate("eve")},
	} {
		t.Run(name, func(t *testing.T) {
			a := serve(t, newServer(t, config(t, guarded(test.scheme, ""), named()), server.WithAuth(auth.Verifiers{"s": test.verifier})))
			over := func(path, body, proof string, header ...string) (int, []string, string) {
				if query, ok := strings.CutPrefix(proof, "?"); ok {
					path += "?" + query
				} else if proof != "" {
					header = append(header, proof)
				}
				status, h, answer := a.post(path, body, header...)
				return status, h.Values("Www-Authenticate"), answer
			}
			send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"city":"Rome"}}]}}}`
			body, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Rome"}`)
			for _, proof := range []string{"", test.good, test.right} {
				status, challenge, answer := over("/rpc", send, proof, "A2A-Version: 1.0")
				got, challenged, tool := over("/mcp", body, proof, header...)
				if got != status || !slices.Equal(challenged, challenge) {
					t.Errorf("%q: %d %q, and over A2A %d %q", proof, got, challenged, status, challenge)
				}
				if status == http.StatusOK != (proof == test.right) {
					t.Errorf("%q: over A2A %d", proof, status)
				}
				if proof == test.right && (!strings.Contains(answer, `"sky":"`) || !strings.Contains(string(event(t, tool).Result), `"structuredContent":{"sky":"`)) {
					t.Errorf("%s\n%s", answer, tool)
				}
			}
			// In a session it is each request that brings credentials.
			if got, _, _ := over("/mcp", initialize, ""); got != http.StatusUnauthorized {
				t.Errorf("a session without credentials: %d", got)
			}
		})
	}
}

func TestACallIsOneOfTheCallerOfItsRequest(t *testing.T) {
	a := serve(t, newServer(t, config(t, guarded(bearer, ""), named()), server.WithAuth(auth.Verifiers{"s": known})))
	for _, version := range []string{newest, older} {
		s := a.connect(version, withHeader{"Authorization", "Bearer ann"}.on(a.web), sdk.ClientOptions{})
		if r := call(t, s, "do", "Rome"); text(r) != `{"sky":"ann"}` {
			t.Errorf("%s: got %s", version, text(r))
		}
	}
}

func TestWhatASkillDemandsIsDemandedOfTools(t *testing.T) {
	card := guarded(bearer, `,"securityRequirements":[{"schemes":{"s":{"list":["run"]}}}]`)
	a := serve(t, newServer(t, config(t, card, named()), server.WithAuth(auth.Verifiers{"s": known})))
	for who, ok := range map[string]bool{"ann": true, "bob": false} {
		r := call(t, a.connect(newest, withHeader{"Authorization", "Bearer " + who}.on(a.web), sdk.ClientOptions{}), "do", "Rome")
		if r.IsError == ok {
			t.Errorf("%s: got %s", who, text(r))
		}
	}
}

func TestASessionIsThatOfItsCaller(t *testing.T) {
	a := serve(t, newServer(t, config(t, guarded(bearer, ""), named()), server.WithAuth(auth.Verifiers{"s": known})))
	session := a.session("Authorization: Bearer ann")
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, _, body := a.post("/mcp", list, session...); status != http.StatusOK {
		t.Errorf("ann: %d %s", status, body)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if status, _, body := a.do(method, "/mcp", list, append(slices.Clone(session), "Authorization: Bearer bob")...); status != http.StatusForbidden {
			t.Errorf("bob, %s: %d %s", method, status, body)
		}
		if status, _, _ := a.do(method, "/mcp", list, session[:2]...); status != http.StatusUnauthorized {
			t.Errorf("nobody, %s: %d", method, status)
		}
	}
}

func TestTenantsAreNamedByAHeader(t *testing.T) {
	a := serve(t, newServer(t, config(t, guarded(bearer, ""), named()), server.WithAuth(auth.Verifiers{"s": known})))
	body, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Rome"}`)
	for _, test := range []struct{ who, tenant, want string }{
		{"ann", "acme", `"sky":"ann"`}, {"acme", "acme", `"sky":"ann"`}, {"acme", "other", `"isError":true`}, {"acme", "", `"isError":true`},
	} {
		more := append(slices.Clone(header), "Authorization: Bearer "+test.who)
		if test.tenant != "" {
			more = append(more, "A2A-Tenant: "+test.tenant)
		}
		if _, _, answer := a.post("/mcp", body, more...); !strings.Contains(answer, test.want) {
			t.Errorf("%s for %q: %s", test.who, test.tenant, answer)
		}
	}
}

func TestTenantsThatTheCardDeclaresHaveToolsEach(t *testing.T) {
	card := strings.Replace(openCard, `"supportedInterfaces":[{`, `"supportedInterfaces":[{"url":"/one","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"one"},{"tenant":"two",`, 1)
	a := serve(t, newServer(t, config(t, card, skill("do", func(_ context.Context, task *server.Task, _ []byte) (string, error) {
		return `{"sky":"` + task.Call().Request().Tenant + `"}`, nil
	}))))
	body, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Rome"}`)
	for tenant, want := range map[string]string{"": `"sky":"one"`, "one": `"sky":"one"`, "two": `"sky":"two"`, "three": `"isError":true`} {
		if _, _, answer := a.post("/mcp", body, append(slices.Clone(header), "A2A-Tenant: "+tenant)...); !strings.Contains(answer, want) {
			t.Errorf("%q: %s", tenant, answer)
		}
	}
}

// hidden is an agent whose skill "vault" only known callers see, whom a header names.
func hidden(t *testing.T) *agent {
	c := config(t, openCard, named(), blue("vault"))
	c.Skills[1].Hidden = true
	c.Extended = config(t, strings.Replace(openCard, `"skills":[`, `"skills":[{"id":"vault","name":"V","description":"d","tags":[]},`, 1)).Card
	return serve(t, newServer(t, c, server.WithProxyIdentity(func(r *http.Request) (string, error) {
		if who := r.Header.Get("Who"); who != "bad" {
			return who, nil
		}
		return "", errors.New("unknown")
	})))
}

func TestHiddenSkillsAreToolsForThoseWhoSeeThem(t *testing.T) {
	a := hidden(t)
	for _, version := range []string{newest, older} {
		for who, want := range map[string]int{"": 1, "ann": 2} {
			s := a.connect(version, withHeader{"Who", who}.on(a.web), sdk.ClientOptions{})
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != want {
				t.Errorf("%s, %q: got %v, %v", version, who, list, err)
			}
			r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "vault", Arguments: map[string]any{"city": "x"}})
			if who == "" && err == nil || who != "" && (err != nil || text(r) != `{"sky":"blue"}`) {
				t.Errorf("%s, %q: got %+v, %v", version, who, r, err)
			}
		}
	}
	if status, _, _ := a.post("/mcp", initialize, "Who: bad"); status != http.StatusUnauthorized {
		t.Errorf("who is refused gets %d", status)
	}
}
