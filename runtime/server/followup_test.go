package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// gated asks again after each message, when the test lets it go on.
func gated(gate chan struct{}) server.Skill {
	return run("gated", func(ctx context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		return "", t.Ask("and after " + t.Text() + "?")
	})
}

// follow sends a follow-up that waits, and returns the channel of what it is answered.
func (a *agent) follow(id, text string) chan map[string]any {
	answer := make(chan map[string]any, 1)
	go func() {
		task, e := a.call("SendMessage", message(text, `"taskId":"`+id+`"`))
		if e != nil {
			task = map[string]any{"error": e.Error()}
		}
		answer <- task
	}()
	return answer
}

// historyOf waits until the task has n messages in its history.
func (a *agent) historyOf(id string, n int) {
	a.t.Helper()
	for range 500 {
		if history, _ := at(a.ok("GetTask", `{"id":"`+id+`"}`), "history").([]any); len(history) >= n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.t.Fatalf("the history does not reach %d messages", n)
}

// A blocking follow-up is answered when its call is over, whatever the messages behind it do.
func TestAQueuedMessageIsAnsweredWhenItsCallIsOver(t *testing.T) {
	gate := make(chan struct{})
	a := start(t, testCard, []server.Skill{gated(gate)})
	id := str(a.ok("SendMessage", message("one")), "task", "id")
	var answers []chan map[string]any
	for i, text := range []string{"two", "three", "four"} {
		answers = append(answers, a.follow(id, text))
		a.historyOf(id, 3+i)
	}
	for i, text := range []string{"two", "three"} { // four is at work all the time
		gate <- struct{}{}
		select {
		case task := <-answers[i]:
			if got := str(task, "task", "status", "message", "parts", 0, "text"); got != "and after "+text+"?" {
				t.Errorf("%s is answered %v", text, task)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s is not answered", text)
		}
	}
	gate <- struct{}{}
	<-answers[2]
}

// Whoever waits goes when its client goes; the task goes on.
func TestAQueuedMessageWaitsNoLongerThanItsClient(t *testing.T) {
	gate := make(chan struct{})
	a := start(t, testCard, []server.Skill{gated(gate)})
	id := str(a.ok("SendMessage", message("one")), "task", "id")
	working := a.follow(id, "two")
	a.historyOf(id, 3)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "/rpc", strings.NewReader(rpcBody("SendMessage", message("three", `"taskId":"`+id+`"`))))
		req.Header.Set("A2A-Version", "1.0")
		a.ServeHTTP(&sink{header: http.Header{}}, req)
	}()
	a.historyOf(id, 4)
	leave()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("the request does not end")
	}
	gate <- struct{}{}
	<-working
	gate <- struct{}{}
	for range 500 {
		task := a.ok("GetTask", `{"id":"`+id+`"}`)
		if str(task, "status", "message", "parts", 0, "text") == "and after three?" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the message of the client that left was not handled")
}

// Cancel answers those who wait in the queue, too, though the handler ignores its context.
func TestCancelAnswersWhoWaitsInTheQueue(t *testing.T) {
	release := make(chan struct{})
	a := start(t, testCard, []server.Skill{run("deaf", func(_ context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			<-release
		}
		return "", t.Ask("and?")
	})})
	defer close(release)
	id := str(a.ok("SendMessage", message("one")), "task", "id")
	a.ok("SendMessage", with(message("two", `"taskId":"`+id+`"`), `{"returnImmediately":true}`))
	queued := a.follow(id, "three")
	a.historyOf(id, 4)
	a.ok("CancelTask", `{"id":"`+id+`"}`)
	select {
	case task := <-queued:
		if got := str(task, "task", "status", "state"); got != "TASK_STATE_CANCELED" {
			t.Errorf("got %v", task)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the queued message is not answered")
	}
}

