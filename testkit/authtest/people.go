package authtest

import (
	"cmp"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
)

// person is a caller. Several may be one principal, with different rights.
type person struct {
	id        string // of the person
	principal string
	scopes    []string
	tenant    string // the only one to act for; "": any
}

// people are all callers, with their credentials for each scheme.
type people struct {
	schemes   map[string]*scheme
	standIns  auth.Verifiers
	tenants   []string // for which they may act
	issuer    *Issuer  // nil: there are no tokens
	tokens    map[string]string
	authority *Authority // nil: there are no certificates

	right  person // has all scopes
	other  person // another principal with all scopes
	member person // the same as right, with the scopes that the agent demands, but not those of skills
	bare   person // the same as right, without any scope
	bound  person // the same as right, for another tenant
}

// scheme is a security scheme with the credentials for it.
type scheme struct {
	auth.Scheme
	tokens *auth.TokenForm   // nil: no issuer makes its credentials
	keys   map[string]string // what is shown, by a person's id

	mistakes []mistake // that have been made
}

// audience returns the audience of tokens of a form, so that verifiers of other forms reject them.
func audience(form auth.TokenForm) string {
	return fmt.Sprintf("https://agent.example.com/%s/%s/%s/%t", form.Type, form.Algorithm, form.Tenants, form.Opaque)
}

// tokenVerifier is a verifier of tokens that an issuer makes.
type tokenVerifier interface{ TokenForm() auth.TokenForm }

// newPeople makes the credentials of all people for all schemes, and sets the environment for the agent's verifiers.
func newPeople(t *testing.T, d *auth.Demands, a *Agent, tenants []string) *people {
	t.Helper()
	p := &people{schemes: map[string]*scheme{}, standIns: auth.Verifiers{}, tenants: tenants, tokens: map[string]string{}}
	ofAgent := scopesOf(d.Agent...)
	all := slices.Concat(ofAgent, a.ExtendedScopes)
	for _, rs := range d.Skills {
		all = append(all, scopesOf(rs...)...)
	}
	p.right, p.other = person{id: "ann", principal: "ann", scopes: all}, person{id: "bob", principal: "bob", scopes: all}
	p.member = person{id: "ann.member", principal: "ann", scopes: ofAgent}
	p.bare = person{id: "ann.bare", principal: "ann"}
	p.bound = person{id: "ann.bound", principal: "ann", scopes: all, tenant: tenants[len(tenants)-1]}
	for _, name := range []string{server.EnvURL, server.EnvAudit, server.EnvTLSCert, server.EnvTLSKey, auth.EnvClientCA} {
		t.Setenv(name, "")
	}
	for _, s := range d.Schemes {
		p.schemes[s.Name] = p.enroll(t, s, a.Verifiers[s.Name])
	}
	return p
}

// enroll makes the credentials for a scheme.
func (p *people) enroll(t *testing.T, s auth.Scheme, v auth.Verifier) *scheme {
	t.Helper()
	own, setup := &scheme{Scheme: s, keys: map[string]string{}}, &auth.Setup{Scheme: s}
	if v == nil {
		p.standIns[s.Name] = own.way().standIn()
	}
	if tokens, ok := v.(tokenVerifier); ok {
		form := tokens.TokenForm()
		own.tokens = &form
		if p.issuer == nil {
			p.issuer = NewIssuer(t)
		}
		for suffix, value := range map[string]string{
			auth.EnvIssuer: p.issuer.URL, auth.EnvAudience: audience(form), auth.EnvKeySet: p.issuer.URL + keysPath,
			auth.EnvIntrospection: p.issuer.URL + introspectionPath, auth.EnvClientID: "agent", auth.EnvClientSecret: "secret",
		} {
			t.Setenv(setup.EnvName(suffix), value)
		}
		return own
	}
	if s.Kind == auth.MutualTLS && p.authority == nil {
		p.authority = NewAuthority(t)
		cert, key := p.authority.Server()
		t.Setenv(auth.EnvClientCA, p.authority.File())
		t.Setenv(server.EnvTLSCert, cert)
		t.Setenv(server.EnvTLSKey, key)
	}
	var list []string
	for _, who := range []person{p.right, p.other, p.member, p.bare, p.bound} {
		credential, entry := own.way().list(who, rand.Text())
		own.keys[who.id] = credential
		rights := url.Values{"scope": who.scopes}
		if who.tenant != "" {
			rights.Set("tenant", who.tenant)
		}
		if text := rights.Encode(); text != "" {
			entry += "?" + text
		}
		list = append(list, entry)
	}
	t.Setenv(setup.EnvName(""), strings.Join(list, ","))
	return own
}

