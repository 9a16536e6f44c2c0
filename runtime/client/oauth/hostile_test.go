package oauth_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// TestSecretsStayWithTheIssuerThatTheUserNamed: what a card says of issuers is not asked.
func TestSecretsStayWithTheIssuerThatTheUserNamed(t *testing.T) {
	i := newIssuer()
	evil := rpc.SchemeInfo{
		Name: "idp", Kind: rpc.SchemeOAuth2, MetadataURL: "https://evil.example/.well-known/oauth-authorization-server",
		OpenIDConnectURL: "https://evil.example/.well-known/openid-configuration",
		Flows: []rpc.OAuthFlow{{Name: "clientCredentials", TokenURL: "https://evil.example/token", RefreshURL: "https://evil.example/token"},
			{Name: "authorizationCode", AuthorizationURL: "https://evil.example/authorize", TokenURL: "https://evil.example/token"}},
	}
	token(t, sourceOf(t, i.client()), rpc.TokenNeed{Card: evil})
	token(t, sourceOf(t, i.person()), rpc.TokenNeed{Card: evil})
	if slices.ContainsFunc(i.hosts, func(h string) bool { return h != "id.example" }) {
		t.Error(i.hosts)
	}
}

// TestTheIssuerIsTheOneThatWasNamed: metadata of another one, however alike, are not used.
func TestTheIssuerIsTheOneThatWasNamed(t *testing.T) {
	for _, other := range []any{"https://id.example/", "https://ID.example", "https://evil.example", "http://id.example", "", nil, 7} {
		i := newIssuer()
		i.metadata = map[string]any{"issuer": other}
		_, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{})
		if !errors.Is(err, oauth.ErrUntrusted) || i.asked() != "" {
			t.Errorf("%v: %v, asked %s", other, err, i.asked())
		}
	}
	i := newIssuer()
	i.before = func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = w.Write([]byte(`{"issuer":"https://id.example","token_endpoint":"https://id.example/token","token_endpoint":"https://evil.example/"}`))
		return true
	}
	if _, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{}); !errors.Is(err, oauth.ErrUntrusted) {
		t.Errorf("a member twice: %v", err)
	}
}

// TestMetadataOfOAuthAlone are found where RFC 8414 has them: between host and path.
func TestMetadataOfOAuthAlone(t *testing.T) {
	i := newIssuer()
	i.url = issuerURL + "/tenant/a"
	i.before = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server/tenant/a":
			r.URL.Path = "/.well-known/openid-configuration"
		case "/tenant/a/token":
			r.URL.Path = "/token"
		}
		return false
	}
	token(t, sourceOf(t, i.client()), rpc.TokenNeed{})
	i = newIssuer()
	i.url = issuerURL + "/none"
	_, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{})
	if !errors.Is(err, oauth.ErrRefused) || !strings.Contains(err.Error(), "TokenURL") {
		t.Error(err)
	}
}

// TestEndpointsAreEncrypted: an issuer at https cannot send secrets elsewhere in clear text, nor have odd addresses opened.
func TestEndpointsAreEncrypted(t *testing.T) {
	for _, name := range []string{"token_endpoint", "authorization_endpoint", "device_authorization_endpoint"} {
		for _, odd := range []string{
			"http://id.example/token", "http://127.0.0.1:1/token", "file:///etc/passwd", "javascript:alert(1)", "//id.example", "https://u:p@id.example/",
			"http://169.254.169.254/latest", "ftp://id.example", "-flag",
		} {
			i := newIssuer()
			i.metadata = map[string]any{name: odd}
			_, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{})
			if !errors.Is(err, oauth.ErrUntrusted) || i.asked() != "" {
				t.Errorf("%s %s: %v", name, odd, err)
			}
		}
	}
}

func TestWhatAConfigMustHave(t *testing.T) {
	for name, c := range map[string]oauth.Config{
		"no issuer":          {ClientID: "app"},
		"both":               {ClientID: "app", Issuer: issuerURL, TokenURL: issuerURL + "/token"},
		"no client":          {Issuer: issuerURL},
		"clear text":         {ClientID: "app", Issuer: "http://id.example"},
		"clear text, token":  {ClientID: "app", Secret: "s", TokenURL: "http://10.0.0.1/token"},
		"a user in the URL":  {ClientID: "app", Issuer: "https://u:hunter2@id.example"},
		"no URL":             {ClientID: "app", Issuer: "id.example"},
		"no secret":          {ClientID: "app", Issuer: issuerURL, Flow: oauth.ClientCredentials},
		"no such flow":       {ClientID: "app", Issuer: issuerURL, Flow: "password"},
		"no page":            {ClientID: "app", TokenURL: issuerURL},
		"no device":          {ClientID: "app", TokenURL: issuerURL, Flow: oauth.DeviceCode},
		"redirect elsewhere": {ClientID: "app", Issuer: issuerURL, Redirect: "http://10.0.0.1:80/"},
		"redirect, no port":  {ClientID: "app", Issuer: issuerURL, Redirect: "http://127.0.0.1/"},
	} {
		_, err := c.Source()
		if !errors.Is(err, oauth.ErrConfig) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRedirectsAreNotFollowed, of whatever request: the secret and the codes stay.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/device"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			i := newIssuer()
			i.approved = true
			i.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				w.Header().Set("Location", "https://evil.example"+path)
				w.WriteHeader(status)
				return true
			}
			c := i.client()
			if path == "/device" {
				c = i.person()
				c.Flow = oauth.DeviceCode
			}
			_, err := sourceOf(t, c).Token(t.Context(), rpc.TokenNeed{})
			if !errors.Is(err, oauth.ErrUntrusted) || slices.Contains(i.hosts, "evil.example") {
				t.Errorf("%s %d: %v, asked %v", path, status, err, i.hosts)
			}
		}
	}
}

