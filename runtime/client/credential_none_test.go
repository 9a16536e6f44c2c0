package client_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// TestWithoutCredentialsNoneIsSent: neither what options give, nor the environment, nor the error of a source that cannot be opened counts.
func TestWithoutCredentialsNoneIsSent(t *testing.T) {
	t.Setenv("A2A_CLIENT_BASIC", "somebody:secret-of-env")
	broken := func() (rpc.TokenSource, error) { return nil, errors.New("no client id") }
	for scheme, want := range map[string]string{
		"key": "X-Api-Key: placeholder", "query": "?api+key=placeholder", "cookie": "Cookie: session=placeholder", "hoba": "Authorization: hoba placeholder",
		"basic": "Authorization: Basic cGxhY2Vob2xkZXI6cGxhY2Vob2xkZXI=", "corp": "Authorization: Bearer placeholder", "oidc": "Authorization: Bearer placeholder",
	} {
		f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
		opts := append(everything(), rpc.WithoutCredentials(), rpc.FromEnvironment("", nil), rpc.WithTokensOf("corp", broken))
		if err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, scheme, "-"), opts...)); err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		if got := shown(f.call(0)); got != want {
			t.Errorf("%s: sent %q", scheme, got)
		}
	}
}

// TestAPlaceholderIsRenewedWhereATokenCouldBe, so that the same requests are made.
func TestAPlaceholderIsRenewedWhereATokenCouldBe(t *testing.T) {
	renewed := rpc.WithToken("bearer", rpc.TokenFile("no such file"))
	for name, tt := range map[string]struct {
		given rpc.Option
		calls int
	}{"a token that never changes": {rpc.WithToken("bearer", rpc.StaticToken("b")), 1}, "one of a file": {renewed, 2}} {
		denied := body(http.StatusUnauthorized, "text/plain", "no")
		f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {denied}})
		err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, "bearer", "-"), tt.given, rpc.WithoutCredentials()))
		if !errors.Is(err, runtime.ErrUnauthenticated) || len(f.got) != tt.calls {
			t.Errorf("%s: %d calls: %v", name, len(f.got), err)
		}
	}
}
