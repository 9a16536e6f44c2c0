package oauth_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// browse opens a page and goes where it is redirected.
func (i *issuer) browse(ctx context.Context, p oauth.Prompt) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: i}).Do(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func TestAPersonLogsInInTheBrowser(t *testing.T) {
	i := newIssuer()
	c := i.person()
	c.Scopes = []string{"openid", "ask"}
	c.Prompt = func(ctx context.Context, p oauth.Prompt) error {
		u, err := url.Parse(p.URL)
		q := u.Query()
		if err != nil || u.Host != "id.example" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 20 ||
			q.Get("response_type") != "code" || q.Get("scope") != "ask openid" || q.Get("resource") != "https://agent.example" || p.Code != "" ||
			!strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:") {
			t.Errorf("%s %v", p.URL, err)
		}
		return i.browse(ctx, p)
	}
	if got := token(t, sourceOf(t, c), rpc.TokenNeed{Resource: "https://agent.example"}); got != "access-1" {
		t.Error(got)
	}
	if f := i.forms[0]; f.Get("client_id") != "app" || f.Has("client_secret") || f.Get("resource") != "https://agent.example" {
		t.Error(f)
	}
}

// TestAnswersOfOtherLoginsAreRefused: the state, the issuer (RFC 9207), and what is there twice. The code is not used.
func TestAnswersOfOtherLoginsAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(url.Values)
		kind   error
		want   string
	}{
		"no state":         {func(v url.Values) { v.Del("state") }, oauth.ErrUntrusted, "state"},
		"another state":    {func(v url.Values) { v.Set("state", strings.Repeat("A", 26)) }, oauth.ErrUntrusted, "state"},
		"two states":       {func(v url.Values) { v.Add("state", "x") }, oauth.ErrUntrusted, "twice"},
		"another issuer":   {func(v url.Values) { v.Set("iss", "https://evil.example") }, oauth.ErrUntrusted, "iss"},
		"the issuer alike": {func(v url.Values) { v.Set("iss", issuerURL+"/") }, oauth.ErrUntrusted, "iss"},
		"no issuer":        {func(v url.Values) { v.Del("iss") }, oauth.ErrUntrusted, "iss"},
		"no code":          {func(v url.Values) { v.Del("code") }, oauth.ErrUntrusted, "neither"},
		"another code":     {func(v url.Values) { v.Set("code", "code-2") }, oauth.ErrRefused, "log in again"},
		"access denied":    {func(v url.Values) { v.Set("error", "access_denied"); v.Set("error_description", "no\x1b[2J") }, oauth.ErrRefused, "agree"},
	} {
		i := newIssuer()
		i.callback = tt.change
		_, err := sourceOf(t, i.person()).Token(t.Context(), rpc.TokenNeed{})
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
		if used := i.asked() != "/authorize"; used != (name == "another code") {
			t.Errorf("%s: asked %s", name, i.asked())
		}
	}
}

// TestPlainIsNeverUsed: without S256 there is no login, whatever else there is.
func TestPlainIsNeverUsed(t *testing.T) {
	for _, methods := range []any{nil, []string{}, []string{"plain"}, []string{"s256"}} {
		i := newIssuer()
		i.metadata = map[string]any{"code_challenge_methods_supported": methods}
		_, err := sourceOf(t, i.person()).Token(t.Context(), rpc.TokenNeed{})
		if !errors.Is(err, oauth.ErrUntrusted) || !strings.Contains(err.Error(), "S256") || i.asked() != "" {
			t.Errorf("%v: %v %s", methods, err, i.asked())
		}
	}
}

// TestTheListenerTakesOneRequest: on 127.0.0.1 only, for this host and path, and is closed after it.
func TestTheListenerTakesOneRequest(t *testing.T) {
	i := newIssuer()
	c := i.person()
	var back *url.URL
	get := func(ctx context.Context, u, host string) int {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
		req.Host = host
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		if strings.Contains(string(body), "<script>") {
			t.Errorf("%s", body)
		}
		return resp.StatusCode
	}
	c.Prompt = func(ctx context.Context, p oauth.Prompt) error {
		u, _ := url.Parse(p.URL)
		back, _ = url.Parse(u.Query().Get("redirect_uri"))
		for _, address := range otherAddresses(t) {
			if conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, back.Port()), time.Second); err == nil {
				conn.Close()
				t.Errorf("it listens on %s", address)
			}
		}
		origin := "http://" + back.Host
		for at, host := range map[string]string{origin + "/favicon.ico": "", origin + "/": "", back.String() + "?state=x": "evil.example:" + back.Port()} {
			if status := get(ctx, at, host); status != http.StatusNotFound {
				t.Errorf("%s %s: %d", at, host, status)
			}
		}
		return i.browse(ctx, p)
	}
	token(t, sourceOf(t, c), rpc.TokenNeed{})
	if conn, err := net.DialTimeout("tcp", back.Host, time.Second); err == nil {
		conn.Close()
		t.Error("it listens still")
	}
}

