package pass

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"path/filepath"
	"time"
)

// Names of the files for TLS in a folder.
const (
	authorityFile = "authority.pem"
	certFile      = "server.pem"
	keyFile       = "server.key"
)

// Authority is the file of the authority of client certificates.
func Authority(dir string) string { return filepath.Join(dir, authorityFile) }

// Pair are the files of a server's certificate and its key.
func Pair(dir string) (cert, key string) {
	return filepath.Join(dir, certFile), filepath.Join(dir, keyFile)
}

// TLS is how a client with a certificate calls.
func (o *Office) TLS() *tls.Config { return o.tls }

// certify makes an authority, a certificate of it for servers on this machine, and one for their client.
func certify(dir string) (*tls.Config, error) {
	authority := &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root, rootKey, err := issue(authority, authority, nil)
	if err != nil {
		return nil, err
	}
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	server, serverKey, err := issue(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: usage}, root, rootKey)
	if err != nil {
		return nil, err
	}
	client, clientKey, err := issue(&x509.Certificate{Subject: pkix.Name{CommonName: User}, ExtKeyUsage: usage}, root, rootKey)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		return nil, err
	}
	cert, key := Pair(dir)
	for file, block := range map[string]struct {
		kind string
		der  []byte
	}{cert: {"CERTIFICATE", server.Raw}, key: {"PRIVATE KEY", der}, Authority(dir): {"CERTIFICATE", root.Raw}} {
		if err := writePEM(file, block.kind, block.der); err != nil {
			return nil, err
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	return &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{{Certificate: [][]byte{client.Raw}, PrivateKey: clientKey}},
	}, nil
}

// issue makes a certificate with a key of its own; nil signs it by that.
func issue(c, by *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if signer == nil {
		signer = key
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, by, key.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(der)
	return made, key, err
}
