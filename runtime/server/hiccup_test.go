package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// worker says something of each kind and ends with a result.
func worker() server.Skill {
	return run("work", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		w := t.Stream("log")
		for _, piece := range []string{"one ", "two ", "three"} {
			if _, err := io.WriteString(w, piece); err != nil {
				return "", err
			}
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		return "done", nil
	})
}

// Work that is done ends as done whatever hiccups the store has, and nothing of it is stored twice, also when a call failed after it had happened.
func TestAHiccupOfTheStoreChangesNothing(t *testing.T) {
	t.Parallel()
	matches := map[string]func(faultstore.Call) bool{
		"the creation": func(c faultstore.Call) bool { return c.Op == "create" },
		"any update":   func(c faultstore.Call) bool { return c.Op == "apply" },
		"an artifact": func(c faultstore.Call) bool {
			return c.Op == "apply" && c.Event.EventInfo().Kind == runtime.EventArtifact
		},
		"the last update": faultstore.Call.Ends,
		"everything":      func(faultstore.Call) bool { return true },
	}
	for name, match := range matches {
		for way, fault := range map[string]faultstore.Fault{"before": {Before: true}, "after": {After: true}} {
			for _, times := range []int{1, 4} {
				for _, timeout := range []time.Duration{0, time.Minute} {
					t.Run(fmt.Sprintf("%s fails %s, %d times, timeout %s", name, way, times, timeout), func(t *testing.T) {
						t.Parallel()
						tasks := faultstore.New(memory.New(memory.Limits{}), faultstore.Times(times, fault, match))
						skill := worker()
						skill.Timeout = timeout
						a := start(t, testCard, []server.Skill{skill}, server.WithStore(tasks))
						task := a.ok("SendMessage", message("go"))["task"]
						said := fmt.Sprintln(str(task, "status", "state"), len(at(task, "history").([]any)), at(task, "artifacts", 0, "parts"), at(task, "artifacts", 1, "parts"))
						if want := "TASK_STATE_COMPLETED 2 [map[text:one ] map[text:two ] map[text:three]] [map[text:done]]\n"; said != want {
							t.Errorf("got  %s\nwant %s", said, want)
						}
					})
				}
			}
		}
	}
}

func TestAHiccupDoesNotKeepAQueuedMessageFromItsTurn(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	tasks := faultstore.New(memory.New(memory.Limits{}), nil)
	a := start(t, testCard, []server.Skill{run("ask", func(_ context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			return "thanks for " + t.Text(), nil
		}
		if err := t.Progress("thinking"); err != nil {
			return "", err
		}
		<-release
		return "", t.Ask("and?")
	})}, server.WithStore(tasks))
	id := str(a.ok("SendMessage", with(message("one"), `{"returnImmediately":true}`)), "task", "id")
	a.ok("SendMessage", with(message("two", `"taskId":"`+id+`"`), `{"returnImmediately":true}`))
	tasks.Plan(faultstore.Times(3, faultstore.Fault{Before: true}, func(c faultstore.Call) bool { return c.Op == "apply" }))
	close(release)
	if got := str(a.await(id, "TASK_STATE_COMPLETED"), "artifacts", 0, "parts", 0, "text"); got != "thanks for two" {
		t.Errorf("result is %q", got)
	}
}

// A store that is gone for long: the client is told so, and the task ends as it should when the store is back.
func TestTheEndOfATaskWaitsForAStoreThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := faultstore.New(memory.New(memory.Limits{}), faultstore.Times(-1, faultstore.Fault{Before: true}, faultstore.Call.Ends))
		s := newServer(t, testCard, []server.Skill{worker()}, server.WithStore(tasks))
		begin := time.Now()
		if got := serve(s, "SendMessage", message("go")); !strings.Contains(got, "could not be stored yet") {
			t.Errorf("the client gets %s", got)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("the client is told after %s", took)
		}
		if got := serve(s, "ListTasks", `{}`); !strings.Contains(got, "WORKING") {
			t.Errorf("meanwhile there is %s", got)
		}
		tasks.Plan(nil)
		time.Sleep(time.Minute)
		if got := serve(s, "ListTasks", `{"includeArtifacts":true}`); !strings.Contains(got, "COMPLETED") || !strings.Contains(got, `"done"`) {
			t.Errorf("at last there is %s", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStoreThatIsGoneDoesNotHoldUpTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := faultstore.New(memory.New(memory.Limits{}), faultstore.Times(-1, faultstore.Fault{Before: true}, faultstore.Call.Ends))
		s := newServer(t, testCard, []server.Skill{worker()}, server.WithStore(tasks))
		answer := make(chan string)
		go func() { answer <- serve(s, "SendMessage", message("go")) }()
		time.Sleep(time.Second)
		begin := time.Now()
		_ = s.Close()
		if got := <-answer; !strings.Contains(got, "could not be stored yet") || time.Since(begin) > time.Second {
			t.Errorf("after %s the client gets %s", time.Since(begin), got)
		}
	})
}