// R305: artifact ids are unique in a task, over all its calls, also those that waited for their turn.
func TestEachCallGivesNewArtifacts(t *testing.T) {
	gate := make(chan struct{})
	a := start(t, testCard, []server.Skill{run("list", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Artifact("list", runtime.Text(t.Text())); err != nil {
			return "", err
		}
		w := t.Stream("log")
		if _, err := fmt.Fprint(w, t.Text(), "!"); err != nil {
			return "", err
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		if t.Text() == "two" {
			<-gate
		}
		if t.Text() == "four" {
			return "", nil
		}
		return "", t.Ask("more?")
	})})
	id := str(a.ok("SendMessage", message("one")), "task", "id")
	two := a.follow(id, "two")
	a.historyOf(id, 3)
	three := a.follow(id, "three")
	a.historyOf(id, 4)
	close(gate)
	<-two
	<-three
	task := a.ok("SendMessage", message("four", `"taskId":"`+id+`"`))["task"]
	var got []string
	for _, artifact := range at(task, "artifacts").([]any) {
		got = append(got, str(artifact, "artifactId")+":"+str(artifact, "parts", 0, "text"))
	}
	want := "artifact-1:one artifact-2:one! artifact-3:two artifact-4:two! artifact-5:three artifact-6:three! artifact-7:four artifact-8:four!"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// What a message brings and what the handler at work saves do not undo each other.
func TestInputOfAQueuedMessageOutlivesWhatTheHandlerSaves(t *testing.T) {
	begun, gate := make(chan struct{}), make(chan struct{})
	a := start(t, testCard, []server.Skill{typed("trip", []string{"city"}, func(_ context.Context, t *server.Task, in map[string]any) (any, error) {
		if !t.Resumed() {
			if err := t.Progress("thinking"); err != nil {
				return nil, err
			}
			close(begun)
			<-gate
			if err := t.Save("saved"); err != nil {
				return nil, err
			}
			if err := t.Progress("still"); err != nil {
				return nil, err
			}
			return nil, t.Ask("when?")
		}
		var saved string
		if _, err := t.Load(&saved); err != nil {
			return nil, err
		}
		if in["note"] != "late" || saved != "saved" {
			return nil, t.Fail(fmt.Sprint(in, saved))
		}
		if t.Text() == "end" {
			return in, nil
		}
		return nil, t.Ask("and?")
	})})
	first := make(chan map[string]any, 1)
	go func() { first <- a.ok("SendMessage", data(`{"city":"Oslo"}`)) }()
	<-begun
	id := str(a.ok("ListTasks", `{}`), "tasks", 0, "id")
	queued := make(chan map[string]any, 1)
	go func() { queued <- a.ok("SendMessage", data(`{"note":"late"}`, `"taskId":"`+id+`"`)) }()
	a.historyOf(id, 3)
	close(gate)
	<-first
	if task := <-queued; str(task, "task", "status", "state") != "TASK_STATE_INPUT_REQUIRED" {
		t.Fatalf("the queued message has %v", task)
	}
	task := a.ok("SendMessage", message("end", `"taskId":"`+id+`"`))["task"] // merged over what is stored
	if str(task, "artifacts", 0, "parts", 0, "data", "note") != "late" {
		t.Errorf("the message after it has %v", task)
	}
}

// Ids and names of clients are kept in every event of a task: they have an end.
func TestLongIDsAreRefusedByTheirField(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	long, fits := strings.Repeat("x", 513), strings.Repeat("x", 512)
	for _, c := range []struct{ method, params, field string }{
		{"SendMessage", message("x", `"contextId":"`+long+`"`), "message.contextId"},
		{"SendMessage", message("x", `"taskId":"`+long+`"`), "message.taskId"},
		{"SendMessage", message("x", `"referenceTaskIds":["a","`+long+`"]`), "message.referenceTaskIds[1]"},
		{"SendMessage", `{"message":{"messageId":"` + long + `","role":"ROLE_USER","parts":[{"text":"x"}]}}`, "message.messageId"},
		{"SendMessage", `{"tenant":"` + long + `",` + message("x")[1:], "tenant"},
		{"GetTask", `{"id":"` + long + `"}`, "id"},
		{"ListTasks", `{"tenant":"` + long + `"}`, "tenant"},
	} {
		_, e := a.call(c.method, c.params)
		if e == nil || len(e.Violations()) != 1 || e.Violations()[0].Field != c.field || len(e.Message) > 200 {
			t.Errorf("%s in %s: %v", c.field, c.method, e)
		}
	}
	a.ok("SendMessage", `{"tenant":"`+fits+`",`+message("x", `"contextId":"`+fits+`"`)[1:])
}
