package server_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
)

const pageCard = `{"name":"<script>alert(1)</script>","description":"5 > 4 & \"so on\"","version":"1","supportedInterfaces":[{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"a","name":"<b>Bold</b>","description":"does <i>it</i>","tags":["x"],"examples":["it's <here>; $(touch x)"]}]}`

// A browser gets a page in plain words, which runs nothing and lets nothing of the card be markup.
func TestABrowserGetsAPage(t *testing.T) {
	s := newServer(t, pageCard, []server.Skill{echo()})
	for _, path := range []string{"/", "/rpc", "/rpc/"} {
		r := httptest.NewRequest(http.MethodGet, "http://agent.example"+path, nil)
		r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: status %d, header %v", path, w.Code, w.Header())
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %q", policy)
		}
		for _, want := range []string{"&lt;script&gt;alert(1)", "5 &gt; 4 &amp;", "&lt;b&gt;Bold", "does &lt;i&gt;", `href="http://agent.example/.well-known/agent-card.json"`, "A2A-Version: 1.0", "http://agent.example/rpc"} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in %s", path, want, body)
			}
		}
		for _, tag := range regexp.MustCompile(`<[a-zA-Z0-9]+`).FindAllString(body, -1) {
			if !strings.Contains("<html <head <meta <title <style <body <h1 <p <a <h2 <ul <li <b <pre ", tag+" ") {
				t.Errorf("%s: a %s> in %s", path, tag, body)
			}
		}
	}
}

// The command that the page and the other answers to a GET show works as it stands.
func TestTheCommandShownWorks(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	resp, err := a.web.Get(a.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	_, command, ok := strings.Cut(string(body), "\n\n")
	if resp.StatusCode != http.StatusMethodNotAllowed || !ok || !strings.Contains(string(body), server.CardPath) {
		t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	out, err := exec.Command("sh", "-c", `curl() { printf '%s\n' "$@"; }; `+command).Output() // as a shell reads it
	args := strings.Split(string(out), "\n")
	if err != nil || len(args) < 7 || args[0] != a.url || args[1] != "-H" || args[3] != "-H" || args[5] != "-d" {
		t.Fatalf("%v: %q", err, args)
	}
	if _, got := a.post(args[6], args[2], args[4]); !strings.Contains(got, "TASK_STATE_COMPLETED") {
		t.Errorf("%s\n%s", command, got)
	}
}

// TestTheCommandShownBringsACredential: a stranger sees how to show it, on the page and elsewhere, and the command works
// with a credential in its place.
func TestTheCommandShownBringsACredential(t *testing.T) {
	for _, tt := range []struct{ scheme, want string }{
		{`{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}`, ` -H 'X-Key: YOUR_KEY'`},
		{`{"apiKeySecurityScheme":{"location":"query","name":"the key"}}`, `/rpc?the+key=YOUR_KEY'`},
		{`{"apiKeySecurityScheme":{"location":"cookie","name":"key"}}`, ` -H 'Cookie: key=YOUR_KEY'`},
		{`{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`, ` -H 'Authorization: Bearer YOUR_TOKEN'`},
		{`{"httpAuthSecurityScheme":{"scheme":"Basic"}}`, ` --user YOUR_USER:YOUR_PASSWORD`},
		{`{"httpAuthSecurityScheme":{"scheme":"Digest"}}`, ` -H 'Authorization: digest YOUR_CREDENTIAL'`},
		{`{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://id.example/x"}}`, ` -H 'Authorization: Bearer YOUR_TOKEN'`},
		{`{"mtlsSecurityScheme":{}}`, ` --cert YOUR_CERTIFICATE.pem --key YOUR_KEY.pem`},
	} {
		demand := `"securitySchemes":{"s":` + tt.scheme + `},"securityRequirements":[{"schemes":{"s":{}}}],"capabilities"`
		known := auth.Verifiers{"s": auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
			if c.Value != "YOUR_KEY" && c.Value != "YOUR_TOKEN" && c.Password != "YOUR_PASSWORD" {
				return auth.Caller{}, auth.ErrNone
			}
			return auth.Caller{ID: "ann"}, nil
		})}
		a := start(t, strings.Replace(testCard, `"capabilities"`, demand, 1), []server.Skill{echo()}, server.WithAuth(known))
		page := string(a.page("text/html"))
		if shown := html.UnescapeString(page); !strings.Contains(shown, tt.want) || !strings.Contains(shown, "your own credential") {
			t.Errorf("%s: the page is %s", tt.scheme, shown)
		}
		text := string(a.page("*/*"))
		if !strings.Contains(text, tt.want) || !strings.Contains(text, "your own credential") {
			t.Errorf("%s: the text is %s", tt.scheme, text)
		}
		if strings.Contains(tt.scheme, "header") || strings.Contains(tt.scheme, "Bearer") {
			_, command, _ := strings.Cut(text, "\n\n")
			out, err := exec.Command("sh", "-c", `curl() { printf '%s\n' "$@"; }; `+command).Output()
			args := strings.Split(string(out), "\n")
			if err != nil || len(args) < 9 {
				t.Fatalf("%v: %q", err, args)
			}
			if _, got := a.post(args[8], args[2], args[4], args[6]); !strings.Contains(got, "TASK_STATE_COMPLETED") {
				t.Errorf("%s\n%s", command, got)
			}
		}
	}
	open := `"securitySchemes":{"s":{"mtlsSecurityScheme":{}}},"securityRequirements":[{"schemes":{"s":{}}},{}],"capabilities"`
	nobody := auth.Verifiers{"s": auth.Func(func(context.Context, auth.Credential) (auth.Caller, error) { return auth.Caller{}, auth.ErrNone })}
	if page := start(t, strings.Replace(testCard, `"capabilities"`, open, 1), []server.Skill{echo()}, server.WithAuth(nobody)).page("text/html"); strings.Contains(string(page), "YOUR_") {
		t.Errorf("an agent for everybody: %s", page)
	}
}

// page is what a GET of the agent answers.
func (a *agent) page(accept string) []byte {
	a.t.Helper()
	req, _ := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.url, nil)
	req.Header.Set("Accept", accept)
	resp, err := a.web.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return body
}

func TestElsewhereSaysWhereThingsAre(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://agent.example/", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "http://agent.example/rpc") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
