package server

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
)

// elsewhere is a listener on an address that other machines reach, which nobody listens on.
type elsewhere struct {
	net.Listener
	closed chan struct{}
}

func (l *elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }
func (l *elsewhere) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}
func (l *elsewhere) Close() error { close(l.closed); return nil }

// TestAnAgentThatDemandsNothingStaysAtHome unless somebody says that anybody may use it.
func TestAnAgentThatDemandsNothingStaysAtHome(t *testing.T) {
	const demanding = `"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},"securityRequirements":[{"schemes":{"key":{}}}],"skills":[]`
	optional := strings.Replace(demanding, `{"schemes":{"key":{}}}`, `{"schemes":{"key":{}}},{}`, 1)
	declared := strings.Replace(demanding, `[{"schemes":{"key":{}}}]`, `[]`, 1)
	keys := WithAuth(auth.Verifiers{"key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey("k")})})
	for name, c := range map[string]struct {
		card, env string
		opt       Option
		open      bool
	}{
		"nothing demanded":       {"", "", nil, false},
		"demanded and checked":   {demanding, "", keys, true},
		"nothing will do, too":   {optional, "", keys, false},
		"declared, not demanded": {declared, "", keys, false},
		"so, for everybody":      {declared, "none", keys, true},
		"WithoutAuth":            {"", "", WithoutAuth(), true},
		"from outside":           {"", "none", nil, true},
		"something else outside": {"", "no", nil, false},
		"a proxy that knows":     {demanding, "", WithProxyIdentity(func(*http.Request) (string, error) { return "", nil }), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(EnvAuth, c.env)
			opts := []Option{WithLimits(Limits{})}
			if c.opt != nil {
				opts = append(opts, c.opt)
			}
			card := hostCard
			if c.card != "" {
				card = strings.Replace(hostCard, `"skills":[]`, c.card, 1)
			}
			s := hostedAs(t, card, func(context.Context, *Task) (string, error) { return "", nil }, opts...)
			for _, addr := range []net.Addr{
				&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}, &net.TCPAddr{IP: net.IPv6zero, Port: 80}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80},
				&net.TCPAddr{IP: net.IPv6loopback, Port: 80}, &net.UnixAddr{Name: "x"},
			} {
				tcp, isTCP := addr.(*net.TCPAddr)
				home := !isTCP || tcp.IP.IsLoopback()
				r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, addr), "GET", "http://localhost"+CardPath, nil)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if got := w.Code == http.StatusOK; got != (home || c.open) || !got && w.Code != http.StatusForbidden {
					t.Errorf("%v: %d %s", addr, w.Code, w.Body)
				}
			}
			if c.open {
				_ = s.Close()
				return
			}
			var out lines
			if code := host(t.Context(), s, nil, []string{"-addr", ":0"}, &out); code != exitFailed || !strings.Contains(out.String(), "A2A_AUTH=none") {
				t.Errorf("exit code %d: %s", code, out.String())
			}
			l := &elsewhere{closed: make(chan struct{})}
			if err := s.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "192.0.2.1:80 can be reached from other machines") {
				t.Errorf("serve: %v", err)
			}
			<-l.closed
		})
	}
}