// TestTokensThatAreNone: another type, or what no header can have.
func TestTokensThatAreNone(t *testing.T) {
	for name, answer := range map[string]map[string]any{
		"mac":          {"token_type": "mac"},
		"DPoP":         {"token_type": "DPoP"},
		"no type":      {"token_type": nil},
		"N_A":          {"token_type": "N_A"},
		"CR LF":        {"access_token": "a\r\nX-Admin: 1"},
		"a blank":      {"access_token": "a b"},
		"not ASCII":    {"access_token": "ä"},
		"long":         {"access_token": strings.Repeat("a", 40_000)},
		"none":         {"access_token": nil},
		"a number":     {"access_token": 7},
		"expired":      {"expires_in": -5},
		"expiry as is": {"expires_in": "soon"},
	} {
		i := newIssuer()
		i.answer = answer
		if got, err := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{}); !errors.Is(err, oauth.ErrUntrusted) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestAnswersAreLimited in size, wherever they come from.
func TestAnswersAreLimited(t *testing.T) {
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/device"} {
		i := newIssuer()
		i.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			_, _ = w.Write([]byte(`{"x":"` + strings.Repeat("a", 10<<20) + `"}`))
			return true
		}
		c := i.client()
		if path == "/device" {
			c.Flow, c.Prompt = oauth.DeviceCode, i.browse
		}
		_, err := sourceOf(t, c).Token(t.Context(), rpc.TokenNeed{})
		if !errors.Is(err, oauth.ErrUntrusted) || !strings.Contains(err.Error(), "bytes") || len(err.Error()) > 500 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestErrorsHoldNoSecrets, though an issuer repeats all that it was sent, in errors of any form.
func TestErrorsHoldNoSecrets(t *testing.T) {
	secrets := []string{"s3cr", "refresh-1", "code-1", "access-1", "the-device-code", "\x1b", "\n"}
	for name, answer := range map[string]func(w http.ResponseWriter, sent string){
		"a description": func(w http.ResponseWriter, sent string) {
			write(w, 400, map[string]any{"error": "bad", "error_description": sent})
		},
		"the code":       func(w http.ResponseWriter, sent string) { write(w, 400, map[string]any{"error": sent}) },
		"the body":       func(w http.ResponseWriter, sent string) { http.Error(w, sent, 400) },
		"a server error": func(w http.ResponseWriter, sent string) { http.Error(w, sent, 500) },
		"a form": func(w http.ResponseWriter, sent string) {
			w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
			w.WriteHeader(400)
			_, _ = w.Write([]byte("error=bad&error_description=" + sent))
		},
		"no JSON": func(w http.ResponseWriter, sent string) { _, _ = w.Write([]byte(sent)) },
		"a type": func(w http.ResponseWriter, sent string) {
			write(w, 200, map[string]any{"token_type": "\x1b[2J", "access_token": sent})
		},
	} {
		i := newIssuer()
		repeat := func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			_, secret, _ := r.BasicAuth()
			answer(w, "\x1b[2J "+secret+" "+r.PostForm.Get("refresh_token")+" "+r.PostForm.Get("code")+"\n s3cr:t/% "+r.PostForm.Get("code_verifier"))
			return true
		}
		c := i.client()
		c.Flow, c.Prompt = oauth.AuthorizationCode, i.browse
		s := sourceOf(t, c)
		token(t, s, rpc.TokenNeed{})
		i.before = repeat
		_, refresh := s.Token(t.Context(), rpc.TokenNeed{Rejected: "access-1"})
		_, login := sourceOf(t, c).Token(t.Context(), rpc.TokenNeed{})
		_, client := sourceOf(t, i.client()).Token(t.Context(), rpc.TokenNeed{})
		for _, err := range []error{refresh, login, client} {
			if err == nil {
				t.Errorf("%s: no error", name)
				continue
			}
			for _, secret := range secrets {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s: %q has %q", name, err, secret)
				}
			}
			var e *oauth.Error
			if !errors.As(err, &e) || len(err.Error()) > 1500 {
				t.Errorf("%s: %T %v", name, err, err)
			}
		}
	}
}
