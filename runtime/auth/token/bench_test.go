package token_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// realistic are claims of the length that issuers make.
func realistic(n int) string {
	return claims(map[string]any{"jti": fmt.Sprintf("%032d", n), "auth_time": time.Now().Unix(), "amr": []string{"pwd", "otp"},
		"roles": []string{"reader", "writer"}, "email": "ann@example.com", "exp": time.Now().Unix() + 3600})
}

// BenchmarkATokenSeenBefore: three tenths of net/http's 11 µs at most.
func BenchmarkATokenSeenBefore(b *testing.B) {
	key := newKey(b)
	g := jwts(b, newIssuer(jwk("one", key.Public())))
	r := with(sign(key, good, realistic(0)))
	b.ReportAllocs()
	for b.Loop() {
		t, denial := g.Check(r)
		if denial != nil || t.Caller.Principal() != ann {
			b.Fatal(denial)
		}
	}
}

// BenchmarkANewToken: the bare signature check and 30 % at most.
func BenchmarkANewToken(b *testing.B) {
	ec := newKey(b)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	g := jwts(b, newIssuer(jwk("one", ec.Public()), jwk("rsa", rs.Public())))
	for alg, key := range map[string]crypto.Signer{"ES256": ec, "RS256": rs} {
		head := good
		if alg == "RS256" {
			head = `{"alg":"RS256","typ":"at+jwt","kid":"rsa"}`
		}
		tokens := make([]string, 500)
		for n := range tokens {
			tokens[n] = sign(key, head, realistic(n))
		}
		b.Run(alg+"/bare", func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if !bare(key.Public(), tokens[n%len(tokens)]) {
					b.Fatal("not good")
				}
			}
		})
		b.Run(alg+"/whole", func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n%len(tokens) == 0 { // it knows none of them
					b.StopTimer()
					g = jwts(b, newIssuer(jwk("one", ec.Public()), jwk("rsa", rs.Public())))
					warm(b, g, ec, rs)
					b.StartTimer()
				}
				if _, denial := g.Check(with(tokens[n%len(tokens)])); denial != nil {
					b.Fatal(denial)
				}
				n++
			}
		})
	}
}

// warm has the keys fetched.
func warm(b *testing.B, g *guard.Guard, ec, rs crypto.Signer) {
	for head, key := range map[string]crypto.Signer{good: ec, `{"alg":"RS256","typ":"at+jwt","kid":"rsa"}`: rs} {
		if _, denial := g.Check(with(sign(key, head, realistic(-1)))); denial != nil {
			b.Fatal(denial)
		}
	}
}

// bare is the check of a signature, and nothing else.
func bare(public crypto.PublicKey, token string) bool {
	i := strings.LastIndexByte(token, '.')
	sum := sha256.Sum256([]byte(token[:i]))
	sig, err := base64.RawURLEncoding.DecodeString(token[i+1:])
	if err != nil {
		return false
	}
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], sig) == nil
	}
	return false
}
