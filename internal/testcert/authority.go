package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates of clients.
type Authority struct {
	t    testing.TB
	self tls.Certificate
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.self = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	return a
}

// File has the authority in PEM.
func (a *Authority) File() string {
	a.t.Helper()
	name := filepath.Join(a.t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.self.Leaf.Raw})
	if err := os.WriteFile(name, data, 0o600); err != nil {
		a.t.Fatal(err)
	}
	return name
}

// Client makes the certificate of a client: of the DNS name CI.example and the common name ci, unless change says
// otherwise.
func (a *Authority) Client(change func(*x509.Certificate)) tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "ci"}, DNSNames: []string{"CI.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	return a.sign(template, &a.self)
}

// sign signs a template, by itself or by another one. Without times it is good for an hour.
func (a *Authority) sign(template *x509.Certificate, by *tls.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := template, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
