package server_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/server"
)

// deaf makes a skill that ignores its context until the test lets it go, and reports what its last words came to.
func deaf(t *testing.T, timeout time.Duration) (skill server.Skill, started chan struct{}, letGo func() error) {
	t.Helper()
	started, hold, said := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	skill = run("deaf", func(_ context.Context, t *server.Task) (string, error) {
		started <- struct{}{}
		<-hold
		said <- t.Progress("still here")
		return "done", nil
	})
	skill.Timeout = timeout
	return skill, started, func() error {
		close(hold)
		select {
		case err := <-said:
			return err
		case <-time.After(10 * time.Second):
			t.Fatal("the handler does not go on")
			return nil
		}
	}
}

func TestAHandlerThatIgnoresItsTimeoutKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, params string
		ask          func(a *agent, params string) any
	}{
		{"a blocking send", message("x"), func(a *agent, p string) any { return a.ok("SendMessage", p)["task"] }},
		{"a stream", message("x"), func(a *agent, p string) any {
			all := a.stream("SendStreamingMessage", p).rest()
			return all[len(all)-1].result["statusUpdate"]
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			skill, _, letGo := deaf(t, 50*time.Millisecond)
			skill.MaxConcurrent = 1
			a := start(t, testCard, []server.Skill{skill})
			task := c.ask(a, c.params)
			if str(task, "status", "state") != "TASK_STATE_FAILED" || str(task, "status", "message", "parts", 0, "text") != "The work took longer than allowed." {
				t.Errorf("the answer is %v", task)
			}
			if err := letGo(); err == nil {
				t.Error("the handler may still speak")
			}
			list := a.ok("ListTasks", `{}`)
			if at(list, "totalSize") != 1.0 || str(list, "tasks", 0, "status", "state") != "TASK_STATE_FAILED" {
				t.Errorf("in the end there is %v", list)
			}
		})
	}
}

// The slot of a handler that overran stays taken until it returns.
func TestAnOverrunHandlerKeepsItsSlot(t *testing.T) {
	t.Parallel()
	skill, started, letGo := deaf(t, 30*time.Millisecond)
	skill.MaxConcurrent = 1
	a := start(t, testCard, []server.Skill{skill})
	a.ok("SendMessage", message("x"))
	<-started
	a.ok("SendMessage", with(message("y"), `{"returnImmediately":true}`))
	select {
	case <-started:
		t.Error("the second call began before the first returned")
	case <-time.After(50 * time.Millisecond):
	}
	if err := letGo(); err == nil {
		t.Error("the handler may still speak")
	}
	<-started
}

func TestCancelAnswersASenderWhoseMessageIsQueued(t *testing.T) {
	t.Parallel()
	skill, started, letGo := deaf(t, time.Minute)
	a := start(t, testCard, []server.Skill{skill})
	id := str(a.ok("SendMessage", with(message("x"), `{"returnImmediately":true}`)), "task", "id")
	<-started
	answer := make(chan string, 1)
	go func() {
		answer <- str(a.ok("SendMessage", message("more", `"taskId":"`+id+`"`)), "task", "status", "state")
	}()
	for len(at(a.ok("GetTask", `{"id":"`+id+`"}`), "history").([]any)) < 2 {
		time.Sleep(time.Millisecond)
	}
	a.ok("CancelTask", `{"id":"`+id+`"}`)
	if got := <-answer; got != "TASK_STATE_CANCELED" {
		t.Errorf("the queued sender got %q", got)
	}
	if err := letGo(); err == nil {
		t.Error("the handler may still speak")
	}
}

func TestCancelAnswersABlockedSender(t *testing.T) {
	hold, ready := make(chan struct{}), make(chan string, 1)
	skill := run("deaf", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		ready <- t.Call().TaskID()
		<-hold
		return "done", nil
	})
	skill.Timeout = time.Minute
	a := start(t, testCard, []server.Skill{skill})
	answer := make(chan string, 1)
	go func() { answer <- str(a.ok("SendMessage", message("x")), "task", "status", "state") }()
	a.ok("CancelTask", `{"id":"`+<-ready+`"}`)
	if got := <-answer; got != "TASK_STATE_CANCELED" {
		t.Errorf("the sender got %q", got)
	}
	close(hold)
}

// The server makes the task when a handler takes its time: what the handler reads meanwhile stays as it is.
func TestTheMessageStaysAsItIsWhenTheServerMakesTheTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, params string }{
		{"at the timeout", message("x")},
		{"for a client that does not wait", with(message("x"), `{"returnImmediately":true}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed, done := make(chan bool, 1), make(chan struct{})
			skill := run("reader", func(_ context.Context, t *server.Task) (string, error) {
				before := t.Call().Request().Message.MessageInfo()
				for t.Call().Snapshot() == nil {
					time.Sleep(time.Millisecond)
				}
				after := t.Call().Request().Message.MessageInfo()
				changed <- before.TaskID != after.TaskID || before.ContextID != after.ContextID || after.TaskID != t.Call().TaskID()
				close(done)
				return "", nil
			})
			skill.Timeout = 300 * time.Millisecond
			a := start(t, testCard, []server.Skill{skill})
			a.ok("SendMessage", c.params)
			<-done
			if <-changed {
				t.Error("the message changed under the handler")
			}
		})
	}
}

// runtime.Goexit is what testing.T.FailNow calls.
func TestAHandlerThatEndsItsGoroutineHasFailed(t *testing.T) {
	for _, c := range []struct {
		name    string
		timeout time.Duration
		params  string
		want    string
	}{
		{"on the request's goroutine", 0, message("x"), "the skill ended unexpectedly"},
		{"on its own goroutine", time.Minute, message("x"), "The skill failed unexpectedly."},
		{"in the background", 0, with(message("x"), `{"returnImmediately":true}`), `"task":`},
	} {
		t.Run(c.name, func(t *testing.T) {
			skill := run("exit", func(_ context.Context, t *server.Task) (string, error) {
				if err := t.Progress("on it"); err != nil {
					return "", err
				}
				runtime.Goexit()
				return "done", nil
			})
			skill.Timeout, skill.MaxConcurrent = c.timeout, 1
			a := start(t, testCard, []server.Skill{skill})
			for range 2 { // the slot is free again
				if _, body := a.post(rpcBody("SendMessage", c.params)); !strings.Contains(body, c.want) {
					t.Errorf("the answer is %s", body)
				}
			}
			deadline := time.Now().Add(time.Minute)
			for at(a.ok("ListTasks", `{"status":"TASK_STATE_FAILED"}`), "totalSize") != 2.0 {
				if time.Now().After(deadline) {
					t.Fatalf("the tasks are %v", a.ok("ListTasks", `{}`))
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}
