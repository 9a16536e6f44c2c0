package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

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

func TestElsewhereSaysWhereThingsAre(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://agent.example/", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "http://agent.example/rpc") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
