package auth_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime/auth"
)

// TestHeadersAreReadInLinearTime: what strangers send, up to what a header may have.
func TestHeadersAreReadInLinearTime(t *testing.T) {
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"b":{"httpAuthSecurityScheme":{"scheme":"basic"}},
		"q":{"apiKeySecurityScheme":{"location":"query","name":"k"}},"c":{"apiKeySecurityScheme":{"location":"cookie","name":"k"}}},
		"securityRequirements":[{"schemes":{"t":{}}},{"schemes":{"b":{}}},{"schemes":{"q":{}}},{"schemes":{"c":{}}},{}]}`
	wrong := auth.Func(func(context.Context, auth.Credential) (auth.Caller, error) { return auth.Caller{}, auth.ErrNone })
	g := guardOf(t, card, auth.Verifiers{"t": wrong, "b": wrong, "q": wrong, "c": wrong})
	for name, fill := range map[string]func(r *http.Request, n int){
		"cookies": func(r *http.Request, n int) { r.Header["Cookie"] = []string{strings.Repeat("k=v;", n/4)} },
		"queries": func(r *http.Request, n int) { r.URL.RawQuery = strings.Repeat("k=v&", n/4) },
		"escapes": func(r *http.Request, n int) { r.URL.RawQuery = strings.Repeat("%6b=%6", n/6) },
		"a token": func(r *http.Request, n int) { r.Header["Authorization"] = []string{"Bearer " + strings.Repeat("x", n)} },
		"padding": func(r *http.Request, n int) { r.Header["Authorization"] = []string{"Bearer " + strings.Repeat("=", n)} },
		"blanks":  func(r *http.Request, n int) { r.Header["Authorization"] = []string{"Bearer " + strings.Repeat(" ", n)} },
		"colons": func(r *http.Request, n int) {
			r.Header["Authorization"] = []string{"Basic " + strings.Repeat("Ojo6", n/4)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 8<<10, func(n int) func() {
				r := request()
				fill(r, n)
				return func() {
					for range 50 {
						_, _ = g.Check(r)
					}
				}
			})
		})
	}
}
