package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

func inMemory(l memory.Limits) server.Option { return server.WithStore(memory.New(l)) }

// Follow-ups without end fill their task, not the memory.
func TestAFullTaskTakesNoMoreMessagesAndCanBeCanceled(t *testing.T) {
	t.Parallel()
	tasks := memory.New(memory.Limits{TaskBytes: 1_000_000})
	a := start(t, testCard, []server.Skill{parking()}, server.WithStore(tasks))
	id := str(a.ok("SendMessage", message("x")), "task", "id")
	text := strings.Repeat("y", 50_000)
	taken := 0
	for range 100 {
		_, e := a.call("SendMessage", with(message(text, `"taskId":"`+id+`"`), `{"historyLength":0}`))
		if e == nil {
			taken++
			continue
		}
		if vs := e.Violations(); !errors.Is(e, runtime.ErrInvalidParams) || len(vs) != 1 || vs[0].Field != "message" || !strings.Contains(e.Error(), "larger than this agent keeps") {
			t.Fatalf("message %d: %v", taken, e)
		}
	}
	if taken < 15 || taken > 20 || tasks.Bytes() > 1_000_000 {
		t.Errorf("%d messages were taken, %d bytes are kept", taken, tasks.Bytes())
	}
	got := a.ok("GetTask", `{"id":"`+id+`"}`)
	if n := len(at(got, "history").([]any)); str(got, "status", "state") != "TASK_STATE_INPUT_REQUIRED" || n < taken {
		t.Errorf("the task is %s with %d messages", str(got, "status", "state"), n)
	}
	a.ok("SendMessage", message("short", `"taskId":"`+id+`"`)) // the next one may be shorter
	if got := str(a.ok("CancelTask", `{"id":"`+id+`"}`), "status", "state"); got != "TASK_STATE_CANCELED" {
		t.Errorf("canceled, the task is %s", got)
	}
}

func TestAMessageThatNoTaskCouldKeepIsRefused(t *testing.T) {
	a := start(t, testCard, []server.Skill{parking()}, inMemory(memory.Limits{TaskBytes: 100_000}))
	for _, params := range []string{
		message(strings.Repeat("x", 100_000)),
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + strings.Repeat(`{"text":""},`, 1000) + `{"text":""}]}}`,
		message("x", `"extensions":[`+strings.Repeat(`"",`, 10_000)+`""]`),
		message("x", `"metadata":{"m":"`+strings.Repeat("x", 100_000)+`"}`),
	} {
		if _, e := a.call("SendMessage", params); !errors.Is(e, runtime.ErrInvalidParams) {
			t.Errorf("%.100s: %v", params, e)
		}
	}
	if got := at(a.ok("ListTasks", `{}`), "totalSize"); got != 0.0 {
		t.Errorf("%v tasks are kept", got)
	}
}

