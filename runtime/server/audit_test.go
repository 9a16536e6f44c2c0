package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
)

// TestWhoDidWhatIsWrittenDown: every call and run, whoever made it, without contents and secrets.
func TestWhoDidWhatIsWrittenDown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	t.Setenv(server.EnvAudit, path)
	a := start(t, strings.Replace(authCard, `"id":"ask"`, `"id":"work"`, 1), append(doing(), run("run", nothing)), guards())
	const said = "the words of the message"
	a.post(rpcBody("SendMessage", message(said, `"metadata":{"skillId":"work","token":"a token in it"}`)), as("ann"))
	a.post(rpcBody("SendMessage", message(said, `"metadata":{"skillId":"run"}`)), as("eve"))
	a.post(rpcBody("SendMessage", message(said)), as("a wrong token"))
	_ = a.rest("GET", "/tasks/none", "", "X-Api-Key: "+aKey).Body.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(src)) {
		var l struct{ Kind, Caller, Operation, Skill, Binding, State, Outcome, Reason, Task string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join([]string{l.Kind, l.Caller, l.Operation, l.Skill, l.Binding, l.State, l.Outcome, l.Reason}, ","))
	}
	want := []string{
		"run,https://a.example|ann,,work,,completed,ok,",
		"serve,https://a.example|ann,SendMessage,work,JSONRPC,,ok,",
		"serve,https://a.example|ann,SendMessage,run,JSONRPC,,denied,PERMISSION_DENIED",
		"serve,,,,JSONRPC,,denied,UNAUTHENTICATED",
		"serve,key|ci,GetTask,,HTTP+JSON,,failed,TASK_NOT_FOUND",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, secret := range []string{said, "a token in it", "a wrong token", aKey} {
		if strings.Contains(string(src), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

func TestAnAuditLogThatCannotBeOpenedStopsTheStart(t *testing.T) {
	if _, err := newServerOf(t, testCard, server.WithAudit(filepath.Join(t.TempDir(), "no", "audit"))); err == nil {
		t.Error("it started")
	}
}
