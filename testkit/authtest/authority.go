package authtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority that signs certificates of clients, and of the server that they call.
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

// File returns the path of the authority's own certificate in PEM.
func (a *Authority) File() string {
	a.t.Helper()
	return a.write("ca.pem", "CERTIFICATE", a.self.Leaf.Raw)
}

// Pool returns a pool of the authority, for clients that verify the server.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.self.Leaf)
	return pool
}

// Client makes the certificate of a client, with the DNS name ci.example and the common name ci unless change sets
// others.
func (a *Authority) Client(change func(*x509.Certificate)) tls.Certificate {
	a.t.Helper()
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "ci"}, DNSNames: []string{"ci.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(c)
	}
	return a.sign(c, &a.self)
}

// Server makes the certificate of a server on a loopback address, and its key, and returns the PEM files.
func (a *Authority) Server() (certFile, keyFile string) {
	a.t.Helper()
	cert := a.sign(&x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, &a.self)
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write("cert.pem", "CERTIFICATE", cert.Leaf.Raw), a.write("key.pem", "PRIVATE KEY", key)
}

func (a *Authority) write(name, kind string, der []byte) (file string) {
	a.t.Helper()
	file = filepath.Join(a.t.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return file
}

// sign signs a certificate with an authority, or with its own key if by is nil. Without times it is valid for an
// hour.
func (a *Authority) sign(c *x509.Certificate, by *tls.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := c, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
