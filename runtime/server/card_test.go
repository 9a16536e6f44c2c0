package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/server"
)

// getCard asks s for its card with header lines "Name: value".
func getCard(t *testing.T, s http.Handler, method string, header ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, "http://agent.example"+server.CardPath, nil)
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(b)
}

func cardURL(t *testing.T, body string) string {
	t.Helper()
	var card struct {
		SupportedInterfaces []struct{ URL string }
	}
	if err := json.Unmarshal([]byte(body), &card); err != nil || len(card.SupportedInterfaces) != 1 {
		t.Fatalf("card is %s", body)
	}
	return card.SupportedInterfaces[0].URL
}

// R121, R145, R146 (max-age), R147, R246: the card with an ETag, a time to live and conditional requests.
func TestCardIsServedWithCachingHeaders(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()})
	resp, body := getCard(t, s, http.MethodGet)
	etag := resp.Header.Get("ETag")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Cache-Control") != "public, max-age=300" || !strings.HasPrefix(etag, `"`) {
		t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
	}
	if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("web pages cannot read the card")
	}
	if err := new(a2a.AgentCard).UnmarshalJSON([]byte(body)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name, method, match string
		status, length      int
	}{
		{"HEAD", http.MethodHead, "", http.StatusOK, 0},
		{"same tag", http.MethodGet, etag, http.StatusNotModified, 0},
		{"weak tag in a list", http.MethodGet, `"x", W/` + etag, http.StatusNotModified, 0},
		{"any tag", http.MethodGet, "*", http.StatusNotModified, 0},
		{"other tag", http.MethodGet, `"x"`, http.StatusOK, len(body)},
		{"preflight", http.MethodOptions, "", http.StatusNoContent, 0},
		{"POST", http.MethodPost, "", http.StatusMethodNotAllowed, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, got := getCard(t, s, c.method, "If-None-Match: "+c.match)
			if resp.StatusCode != c.status || c.length >= 0 && len(got) != c.length {
				t.Errorf("status %d with %d bytes", resp.StatusCode, len(got))
			}
		})
	}
}

// The card has a date for clients and caches that know no tags; a tag goes first.
func TestCardIsServedWithItsDate(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 5e8, time.UTC)
	s := newServer(t, testCard, []server.Skill{echo()}, server.WithClock(func() time.Time { return now }))
	resp, _ := getCard(t, s, http.MethodGet)
	const want = "Fri, 02 Jan 2026 12:00:00 GMT"
	if got := resp.Header.Get("Last-Modified"); got != want {
		t.Errorf("Last-Modified is %q, want %q", got, want)
	}
	for _, c := range []struct {
		since, match string
		status       int
	}{
		{want, "", http.StatusNotModified}, {"Fri, 02 Jan 2026 11:59:59 GMT", "", http.StatusOK}, {"Sat, 03 Jan 2026 12:00:00 GMT", "", http.StatusNotModified},
		{"yesterday", "", http.StatusOK}, {want, `"x"`, http.StatusOK},
	} {
		header := []string{"If-Modified-Since: " + c.since}
		if c.match != "" {
			header = append(header, "If-None-Match: "+c.match)
		}
		if resp, _ := getCard(t, s, http.MethodGet, header...); resp.StatusCode != c.status {
			t.Errorf("since %q and tag %q: status %d", c.since, c.match, resp.StatusCode)
		}
	}
}

// R146: how long the card may be cached is the agent's to say.
func TestCardMaxAgeCanBeSet(t *testing.T) {
	for age, want := range map[time.Duration]string{time.Hour: "public, max-age=3600", 90 * time.Second: "public, max-age=90"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			resp, _ := getCard(t, newServer(t, testCard, []server.Skill{echo()}, server.WithCardMaxAge(age)), method)
			if got := resp.Header.Get("Cache-Control"); got != want {
				t.Errorf("%s: %q, want %q", method, got, want)
			}
		}
	}
}

// T57: an interface whose path has escapes is reached at the URL that the card gives.
func TestAnInterfacePathWithEscapesIsServed(t *testing.T) {
	for _, path := range []string{"/a%2Fb/rpc", "/caf%C3%A9", "/v1/agent:rpc", "/a%20b"} {
		a := start(t, strings.Replace(testCard, "http://localhost/rpc", "http://localhost"+path, 1), []server.Skill{echo()})
		_, card := getCard(t, a.Server, http.MethodGet)
		if got := cardURL(t, card); got != "http://agent.example"+path {
			t.Errorf("the card says %s", got)
		}
		a.url = strings.TrimSuffix(a.url, "/rpc") + path
		a.ok("ListTasks", `{}`)
		a.url += "/tasks/1:cancel"
		if resp, _ := a.post(rpcBody("ListTasks", `{}`)); resp.StatusCode != http.StatusNotFound {
			t.Errorf("below %s: status %d", path, resp.StatusCode)
		}
	}
}

// The card is right where it is deployed (R124).
func TestCardHasTheURLUnderWhichTheAgentIsReached(t *testing.T) {
	for _, c := range []struct {
		name, env string
		options   []server.Option
		header    []string
		want      string
	}{
		{"the request's host", "", nil, nil, "http://agent.example/rpc"},
		{"forwarded headers are not trusted by default", "", nil, []string{"X-Forwarded-Host: evil.example"}, "http://agent.example/rpc"},
		{"trusted forwarded headers", "", []server.Option{server.WithForwarded()}, []string{"X-Forwarded-Host: public.example, proxy", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /weather/"}, "https://public.example/weather/rpc"},
		{"RFC 7239", "", []server.Option{server.WithForwarded()}, []string{`Forwarded: for=1.2.3.4;proto=https;host="public.example:8443"`}, "https://public.example:8443/rpc"},
		{"a forwarded host that is none", "", []server.Option{server.WithForwarded()}, []string{`X-Forwarded-Host: a"b<c`}, "http://localhost/rpc"},
		{"the environment", "https://env.example", []server.Option{server.WithForwarded()}, []string{"X-Forwarded-Host: other"}, "https://env.example/rpc"},
		{"the option", "https://env.example", []server.Option{server.WithURL("https://option.example/agents/weather/")}, nil, "https://option.example/agents/weather/rpc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(server.EnvURL, c.env)
			s := newServer(t, testCard, []server.Skill{echo()}, c.options...)
			_, body := getCard(t, s, http.MethodGet, c.header...)
			if got := cardURL(t, body); got != c.want {
				t.Errorf("url is %q, want %q", got, c.want)
			}
		})
	}
}

