package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/auth"
)

// keyring has what callers show and what agents know of it.
type keyring struct {
	passwordHash string
	issuer       *issuer
	authority    string // file in PEM
	server       pair
	clients      map[string]pair
}

// pair are the files of a certificate and its key, in PEM.
type pair struct{ cert, key string }

// Certificates of clients are asked for by name, as if they were secrets.
const (
	certificate = "cert" // the scheme
	rightClient = "of the authority"
	wrongClient = "of another authority"
	clientURI   = "spiffe://desk.example/ann"
)

// newKeyring makes keys, certificates and an issuer of tokens.
func newKeyring(dir string) (*keyring, error) {
	hash, err := auth.HashPassword(password)
	if err != nil {
		return nil, err
	}
	k := &keyring{passwordHash: hash, clients: map[string]pair{}}
	good, err := newAuthority(dir, "authority")
	if err != nil {
		return nil, err
	}
	other, err := newAuthority(dir, "other")
	if err != nil {
		return nil, err
	}
	k.authority = good.file.cert
	var failed [3]error
	k.server, failed[0] = good.issue(dir, "server", x509.ExtKeyUsageServerAuth)
	k.clients[rightClient], failed[1] = good.issue(dir, "client", x509.ExtKeyUsageClientAuth)
	k.clients[wrongClient], failed[2] = other.issue(dir, "stranger", x509.ExtKeyUsageClientAuth)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	k.issuer, err = newIssuer()
	return k, err
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file pair
}

func newAuthority(dir, name string) (*authority, error) {
	a := &authority{}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	var err error
	a.cert, a.key, a.file, err = a.sign(dir, name, template)
	return a, err
}

// issue makes a certificate for a use, of this machine and of the one client.
func (a *authority) issue(dir, name string, use x509.ExtKeyUsage) (pair, error) {
	template := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use}}
	if use == x509.ExtKeyUsageClientAuth {
		uri, err := url.Parse(clientURI)
		if err != nil {
			return pair{}, err
		}
		template.URIs = []*url.URL{uri}
	} else {
		template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	_, _, file, err := a.sign(dir, name, template)
	return file, err
}

// sign makes a certificate for a new key. The first one of an authority it signs by itself.
func (a *authority) sign(dir, name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, pair, error) {
	fail := func(err error) (*x509.Certificate, *ecdsa.PrivateKey, pair, error) { return nil, nil, pair{}, err }
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	parent, by := template, key
	if a.cert != nil {
		parent, by = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return fail(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return fail(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fail(err)
	}
	file := pair{filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem")}
	write := func(path, kind string, der []byte) error {
		return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	}
	return cert, key, file, errors.Join(write(file.cert, "CERTIFICATE", der), write(file.key, "PRIVATE KEY", private))
}

// issuer makes tokens, and publishes by what key.
type issuer struct {
	url    string
	signer jose.Signer
	stop   func()
}

func newIssuer() (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "one", Algorithm: string(jose.ES256), Use: "sig"}}}
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	says := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
	}
	mux.HandleFunc("/.well-known/openid-configuration", says(map[string]any{"issuer": web.URL, "jwks_uri": web.URL + "/keys"}))
	mux.HandleFunc("/keys", says(set))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}},
		(&jose.SignerOptions{}).WithType("at+jwt"))
	return &issuer{web.URL, signer, web.Close}, err
}

// token is one for ann.
func (i *issuer) token(audience, scope string) string {
	claims, err := json.Marshal(map[string]any{"iss": i.url, "aud": audience, "sub": "ann", "client_id": "app", "scope": scope,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(), "jti": rand.Text()})
	if err != nil {
		panic(err) // it is strings
	}
	signed, err := i.signer.Sign(claims)
	if err != nil {
		panic(err) // the key is of the algorithm
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return text
}
