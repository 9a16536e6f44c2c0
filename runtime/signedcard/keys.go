package signedcard

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha256" // of thumbprints
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/wire"
)

// algorithms that sign cards (RFC 7518 §3.1, RFC 8037). The names of RFC 9864 are not among them: a key has one name.
var algorithms = []jose.SignatureAlgorithm{
	jose.ES256, jose.ES384, jose.ES512, jose.RS256, jose.RS384, jose.RS512,
	jose.PS256, jose.PS384, jose.PS512, jose.EdDSA,
}

// Algorithms lists the algorithms that are taken; ES256, the default, is the first.
func Algorithms() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	return names
}

// publicKey is a key that verifies, by one algorithm.
type publicKey struct {
	public     any
	alg        string
	thumbprint string
}

// publicOf is a JSON Web Key as it verifies cards. Without "alg" it is for the algorithm that its kind is mostly used
// with.
func publicOf(k jose.JSONWebKey) (*publicKey, error) {
	fits := fitting(k.Key)
	switch {
	case len(fits) == 0:
		return nil, errors.New("it is no public key of at least 2048 bits (RSA), or of a curve that is known")
	case k.Algorithm != "" && !slices.Contains(fits, k.Algorithm):
		return nil, fmt.Errorf("it is not for the algorithm %.40q", k.Algorithm)
	}
	thumbprint, err := thumbprintOf(k)
	return &publicKey{k.Key, cmp.Or(k.Algorithm, fits[0]), thumbprint}, err
}

// fitting are the algorithms by which a public key can verify, none for what is no such key.
func fitting(public any) []string {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		return map[string][]string{"P-256": {"ES256"}, "P-384": {"ES384"}, "P-521": {"ES512"}}[key.Curve.Params().Name]
	case *rsa.PublicKey:
		if key.Size() >= 2048/8 { // RFC 7518 §3.3
			return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
		}
	case ed25519.PublicKey:
		return []string{"EdDSA"}
	}
	return nil
}

// thumbprintOf names a key by what it is (RFC 7638), in base64url.
func thumbprintOf(k jose.JSONWebKey) (string, error) {
	sum, err := k.Thumbprint(crypto.SHA256)
	return base64url.EncodeToString(sum), err
}

// readKeys reads a JSON Web Key Set, or one JSON Web Key. Keys for encryption and of unknown kinds are for others. A
// key without an id goes by its thumbprint.
func readKeys(src []byte) (map[string]*publicKey, error) {
	if len(src) > maxKeyFile {
		return nil, fmt.Errorf("the key set has more than %d bytes", maxKeyFile)
	}
	raw, err := rawKeys(src)
	if err != nil {
		return nil, err
	}
	keys := map[string]*publicKey{}
	for i, r := range raw {
		var k jose.JSONWebKey
		if json.Unmarshal(r, &k) != nil || k.Use != "" && k.Use != "sig" {
			continue
		}
		switch k.Key.(type) {
		case []byte, *ecdsa.PrivateKey, *rsa.PrivateKey, ed25519.PrivateKey:
			return nil, fmt.Errorf("key %d of the set is secret, and verifying takes public ones: replace it by "+
				"what \"a2agen card keygen\" prints, and do not use it again if others saw this file", i+1)
		}
		key, err := publicOf(k)
		if err != nil {
			return nil, fmt.Errorf("key %d of the set (%.40q): %w", i+1, k.KeyID, err)
		}
		id := cmp.Or(k.KeyID, key.thumbprint)
		if keys[id] != nil {
			return nil, fmt.Errorf("two keys of the set have the id %.40q", id)
		}
		keys[id] = key
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no key that verifies signatures")
	}
	return keys, nil
}

// rawKeys are the keys of a set as they came, read strictly.
func rawKeys(src []byte) ([]json.RawMessage, error) {
	whole, err := wire.ParseObject(src)
	if err != nil {
		return nil, fmt.Errorf("no JSON Web Key Set: %w", err)
	}
	members, isSet := whole.Get("keys")
	if !isSet {
		if _, isKey := whole.Get("kty"); !isKey {
			return nil, errors.New(`no JSON Web Key Set: it has neither "keys" nor "kty"`)
		}
		return []json.RawMessage{json.RawMessage(whole)}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(members, &list); err != nil {
		return nil, fmt.Errorf("no JSON Web Key Set: %w", err)
	}
	if len(list) > maxKeys {
		return nil, fmt.Errorf("the key set has more than %d keys", maxKeys)
	}
	return list, nil
}
