package sqlite

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2aall"
	"github.com/a2agen/a2agen/runtime/server"
)

// bank is an agent on a file that needs an authorization. Its handles come through a channel; it works with the value
// when work returns.
func bank(t *testing.T, path string, handles chan<- string, work func(ctx context.Context) error) (*Store, *server.Server) {
	t.Helper()
	p := a2aall.Protocol()
	s, err := Open(path, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	card, err := p.DecodeCard([]byte(strings.Replace(pushCard, `"pushNotifications":true`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	pay := server.Skill{ID: "pay", OnCrash: server.CrashRetry, Run: func(ctx context.Context, c *server.Task, _ any) ([]byte, error) {
		var code string
		if ok, err := c.Authorized(&code); ok || err != nil {
			if err == nil {
				err = work(ctx)
			}
			return []byte(c.Text() + " by " + code), err
		}
		return nil, c.RequireAuth(server.AuthRequest{Prompt: "Whose card?", Visit: func(h string) string {
			handles <- h
			return "https://bank.example/" + c.ID()
		}})
	}}
	a, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{pay}}, server.WithStore(s), server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

// asked makes a JSON-RPC call and returns the task that it is answered with.
func asked(t *testing.T, a *server.Server, method, params string) (id, state, text string) {
	t.Helper()
	r := httptest.NewRequest("POST", "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Body)
	type task struct {
		ID        string
		Status    struct{ State string }
		Artifacts []struct{ Parts []struct{ Text string } }
	}
	var answer struct {
		Result struct {
			task
			Task *task
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	got := answer.Result.task
	if answer.Result.Task != nil {
		got = *answer.Result.Task
	}
	if len(got.Artifacts) > 0 {
		text = got.Artifacts[0].Parts[0].Text
	}
	return got.ID, got.Status.State, text
}

// A handle is good in the next process, and what it was redeemed with is there for the one after that, which was not
// told to stop. The file does not hold the
// handle.
func TestAHandleOutlivesItsProcess(t *testing.T) {
	path, handles := filepath.Join(t.TempDir(), "tasks.db"), make(chan string, 9)
	s, a := bank(t, path, handles, nil)
	id, state, _ := asked(t, a, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"paid"}]}}`)
	if state != "TASK_STATE_AUTH_REQUIRED" {
		t.Fatalf("the task is %s", state)
	}
	handle := <-handles
	_, _ = a.Close(), s.Close()

	working := make(chan struct{})
	s, a = bank(t, path, handles, func(ctx context.Context) error {
		close(working)
		<-ctx.Done()
		return ctx.Err()
	})
	if err := a.Redeem(t.Context(), handle, "the secret code"); err != nil {
		t.Fatal(err)
	}
	<-working
	_ = s.Close() // what the server says from now on is not heard
	_ = a.Close()

	s, a = bank(t, path, handles, func(context.Context) error { return nil })
	defer func() { _, _ = a.Close(), s.Close() }()
	if err := a.Redeem(t.Context(), handle, "again"); err != server.ErrHandle {
		t.Errorf("redeemed twice: %v", err)
	}
	asked(t, a, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"other"}]}}`) // work that comes in
	text := ""
	for end := time.Now().Add(20 * time.Second); state != "TASK_STATE_COMPLETED" && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, state, text = asked(t, a, "GetTask", `{"id":"`+id+`"}`)
	}
	if state != "TASK_STATE_COMPLETED" || text != "paid by the secret code" {
		t.Errorf("the task is %s: %q", state, text)
	}
	_, _ = a.Close(), s.Close()
	for _, name := range []string{path, path + "-wal"} {
		if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), handle) {
			t.Errorf("%s has the handle", filepath.Base(name))
		}
	}
}
