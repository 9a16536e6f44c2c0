package signedcard

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// Key signs cards. It never shows itself in an error.
type Key struct {
	jwk    jose.JSONWebKey
	public *publicKey
}

// NewKey makes a key for one of [Algorithms], named by its thumbprint.
func NewKey(algorithm string) (*Key, error) {
	var key any
	var err error
	switch alg := jose.SignatureAlgorithm(algorithm); alg {
	case jose.ES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		key, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jose.EdDSA:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		if !slices.Contains(algorithms, alg) {
			return nil, fmt.Errorf("%.40q is no algorithm that signs cards: write one of %v", algorithm, Algorithms())
		}
		key, err = rsa.GenerateKey(rand.Reader, 3072)
	}
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return keyOf(jose.JSONWebKey{Key: key, Algorithm: algorithm})
}

// ReadKey reads a private key: a JSON Web Key, as [Key.Private] writes it, or PKCS #8 in PEM, as OpenSSL does.
// Without an id it goes by its thumbprint.
func ReadKey(src []byte) (*Key, error) {
	if len(src) > maxKeyFile {
		return nil, fmt.Errorf("a key of more than %d bytes is none", maxKeyFile)
	}
	if block, _ := pem.Decode(src); block != nil {
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil { // whose text could tell of the key
			return nil, errors.New(`the PEM is not an unencrypted "PRIVATE KEY" (PKCS #8): make one with "a2agen ` +
				`card keygen"`)
		}
		return keyOf(jose.JSONWebKey{Key: key})
	}
	var k jose.JSONWebKey
	if err := json.Unmarshal(src, &k); err != nil {
		return nil, errors.New(`it is neither a JSON Web Key nor a PEM: make one with "a2agen card keygen"`)
	}
	if k.IsPublic() {
		return nil, errors.New("it is a public key, and signing takes the private one")
	}
	return keyOf(k)
}

// keyOf checks and completes a private key.
func keyOf(k jose.JSONWebKey) (*Key, error) {
	switch key := k.Key.(type) {
	case crypto.Signer:
		k.Use = "sig"
		public, err := publicOf(jose.JSONWebKey{Key: key.Public(), Algorithm: k.Algorithm})
		if err != nil {
			return nil, err
		}
		k.Algorithm, k.KeyID = public.alg, cmp.Or(k.KeyID, public.thumbprint)
		return &Key{k, public}, nil
	}
	return nil, errors.New("it is no private key of a pair: a shared secret signs nothing that others can verify")
}

// ID returns the id by which signatures name the key.
func (k *Key) ID() string { return k.jwk.KeyID }

// Algorithm returns the key's algorithm: "ES256".
func (k *Key) Algorithm() string { return k.jwk.Algorithm }

// Thumbprint returns what the key is, by RFC 7638.
func (k *Key) Thumbprint() string { return k.public.thumbprint }

// Private returns the key as a JSON Web Key. It is secret.
func (k *Key) Private() ([]byte, error) { return indented(k.jwk) }

// Public adds the public key to a JSON Web Key Set, a new one for nil, in place of one with the same id.
func (k *Key) Public(set []byte) ([]byte, error) {
	var s struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if len(set) > 0 {
		if _, err := readKeys(set); err != nil {
			return nil, err
		}
		var err error
		if s.Keys, err = rawKeys(set); err != nil {
			return nil, err
		}
	}
	s.Keys = slices.DeleteFunc(s.Keys, func(raw json.RawMessage) bool {
		var old jose.JSONWebKey
		return json.Unmarshal(raw, &old) == nil && old.KeyID == k.ID()
	})
	public, err := json.Marshal(k.jwk.Public())
	if err != nil {
		return nil, err
	}
	s.Keys = append(s.Keys, public)
	return indented(s)
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
