package dev

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestSomebodyElsesAgentIsLookedAt once its card can be read, and its calls are on the page.
func TestSomebodyElsesAgentIsLookedAt(t *testing.T) {
	var there atomic.Bool
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !there.Load() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"x","url":"http://`+r.Host+`/rpc"}`)
	}))
	defer agent.Close()
	l := startLoop(t, "", func(o *Options) { o.To, o.Dirs, o.Page = agent.URL, nil, "127.0.0.1:0" })
	if line := l.until("there is no agent at"); !strings.HasSuffix(line, "it is looked for every 2s: start the agent, or start a2agen dev with another --to") {
		t.Error(line)
	}
	if said := l.api("GET", "/api/state", ""); !strings.Contains(said, "start a2agen dev with another --to") {
		t.Error(said)
	}
	if got := l.get(); !strings.Contains(got, "there is no agent at") {
		t.Error(got)
	}
	there.Store(true)
	l.until("the card is read: call " + l.url)
	if got := l.get(); !strings.HasPrefix(got, `{"name":"x"`) {
		t.Error(got)
	}
	resp, err := http.Get(l.page + "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusUnauthorized { // the cookie is not kept, and the address without its token is nobody's
		t.Error(resp.Status)
	}
	base, token, _ := strings.Cut(l.page, "/?token=")
	r, _ := http.NewRequest(http.MethodGet, base+"/api/calls", nil)
	r.Header.Set("A2agen-Dev-Token", token)
	if resp, err = http.DefaultClient.Do(r); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if said, _ := io.ReadAll(resp.Body); strings.Count(string(said), `"caller":"Go-http-client/1.1"`) != 2 {
		t.Errorf("%s", said)
	}
}
