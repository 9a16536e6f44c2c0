package sqlite

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/server"
)

// bank is an agent on a file that needs an authorization. Its handles come through a channel; it works with the value
// when work returns.
func bank(t *testing.T, path string, handles chan<- string, work func(ctx context.Context) error) (*Store, *server.Server) {
	t.Helper()
	return bankAt(t, path, func(id, h string) string { handles <- h; return "https://bank.example/" + id }, work)
}

// bankAt is bank with the URL that it makes of a task and a handle.
func bankAt(t *testing.T, path string, visit func(id, handle string) string, work func(ctx context.Context) error) (*Store, *server.Server) {
	t.Helper()
	p := a2awires.Protocol()
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
		if ok, err := c.Call().Authorized(&code); ok || err != nil {
			if err == nil {
				err = work(ctx)
			}
			return []byte(c.Text() + " by " + code), err
		}
		return nil, c.RequireAuth(server.AuthRequest{Prompt: "Whose card?", Visit: func(h string) string { return visit(c.Call().TaskID(), h) }})
	}}
	a, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{pay}}, server.WithStore(s), server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

// What an agent makes of a handle is in its task, and so in the file, in clear. Nothing else that the file has shows it: not
// the ticket by which it is found, nor the call that it leads to.
func TestAHandleIsInTheFileWhereTheAgentSaysItAlone(t *testing.T) {
	path, handles := filepath.Join(t.TempDir(), "tasks.db"), make(chan string, 1)
	s, a := bankAt(t, path, func(id, h string) string { handles <- h; return "https://bank.example/" + id + "?state=" + h },
		func(context.Context) error { return nil })
	defer func() { _, _ = a.Close(), s.Close() }()
	asked(t, a, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"paid"}]}}`)
	handle := <-handles
	said := places(t, path, handle)
	if err := a.Redeem(t.Context(), handle, "code"); err != nil {
		t.Fatal(err)
	}
	for _, at := range append(said, places(t, path, handle)...) {
		if at != "event.doc" && at != "task.head" && at != "body.doc" {
			t.Errorf("%s has the handle", at)
		}
	}
	if !slices.Contains(said, "event.doc") {
		t.Errorf("the caller would not get it again: it is in %v", said)
	}
}

// places are the columns of a file that have a text.
func places(t *testing.T, path, text string) (list []string) {
	t.Helper()
	c, err := connect(path, "ro", "busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	var columns [][2]string
	err = c.query("SELECT m.name, i.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type='table'", func(v []value) error {
		columns = append(columns, [2]string{v[0].(string), v[1].(string)})
		return nil
	})
	for _, at := range columns {
		if err != nil {
			t.Fatal(err)
		}
		var found bool
		_, found, err = c.one("SELECT 1 FROM \""+at[0]+"\" WHERE instr(CAST(\""+at[1]+"\" AS BLOB), CAST(? AS BLOB))>0", text)
		if found {
			list = append(list, at[0]+"."+at[1])
		}
	}
	return list
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
// told to stop. Of a handle that the agent says nowhere the file has nothing.
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
