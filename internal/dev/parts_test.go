package dev

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/page"
	"github.com/a2agen/a2agen/internal/dev/status"
)

// api sends a request to the API of the page.
func (l *loop) api(method, path, body string) string {
	l.t.Helper()
	base, token, _ := strings.Cut(l.page, "/?token=")
	r, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set(page.TokenHeader, token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(said)
}

// TestThePageMakesCallsFail and lets them pass again.
func TestThePageMakesCallsFail(t *testing.T) {
	l := startLoop(t, "one", func(o *Options) { o.Page = "127.0.0.1:0" })
	l.until("answers at")
	if said := l.api("PUT", "/api/agents/0/faults", `{"faults":[{"kind":"status","with":"503:1"}]}`); !strings.Contains(said, "Status(503)") {
		t.Error(said)
	}
	if got := l.get(); !strings.Contains(got, "the agent was not asked") {
		t.Error(got)
	}
	if got := l.get(); !strings.HasPrefix(got, "one ") {
		t.Error(got)
	}
	var kept struct {
		Calls []struct{ Faults string }
	}
	if err := json.Unmarshal([]byte(l.api("GET", "/api/calls", "")), &kept); err != nil || len(kept.Calls) != 2 || kept.Calls[0].Faults != "Status(503)" || kept.Calls[1].Faults != "" {
		t.Errorf("%+v, %v", kept, err)
	}
	if said := l.api("GET", "/api/agents/1/faults", ""); !strings.Contains(said, "no such agent") {
		t.Error(said)
	}
}

// TestAnAgentMayNotifyThePage by the webhook that the page names, and without a page it is told of none.
func TestAnAgentMayNotifyThePage(t *testing.T) {
	t.Setenv("A2A_PUSH_TARGETS", "10.0.0.1")
	l := startLoop(t, "one", func(o *Options) { o.Page = "127.0.0.1:0" })
	l.until("answers at")
	l.url += "/targets"
	if got := l.get(); !strings.HasPrefix(got, "10.0.0.1,127.0.0.1 ") {
		t.Error(got)
	}
	var inbox struct{ URL, Token string }
	if err := json.Unmarshal([]byte(l.api("GET", "/api/inbox", "")), &inbox); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(inbox.URL, "application/json", strings.NewReader(`{"task":{"id":"t7","status":{"state":"TASK_STATE_WORKING"}}}`))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	if said := l.api("GET", "/api/inbox", ""); !strings.Contains(said, `"task":"t7"`) {
		t.Error(said)
	}
	if said := l.api("GET", "/api/inbox/1", ""); !strings.Contains(said, `"body":"eyJ0`) {
		t.Error(said)
	}
}

// TestKeepingTasksIsTriedAgain, as a mistake that is saved meanwhile ends it, but not with every save for ever, and the same reason is
// said once.
func TestKeepingTasksIsTriedAgain(t *testing.T) {
	var said strings.Builder
	a := &agent{Options: &Options{}, dir: t.TempDir(), console: &console{Console: &Console{out: &said}, log: func(string) {}}}
	a.now.Store = status.InMemory
	tries := 0
	for range 2 * mostTries {
		if a.tryToKeep(t.Context()); a.keep.ready == nil {
			break
		}
		tries++
		if err := <-a.keep.ready; err == nil || a.kept(err) {
			t.Fatalf("there is no project: %v", err)
		}
	}
	if n := strings.Count(said.String(), "tasks end with each restart"); tries != mostTries || n != 1 {
		t.Errorf("tried %d times, and said %d times: %s", tries, n, &said)
	}
}

// TestWhyASkillWasChosenIsOnThePage and not among what the agent printed.
func TestWhyASkillWasChosenIsOnThePage(t *testing.T) {
	l := startLoop(t, "one", func(o *Options) { o.Page = "127.0.0.1:0" })
	l.until("answers at")
	l.url += "/chosen"
	l.get()
	if line := l.until("a2agen: chosen"); !strings.Contains(line, "no JSON") {
		t.Error(line)
	}
	if said := l.api("GET", "/api/agents/0/reports", ""); !strings.Contains(said, `"choice":{"message":"m1","skill":"talk"}}]}`) {
		t.Error(said)
	}
}
