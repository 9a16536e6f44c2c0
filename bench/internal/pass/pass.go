// Package pass makes what callers show to contestants that ask who they are, and has what contestants check it by: keys
// of an issuer of tokens and certificates, in files of one folder.
package pass

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// What the tokens say.
const (
	Issuer   = "https://issuer.example"
	Audience = "https://agent.example"
)

// Where the issuer publishes its keys.
const Keys = Issuer + "/" + keysFile

// User is who sends the requests.
const User = "ann"

// Algorithms of the issuer's signatures.
const (
	ES256 = "ES256"
	RS256 = "RS256"
)

// Office makes tokens and certificates.
type Office struct {
	keys  map[string]crypto.Signer // by algorithm
	heads map[string]string
	n     atomic.Int64 // tokens so far
	tls   *tls.Config  // of a client with a certificate
}

// Open makes the files in a folder.
func Open(dir string) (*Office, error) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	o := &Office{keys: map[string]crypto.Signer{ES256: ec, RS256: rs}, heads: map[string]string{}}
	var set jose.JSONWebKeySet
	for alg, key := range o.keys {
		o.heads[alg] = encode(fmt.Appendf(nil, `{"alg":%q,"typ":"at+jwt","kid":%[1]q}`, alg))
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: alg, Algorithm: alg, Use: "sig"})
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			return nil, err
		}
		if err := writePEM(filepath.Join(dir, alg), "PUBLIC KEY", der); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(set)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, keysFile), text, 0o600)
	}
	if err == nil {
		o.tls, err = certify(dir)
	}
	return o, err
}

const keysFile = "keys.json"

func encode(src []byte) string { return base64.RawURLEncoding.EncodeToString(src) }

// writePEM writes one block.
func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// Token makes an access token that is good for an hour, of the length that issuers make. No two are the same, and all of
// one algorithm are of one length.
func (o *Office) Token(alg string) string {
	now := time.Now().Unix()
	claims := fmt.Appendf(nil, `{"iss":%q,"aud":%q,"sub":%q,"client_id":"app","iat":%d,"exp":%d,"jti":"%032d","scope":"ask run",`+
		`"auth_time":%[4]d,"amr":["pwd","otp"],"roles":["reader","writer"],"email":"ann@example.com"}`,
		Issuer, Audience, User, now, now+3600, o.n.Add(1))
	text := o.heads[alg] + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	return text + "." + encode(o.sign(alg, sum[:]))
}

func (o *Office) sign(alg string, digest []byte) []byte {
	switch key := o.keys[alg].(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest)
		if err != nil {
			panic(err) // the key is good
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	default:
		signature, err := key.Sign(rand.Reader, digest, crypto.SHA256)
		if err != nil {
			panic(err)
		}
		return signature
	}
}

// Checker returns what checks the signature of a token of an algorithm and nothing else, with the key in a folder.
func Checker(dir, alg string) (func(token string) bool, error) {
	src, err := os.ReadFile(filepath.Join(dir, alg))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(src)
	if block == nil {
		return nil, errors.New("there is no key of " + alg)
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	return func(token string) bool { return signed(public, token) }, nil
}

func signed(public crypto.PublicKey, token string) bool {
	end := strings.LastIndexByte(token, '.')
	if end < 0 {
		return false
	}
	sum := sha256.Sum256([]byte(token[:end]))
	signature, err := base64.RawURLEncoding.DecodeString(token[end+1:])
	if err != nil {
		return false
	}
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		r, s := new(big.Int), new(big.Int)
		return len(signature) == 64 && ecdsa.Verify(key, sum[:], r.SetBytes(signature[:32]), s.SetBytes(signature[32:]))
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}

// Client is an HTTP client that reaches the issuer of a folder, and nobody else.
func Client(dir string) *http.Client {
	return &http.Client{Transport: http.NewFileTransport(http.Dir(dir))}
}
