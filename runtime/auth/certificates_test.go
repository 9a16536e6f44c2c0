package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/testcert"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/testkit/authtest"
)

func selfSigned(t *testing.T) *x509.Certificate {
	block, _ := pem.Decode(testcert.New(t, "ci").Cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestClientCertificates: none, expired, of another authority, without the usage; which name counts (RFC 8705 §2).
func TestClientCertificates(t *testing.T) {
	ours, others := authtest.NewAuthority(t), authtest.NewAuthority(t)
	g, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(auth.CertificateConfig{})}, map[string]string{"A2A_TLS_CLIENT_CA": ours.File()})
	if err != nil {
		t.Fatal(err)
	}
	spiffe, _ := url.Parse("spiffe://example.com/ci")
	for name, c := range map[string]struct {
		cert *x509.Certificate
		want string
	}{
		"none":              {nil, "401"},
		"DNS name":          {ours.Client(func(c *x509.Certificate) { c.DNSNames = []string{"CI.example"} }).Leaf, "m|dns:ci.example"},
		"URI first":         {ours.Client(func(c *x509.Certificate) { c.URIs = []*url.URL{spiffe} }).Leaf, "m|uri:spiffe://example.com/ci"},
		"common name alone": {ours.Client(func(c *x509.Certificate) { c.DNSNames = nil }).Leaf, "m|cn:ci"},
		"a common name like another's URI": {ours.Client(func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, spiffe.String() }).Leaf,
			"m|cn:spiffe://example.com/ci"},
		"no name":                  {ours.Client(func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, "" }).Leaf, "401"},
		"of another authority":     {others.Client(nil).Leaf, "401"},
		"of its own making":        {selfSigned(t), "401"},
		"for servers alone":        {ours.Client(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }).Leaf, "401"},
		"for nothing that it says": {ours.Client(func(c *x509.Certificate) { c.ExtKeyUsage = nil }).Leaf, "401"},
		"for mail":                 {ours.Client(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection} }).Leaf, "401"},
		"for anything":             {ours.Client(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} }).Leaf, "m|dns:ci.example"},
		"expired": {ours.Client(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		}).Leaf, "401"},
		"not yet good": {ours.Client(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		}).Leaf, "401"},
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
	ours := authtest.NewAuthority(t)
	g, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(auth.CertificateConfig{
		CAFile: ours.File(), Proxies: []string{"10.1.0.0/16", "::1"}, Callers: []auth.CertificateCaller{{ID: "dns:ci.example", Scopes: []string{"x"}}},
	})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(c *x509.Certificate) string { return ":" + base64.StdEncoding.EncodeToString(c.Raw) + ":" }
	client := encode(ours.Client(nil).Leaf)
	proxys := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{ours.Client(nil).Leaf}}
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
		{"who is not listed", "10.1.2.3:1", []string{"Client-Cert: " + encode(ours.Client(func(c *x509.Certificate) { c.DNSNames = []string{"other"} }).Leaf)}, nil, "401"},
		{"of another authority", "10.1.2.3:1", []string{"Client-Cert: " + encode(authtest.NewAuthority(t).Client(nil).Leaf)}, nil, "401"},
	} {
		r := withCertificates(request(c.header...), c.tls)
		r.RemoteAddr = c.from
		if got := whoIs(g, r); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	named := func(callers ...auth.CertificateCaller) string {
		config := auth.CertificateConfig{CAFile: ours.File(), Callers: append([]auth.CertificateCaller{}, callers...)}
		return whoIs(guardOf(t, mtlsCard, auth.Verifiers{"m": auth.Certificates(config)}), withCertificates(request(), proxys))
	}
	if got := named(auth.CertificateCaller{ID: "dns:Ci.EXAMPLE"}); got != "m|dns:ci.example" {
		t.Errorf("in another case: %s", got)
	}
	if got := named(); got != "401" {
		t.Errorf("nobody is listed: %s", got)
	}
	for name, config := range map[string]auth.CertificateConfig{
		"twice":        {CAFile: ours.File(), Callers: []auth.CertificateCaller{{ID: "dns:a"}, {ID: "dns:A", Scopes: []string{"x"}}}},
		"no authority": {}, "no file": {CAFile: "/nowhere.pem"}, "a bad proxy": {CAFile: ours.File(), Proxies: []string{"proxy"}},
	} {
		if _, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(config)}, nil); err == nil {
			t.Errorf("%s: it starts", name)
		}
	}
}
