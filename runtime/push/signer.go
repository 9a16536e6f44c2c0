package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// signedFor is how long a signature counts. Each try of a notification has its own.
const signedFor = 5 * time.Minute

// Signer signs the notifications that an agent sends, with ES256, so that a receiver can tell who sent them and that
// nobody changed them. Give it to the server with WithPushSigner, which serves its keys.
type Signer struct {
	issuer string
	key    *ecdsa.PrivateKey
	header string // of every JWT, encoded
	keys   []byte // JSON Web Key Set
}

// NewSigner makes a signer of an agent whose public base URL is issuer ("https://weather.example.com"). The first key
// signs; all are published, so that the next key is known before it signs and the last one after. They are of the curve
// P-256.
func NewSigner(issuer string, keys ...*ecdsa.PrivateKey) (*Signer, error) {
	if len(keys) == 0 {
		return nil, errors.New("push: a signer needs a key")
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	for _, key := range keys {
		if key == nil || key.Curve != elliptic.P256() {
			return nil, errors.New("push: a key is not of the curve P-256")
		}
		k, err := jwkOf(&key.PublicKey)
		if err != nil {
			return nil, err
		}
		set.Keys = append(set.Keys, k)
	}
	s := &Signer{issuer: strings.TrimSuffix(issuer, "/"), key: keys[0]}
	header, err := json.Marshal(map[string]string{"alg": "ES256", "kid": set.Keys[0].ID, "typ": "JWT"})
	if err != nil {
		return nil, err
	}
	s.header = encode(header)
	s.keys, err = json.Marshal(set)
	return s, err
}

// jwk is a public key as a JSON Web Key (RFC 7517).
type jwk struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
	ID        string `json:"kid"`
	Algorithm string `json:"alg"`
	Use       string `json:"use"`
}

// jwkOf names the key by its thumbprint (RFC 7638).
func jwkOf(key *ecdsa.PublicKey) (jwk, error) {
	point, err := key.Bytes() // 4, x, y
	if err != nil {
		return jwk{}, err
	}
	k := jwk{Type: "EC", Curve: "P-256", X: encode(point[1:33]), Y: encode(point[33:]), Algorithm: "ES256", Use: "sig"}
	sum := sha256.Sum256([]byte(`{"crv":"P-256","kty":"EC","x":"` + k.X + `","y":"` + k.Y + `"}`))
	k.ID = encode(sum[:])
	return k, nil
}

// Keys returns the JSON Web Key Set by which receivers verify.
func (s *Signer) Keys() []byte { return s.keys }

// claims are what is signed. The name of the body's digest is the one of the protocol's own samples.
type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
	Task     string `json:"taskId"`
	Config   string `json:"config"`
	Sequence string `json:"sequence"`
	Digest   string `json:"request_body_sha256"`
}

// Sign returns the JWT for a notification.
func (s *Signer) Sign(n *runtime.Notification) (jwt string, err error) {
	now, body := time.Now(), sha256.Sum256(n.Body)
	payload, err := json.Marshal(claims{
		Issuer: s.issuer, Audience: n.Config.URL, IssuedAt: now.Unix(), Expires: now.Add(signedFor).Unix(), ID: n.ID,
		Task: n.TaskID, Config: n.Config.ID, Sequence: n.Sequence, Digest: hex.EncodeToString(body[:]),
	})
	if err != nil {
		return "", err
	}
	signed := s.header + "." + encode(payload)
	sum := sha256.Sum256([]byte(signed))
	x, y, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	x.FillBytes(signature[:32])
	y.FillBytes(signature[32:])
	return signed + "." + encode(signature[:]), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
