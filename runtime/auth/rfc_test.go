package auth_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// TestRFC6750Challenges: no error for who brings none or something else (§3), one of three for a token that was looked
// at (§3.1), and the scope that is needed.
func TestRFC6750Challenges(t *testing.T) {
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"securityRequirements":[{"schemes":{"t":{"list":["read","write"]}}}]}`
	g := guardOf(t, card, auth.Verifiers{"t": auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
		switch c.Value {
		case "good":
			return auth.Caller{ID: "ann", Scopes: []string{"read", "write"}}, nil
		case "narrow":
			return auth.Caller{ID: "ann", Scopes: []string{"read"}}, nil
		}
		return auth.Caller{}, errors.New("expired")
	})})
	for _, c := range []struct {
		section, header string
		status          int
		want            string
	}{
		{"§3 no authentication", "", 401, `Bearer realm="Test", scope="read write"`},
		{"§3 another method", "Authorization: Basic YTpi", 401, `Bearer realm="Test", scope="read write"`},
		{"§3.1 invalid_request", "Authorization: Bearer a b", 401, `Bearer realm="Test", error="invalid_request", scope="read write"`},
		{"§3.1 invalid_token", "Authorization: Bearer old", 401, `Bearer realm="Test", error="invalid_token", scope="read write"`},
		{"§3.1 insufficient_scope", "Authorization: Bearer narrow", 403, `Bearer realm="Test", error="insufficient_scope", scope="read write"`},
		{"§2.1 the token in the header", "Authorization: Bearer good", 0, ""},
		{"§2.1 the scheme in any case", "Authorization: BEARER good", 0, ""},
	} {
		r := request()
		if c.header != "" {
			r = request(c.header)
		}
		_, denial := g.Check(r)
		switch {
		case c.status == 0 && denial != nil:
			t.Errorf("%s: %v", c.section, denial)
		case c.status != 0 && (denial == nil || denial.Status != c.status || fmt.Sprint(denial.Challenges) != "["+c.want+"]"):
			t.Errorf("%s: %+v", c.section, denial)
		}
	}
}

// TestRFC7617Examples: those of §2 and §2.1, the latter in UTF-8, as the challenge says; in Latin-1 it is no credential.
func TestRFC7617Examples(t *testing.T) {
	var users []auth.Password
	for user, password := range map[string]string{"Aladdin": "open sesame", "test": "123£"} {
		hash, err := auth.HashPassword(password)
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, auth.Password{User: user, Hash: hash})
	}
	g := guardOf(t, basicCard, auth.Verifiers{"b": auth.Passwords(users...)})
	for value, want := range map[string]string{
		"QWxhZGRpbjpvcGVuIHNlc2FtZQ==": "b|Aladdin",
		"dGVzdDoxMjPCow==":             "b|test",
		"dGVzdDoxMjOj":                 "401", // in Latin-1
		"dGVzdDoxMjPCow":               "401", // RFC 4648 §3.2: padding is part of it
		"dGVzdDox MjPCow==":            "401",
	} {
		if got := whoIs(g, request("Authorization: Basic "+value)); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// TestACertificateIsGoodUntilItExpires, also on a connection that began before, and where it is remembered.
func TestACertificateIsGoodUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours := authtest.NewAuthority(t)
		soon := time.Now().Add(20 * time.Second)
		cert := ours.Client(func(c *x509.Certificate) { c.NotAfter = soon })
		g, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(auth.CertificateConfig{CAFile: ours.File()})}, nil)
		if err != nil {
			t.Fatal(err)
		}
		state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert.Leaf}, VerifiedChains: [][]*x509.Certificate{{cert.Leaf}}}
		for _, want := range []string{"m|dns:ci.example", "m|dns:ci.example", "401", "401"} {
			if got := whoIs(g, withCertificates(request(), state)); got != want {
				t.Errorf("%v before it expires: %s, want %s", time.Until(soon), got, want)
			}
			time.Sleep(11 * time.Second)
		}
	})
}
