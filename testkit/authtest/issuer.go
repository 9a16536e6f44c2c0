package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha512" // of ES384 and the like
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Issuer issues tokens, and publishes on a loopback address what verifies them: its keys, and introspection of opaque
// tokens.
type Issuer struct {
	URL string // as tokens have it

	keys map[string]crypto.Signer // by algorithm; the id of a key is that of its algorithm

	mu     sync.Mutex
	opaque map[string]map[string]any // claims, by the token
}

// Where an [Issuer] is asked, behind its URL.
const (
	keysPath          = "/keys"
	introspectionPath = "/introspect"
)

// NewIssuer starts an issuer that stops with the test.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{keys: map[string]crypto.Signer{}, opaque: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+keysPath, func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		set := []map[string]string{}
		for algorithm, key := range i.keys {
			set = append(set, publicKey(algorithm, key))
		}
		answer(w, map[string]any{"keys": set})
	})
	mux.HandleFunc("POST "+introspectionPath, func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if claims := i.opaque[r.PostFormValue("token")]; claims != nil {
			answer(w, claims)
			return
		}
		answer(w, map[string]any{"active": false})
	})
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + keysPath, "introspection_endpoint": i.URL + introspectionPath,
		})
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	i.URL = web.URL
	return i
}

// Token signs a JWT of a type ("at+jwt") with an algorithm ("ES256"). By default it is of this issuer and valid for
// five minutes; claims change that, and a nil value removes a claim.
func (i *Issuer) Token(typ, algorithm string, claims map[string]any) string {
	header := map[string]any{"alg": algorithm, "typ": typ, "kid": algorithm}
	text := segment(header) + "." + segment(i.complete(claims))
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(i.key(algorithm), algorithm, text))
}

// Opaque returns an opaque token, whose claims the issuer returns by introspection.
func (i *Issuer) Opaque(claims map[string]any) string {
	token, all := rand.Text(), i.complete(claims)
	all["active"] = true
	i.mu.Lock()
	defer i.mu.Unlock()
	i.opaque[token] = all
	return token
}

// complete adds the claims that every token has.
func (i *Issuer) complete(claims map[string]any) map[string]any {
	now := time.Now()
	all := map[string]any{"iss": i.URL, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "jti": rand.Text()}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// key returns the key of an algorithm of JWTs, which is made when it is first needed.
func (i *Issuer) key(algorithm string) crypto.Signer {
	i.mu.Lock()
	defer i.mu.Unlock()
	if key := i.keys[algorithm]; key != nil {
		return key
	}
	var key crypto.Signer
	var err error
	switch algorithm[:2] {
	case "ES":
		key, err = ecdsa.GenerateKey(curves[algorithm], rand.Reader)
	case "Ed":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		panic(err) // there are no random numbers
	}
	i.keys[algorithm] = key
	return key
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the caller notices
}

func segment(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a claim that no JSON can say
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

var curves = map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}

var hashes = map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}

// sign signs a text with an algorithm of JWTs (RFC 7518 §3, RFC 8037).
func sign(key crypto.Signer, algorithm, text string) []byte {
	hash, signed := hashes[algorithm[2:]], []byte(text)
	if hash != 0 {
		h := hash.New()
		h.Write(signed)
		signed = h.Sum(nil)
	}
	if own, ok := key.(*ecdsa.PrivateKey); ok {
		r, s, err := ecdsa.Sign(rand.Reader, own, signed)
		if err != nil {
			panic(err)
		}
		size := (own.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	}
	var opts crypto.SignerOpts = hash
	if strings.HasPrefix(algorithm, "PS") {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	sig, err := key.Sign(rand.Reader, signed, opts)
	if err != nil {
		panic(err)
	}
	return sig
}

// publicKey returns a key as issuers publish it (RFC 7517).
func publicKey(algorithm string, key crypto.Signer) map[string]string {
	b64 := base64.RawURLEncoding.EncodeToString
	jwk := map[string]string{"kid": algorithm, "alg": algorithm, "use": "sig"}
	switch public := key.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			panic(err)
		}
		half := len(point) / 2
		jwk["kty"], jwk["crv"] = "EC", public.Params().Name
		jwk["x"], jwk["y"] = b64(point[1:1+half]), b64(point[1+half:])
	case *rsa.PublicKey:
		jwk["kty"], jwk["n"], jwk["e"] = "RSA", b64(public.N.Bytes()), b64(big.NewInt(int64(public.E)).Bytes())
	case ed25519.PublicKey:
		jwk["kty"], jwk["crv"], jwk["x"] = "OKP", "Ed25519", b64(public)
	default:
		panic(fmt.Sprintf("a key of type %T", public))
	}
	return jwk
}
