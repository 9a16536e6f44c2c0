package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

func TestAClientGetsATokenForItself(t *testing.T) {
	i := newIssuer()
	s := sourceOf(t, i.client())
	need := rpc.TokenNeed{Resource: "https://agent.example/a2a", Scopes: []string{"run", "ask"}}
	for range 3 {
		if got := token(t, s, need); got != "access-1" {
			t.Fatal(got)
		}
	}
	form := i.forms[0]
	if i.asked() != "client_credentials" || form.Get("scope") != "ask run" || form.Get("resource") != need.Resource || form.Has("client_secret") {
		t.Errorf("asked %s with %v", i.asked(), form)
	}
	if i.basics[0] != "app:s3cr%3At%2F%25" { // RFC 6749 §2.3.1
		t.Errorf("it is %s", i.basics[0])
	}
}

// TestTheConfigDecidesAboutScopesAndResource, if it says anything about them: a card cannot ask for more.
func TestTheConfigDecidesAboutScopesAndResource(t *testing.T) {
	i := newIssuer()
	c := i.client()
	c.Scopes, c.Resource, c.Audience = []string{"ask"}, oauth.NoResource, "agents"
	token(t, sourceOf(t, c), rpc.TokenNeed{Resource: "https://agent.example", Scopes: []string{"admin"}})
	if f := i.forms[0]; f.Get("scope") != "ask" || f.Has("resource") || f.Get("audience") != "agents" {
		t.Error(f)
	}
}

// TestTheSecretGoesWhereTheIssuerTakesIt, once: nothing is tried out with it.
func TestTheSecretGoesWhereTheIssuerTakesIt(t *testing.T) {
	i := newIssuer()
	i.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{"client_secret_post", "none"}}
	token(t, sourceOf(t, i.client()), rpc.TokenNeed{})
	i.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/token" {
			return false
		}
		write(w, 401, map[string]any{"error": "invalid_client"})
		return true
	}
	i.metadata = nil
	_, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{})
	if !errors.Is(err, oauth.ErrRefused) || !strings.Contains(err.Error(), "check the client id") {
		t.Error(err)
	}
	if len(i.forms) != 2 || i.forms[0].Get("client_secret") != "s3cr:t/%" || i.basics[0] != ":" || i.forms[1].Has("client_secret") || i.basics[1] == ":" {
		t.Errorf("%v %v", i.forms, i.basics)
	}
}

func TestATokenForEachResourceAndScope(t *testing.T) {
	i := newIssuer()
	s := sourceOf(t, i.client())
	got := map[string]bool{}
	for _, need := range []rpc.TokenNeed{
		{Resource: "https://a.example"}, {Resource: "https://b.example"}, {Resource: "https://a.example", Scopes: []string{"x"}},
		{Resource: "https://a.example", Scopes: []string{"x", "y"}}, {Resource: "https://a.example", Scopes: []string{"y", "x", "y"}},
	} {
		got[token(t, s, need)] = true
	}
	if len(got) != 4 {
		t.Errorf("%d tokens: %v", len(got), got)
	}
}

// TestATokenIsRenewedBeforeItExpires: a minute before, a short one in its last quarter; one of which nothing is known when it is rejected.
func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	for lifetime, good := range map[int]time.Duration{3600: 59 * time.Minute, 40: 30 * time.Second, 0: 1000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			i := newIssuer()
			i.lifetime = lifetime
			s := sourceOf(t, i.client())
			token(t, s, rpc.TokenNeed{})
			time.Sleep(good - time.Second)
			if got := token(t, s, rpc.TokenNeed{}); got != "access-1" {
				t.Errorf("lifetime %d: %s too early", lifetime, got)
			}
			time.Sleep(2 * time.Second)
			if got := token(t, s, rpc.TokenNeed{}); lifetime > 0 && got != "access-2" || lifetime == 0 && got != "access-1" {
				t.Errorf("lifetime %d: %s", lifetime, got)
			}
		})
	}
}

// TestAGoodTokenOutlivesAnIssuerThatIsDown, until it expires; then the error says to try later.
func TestAGoodTokenOutlivesAnIssuerThatIsDown(t *testing.T) {
	for _, refreshed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			i := newIssuer()
			c := i.client()
			if refreshed {
				c, i.approved = i.person(), true
				c.Flow, c.Prompt = oauth.DeviceCode, func(context.Context, oauth.Prompt) error { return nil }
			}
			s := sourceOf(t, c)
			token(t, s, rpc.TokenNeed{})
			i.before = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true }
			time.Sleep(59*time.Minute + 30*time.Second)
			if got := token(t, s, rpc.TokenNeed{}); got != "access-1" {
				t.Error(got)
			}
			time.Sleep(time.Minute)
			_, err := s.Token(t.Context(), rpc.TokenNeed{})
			var e *oauth.Error
			if !errors.Is(err, oauth.ErrUnavailable) || !errors.As(err, &e) || !e.TryLater() {
				t.Error(err)
			}
		})
	}
}

// TestAnIssuerThatHangs is given up; the caller's own deadline comes first.
func TestAnIssuerThatHangs(t *testing.T) {
	for _, path := range []string{"/.well-known/openid-configuration", "/token"} {
		synctest.Test(t, func(t *testing.T) {
			i, free := newIssuer(), make(chan bool)
			i.before = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == path {
					<-free
				}
				return false
			}
			begun := time.Now()
			_, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{})
			if !errors.Is(err, oauth.ErrUnavailable) || time.Since(begun) > time.Minute {
				t.Errorf("%s: %v after %v", path, err, time.Since(begun))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := sourceOf(t, i.client()).Token(ctx, rpc.TokenNeed{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", path, err)
			}
			time.Sleep(time.Minute)
			close(free)
		})
	}
}

