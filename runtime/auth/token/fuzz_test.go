package token_test

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
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

// FuzzKeys: whatever an issuer publishes, nobody comes in by a key that is not in it.
func FuzzKeys(f *testing.F) {
	key, other := newKey(f), newKey(f)
	forged := sign(other, good, claims(map[string]any{"exp": time.Now().Unix() + 36_000}))
	_, rest, _ := strings.Cut(jwk("one", key.Public()), "{")
	f.Add("{" + rest)
	f.Add(`{"kty":"oct","k":"AAAA","kid":"one"},{"kty":"OKP","crv":"Ed25519","x":"","kid":"one"}`)
	f.Add(`{"kty":"RSA","n":"AQ","e":"AQ","kid":"one","x5c":["AAAA"],"x5u":"https://evil.example/"}`)
	f.Add(`{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"one"}`)
	f.Fuzz(func(t *testing.T, keys string) {
		if strings.Contains(keys, b64.EncodeToString(other.X.Bytes())) {
			return
		}
		published := &issuer{name: idp, fetches: map[string]int{}, set: []string{keys}}
		if got := verdict(jwts(t, published), with(forged)); !strings.HasPrefix(got, "401") && !strings.HasPrefix(got, "503") {
			t.Errorf("%s", got)
		}
		for path := range published.fetches {
			if path != "/jwks" && path != "/.well-known/openid-configuration" {
				t.Errorf("%s was fetched", path)
			}
		}
	})
}

// FuzzIntrospection: whatever an issuer answers, who comes in is whom it names, for us, for a time that it says.
func FuzzIntrospection(f *testing.F) {
	f.Add(claims(map[string]any{"active": true, "exp": time.Now().Unix() + 36_000}))
	f.Add(`{"active":true}`)
	f.Add(`{"active":true,"aud":{},"exp":"x","sub":1}`)
	f.Add(`{"active":false,"active":true,"sub":"ann"}`)
	f.Fuzz(func(t *testing.T, answer string) {
		i := newIssuer()
		i.asked = func(url.Values) string { return answer }
		grant, denial := opaque(t, i).Check(with("opaque"))
		if denial != nil {
			return
		}
		var said struct {
			Active bool
			Sub    string
			Client string `json:"client_id"`
			Azp    string
			Exp    float64
		}
		if err := json.Unmarshal([]byte(answer), &said); err != nil || !said.Active || said.Exp <= 0 {
			t.Fatalf("%+v by %s (%v)", grant.Caller, answer, err)
		}
		if id := cmp.Or(said.Sub, said.Client, said.Azp); grant.Caller.ID != id || !strings.Contains(answer, "agent.example") {
			t.Errorf("%+v by %s", grant.Caller, answer)
		}
	})
}