// A handler learns that its task is full, and whatever it does then, the task ends with words for the client.
func TestAHandlerLearnsThatItsTaskIsFull(t *testing.T) {
	large := strings.Repeat("x", 90_000)
	fill := func(t *server.Task) error {
		for range 100 {
			if err := t.Artifact("a", runtime.Text(large[:10_000])); err != nil {
				return err
			}
		}
		return nil
	}
	const kept = "The skill's answer could not be kept."
	for _, c := range []struct {
		name, want, words string
		run               func(t *server.Task) (string, error)
	}{
		{"and says so itself", "TASK_STATE_FAILED", "too much", func(t *server.Task) (string, error) {
			if err := fill(t); !errors.Is(err, server.ErrTaskTooLarge) {
				return "", fmt.Errorf("filled: %w", err)
			}
			return "", t.Fail("too much")
		}},
		{"and is done all the same", "TASK_STATE_COMPLETED", "", func(t *server.Task) (string, error) { _ = fill(t); return "", nil }},
		{"and returns the error", "TASK_STATE_FAILED", kept, func(t *server.Task) (string, error) { return "", fill(t) }},
		{"by its result", "TASK_STATE_FAILED", kept, func(t *server.Task) (string, error) { return strings.Repeat("x", 110_000), nil }},
		{"by its question", "TASK_STATE_FAILED", kept, func(t *server.Task) (string, error) { _ = fill(t); return "", t.Ask(large) }},
		{"by its last words", "TASK_STATE_FAILED", kept, func(t *server.Task) (string, error) { _ = fill(t); return "", t.Fail(large) }},
		{"by a stream", "TASK_STATE_FAILED", "too much", func(t *server.Task) (string, error) {
			w, err := t.Stream("a"), error(nil)
			for err == nil {
				_, err = w.WriteString(large[:10_000])
			}
			if !errors.Is(err, server.ErrTaskTooLarge) || !errors.Is(w.Close(), server.ErrTaskTooLarge) {
				return "", fmt.Errorf("written: %w", err)
			}
			return "", t.Fail("too much")
		}},
		{"by the last piece of a stream", "TASK_STATE_FAILED", kept, func(t *server.Task) (string, error) {
			w := t.Stream("a")
			_, err := w.WriteString(large)
			if err == nil {
				_, err = w.WriteString(large) // is held back
			}
			return "", err
		}},
		{"by what it saves", "TASK_STATE_FAILED", kept, func(t *server.Task) (string, error) {
			if err := t.Save(large + large); err != nil {
				return "", err
			}
			return "", t.Ask("more?")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := start(t, testCard, []server.Skill{run("s", func(_ context.Context, t *server.Task) (string, error) { return c.run(t) })},
				inMemory(memory.Limits{TaskBytes: 100_000}))
			task := a.ok("SendMessage", message("go"))["task"]
			if got, words := str(task, "status", "state"), str(task, "status", "message", "parts", 0, "text"); got != c.want || words != c.words {
				t.Errorf("the task is %s: %q", got, words)
			}
		})
	}
}

func TestWhatIsSavedHasALimit(t *testing.T) {
	errs := make(chan error, 1)
	a := start(t, testCard, []server.Skill{run("s", func(_ context.Context, t *server.Task) (string, error) {
		errs <- t.Save(strings.Repeat("x", 2000))
		return "", nil
	})}, server.WithLimits(server.Limits{Event: 1000}))
	a.ok("SendMessage", message("go"))
	if err := <-errs; !errors.Is(err, server.ErrTooLarge) {
		t.Error(err)
	}
}

// A store full of tasks at work refuses new ones, and what they would grow by, but never their end.
func TestTasksEndInAFullStore(t *testing.T) {
	full, hold := make(chan error, 1), make(chan struct{})
	a := start(t, testCard, []server.Skill{run("s", func(_ context.Context, t *server.Task) (string, error) {
		if t.Text() != "fill" {
			return "", nil
		}
		err := error(nil)
		for err == nil {
			err = t.Artifact("a", runtime.Text(strings.Repeat("x", 10_000)))
		}
		full <- err
		<-hold
		return "", err
	})}, inMemory(memory.Limits{Bytes: 100_000, TaskBytes: 200_000}))
	id := str(a.ok("SendMessage", with(message("fill"), `{"returnImmediately":true}`)), "task", "id")
	if err := <-full; !errors.Is(err, store.ErrFull) {
		t.Errorf("the handler got %v", err)
	}
	if _, e := a.call("SendMessage", message(strings.Repeat("x", 20_000))); e == nil || e.Reason != "RESOURCE_EXHAUSTED" {
		t.Errorf("a new task: %v", e)
	}
	close(hold)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		task := a.ok("GetTask", `{"id":"`+id+`"}`)
		if str(task, "status", "state") == "TASK_STATE_FAILED" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the task is %s", str(task, "status", "state"))
		}
	}
	a.ok("SendMessage", message(strings.Repeat("x", 20_000))) // it makes room now
}

// Questions without end shut nobody out: not others, not even who asks.
func TestAFloodOfQuestionsShutsNobodyOut(t *testing.T) {
	who := func(r *http.Request) (string, error) { return r.Header.Get("Who"), nil }
	a := start(t, testCard, []server.Skill{parking()}, inMemory(memory.Limits{Tasks: 100}), server.WithProxyIdentity(who))
	kept := str(a.ok("SendMessage", message("x"), "Who: ann"), "task", "id")
	first := str(a.ok("SendMessage", message("x"), "Who: eve"), "task", "id")
	for range 150 {
		a.ok("SendMessage", message("x"), "Who: eve")
	}
	a.ok("SendMessage", message("x"), "Who: bob")
	a.ok("SendMessage", message("x", `"taskId":"`+kept+`"`), "Who: ann")
	if _, e := a.call("SendMessage", message("x", `"taskId":"`+first+`"`), "Who: eve"); !errors.Is(e, runtime.ErrTaskNotFound) {
		t.Errorf("the oldest question: %v", e)
	}
}

