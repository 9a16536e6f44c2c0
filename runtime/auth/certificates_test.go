package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
)

// authority signs certificates of a test.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.key, a.cert = a.make(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	return a
}

// make signs a template by itself, or by the authority.
func (a *authority) make(template *x509.Certificate, by *authority) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return key, cert
}

// client makes a client certificate.
func (a *authority) client(change func(*x509.Certificate)) *x509.Certificate {
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "ci"}, DNSNames: []string{"CI.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(c)
	}
	_, cert := a.make(c, a)
	return cert
}

// file has the authority in PEM.
func (a *authority) file() string {
	name := filepath.Join(a.t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return name
}

// TestClientCertificates: none, expired, of another authority, without the usage; which name counts (RFC 8705 §2).
func TestClientCertificates(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	g, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(auth.CertificateConfig{})}, map[string]string{"A2A_TLS_CLIENT_CA": ours.file()})
	if err != nil {
		t.Fatal(err)
	}
	spiffe, _ := url.Parse("spiffe://example.com/ci")
	for name, c := range map[string]struct {
		cert *x509.Certificate
		want string
	}{
		"none":              {nil, "401"},
		"DNS name":          {ours.client(nil), "m|dns:ci.example"},
		"URI first":         {ours.client(func(c *x509.Certificate) { c.URIs = []*url.URL{spiffe} }), "m|uri:spiffe://example.com/ci"},
		"common name alone": {ours.client(func(c *x509.Certificate) { c.DNSNames = nil }), "m|cn:ci"},
		"a common name like another's URI": {ours.client(func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, spiffe.String() }),
			"m|cn:spiffe://example.com/ci"},
		"no name":              {ours.client(func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, "" }), "401"},
		"of another authority": {others.client(nil), "401"},
		"of its own making": {func() *x509.Certificate {
			_, c := ours.make(&x509.Certificate{Subject: pkix.Name{CommonName: "ci"}}, nil)
			return c
		}(), "401"},
		"for servers alone": {ours.client(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), "401"},
		"expired": {ours.client(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		}), "401"},
		"not yet good": {ours.client(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		}), "401"},
	} {
		state := &tls.ConnectionState{}
		if c.cert != nil {
			state.PeerCertificates = []*x509.Certificate{c.cert}
		}
		for range 2 { // the second time it is known
			if got := whoIs(g, withCertificates(request(), state)); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
	if got := whoIs(g, request()); got != "401" {
		t.Errorf("without TLS: %s", got)
	}
	_, denial := g.Check(request())
	if denial.Challenges[0] != `ClientCertificate realm="Test"` {
		t.Errorf("challenge %q", denial.Challenges)
	}
}

// TestClientCertComesFromTheProxyAlone (RFC 9440): from outside it is nothing, and the proxy's own certificate is nobody's.
func TestClientCertComesFromTheProxyAlone(t *testing.T) {
	ours := newAuthority(t)
	g, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(auth.CertificateConfig{
		CAFile: ours.file(), Proxies: []string{"10.1.0.0/16", "::1"}, Callers: []auth.CertificateCaller{{ID: "dns:ci.example", Scopes: []string{"x"}}},
	})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(c *x509.Certificate) string { return ":" + base64.StdEncoding.EncodeToString(c.Raw) + ":" }
	client := encode(ours.client(nil))
	proxys := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{ours.client(nil)}}
	for _, c := range []struct {
		name, from string
		header     []string
		tls        *tls.ConnectionState
		want       string
	}{
		{"from the proxy", "10.1.2.3:1", []string{"Client-Cert: " + client}, nil, "m|dns:ci.example"},
		{"as IPv4 in IPv6", "[::ffff:10.1.2.3]:1", []string{"Client-Cert: " + client}, nil, "m|dns:ci.example"},
		{"over mutual TLS", "10.1.2.3:1", []string{"Client-Cert: " + client}, proxys, "m|dns:ci.example"},
		{"from outside", "10.2.0.1:1", []string{"Client-Cert: " + client}, nil, "401"},
		{"from nowhere", "@", []string{"Client-Cert: " + client}, nil, "401"},
		{"the proxy itself", "10.1.2.3:1", nil, proxys, "401"},
		{"twice", "10.1.2.3:1", []string{"Client-Cert: " + client, "Client-Cert: " + client}, nil, "401"},
		{"without colons", "10.1.2.3:1", []string{"Client-Cert: " + client[1:]}, nil, "401"},
		{"nonsense", "10.1.2.3:1", []string{"Client-Cert: :AAAA:"}, nil, "401"},
		{"who is not listed", "10.1.2.3:1", []string{"Client-Cert: " + encode(ours.client(func(c *x509.Certificate) { c.DNSNames = []string{"other"} }))}, nil, "401"},
		{"of another authority", "10.1.2.3:1", []string{"Client-Cert: " + encode(newAuthority(t).client(nil))}, nil, "401"},
	} {
		r := withCertificates(request(c.header...), c.tls)
		r.RemoteAddr = c.from
		if got := whoIs(g, r); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for name, config := range map[string]auth.CertificateConfig{
		"no authority": {}, "no file": {CAFile: "/nowhere.pem"}, "a bad proxy": {CAFile: ours.file(), Proxies: []string{"proxy"}},
	} {
		if _, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(config)}, nil); err == nil {
			t.Errorf("%s: it starts", name)
		}
	}
}
