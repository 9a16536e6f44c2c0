package oauth

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime/wire"
)

// TestMetadataAreReadInLinearTime, up to the size that is taken.
func TestMetadataAreReadInLinearTime(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"members": func(n int) string { return `{"issuer":"x"` + strings.Repeat(`,"unknown":[{}]`, n/15) + `}` },
		"challenges": func(n int) string {
			return `{"code_challenge_methods_supported":[` + strings.Repeat(`"S256",`, n/7) + `"plain"]}`
		},
		"escapes": func(n int) string { return `{"issuer":"` + strings.Repeat(`\u0061`, n/6) + `"}` },
		"depth":   func(n int) string { return `{"x":` + strings.Repeat("[", n/2) + strings.Repeat("]", n/2) + `}` },
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 4<<10, func(n int) func() {
				src := []byte(text(n))
				return func() {
					for range 20 {
						_, _ = wire.Decode(src, readEndpoints)
					}
				}
			})
		})
	}
}
