package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// DNS rebinding: a page under a name of its own that was pointed to this machine is refused, its Origin notwithstanding.
func TestOnLoopbackOnlyKnownNamesAreAnswered(t *testing.T) {
	const on, off = http.StatusOK, http.StatusForbidden
	public := WithURL("https://agent.example/base")
	for _, c := range []struct {
		host, env string
		opts      []Option
		want      int
	}{
		{"127.0.0.1:8080", "", nil, on}, {"localhost", "", nil, on}, {"LOCALHOST.:1", "", nil, on}, {"app.localhost:80", "", nil, on},
		{"[::1]:8080", "", nil, on}, {"127.9.9.9", "", nil, on}, {"evil.example:8080", "", nil, off}, {"127.0.0.1.evil.example", "", nil, off},
		{"localhost.evil.example", "", nil, off}, {"10.0.0.1", "", nil, off}, {"[2001:db8::1]", "", nil, off},
		{"agent.example", "", []Option{public}, on}, {"Agent.Example:443", "", []Option{public}, on}, {"evil.example", "", []Option{public}, off},
		{"agent.test:80", "", []Option{WithHosts("agent.test")}, on}, {"evil.example", "", []Option{WithHosts("agent.test")}, off},
		{"agent.test", "one.test, agent.test", nil, on}, {"any.example", "*", nil, on}, {"any.example", "", []Option{WithForwarded()}, on},
		{"%", "", nil, http.StatusBadRequest}, {"a b", "", nil, http.StatusBadRequest}, {"x:y", "", nil, http.StatusBadRequest},
		{"u@x", "", nil, http.StatusBadRequest}, {"[::1", "", nil, http.StatusBadRequest}, {"%", "", []Option{WithForwarded()}, http.StatusBadRequest},
	} {
		t.Run(c.host+" "+c.env+fmt.Sprint(len(c.opts)), func(t *testing.T) {
			t.Setenv(EnvHosts, c.env)
			s := hosted(t, nil, Limits{}, c.opts...)
			for _, path := range []string{"/", CardPath} {
				r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(listTasks))
				if path == CardPath {
					r = httptest.NewRequest(http.MethodGet, path, nil)
				}
				r.Host = c.host
				r.Header.Set("Origin", "http://"+c.host)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))))
				if w.Code != c.want {
					t.Errorf("%s: status %d, want %d: %s", path, w.Code, c.want, w.Body)
				}
				if w.Code == off && !strings.Contains(w.Body.String(), "A2A_PUBLIC_URL") {
					t.Errorf("no help in %s", w.Body)
				}
			}
			r := httptest.NewRequest(http.MethodGet, CardPath, nil)
			r.Host = c.host
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); (w.Code == on) != (c.want != http.StatusBadRequest) { // on another address names are not looked at
				t.Errorf("elsewhere: status %d", w.Code)
			}
		})
	}
}

// Over a real connection, as a rebound page does it.
func TestARebound(t *testing.T) {
	_, addr := serve(t, Limits{})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: evil.example:80\r\nOrigin: http://evil.example:80\r\nContent-Length: %d\r\n\r\n%s", len(listTasks), listTasks)
	if status, _, body := answer(t, c); status != http.StatusForbidden || !strings.Contains(body, "evil.example") {
		t.Errorf("status %d: %s", status, body)
	}
}

// Whatever a client or proxy says, the base URL of a card is one of http or https with a host, and nothing else in it.
func FuzzHostAndForwarded(f *testing.F) {
	for _, host := range []string{"localhost:8080", "%", "[::1]:80", "[::1%25eth0]", "a@b", "x:80:80", "..", "exa_mple.com.", "[", "", "127.0.0.1.evil"} {
		f.Add(host, "", "", "", "")
	}
	f.Add("x", "h.example, p", "https", "/a/../b/%2f", "")
	f.Add("x", "%", "javascript", "/%", `for=1;proto=https;host="public.example:8443"`)
	f.Add("x", "", "", "/a b?c#d", `host="a;b", host=c`)
	s := hostedFuzz(f)
	f.Fuzz(func(t *testing.T, host, forwardedHost, proto, prefix, forwarded string) {
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: CardPath}, Host: host, Header: http.Header{
			"X-Forwarded-Host": {forwardedHost}, "X-Forwarded-Proto": {proto}, "X-Forwarded-Prefix": {prefix}, "Forwarded": {forwarded},
		}}
		base := s.cards.BaseOf(r)
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" || u.String() != base {
			t.Fatalf("the base URL is %q: %v", base, err)
		}
		if at := s.cards.For(r, s.engine.Card(), s.engine.Versions()[0]).CardInfo().Interfaces[0].URL; !strings.HasPrefix(at, base) {
			t.Fatalf("the card's URL is %q, of %q", at, base)
		}
		name, ok := binding.HostName(host)
		if !ok {
			return
		}
		if u, err := url.Parse("http://" + host); err != nil || !strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), name) && !sameIP(u.Hostname(), name) {
			t.Fatalf("%q is taken for %q: %v", host, name, err)
		}
	})
}

func sameIP(a, b string) bool {
	x, err := netip.ParseAddr(a)
	y, err2 := netip.ParseAddr(b)
	return err == nil && err2 == nil && x == y
}

// hostedFuzz is a server that trusts forwarded headers.
func hostedFuzz(f *testing.F) *Server {
	f.Helper()
	protocol := a2a.Protocol()
	card, err := protocol.DecodeCard([]byte(hostCard))
	if err != nil {
		f.Fatal(err)
	}
	s, err := New(Config{Protocol: protocol, Card: card, Skills: []Skill{{ID: "x", Name: "x", Run: func(context.Context, *Task, any) ([]byte, error) {
		return []byte("done"), nil
	}}}}, WithForwarded(), WithLimits(Limits{Body: 64 << 10}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	return s
}
