package token_test

import (
	"strings"
	"testing"
)

// FuzzTokens: what nobody signed is no good, whatever it says, and is not in the log.
func FuzzTokens(f *testing.F) {
	key := newKey(f)
	g := jwts(f, newIssuer(jwk("one", key.Public())))
	f.Add(good, claims(nil), "AAAA")
	f.Add(`{"alg":"none"}`, `{}`, "")
	f.Add(`{"alg":"ES256","kid":"one","typ":"at+jwt","crit":[]}`, `{"exp":1e400,"aud":[[]],"cnf":{"jkt":[]},"scope":{}}`, strings.Repeat("A", 86))
	f.Fuzz(func(t *testing.T, header, payload, signature string) {
		value := b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString([]byte(payload)) + "." + b64.EncodeToString([]byte(signature))
		r := with("x")
		r.Header["Authorization"] = []string{"Bearer " + value}
		got := verdict(g, r)
		if !strings.HasPrefix(got, "401") || strings.Contains(got, "eyJ") {
			t.Errorf("%s", got)
		}
	})
}
