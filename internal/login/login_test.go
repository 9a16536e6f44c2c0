package login_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/login"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// agent serves a card with security schemes and requirements; ISSUER is where the issuer is said to be.
func agent(t *testing.T, schemes, requirements, issuer string) string {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := `{"name":"Desk","description":"d","version":"1","supportedInterfaces":[{"url":"` + srv.URL + `/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
			"securitySchemes":` + schemes + `,"securityRequirements":` + requirements + `,
			"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[
			{"id":"run","name":"Run","description":"r","tags":[],"securityRequirements":` + strings.ReplaceAll(requirements, "ask", "run") + `}]}`
		_, _ = w.Write([]byte(strings.ReplaceAll(text, "ISSUER", issuer)))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

const (
	openID   = `{"idp":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"ISSUER/.well-known/openid-configuration"}},"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}}`
	demanded = `[{"schemes":{"idp":{"list":["ask"]}}}]`
)

// issuer logs everybody in, and keeps what it was asked for.
func issuer(t *testing.T) (at string, asked *[]url.Values) {
	t.Helper()
	asked = &[]url.Values{}
	tokens := 0
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		answer := map[string]any{}
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			answer = map[string]any{"issuer": srv.URL, "token_endpoint": srv.URL + "/token", "authorization_endpoint": srv.URL + "/authorize",
				"device_authorization_endpoint": srv.URL + "/device", "code_challenge_methods_supported": []string{"S256"}}
		case "/device":
			answer = map[string]any{"device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": srv.URL + "/enter", "expires_in": 600, "interval": 1}
		case "/authorize":
			*asked = append(*asked, r.Form)
			back := url.Values{"code": {"c"}, "state": {r.Form.Get("state")}}
			http.Redirect(w, r, r.Form.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
			return
		case "/token":
			*asked = append(*asked, r.PostForm)
			if r.PostForm.Get("grant_type") == "refresh_token" && r.PostForm.Get("refresh_token") != fmt.Sprintf("refresh-%d", tokens) {
				w.WriteHeader(http.StatusBadRequest)
				answer["error"] = "invalid_grant"
				break
			}
			tokens++
			answer = map[string]any{"access_token": fmt.Sprintf("access-%d", tokens), "refresh_token": fmt.Sprintf("refresh-%d", tokens), "token_type": "Bearer", "expires_in": 600}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

// person is somebody who types lines and whose browser opens pages.
func person(t *testing.T, target, typed string) (o login.Options, out, screen *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("LocalAppData", home)
	out, screen = &bytes.Buffer{}, &bytes.Buffer{}
	return login.Options{Target: target, In: strings.NewReader(typed), Out: out, Err: screen, Open: func(page string) error {
		resp, err := http.Get(page)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}}, out, screen
}

func TestAPersonLogsInForAnAgent(t *testing.T) {
	at, asked := issuer(t)
	desk := agent(t, openID, demanded, at)
	o, out, screen := person(t, desk+"/.well-known/agent-card.json", "")
	o.Issuer, o.ClientID = at, "cli"
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if out.String() != "logged in: a2agen call "+desk+" uses it\n" || !strings.Contains(screen.String(), `"Desk" takes tokens for its scheme "idp" with the scopes ask, run`) {
		t.Errorf("%s%s", out, screen)
	}
	if q := (*asked)[0]; q.Get("scope") != "ask run" || q.Get("resource") != desk+"/a2a" || q.Get("client_id") != "cli" {
		t.Error(q)
	}
	for _, target := range []string{desk, desk + "/", desk + "/.well-known/agent-card.json"} {
		all := login.Of(target)
		if len(all) != 1 || all[0].Scheme != "idp" {
			t.Fatalf("%s: %+v", target, all)
		}
		s, err := all[0].Source()
		if err != nil {
			t.Fatal(err)
		}
		need := rpc.TokenNeed{Scopes: []string{"ask", "admin"}, Resource: "https://evil.example"}
		if got, err := s.Token(t.Context(), need); got != "access-1" || err != nil {
			t.Errorf("%s %v", got, err)
		}
	}
	if other := login.Of(desk + "/other"); len(other) > 0 || len(login.Of("https://evil.example")) > 0 {
		t.Errorf("%+v", other)
	}
}

func TestAPersonLogsInByDeviceCode(t *testing.T) {
	at, asked := issuer(t)
	o, _, screen := person(t, agent(t, openID, demanded, at), "")
	o.Issuer, o.ClientID, o.Device, o.Scopes, o.Resource = at, "cli", true, []string{"ask"}, oauth.NoResource
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(screen.String(), "Open "+at+"/enter\nand enter the code ABCD-EFGH (until ") {
		t.Errorf("%s", screen)
	}
	if q := (*asked)[0]; q.Get("device_code") != "d" || q.Has("resource") {
		t.Error(q)
	}
}

// TestAPersonNamesTheIssuer: what the card says is shown, and used only when it is typed.
func TestAPersonNamesTheIssuer(t *testing.T) {
	at, _ := issuer(t)
	desk := agent(t, openID, demanded, "https://evil.example")
	o, _, screen := person(t, desk, at+"\ncli\n")
	o.Asks = true
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if want := "The card says: --issuer https://evil.example."; !strings.Contains(screen.String(), want) {
		t.Errorf("%s", screen)
	}
	for _, typed := range []string{"", "\n"} {
		o, _, _ := person(t, desk, typed)
		o.Asks = typed != ""
		if err := login.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--issuer https://evil.example: repeat it if you trust that") {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

func TestMistakesOfALogin(t *testing.T) {
	at, _ := issuer(t)
	two := `{"a":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"ISSUER/x"}},"b":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"deviceAuthorizationUrl":"https://d.example/d","tokenUrl":"https://d.example/t","scopes":{}}}}}}`
	for name, tt := range map[string]struct {
		schemes, scheme, issuer, client, want string
	}{
		"no scheme":       {`{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}}`, "", at, "cli", "its schemes are key"},
		"no such scheme":  {two, "c", at, "cli", "its schemes are a, b"},
		"two schemes":     {two, "", at, "cli", "name one with --scheme: a, b"},
		"no issuer":       {two, "b", "", "cli", "--token-url https://d.example/t --device-url https://d.example/d: repeat it"},
		"no client":       {two, "a", at, "", "--client-id"},
		"another issuer":  {two, "a", at + "/", "cli", "if that is right, write the issuer so"},
		"in clear text":   {two, "a", "http://id.example", "cli", "use https"},
		"no such issuer":  {two, "a", "http://127.0.0.1:1", "cli", "try again later"},
		"a silent scheme": {`{"idp":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"","scopes":{}}}}}}`, "", "", "cli", "say who issues the tokens: --issuer URL"},
	} {
		o, _, screen := person(t, agent(t, tt.schemes, `[]`, at), "")
		o.Scheme, o.Issuer, o.ClientID = tt.scheme, tt.issuer, tt.client
		if err := login.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\n%s", name, err, screen)
		}
		if all := login.Of(o.Target); len(all) > 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestAnExpiredLoginSaysHowToLogInAgain.
func TestAnExpiredLoginSaysHowToLogInAgain(t *testing.T) {
	at, _ := issuer(t)
	desk := agent(t, openID, demanded, at)
	o, _, _ := person(t, desk, "")
	o.Issuer, o.ClientID = at, "cli"
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s, err := login.Of(desk)[0].Source()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Token(t.Context(), rpc.TokenNeed{Rejected: "access-1"}); got != "access-2" {
		t.Fatal(got, err)
	}
	if err := login.Run(t.Context(), o); err != nil { // after which the refresh token of before is another's
		t.Fatal(err)
	}
	if agents, err := login.Out(desk); len(agents) != 1 || err != nil {
		t.Fatal(agents, err)
	}
	_, err = s.Token(context.Background(), rpc.TokenNeed{Rejected: "access-2"})
	want := "log in again: a2agen login " + desk + " --issuer " + at + " --client-id cli --scheme idp --scope ask --scope run --resource " + desk + "/a2a"
	if !errors.Is(err, oauth.ErrLogin) || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
}

// TestALoginReplacesTheOneBefore, with its token, when it differs.
func TestALoginReplacesTheOneBefore(t *testing.T) {
	at, _ := issuer(t)
	o, _, _ := person(t, agent(t, openID, demanded, at), "")
	o.Issuer, o.ClientID = at, "cli"
	for _, o.ClientID = range []string{"cli", "cli", "other"} {
		if err := login.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got := kept(t); len(got) != 2 {
			t.Errorf("%v", got)
		}
		s, err := login.Of(o.Target)[0].Source()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Token(t.Context(), rpc.TokenNeed{}); err != nil {
			t.Error(err)
		}
	}
}

// TestALogoutLeavesNothing of the login, and the others as they are.
func TestALogoutLeavesNothing(t *testing.T) {
	at, _ := issuer(t)
	one, two := agent(t, openID, demanded, at), agent(t, openID, demanded, at)
	o, _, _ := person(t, one, "")
	o.Issuer, o.ClientID = at, "cli"
	for _, o.Target = range []string{one, two} {
		if err := login.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		target string
		files  int
	}{{"https://other.example", 4}, {one, 2}, {one, 2}, {"", 0}} {
		if _, err := login.Out(tt.target); err != nil {
			t.Fatal(err)
		}
		if got := kept(t); len(got) != tt.files {
			t.Errorf("%q leaves %v", tt.target, got)
		}
	}
}

// TestLoginsAreTheirOwners: files of mode 0600, without secrets in those of logins; one that others could have written is not used.
func TestLoginsAreTheirOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	at, _ := issuer(t)
	desk := agent(t, openID, demanded, at)
	o, _, _ := person(t, desk, "")
	o.Issuer, o.ClientID = at, "cli"
	t.Setenv("A2A_CLIENT_IDP_SECRET", "s3cret")
	if err := login.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, path := range kept(t) {
		info, err := os.Stat(path)
		text, _ := os.ReadFile(path)
		if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(text), "s3cret") || strings.Contains(path, "logins") && strings.Contains(string(text), "access") {
			t.Errorf("%s %v %v: %s", path, info.Mode(), err, text)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if all := login.Of(desk); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

// kept are the files of logins and tokens.
func kept(t *testing.T) (list []string) {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".json") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
