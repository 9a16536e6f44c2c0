package authtest

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/url"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
)

// schemeKind is how credentials of some schemes are made and shown. It is a row of schemeKinds.
type schemeKind struct {
	fits func(s *scheme) bool
	// standIn makes a verifier in the place of one of the agent's own.
	standIn func() auth.Verifier
	// list makes a credential of a person from a secret, and the entry for it in the environment of the agent. Nil for
	// tokens, which an issuer makes.
	list func(who person, secret string) (credential, entry string)
	// show is a credential where requests have it.
	show func(p *people, s *scheme, credential string) proof
	// bad are credentials that are no good, by what they are.
	bad func(p *people, s *scheme) map[string]string
	// alike: credentials with different rights can be of one principal.
	alike bool
}

// schemeKinds are found by fits, the first one that does.
var schemeKinds = []*schemeKind{
	{
		fits:    func(s *scheme) bool { return s.tokens != nil },
		standIn: func() auth.Verifier { return auth.Keys() },
		show:    showAuthorization, alike: true,
		bad: func(p *people, s *scheme) map[string]string {
			rogue := &Issuer{URL: p.issuer.URL, keys: map[string]crypto.Signer{}, opaque: map[string]map[string]any{}}
			token := func(by *Issuer, change map[string]any) string { return p.token(*s.tokens, by, p.right, change) }
			return map[string]string{
				"a forged token":            token(rogue, nil),
				"an expired token":          token(p.issuer, map[string]any{"exp": time.Now().Add(-24 * time.Hour).Unix()}),
				"a token for somebody else": token(p.issuer, map[string]any{"aud": audience(*s.tokens) + "/other"}),
			}
		},
	},
	{
		fits:    func(s *scheme) bool { return s.Kind == auth.MutualTLS },
		standIn: func() auth.Verifier { return auth.Certificates(auth.CertificateConfig{}) },
		list: func(who person, _ string) (string, string) {
			name := who.id + ".example.com"
			return name, "dns:" + name
		},
		show: func(p *people, _ *scheme, name string) proof { // in TLS, and in a header as a proxy has it
			cert := p.authority.Client(func(c *x509.Certificate) { c.DNSNames = []string{name} })
			shown := inHeader("Client-Cert", ":"+base64.StdEncoding.EncodeToString(cert.Certificate[0])+":")
			shown.certificate = &cert
			return shown
		},
		bad: func(*people, *scheme) map[string]string {
			return map[string]string{"a certificate of somebody unknown": "unknown.example.com"}
		},
	},
	{
		fits:    func(s *scheme) bool { return s.Kind == auth.HTTP && s.HTTP == "basic" },
		standIn: func() auth.Verifier { return auth.Passwords() },
		list: func(who person, secret string) (string, string) {
			return who.id + ":" + secret, who.id + "=" + hashPassword(secret)
		},
		show: func(_ *people, _ *scheme, credential string) proof {
			return inHeader("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(credential)))
		},
		bad: func(p *people, _ *scheme) map[string]string {
			return map[string]string{
				"a wrong password": p.right.id + ":" + rand.Text(), "a user unknown": "unknown:" + rand.Text(),
			}
		},
	},
	{
		fits:    func(s *scheme) bool { return s.Kind == auth.APIKey },
		standIn: func() auth.Verifier { return auth.Keys() },
		list:    listKey, bad: badKey, alike: true,
		show: func(_ *people, s *scheme, key string) proof { return keyProofs[s.In](s.Key, key) },
	},
	{
		fits:    func(*scheme) bool { return true },
		standIn: func() auth.Verifier { return auth.Keys() },
		list:    listKey, show: showAuthorization, bad: badKey, alike: true,
	},
}

// way returns how credentials of the scheme are made and shown.
func (s *scheme) way() *schemeKind {
	for _, k := range schemeKinds {
		if k.fits(s) {
			return k
		}
	}
	return nil // the last one fits all
}

func listKey(who person, secret string) (credential, entry string) {
	return secret, who.principal + "=" + auth.HashKey(secret)
}

// keyProofs show an API key in each of [runtime.KeyPlaces].
var keyProofs = map[string]func(name, key string) proof{
	"header": inHeader,
	"query":  func(name, key string) proof { return proof{query: url.Values{name: {key}}} },
	"cookie": func(name, key string) proof { return inHeader("Cookie", name+"="+key) },
}

func badKey(*people, *scheme) map[string]string { return map[string]string{"a wrong key": rand.Text()} }

func inHeader(name, value string) proof {
	return proof{header: http.Header{http.CanonicalHeaderKey(name): {value}}}
}

// showAuthorization shows a credential behind the scheme's name in the Authorization header.
func showAuthorization(_ *people, s *scheme, credential string) proof {
	name := "Bearer"
	if s.Kind == auth.HTTP {
		name = s.HTTP
	}
	return inHeader("Authorization", name+" "+credential)
}