func TestPagesOfLargeTasksEndEarly(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("s", func(context.Context, *server.Task) (string, error) { return strings.Repeat("x", 30_000), nil })},
		server.WithLimits(server.Limits{Page: 100_000}))
	for range 10 {
		a.ok("SendMessage", message("go"))
	}
	for _, c := range []struct {
		params string
		pages  int
	}{{`"includeArtifacts":true`, 4}, {`"historyLength":5`, 1}} {
		seen, token, pages := map[string]bool{}, "", 0
		for {
			resp, body := a.post(rpcBody("ListTasks", `{`+c.params+`,"pageToken":"`+token+`"}`))
			page, _ := a.call("ListTasks", `{`+c.params+`,"pageToken":"`+token+`"}`)
			if resp.StatusCode != http.StatusOK || len(body) > 110_000 || at(page, "totalSize") != 10.0 || at(page, "pageSize") != 50.0 {
				t.Fatalf("a page of %d bytes, total %v, size %v", len(body), at(page, "totalSize"), at(page, "pageSize"))
			}
			for _, task := range at(page, "tasks").([]any) {
				seen[str(task, "id")] = true
			}
			pages++
			if token = str(page, "nextPageToken"); token == "" {
				break
			}
		}
		if len(seen) != 10 || pages != c.pages {
			t.Errorf("%s: %d tasks on %d pages", c.params, len(seen), pages)
		}
	}
}

// An answer is built in a buffer that is made once, with its size: growing takes five times as much. (Under the race detector a buffer is made twice.)
func TestALargeAnswerIsAllocatedOnce(t *testing.T) {
	const size = 4 << 20
	s := newServer(t, testCard, []server.Skill{run("s", func(context.Context, *server.Task) (string, error) { return strings.Repeat("x", size), nil })})
	defer func() { _ = s.Close() }()
	call := func(method, params string) uint64 {
		body := rpcBody(method, params)
		req, err := http.NewRequest(http.MethodPost, "http://localhost/rpc", io.NopCloser(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("A2A-Version", "1.0")
		req.ContentLength = int64(len(body))
		w := &sink{header: http.Header{}}
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		s.ServeHTTP(w, req)
		goruntime.ReadMemStats(&after)
		if w.n < size {
			t.Fatalf("%s answers %d bytes", method, w.n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if n := call("SendMessage", message("go")); n > 5*size+size/2 { // three times the result on its way, and the answer
		t.Errorf("SendMessage allocates %d bytes", n)
	}
	if n := call("ListTasks", `{"includeArtifacts":true}`); n > 2*size+size/4 {
		t.Errorf("ListTasks allocates %d bytes", n)
	}
}

// Every message that waits for its turn has an input of its own: short ones over a long one may not add up without end.
func TestTheInputsOfQueuedMessagesHaveALimit(t *testing.T) {
	started, hold := make(chan struct{}, 9), make(chan struct{})
	a := start(t, testCard, []server.Skill{typed("slow", []string{"q"}, func(ctx context.Context, t *server.Task, _ map[string]any) (any, error) {
		started <- struct{}{}
		<-hold
		return nil, t.Ask("more?")
	})}, server.WithLimits(server.Limits{Body: 100_000}))
	id := str(a.ok("SendMessage", with(data(`{"q":"`+strings.Repeat("x", 40_000)+`"}`), `{"returnImmediately":true}`)), "task", "id")
	<-started
	more := with(data(`{"note":"x"}`, `"taskId":"`+id+`"`), `{"returnImmediately":true}`)
	a.ok("SendMessage", more)
	a.ok("SendMessage", more)
	for range 2 {
		if _, e := a.call("SendMessage", more); e == nil || e.Reason != "RESOURCE_EXHAUSTED" {
			t.Errorf("the third message that waits: %v", e)
		}
	}
	close(hold)
	for range 2 {
		<-started
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		task := a.ok("GetTask", `{"id":"`+id+`"}`)
		if str(task, "status", "state") == "TASK_STATE_INPUT_REQUIRED" {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the task is %v", task["status"])
		}
	}
	a.ok("SendMessage", more)
}
