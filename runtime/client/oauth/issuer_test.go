package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

const issuerURL = "https://id.example"

// issuer is an authorization server without a network: it is the transport of its clients. Tests change its fields to have it do wrong.
type issuer struct {
	url      string
	metadata map[string]any // instead of, or in addition to, what it says; nil removes
	lifetime int            // of access tokens, in seconds; 0: not said
	answer   map[string]any // instead of, or in addition to, members of a token; nil removes
	// before answers a request in place of the issuer, if it returns true.
	before func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	requests []string     // "grant_type" of token requests, else paths
	forms    []url.Values // of token requests and device authorizations
	basics   []string     // "id:secret" of the same
	hosts    []string     // that were asked
	tokens   int
	refresh  string // the one that is good
	logins   map[string]url.Values
	approved bool // the device code
	callback func(url.Values)
}

func newIssuer() *issuer {
	return &issuer{url: issuerURL, lifetime: 3600, logins: map[string]url.Values{}}
}

// RoundTrip answers in process; what is for this machine goes over the network.
func (i *issuer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Hostname() == "127.0.0.1" {
		return http.DefaultTransport.RoundTrip(req)
	}
	w, done := httptest.NewRecorder(), make(chan bool)
	go func() {
		i.ServeHTTP(w, req)
		close(done)
	}()
	select {
	case <-done:
		return w.Result(), nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	i.mu.Lock()
	what := r.URL.Path
	if r.Method == http.MethodPost {
		i.forms = append(i.forms, r.PostForm)
		id, secret, _ := r.BasicAuth()
		i.basics = append(i.basics, id+":"+secret)
		if g := r.PostForm.Get("grant_type"); g != "" {
			what = g
		}
	}
	i.requests, i.hosts = append(i.requests, what), append(i.hosts, r.Host)
	i.mu.Unlock()
	if i.before != nil && i.before(w, r) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		i.describe(w)
	case "/token":
		i.serveToken(w, r.PostForm)
	case "/authorize":
		i.authorize(w, r)
	case "/device":
		write(w, 200, i.with(map[string]any{"device_code": "the-device-code", "user_code": "WDJB-MJHT",
			"verification_uri": i.url + "/enter", "expires_in": 600, "interval": 5}))
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) describe(w http.ResponseWriter) {
	m := map[string]any{"issuer": i.url, "token_endpoint": i.url + "/token", "authorization_endpoint": i.url + "/authorize",
		"device_authorization_endpoint": i.url + "/device", "code_challenge_methods_supported": []string{"plain", "S256"},
		"authorization_response_iss_parameter_supported": true}
	maps.Copy(m, i.metadata)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	write(w, 200, m)
}

func (i *issuer) with(m map[string]any) map[string]any {
	maps.Copy(m, i.answer)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	return m
}

func (i *issuer) serveToken(w http.ResponseWriter, form url.Values) {
	refuse := func(code string) { write(w, 400, map[string]any{"error": code}) }
	switch form.Get("grant_type") {
	case "client_credentials":
	case "refresh_token":
		if i.refresh == "" || form.Get("refresh_token") != i.refresh {
			i.refresh = ""
			refuse("invalid_grant")
			return
		}
	case "authorization_code":
		login := i.logins[form.Get("code")]
		delete(i.logins, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if login == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != login.Get("code_challenge") ||
			login.Get("code_challenge_method") != "S256" || form.Get("redirect_uri") != login.Get("redirect_uri") {
			refuse("invalid_grant")
			return
		}
	default: // device code
		if !i.approved || form.Get("device_code") != "the-device-code" {
			refuse("authorization_pending")
			return
		}
	}
	i.tokens++
	m := map[string]any{"access_token": fmt.Sprintf("access-%d", i.tokens), "token_type": "bearer"}
	if i.lifetime > 0 {
		m["expires_in"] = i.lifetime
	}
	if form.Get("grant_type") != "client_credentials" {
		i.refresh = fmt.Sprintf("refresh-%d", i.tokens)
		m["refresh_token"] = i.refresh
	}
	write(w, 200, i.with(m))
}

// authorize logs everybody in at once.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.logins["code-1"] = q
	back := url.Values{"code": {"code-1"}, "state": {q.Get("state")}, "iss": {i.url}}
	if i.callback != nil {
		i.callback(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// asked is what the issuer was asked but for metadata.
func (i *issuer) asked() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var list []string
	for _, r := range i.requests {
		if !strings.Contains(r, "well-known") {
			list = append(list, strings.TrimPrefix(r, "urn:ietf:params:oauth:grant-type:"))
		}
	}
	return strings.Join(list, " ")
}

// client is a config of a client of the issuer.
func (i *issuer) client() oauth.Config {
	return oauth.Config{Issuer: i.url, ClientID: "app", Secret: "s3cr:t/%", HTTP: &http.Client{Transport: i}}
}

// person is a config of a client whose Prompt opens the page as a browser does.
func (i *issuer) person() oauth.Config {
	c := i.client()
	c.Secret, c.Prompt = "", i.browse
	return c
}

func sourceOf(t *testing.T, c oauth.Config) rpc.TokenSource {
	t.Helper()
	s, err := c.Source()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// token gets a token, and fails without.
func token(t *testing.T, s rpc.TokenSource, need rpc.TokenNeed) string {
	t.Helper()
	got, err := s.Token(t.Context(), need)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
