package token_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

// TestTokensAreReadInLinearTime, also those that nobody has signed: up to the size that is looked at.
func TestTokensAreReadInLinearTime(t *testing.T) {
	key := newKey(t)
	g := jwts(t, newIssuer(jwk("one", key.Public())))
	if got := verdict(g, with(sign(key, good, claims(nil)))); got != ann { // the issuer has been asked
		t.Fatal(got)
	}
	names := func(n int) string {
		var b strings.Builder
		for i := range n / 12 {
			fmt.Fprintf(&b, `,"claim%d":0`, i)
		}
		return b.String()
	}
	many := func(item string) func(int) string {
		return func(n int) string {
			return `,"x":[` + strings.TrimSuffix(strings.Repeat(item+",", n/len(item)), ",") + `]`
		}
	}
	for name, more := range map[string]func(n int) string{
		"claims":    names,
		"lists":     many("[0]"),
		"objects":   many(`{"a":0}`),
		"depth":     func(n int) string { return `,"x":` + strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
		"escapes":   func(n int) string { return `,"x":"` + strings.Repeat(`\u0061`, n/6) + `"` },
		"audiences": func(n int) string { return `,"aud":["` + strings.Repeat(`a","`, n/4) + `b"]` },
		"scopes":    func(n int) string { return `,"scope":"` + strings.Repeat("a ", n/2) + `"` },
	} {
		for place, put := range map[string]func(string) (header, payload string){
			"header":  func(s string) (string, string) { return strings.TrimSuffix(good, "}") + s + "}", claims(nil) },
			"payload": func(s string) (string, string) { return good, `{"iss":"` + idp + `"` + s + `}` },
		} {
			t.Run(name+" in the "+place, func(t *testing.T) {
				growth.Linear(t, 1<<10, func(n int) func() {
					r := with("x")
					header, payload := put(more(n))
					r.Header["Authorization"] = []string{"Bearer " + b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString([]byte(payload)) + ".AAAA"}
					return func() {
						for range 50 {
							_, _ = g.Check(r)
						}
					}
				})
			})
		}
	}
}
