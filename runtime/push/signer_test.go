package push_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
)

func newKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func raw(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestASignatureSaysWhatIsSentAndVerifiesWithThePublishedKey(t *testing.T) {
	now, next := newKey(t, elliptic.P256()), newKey(t, elliptic.P256())
	s, err := push.NewSigner("https://agent.example/", now, next)
	if err != nil {
		t.Fatal(err)
	}
	n := &runtime.Notification{
		Config: runtime.PushConfig{ID: "c", URL: "https://hook.example/x"}, ID: "id", TaskID: "t\n", Sequence: "3-5", Body: []byte(`{"a":1}`),
	}
	jwt, err := s.Sign(n)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		t.Fatalf("not a compact JWS: %s", jwt)
	}
	var header struct{ Alg, Typ, Kid string }
	var claims map[string]any
	if err := json.Unmarshal(raw(t, parts[0]), &header); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw(t, parts[1]), &claims); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(n.Body)
	for name, want := range map[string]any{
		"iss": "https://agent.example", "aud": "https://hook.example/x", "jti": "id", "taskId": "t\n", "config": "c", "sequence": "3-5",
		"request_body_sha256": hex.EncodeToString(digest[:]),
	} {
		if claims[name] != want {
			t.Errorf("claim %s is %v, want %v", name, claims[name], want)
		}
	}
	if age := time.Since(time.Unix(int64(claims["iat"].(float64)), 0)); age < 0 || age > time.Minute || claims["exp"].(float64)-claims["iat"].(float64) != 300 {
		t.Errorf("times: %v to %v", claims["iat"], claims["exp"])
	}
	var set struct {
		Keys []struct{ Kty, Crv, X, Y, Kid, Alg, Use string }
	}
	if err := json.Unmarshal(s.Keys(), &set); err != nil || len(set.Keys) != 2 {
		t.Fatalf("keys: %s, %v", s.Keys(), err)
	}
	k := set.Keys[0]
	if header.Alg != "ES256" || header.Typ != "JWT" || header.Kid != k.Kid || k.Kty != "EC" || k.Crv != "P-256" || k.Alg != "ES256" || k.Use != "sig" {
		t.Errorf("header %+v, key %+v", header, k)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, raw(t, k.X), raw(t, k.Y)))
	if err != nil {
		t.Fatal(err)
	}
	sum, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), raw(t, parts[2])
	if len(signature) != 64 || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature does not verify")
	}
}

func TestASignerWantsKeysOfItsCurve(t *testing.T) {
	for name, keys := range map[string][]*ecdsa.PrivateKey{"none": nil, "nil": {nil}, "P-384": {newKey(t, elliptic.P384())}} {
		if _, err := push.NewSigner("https://agent.example", keys...); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
