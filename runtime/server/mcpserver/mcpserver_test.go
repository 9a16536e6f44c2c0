package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

func TestToolsAreTheSkillsWithTheirSchemasByteForByte(t *testing.T) {
	a := start(t, blue("do"))
	want := `{"description":"Does it.\n\nExamples: this","inputSchema":` + cityIn + `,"name":"do","outputSchema":` + cityOut + `,"title":"DO"}`
	_, _, sessionless := func() (int, any, string) {
		b, h := modern("tools/list", "", "")
		s, hd, x := a.post("/mcp", b, h...)
		return s, hd, x
	}()
	_, _, inSession := a.post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, a.session()...)
	for version, answer := range map[string]string{newest: sessionless, older: inSession} {
		var got struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(event(t, answer).Result, &got); err != nil || len(got.Tools) != 1 || string(got.Tools[0]) != want {
			t.Errorf("%s: got %s\nwant %s", version, answer, want)
		}
	}
}

func TestACallOfAToolIsATask(t *testing.T) {
	a := start(t, skill("do", func(_ context.Context, task *server.Task, in []byte) (string, error) {
		if err := task.Progress("Looking at %s.", in); err != nil {
			return "", err
		}
		w := task.Stream("report")
		for _, piece := range []string{"one ", "two"} {
			if err := w.Part(runtime.Text(piece)); err != nil {
				return "", err
			}
		}
		return `{"sky":"blue"}`, w.Close()
	}))
	for _, version := range []string{newest, older} {
		told := make(chan string, 100)
		s := a.connect(version, a.web, sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			told <- r.Params.Message
		}})
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Fatalf("the session is of %s", got)
		}
		p := &sdk.CallToolParams{Name: "do", Arguments: map[string]any{"city": "Rome"}}
		p.SetProgressToken("p")
		r, err := s.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		structured, _ := json.Marshal(r.StructuredContent)
		if r.IsError || string(structured) != `{"sky":"blue"}` || !strings.HasPrefix(text(r), `{"sky":"blue"}|one two`) {
			t.Errorf("%s: got %s, %s", version, structured, text(r))
		}
		id, _ := r.Meta["a2a/taskId"].(string)
		if got := state(t, a.client(), id); got != a2a.TaskStateCompleted {
			t.Errorf("%s: the task is %v", version, got)
		}
		for _, want := range []string{`Looking at {"city":"Rome"}.`, "one ", "two"} { // by the SDK's client perhaps after the result
			if got := wait(t, told); got != want {
				t.Errorf("%s: progress is %q, want %q", version, got, want)
			}
		}
	}
}

func TestAQuestionIsAnElicitation(t *testing.T) {
	a := start(t, skill("do", func(_ context.Context, task *server.Task, _ []byte) (string, error) {
		if !task.Resumed() {
			return "", task.Ask("Which day?")
		}
		return `{"sky":"` + task.Text() + `"}`, nil
	}))
	for _, version := range []string{newest, older} {
		s := a.connect(version, a.web, sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if r.Params.Message != "Which day?" {
				return nil, errors.New("asked: " + r.Params.Message)
			}
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "Monday"}}, nil
		}})
		if r := call(t, s, "do", "Rome"); r.IsError || text(r) != `{"sky":"Monday"}` {
			t.Errorf("%s: got %s", version, text(r))
		}
		// A client that cannot ask gets the question in words, and the task waits.
		s = a.connect(version, a.web, sdk.ClientOptions{})
		r := call(t, s, "do", "Rome")
		id, _ := r.Meta["a2a/taskId"].(string)
		if !r.IsError || !strings.Contains(text(r), "Which day?") || state(t, a.client(), id) != a2a.TaskStateInputRequired {
			t.Errorf("%s: got %s", version, text(r))
		}
	}
}

