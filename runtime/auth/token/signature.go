package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha256" // what signatures are made of
	_ "crypto/sha512"
	"encoding/base64"
	"errors"
	"math/big"
	"strings"
)

// algorithm is a signature algorithm with public keys (RFC 7518 §3, RFC 8037).
type algorithm struct {
	name string
	hash crypto.Hash
	// good checks a signature of a digest, or for EdDSA of the text itself. A key of another kind has made none.
	good func(public any, hash crypto.Hash, digest, signature []byte) bool
}

var algorithms = []algorithm{
	{"ES256", crypto.SHA256, curve(256)}, {"ES384", crypto.SHA384, curve(384)}, {"ES512", crypto.SHA512, curve(521)},
	{"RS256", crypto.SHA256, pkcs1}, {"RS384", crypto.SHA384, pkcs1}, {"RS512", crypto.SHA512, pkcs1},
	{"PS256", crypto.SHA256, pss}, {"PS384", crypto.SHA384, pss}, {"PS512", crypto.SHA512, pss},
	{"EdDSA", 0, edwards},
}

func curve(bits int) func(any, crypto.Hash, []byte, []byte) bool {
	size := (bits + 7) / 8
	return func(public any, _ crypto.Hash, digest, signature []byte) bool {
		key, ok := public.(*ecdsa.PublicKey)
		if !ok || key.Curve.Params().BitSize != bits || len(signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
		return ecdsa.Verify(key, digest, r, s)
	}
}

// leastRSA is the size of the smallest RSA key that is accepted, in bytes (RFC 7518 §3.3).
const leastRSA = 2048 / 8

func pkcs1(public any, hash crypto.Hash, digest, signature []byte) bool {
	key, ok := public.(*rsa.PublicKey)
	return ok && key.Size() >= leastRSA && rsa.VerifyPKCS1v15(key, hash, digest, signature) == nil
}

func pss(public any, hash crypto.Hash, digest, signature []byte) bool {
	key, ok := public.(*rsa.PublicKey)
	opts := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
	return ok && key.Size() >= leastRSA && rsa.VerifyPSS(key, hash, digest, signature, opts) == nil
}

func edwards(public any, _ crypto.Hash, text, signature []byte) bool {
	key, ok := public.(ed25519.PublicKey)
	return ok && ed25519.Verify(key, text, signature)
}

// verify checks the signature of a token by the algorithm that its header names.
func (k *key) verify(token string, alg *algorithm) error {
	if k.alg != "" && k.alg != alg.name {
		return errors.New("its key is for another algorithm")
	}
	end := strings.LastIndexByte(token, '.')
	signature, err := base64.RawURLEncoding.Strict().DecodeString(token[end+1:])
	if err != nil {
		return errNoJWT
	}
	digest := []byte(token[:end])
	if alg.hash != 0 {
		h := alg.hash.New()
		h.Write(digest)
		digest = h.Sum(nil)
	}
	if !alg.good(k.public, alg.hash, digest, signature) {
		return errors.New("it was not made with the issuer's key")
	}
	return nil
}