// hashPassword is auth.HashPassword with the fewest rounds that are allowed.
func hashPassword(password string) string {
	const rounds = 100_000
	salt := []byte(rand.Text())
	sum, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		panic(err) // a hash that is not allowed to this program
	}
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("pbkdf2-sha256$%d$%s$%s", rounds, b64(salt), b64(sum))
}

// proof is the credentials of a request.
type proof struct {
	header      http.Header
	query       url.Values
	certificate *tls.Certificate
}

// and returns the credentials of both; false if they need the same place.
func (p proof) and(q proof) (proof, bool) {
	both := proof{http.Header{}, url.Values{}, cmp.Or(q.certificate, p.certificate)}
	maps.Copy(both.header, p.header)
	maps.Copy(both.query, p.query)
	maps.Copy(both.query, q.query)
	for name, values := range q.header {
		switch have := both.header[name]; {
		case len(have) == 0:
			both.header[name] = values
		case name == "Cookie":
			both.header[name] = []string{have[0] + "; " + values[0]}
		case !slices.Equal(have, values):
			return both, false
		}
	}
	return both, true
}

// shows returns the credentials of a person for schemes; false if they cannot be sent together.
func (p *people) shows(who person, schemes []string) (all proof, ok bool) {
	for _, name := range schemes {
		if all, ok = all.and(p.show(p.schemes[name], p.credential(name, who))); !ok {
			return all, false
		}
	}
	return all, true
}

// shown returns schemes with those for which the same credential is valid: they accept the same tokens, or
// certificates.
func (p *people) shown(schemes []string) []string {
	all := slices.Clone(schemes)
	for name, s := range p.schemes {
		same := func(have string) bool {
			if o := p.schemes[have]; s.tokens != nil && o.tokens != nil {
				return *s.tokens == *o.tokens
			}
			return s.Kind == auth.MutualTLS && p.schemes[have].Kind == auth.MutualTLS
		}
		if !slices.Contains(all, name) && slices.ContainsFunc(schemes, same) {
			all = append(all, name)
		}
	}
	return all
}

// canShow reports whether credentials for schemes can be sent together over a binding, which may have no query and no
// cookies.
func (p *people) canShow(schemes []string, binding *runtime.Binding) bool {
	for _, name := range schemes {
		if s := p.schemes[name]; s.Kind == auth.APIKey && !slices.Contains(binding.Keys, s.In) {
			return false
		}
	}
	_, ok := p.shows(p.right, schemes)
	return ok
}

// credential returns a person's credential for a scheme: a key, a token, a password, the name in a certificate.
func (p *people) credential(name string, who person) string {
	s := p.schemes[name]
	if s.tokens == nil {
		return s.keys[who.id]
	}
	id := who.id + " " + audience(*s.tokens) // one token does for all schemes that take it
	if p.tokens[id] == "" {
		p.tokens[id] = p.token(*s.tokens, p.issuer, who, nil)
	}
	return p.tokens[id]
}

// token makes a token of a person, with some claims changed.
func (p *people) token(form auth.TokenForm, by *Issuer, who person, change map[string]any) string {
	claims := map[string]any{
		"sub": who.principal, "client_id": "authtest", "aud": audience(form), "scope": strings.Join(who.scopes, " "),
	}
	if form.Tenants != "" {
		claims[form.Tenants] = p.tenants
		if who.tenant != "" {
			claims[form.Tenants] = []string{who.tenant}
		}
	}
	maps.Copy(claims, change)
	if form.Opaque {
		return by.Opaque(claims)
	}
	return by.Token(form.Type, form.Algorithm, claims)
}

// show returns a credential as requests send it.
func (p *people) show(s *scheme, credential string) proof { return s.way().show(p, s, credential) }

// mistake is an invalid credential.
type mistake struct {
	what string
	proof
}

// wrong returns invalid credentials for a scheme.
func (p *people) wrong(name string) []mistake {
	s := p.schemes[name]
	if s.mistakes == nil {
		for what, credential := range s.way().bad(p, s) {
			s.mistakes = append(s.mistakes, mistake{what, p.show(s, credential)})
		}
	}
	return s.mistakes
}