// otherAddresses are those of this machine beside 127.0.0.1.
func otherAddresses(t *testing.T) (list []string) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.String() != "127.0.0.1" && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// TestAStateIsUsedOnce: the second answer of one login is not taken, and one of the first login is none of the second.
func TestAStateIsUsedOnce(t *testing.T) {
	i := newIssuer()
	c := i.person()
	states, second := map[string]bool{}, 0
	c.Prompt = func(ctx context.Context, p oauth.Prompt) error {
		u, _ := url.Parse(p.URL)
		states[u.Query().Get("state")] = true
		if err := i.browse(ctx, p); err != nil {
			return err
		}
		resp, err := http.Get(u.Query().Get("redirect_uri") + "?code=code-1&state=" + u.Query().Get("state"))
		if err == nil {
			resp.Body.Close()
			second = resp.StatusCode
		}
		return nil
	}
	token(t, sourceOf(t, c), rpc.TokenNeed{})
	token(t, sourceOf(t, c), rpc.TokenNeed{})
	if len(states) != 2 || second != http.StatusGone {
		t.Errorf("%d states, %d", len(states), second)
	}
}

// device is a config for logins by device code whose person does nothing.
func (i *issuer) device(prompts *[]oauth.Prompt) oauth.Config {
	c := i.person()
	c.Flow = oauth.DeviceCode
	c.Prompt = func(_ context.Context, p oauth.Prompt) error {
		*prompts = append(*prompts, p)
		return nil
	}
	return c
}

// TestAPersonLogsInByDeviceCode: the issuer is asked as often as it says, less often after slow_down, and after failures.
func TestAPersonLogsInByDeviceCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer()
		var prompts []oauth.Prompt
		var at []time.Duration
		begun := time.Now()
		i.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			at = append(at, time.Since(begun))
			switch len(at) {
			case 2:
				write(w, 400, map[string]any{"error": "slow_down"})
				return true
			case 4:
				w.WriteHeader(502)
				return true
			case 5:
				i.approved = true
			}
			return false
		}
		if got := token(t, sourceOf(t, i.device(&prompts)), rpc.TokenNeed{Resource: "https://agent.example"}); got != "access-1" {
			t.Error(got)
		}
		want := []time.Duration{5, 10, 20, 30, 50}
		for n, w := range want {
			if n >= len(at) || at[n] != w*time.Second {
				t.Errorf("asked at %v, want %v seconds", at, want)
				break
			}
		}
		if p := prompts[0]; p.Code != "WDJB-MJHT" || p.URL != issuerURL+"/enter" || p.Expires.Sub(begun) != 10*time.Minute {
			t.Errorf("%+v", p)
		}
		if f := i.forms[0]; f.Get("resource") != "https://agent.example" || f.Get("client_id") != "app" {
			t.Error(f)
		}
	})
}

func TestAClientWithASecretProvesItselfForADeviceCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer()
		i.approved = true
		var prompts []oauth.Prompt
		c := i.device(&prompts)
		c.Secret = "s3cr:t/%"
		token(t, sourceOf(t, c), rpc.TokenNeed{})
		if i.basics[0] != "app:s3cr%3At%2F%25" || i.forms[0].Has("client_secret") {
			t.Errorf("%v %v", i.basics, i.forms)
		}
	})
}

// TestADeviceCodeExpires when the issuer says so, at its time, and after half an hour whatever the issuer says.
func TestADeviceCodeExpires(t *testing.T) {
	for name, tt := range map[string]struct {
		answer map[string]any
		code   string
		after  time.Duration
	}{
		"at its time":    {nil, "", 10 * time.Minute},
		"at no time":     {map[string]any{"expires_in": nil}, "", 30 * time.Minute},
		"in a year":      {map[string]any{"expires_in": 31_000_000, "interval": 31_000_000}, "", 30 * time.Minute},
		"by the issuer":  {nil, "expired_token", 5 * time.Second},
		"by the person":  {nil, "access_denied", 5 * time.Second},
		"without pauses": {map[string]any{"interval": -1}, "expired_token", 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			i := newIssuer()
			i.answer = tt.answer
			i.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/token" || tt.code == "" {
					return false
				}
				write(w, 400, map[string]any{"error": tt.code})
				return true
			}
			var prompts []oauth.Prompt
			begun := time.Now()
			_, err := sourceOf(t, i.device(&prompts)).Token(t.Context(), rpc.TokenNeed{})
			var e *oauth.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), "log in again") || time.Since(begun) != tt.after {
				t.Errorf("%s: %v after %v", name, err, time.Since(begun))
			}
		})
	}
}

// TestWhatADeviceIsShownDoesNothingToATerminal.
func TestWhatADeviceIsShownDoesNothingToATerminal(t *testing.T) {
	for name, answer := range map[string]map[string]any{
		"control characters":      {"user_code": "A\x1b[2J"},
		"a line":                  {"user_code": "A\nB"},
		"bidirectional text":      {"user_code": "A\u202eB"},
		"a long code":             {"user_code": strings.Repeat("A", 65)},
		"no code":                 {"user_code": ""},
		"a page of javascript":    {"verification_uri": "javascript:alert(1)"},
		"a page in the clear":     {"verification_uri": "http://id.example/"},
		"a page with escapes":     {"verification_uri": "https://id.example/\x1b[2J"},
		"a host of other letters": {"verification_uri": "https://іd.example/"},
		"a whole page of a file":  {"verification_uri_complete": "file:///etc/passwd"},
	} {
		synctest.Test(t, func(t *testing.T) {
			i := newIssuer()
			i.answer = answer
			var prompts []oauth.Prompt
			_, err := sourceOf(t, i.device(&prompts)).Token(t.Context(), rpc.TokenNeed{})
			if !errors.Is(err, oauth.ErrUntrusted) || len(prompts) > 0 || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("%s: %v, shown %v", name, err, prompts)
			}
		})
	}
}