// TestARejectedTokenIsNeverReturnedAgain, neither from memory nor from the cache nor by the issuer.
func TestARejectedTokenIsNeverReturnedAgain(t *testing.T) {
	i := newIssuer()
	c := i.client()
	c.Cache = cache(t)
	s := sourceOf(t, c)
	first := token(t, s, rpc.TokenNeed{})
	second := token(t, s, rpc.TokenNeed{Rejected: first})
	if first == second || token(t, s, rpc.TokenNeed{}) != second || token(t, sourceOf(t, c), rpc.TokenNeed{Rejected: first}) != second {
		t.Errorf("%s, %s", first, second)
	}
	i.answer = map[string]any{"access_token": second}
	_, err := s.Token(t.Context(), rpc.TokenNeed{Rejected: second})
	if !errors.Is(err, oauth.ErrRefused) || strings.Contains(err.Error(), second) {
		t.Error(err)
	}
}

// TestOneGoroutineAsks, the others wait for what it gets.
func TestOneGoroutineAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, free := newIssuer(), make(chan bool)
		i.before = func(http.ResponseWriter, *http.Request) bool { <-free; return false }
		s := sourceOf(t, i.client())
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _, _ = s.Token(t.Context(), rpc.TokenNeed{}) })
		}
		synctest.Wait()
		close(free)
		all.Wait()
		if i.asked() != "client_credentials" {
			t.Error(i.asked())
		}
	})
}

// TestACallerThatLeavesBreaksNoRefreshOff: the refresh token that comes back is kept, for the old one may be good no more.
func TestACallerThatLeavesBreaksNoRefreshOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer()
		c := i.person()
		c.Flow = oauth.DeviceCode
		i.approved = true
		c.Prompt = func(context.Context, oauth.Prompt) error { return nil }
		s := sourceOf(t, c)
		token(t, s, rpc.TokenNeed{})
		free := make(chan bool)
		i.before = func(http.ResponseWriter, *http.Request) bool { <-free; return false }
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := s.Token(ctx, rpc.TokenNeed{Rejected: "access-1"})
			left <- err
		}()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(free)
		synctest.Wait()
		if got := token(t, s, rpc.TokenNeed{}); got != "access-2" {
			t.Error(got)
		}
	})
}

// TestRefreshTokensRotate: each is used once. When the issuer takes none any more, somebody has to log in.
func TestRefreshTokensRotate(t *testing.T) {
	i := newIssuer()
	c := i.person()
	c.Cache = cache(t)
	if err := c.Login(t.Context(), "https://agent.example"); err != nil {
		t.Fatal(err)
	}
	c.Prompt = nil
	need := rpc.TokenNeed{Resource: "https://agent.example"}
	for n, want := range []string{"access-1", "access-2", "access-3"} {
		if got := token(t, sourceOf(t, c), need); got != want {
			t.Errorf("%d: %s", n, got)
		}
		need.Rejected = want
	}
	if i.forms[2].Get("refresh_token") != "refresh-2" || i.forms[2].Get("resource") != need.Resource {
		t.Error(i.forms[2])
	}
	i.refresh = "another"
	_, err := sourceOf(t, c).Token(t.Context(), need)
	if !errors.Is(err, oauth.ErrLogin) || !strings.Contains(err.Error(), "a2agen login") {
		t.Error(err)
	}
	asked := i.asked()
	if _, err := sourceOf(t, c).Token(t.Context(), need); !errors.Is(err, oauth.ErrLogin) || i.asked() != asked {
		t.Errorf("%v: %s", err, i.asked())
	}
}

func TestARefreshTokenThatIsNotReplacedStaysGood(t *testing.T) {
	i := newIssuer()
	c := i.person()
	c.Cache = cache(t)
	if err := c.Login(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	i.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.PostForm.Get("grant_type") != "refresh_token" {
			return false
		}
		write(w, 200, map[string]any{"access_token": "again", "token_type": "Bearer", "expires_in": 60})
		return true
	}
	s := sourceOf(t, c)
	token(t, s, rpc.TokenNeed{Rejected: "access-1"})
	i.before, i.refresh = nil, "refresh-1"
	if got := token(t, s, rpc.TokenNeed{Rejected: "again"}); got != "access-2" {
		t.Error(got)
	}
}

// TestLogout: the next one has to log in.
func TestLogout(t *testing.T) {
	i := newIssuer()
	c := i.person()
	c.Cache = cache(t)
	if err := c.Login(t.Context(), "https://agent.example", "ask"); err != nil {
		t.Fatal(err)
	}
	c.Prompt = nil
	need := rpc.TokenNeed{Resource: "https://agent.example", Scopes: []string{"ask"}}
	token(t, sourceOf(t, c), need)
	if err := c.Logout("https://agent.example", "ask"); err != nil {
		t.Fatal(err)
	}
	if _, err := sourceOf(t, c).Token(t.Context(), need); !errors.Is(err, oauth.ErrLogin) {
		t.Error(err)
	}
}

// TestAGoodTokenIsUsedWhileSomebodyLogsIn anew, in whatever process: the call does not wait for the person.
func TestAGoodTokenIsUsedWhileSomebodyLogsIn(t *testing.T) {
	i := newIssuer()
	c := i.person()
	c.Cache = cache(t)
	if err := c.Login(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	asked, ended := make(chan bool), make(chan error)
	ctx, leave := context.WithCancel(t.Context())
	again := c
	again.Prompt = func(context.Context, oauth.Prompt) error { close(asked); return nil }
	go func() { ended <- again.Login(ctx, "") }()
	<-asked
	if got := token(t, sourceOf(t, c), rpc.TokenNeed{}); got != "access-1" {
		t.Error(got)
	}
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