func TestACancelledCallCancelsItsTask(t *testing.T) {
	begun := make(chan string, 1)
	a := start(t, skill("do", func(ctx context.Context, task *server.Task, _ []byte) (string, error) {
		begun <- task.Call().TaskID()
		<-ctx.Done()
		return "", context.Cause(ctx)
	}))
	for _, version := range []string{newest, older} {
		s := a.connect(version, a.web, sdk.ClientOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "do", Arguments: map[string]any{"city": "Rome"}})
			done <- err
		}()
		id := wait(t, begun)
		cancel()
		if err := wait(t, done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the call ends with %v", version, err)
		}
		r, err := a.client().Await(t.Context(), id)
		if r == nil || r.State != runtime.StateCanceled {
			t.Errorf("%s: the task came to %+v, %v", version, r, err)
		}
	}
}

// In versions with sessions a connection may break without any meaning. From 2026-07-28 on it is how clients cancel.
func TestAConnectionThatBreaksCancelsWhereThatIsHowClientsCancel(t *testing.T) {
	begun, goOn := make(chan string, 1), make(chan struct{})
	a := start(t, skill("do", func(ctx context.Context, task *server.Task, _ []byte) (string, error) {
		begun <- task.Call().TaskID()
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-goOn:
			return `{"sky":"blue"}`, nil
		}
	}))
	params := `"name":"do","arguments":{"city":"Rome"}`
	leave := func(body string, header ...string) (task string) {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := a.web.Do(a.request(ctx, "POST", "/mcp", body, header...)); err == nil {
				_, _ = resp.Body.Read(make([]byte, 1))
				_ = resp.Body.Close()
			}
		}()
		task = wait(t, begun)
		cancel()
		wait(t, gone)
		return task
	}
	body, header := modern("tools/call", "do", params)
	id := leave(body, header...)
	if r, err := a.client().Await(t.Context(), id); r == nil || r.State != runtime.StateCanceled {
		t.Errorf("the task came to %+v, %v", r, err)
	}
	id = leave(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+params+`}}`, a.session()...)
	close(goOn)
	if r, err := a.client().Await(t.Context(), id); r == nil || r.State != runtime.StateCompleted {
		t.Errorf("the task came to %+v, %v", r, err)
	}
}

func TestInvalidArgumentsAreAResultWithTheirPaths(t *testing.T) {
	s := skill("do", func(context.Context, *server.Task, []byte) (string, error) { return `{}`, nil })
	s.Decode = func([]byte) (any, error) { return nil, invalid("/city", "must be a city") }
	a := start(t, s)
	if r := call(t, a.connect(newest, a.web, sdk.ClientOptions{}), "do", "x"); !r.IsError || !strings.Contains(text(r), "input.city must be a city") {
		t.Errorf("got %s", text(r))
	}
}

// TestACallWhoseHostHasLeftIsLetGo: a session ends when its calls have, so that its end shows theirs.
func TestACallWhoseHostHasLeftIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, goOn := make(chan struct{}), make(chan struct{})
		s := newServer(t, config(t, openCard, skill("do", func(context.Context, *server.Task, []byte) (string, error) {
			close(begun)
			<-goOn
			return `{"sky":"blue"}`, nil
		})))
		answer := func(ctx context.Context, method, body string, header ...string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, (&agent{t: t}).request(ctx, method, "/mcp", body, header...))
			return w
		}
		session := "Mcp-Session-Id: " + answer(t.Context(), http.MethodPost, initialize).Header().Get("Mcp-Session-Id")
		version := "Mcp-Protocol-Version: " + older
		answer(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session, version)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			answer(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"do","arguments":{"city":"Rome"}}}`, session, version)
		}()
		<-begun
		leave()
		<-left
		since := time.Now()
		if w := answer(t.Context(), http.MethodDelete, "", session, version); w.Code != http.StatusNoContent {
			t.Errorf("DELETE: %d %s", w.Code, w.Body)
		}
		if took := time.Since(since); took != 10*time.Second {
			t.Errorf("the call goes on for %v", took)
		}
		close(goOn)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