// A notification is acknowledged when there is a task, not before.
func TestANotificationIsAcknowledgedWhenItsTaskIsStored(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	tasks := faultstore.New(memory.New(memory.Limits{}), nil)
	a := start(t, testCard, []server.Skill{run("slow", func(context.Context, *server.Task) (string, error) {
		<-release
		return "ok", nil
	})}, server.WithStore(tasks))
	defer close(release)
	note := `{"jsonrpc":"2.0","method":"SendMessage","params":` + message("hi") + `}`
	if resp, body := a.post(note); resp.StatusCode != http.StatusNoContent || body != "" {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	list := a.ok("ListTasks", `{"historyLength":1}`)
	if str(list, "tasks", 0, "history", 0, "parts", 0, "text") != "hi" {
		t.Errorf("when it is acknowledged there is %v", list)
	}
	tasks.Plan(faultstore.Times(-1, faultstore.Fault{Before: true}, func(c faultstore.Call) bool { return c.Op == "create" }))
	if resp, body := a.post(note); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a store it is answered by %d %s", resp.StatusCode, body)
	}
}

// Two clients of 0.1 that name the same new task at once: one makes it, the message of the other follows.
func TestTwoClientsThatNameTheSameNewTaskShareIt(t *testing.T) {
	both := make(chan struct{})
	var mu sync.Mutex
	looks := 0
	tasks := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		mu.Lock()
		defer mu.Unlock()
		if c.Op != "head" || looks == 2 {
			return faultstore.Fault{}
		}
		if looks++; looks == 2 {
			close(both)
		}
		return faultstore.Fault{Late: both} // each finds no such task
	})
	a := polyglot(t, []string{"0.1"}, server.WithStore(tasks))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			_, body := a.post(`{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"mine","message":{"role":"user","parts":[{"type":"text","text":"book"}]}}}`, "A2A-Version: ")
			if !strings.Contains(body, `"result"`) {
				t.Errorf("got %s", body)
			}
		})
	}
	wg.Wait()
	snap, err := tasks.Get(t.Context(), store.Key{Task: "mine"}, store.Full)
	if err != nil {
		t.Fatal(err)
	}
	if info := snap.Task.TaskInfo(); info.State != runtime.StateCompleted || info.History != 3 {
		t.Errorf("the task is %s with %d messages, want completed with message, question, message", info.State, info.History)
	}
}

// A piece of an artifact that was held back and is refused when it goes out makes the work fail, unless the handler is told and goes on.
func TestAPieceThatIsRefusedLaterIsNotForgotten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		after func(w *server.ArtifactWriter) error
		state string
	}{
		{"the end finds it", func(*server.ArtifactWriter) error { return nil }, "TASK_STATE_FAILED"},
		{"the timer finds it", func(*server.ArtifactWriter) error { time.Sleep(60 * time.Millisecond); return nil }, "TASK_STATE_FAILED"},
		{"Close tells", func(w *server.ArtifactWriter) error { return w.Close() }, "TASK_STATE_FAILED"},
		{"the handler knows and goes on", func(w *server.ArtifactWriter) error {
			time.Sleep(60 * time.Millisecond)
			if err := w.Part(runtime.Text("more")); !errors.Is(err, store.ErrTooLarge) {
				return fmt.Errorf("the writer says %w", err)
			}
			return nil
		}, "TASK_STATE_COMPLETED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			tasks := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) (f faultstore.Fault) {
				if c.Op != "apply" || c.Event.EventInfo().Kind != runtime.EventArtifact {
					return f
				}
				if n++; n == 1 { // the second piece: the first is stored with the task
					f.Refuse = store.ErrTooLarge
				}
				return f
			})
			a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
				w := t.Stream("text")
				for _, piece := range []string{"one", "two"} {
					if err := w.Part(runtime.Text(piece)); err != nil {
						return "", err
					}
				}
				return "", c.after(w)
			})}, server.WithStore(tasks))
			task := a.ok("SendMessage", message("go"))["task"]
			if got := str(task, "status", "state"); got != c.state {
				t.Errorf("the task is %v", task)
			}
		})
	}
}