func TestPublicURLWithAPathIsServedWithAndWithoutThePath(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()}, server.WithURL("https://x.example/agents/weather"))
	for _, path := range []string{"/rpc", "/rpc/", "/agents/weather/rpc", "/agents/weather/rpc/"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(rpcBody("ListTasks", "{}"))))
		if !strings.Contains(w.Body.String(), `"totalSize":0`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestBadPublicURLsAreRefusedAtTheStart(t *testing.T) {
	for _, url := range []string{"weather.example", "ftp://x", "https://", "https://x?y=z", "https://x#y", "::"} {
		if _, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, testCard)}, server.WithURL(url)); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
}

func TestNewRefusesConfigurationsThatCannotWork(t *testing.T) {
	for name, cfg := range map[string]server.Config{
		"no protocol":        {Card: readCard(t, testCard)},
		"no card":            {Protocol: a2a.Protocol()},
		"skill without id":   {Protocol: a2a.Protocol(), Card: readCard(t, testCard), Skills: []server.Skill{{Name: "x", Run: echo().Run}}},
		"skill without run":  {Protocol: a2a.Protocol(), Card: readCard(t, testCard), Skills: []server.Skill{{ID: "x"}}},
		"two skills, one id": {Protocol: a2a.Protocol(), Card: readCard(t, testCard), Skills: []server.Skill{echo(), echo()}},
	} {
		if _, err := server.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestHealth(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()})
	status := func() int {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, server.HealthPath, nil))
		return w.Code
	}
	if got := status(); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("status %d when shut down", got)
	}
}
