package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

func echo() server.Skill {
	return run("echo", func(_ context.Context, t *server.Task) (string, error) { return "echo: " + t.Text(), nil })
}

// R7, R24, R57, R58: a blocking send answers with the finished task.
func TestSendWaitsForTheTaskAndReturnsItWithItsResult(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	task := a.ok("SendMessage", message("hi"))["task"]
	if got := str(task, "status", "state"); got != "TASK_STATE_COMPLETED" {
		t.Errorf("state is %q", got)
	}
	if got := str(task, "artifacts", 0, "parts", 0, "text"); got != "echo: hi" {
		t.Errorf("result is %q", got)
	}
	if got := str(task, "artifacts", 0, "artifactId"); got != runtime.ResultArtifact {
		t.Errorf("result's id is %q", got)
	}
	if got := str(task, "artifacts", 0, "metadata", runtime.SkillsExtension, "skill"); got != "echo" {
		t.Errorf("result's skill is %q", got)
	}
	if str(task, "id") == "" || str(task, "contextId") == "" {
		t.Error("the task has no ids")
	}
	if got := str(task, "history", 0, "parts", 0, "text"); got != "hi" {
		t.Errorf("history begins with %q, want the client's message", got)
	}
	if got := str(task, "history", 0, "taskId"); got != str(task, "id") {
		t.Errorf("the message in the history has task id %q", got)
	}
}

// R51, R304: a plain answer carries a context id and no task id.
func TestReplyAnswersWithAMessageAndMakesNoTask(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("chat", func(_ context.Context, t *server.Task) (string, error) {
		return "", t.Reply(runtime.Text("hello"), runtime.Data(map[string]int{"n": 1}))
	})})
	m := a.ok("SendMessage", message("hi", `"contextId":"c1"`))["message"]
	if str(m, "parts", 0, "text") != "hello" || at(m, "parts", 1, "data", "n") != 1.0 || str(m, "contextId") != "c1" || str(m, "role") != "ROLE_AGENT" || str(m, "messageId") == "" {
		t.Errorf("answer is %v", m)
	}
	if _, ok := m.(map[string]any)["taskId"]; ok {
		t.Error("the answer names a task")
	}
	if n := at(a.ok("ListTasks", `{}`), "totalSize"); n != 0.0 {
		t.Errorf("there are %v tasks", n)
	}
}

func TestReplyAfterATaskIsAnError(t *testing.T) {
	var got error
	a := start(t, testCard, []server.Skill{run("chat", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("working"); err != nil {
			return "", err
		}
		got = t.Reply(runtime.Text("too late"))
		return "", nil
	})})
	a.ok("SendMessage", message("hi"))
	if !errors.Is(got, server.ErrTaskExists) {
		t.Errorf("Reply gives %v", got)
	}
}

// R25: returnImmediately answers at once with a task in progress.
func TestReturnImmediatelyAnswersWhileTheHandlerWorks(t *testing.T) {
	release := make(chan struct{})
	a := start(t, testCard, []server.Skill{typed("slow", []string{"q"}, func(context.Context, *server.Task, map[string]any) (any, error) {
		<-release
		return map[string]any{"done": true}, nil
	})})
	task := a.ok("SendMessage", with(message("x"), `{"returnImmediately":true}`))["task"]
	if got := str(task, "status", "state"); got != "TASK_STATE_WORKING" {
		t.Errorf("state is %q", got)
	}
	close(release)
	a.await(str(task, "id"), "TASK_STATE_COMPLETED")
}

// A handler that has not decided between a Message and a Task gets a task when the client does not wait.
func TestReturnImmediatelyMakesATaskForASlowUndecidedHandler(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	a := start(t, testCard, []server.Skill{run("chat", func(_ context.Context, t *server.Task) (string, error) {
		<-release
		return "", t.Reply(runtime.Text("at last"))
	})})
	task := a.ok("SendMessage", with(message("x"), `{"returnImmediately":true}`))["task"]
	close(release)
	done := a.await(str(task, "id"), "TASK_STATE_COMPLETED")
	if got := str(done, "status", "message", "parts", 0, "text"); got != "at last" {
		t.Errorf("the reply became %q", got)
	}
}

// await polls a task until it is in the state.
func (a *agent) await(id, state string) map[string]any {
	a.t.Helper()
	for range 3000 { // half a minute, for a machine that is busy
		task := a.ok("GetTask", `{"id":"`+id+`"}`)
		if str(task, "status", "state") == state {
			return task
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.t.Fatalf("task does not become %s", state)
	return nil
}

// R26, R300: historyLength is never exceeded, 0 leaves history out.
func TestHistoryLengthBoundsTheHistory(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("talk", func(_ context.Context, t *server.Task) (string, error) {
		for _, p := range []string{"one", "two", "three"} {
			if err := t.Progress("%s", p); err != nil {
				return "", err
			}
		}
		return "done", nil
	})})
	id := str(a.ok("SendMessage", message("hi")), "task", "id")
	for _, c := range []struct {
		name, method, params string
		want                 int
	}{
		{"unset is all", "GetTask", `{"id":"` + id + `"}`, 4},
		{"zero is none", "GetTask", `{"id":"` + id + `","historyLength":0}`, 0},
		{"two are the last two", "GetTask", `{"id":"` + id + `","historyLength":2}`, 2},
		{"more than there are", "GetTask", `{"id":"` + id + `","historyLength":99}`, 4},
		{"send with one", "SendMessage", with(message("hi"), `{"historyLength":1}`), 1},
		{"send with none", "SendMessage", with(message("hi"), `{"historyLength":0}`), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := any(a.ok(c.method, c.params))
			if c.method == "SendMessage" {
				task = at(task, "task")
			}
			history, _ := at(task, "history").([]any)
			if len(history) != c.want {
				t.Errorf("history has %d messages, want %d", len(history), c.want)
			}
			if _, there := task.(map[string]any)["history"]; there && c.want == 0 {
				t.Error("an empty history is written")
			}
		})
	}
	if _, e := a.call("GetTask", `{"id":"`+id+`","historyLength":-1}`); !errors.Is(e, runtime.ErrInvalidParams) {
		t.Errorf("negative length gives %v", e)
	}
}

// §3.4.2, §3.4.3: how a message finds its task (Q29).
func TestFollowUpRules(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("ask", func(_ context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			return "you said " + t.Text(), nil
		}
		return "", t.Ask("which one?")
	})})
	parked := a.ok("SendMessage", message("hi", `"contextId":"mine"`))["task"]
	id := str(parked, "id")
	if str(parked, "status", "state") != "TASK_STATE_INPUT_REQUIRED" || str(parked, "status", "message", "parts", 0, "text") != "which one?" {
		t.Fatalf("parked task is %v", parked)
	}
	if str(parked, "contextId") != "mine" { // R52
		t.Errorf("the client's context was replaced by %q", str(parked, "contextId"))
	}
	for _, c := range []struct {
		name, more string
		want       *runtime.Error
	}{
		{"unknown task (R60)", `"taskId":"nope"`, runtime.ErrTaskNotFound},
		{"other context (R62)", `"taskId":"` + id + `","contextId":"other"`, runtime.ErrInvalidParams},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, e := a.call("SendMessage", message("x", c.more)); !errors.Is(e, c.want) {
				t.Errorf("got %v, want %v", e, c.want)
			}
		})
	}
	done := a.ok("SendMessage", message("that one", `"taskId":"`+id+`"`))["task"] // R61: the context is the task's
	if str(done, "id") != id || str(done, "contextId") != "mine" || str(done, "artifacts", 0, "parts", 0, "text") != "you said that one" {
		t.Errorf("answered task is %v", done)
	}
	var history []string
	for _, m := range at(done, "history").([]any) {
		history = append(history, str(m, "parts", 0, "text"))
	}
	if len(history) != 3 || history[0] != "hi" || history[1] != "which one?" || history[2] != "that one" {
		t.Errorf("history is %q, want question before answer", history)
	}
	if _, e := a.call("SendMessage", message("more", `"taskId":"`+id+`"`)); !errors.Is(e, runtime.ErrUnsupportedOperation) {
		t.Errorf("a message to an ended task gives %v", e)
	}
}

func TestMessagesToAWorkingTaskAreHandledAfterTheCallThatGoesOn(t *testing.T) {
	release := make(chan struct{})
	a := start(t, testCard, []server.Skill{run("chat", func(_ context.Context, t *server.Task) (string, error) {
		if !t.Resumed() {
			if err := t.Save(map[string]string{"from": t.Text()}); err != nil {
				return "", err
			}
			if err := t.Progress("thinking"); err != nil {
				return "", err
			}
			<-release
			return "", t.Ask("and?")
		}
		var saved map[string]string
		if ok, err := t.Load(&saved); !ok || err != nil {
			return "", errors.New("nothing saved")
		}
		return saved["from"] + " then " + t.Text(), nil
	})})
	first := a.ok("SendMessage", with(message("one"), `{"returnImmediately":true}`))["task"]
	id := str(first, "id")
	a.ok("SendMessage", with(message("two", `"taskId":"`+id+`"`), `{"returnImmediately":true}`))
	close(release)
	done := a.await(id, "TASK_STATE_COMPLETED")
	if got := str(done, "artifacts", 0, "parts", 0, "text"); got != "one then two" {
		t.Errorf("result is %q", got)
	}
}

func TestSaveAndLoadKeepStateBetweenCalls(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("count", func(_ context.Context, t *server.Task) (string, error) {
		var n int
		if _, err := t.Load(&n); err != nil {
			return "", err
		}
		if n++; n == 3 {
			return "three", nil
		}
		if err := t.Save(n); err != nil {
			return "", err
		}
		return "", t.Ask("again")
	})})
	id := str(a.ok("SendMessage", message("1")), "task", "id")
	a.ok("SendMessage", message("2", `"taskId":"`+id+`"`))
	done := a.ok("SendMessage", message("3", `"taskId":"`+id+`"`))["task"]
	if got := str(done, "artifacts", 0, "parts", 0, "text"); got != "three" {
		t.Errorf("result is %q", got)
	}
}

// How a handler's return ends its task.
func TestHandlerOutcomes(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial tcp 10.0.0.7: password wrong")
	for _, c := range []struct {
		name        string
		handler     func(ctx context.Context, t *server.Task) (string, error)
		state, text string
	}{
		{"an error becomes a failed task without its text", func(context.Context, *server.Task) (string, error) { return "", secret }, "TASK_STATE_FAILED", "The skill failed unexpectedly."},
		{"a panic becomes a failed task", func(context.Context, *server.Task) (string, error) { panic(secret) }, "TASK_STATE_FAILED", "The skill failed unexpectedly."},
		{"Fail says why", func(_ context.Context, t *server.Task) (string, error) { return "", t.Fail("no such city") }, "TASK_STATE_FAILED", "no such city"},
		{"Reject declines", func(_ context.Context, t *server.Task) (string, error) { return "", t.Reject("not on Sundays") }, "TASK_STATE_REJECTED", "not on Sundays"},
		{"RequireAuth parks (R110, R111, R112)", func(_ context.Context, t *server.Task) (string, error) {
			return "", t.RequireAuth(server.AuthRequest{Prompt: "log in there", Data: []any{map[string]string{"url": "https://x"}}})
		}, "TASK_STATE_AUTH_REQUIRED", "log in there"},
		{"a public error after a task exists", func(_ context.Context, t *server.Task) (string, error) {
			if err := t.Progress("x"); err != nil {
				return "", err
			}
			return "", runtime.ErrInvalidParams.With("the date is in the past")
		}, "TASK_STATE_FAILED", "the date is in the past"},
		{"an answer that is too large", func(_ context.Context, t *server.Task) (string, error) {
			return "", t.Artifact("big", runtime.Text(string(make([]byte, 2000))))
		}, "TASK_STATE_FAILED", "The skill failed unexpectedly."},
		{"a timeout", func(ctx context.Context, t *server.Task) (string, error) {
			if _, ok := ctx.Deadline(); !ok {
				return "", t.Fail("no deadline")
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), server.ErrTimeout) {
				return "", t.Fail("wrong cause")
			}
			return "", ctx.Err()
		}, "TASK_STATE_FAILED", "The work took longer than allowed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := server.Limits{Event: 1000, Timeout: time.Minute}
			if c.name == "a timeout" {
				limits.Timeout = 50 * time.Millisecond
			}
			a := start(t, testCard, []server.Skill{run("x", c.handler)}, server.WithLimits(limits))
			task := a.ok("SendMessage", message("hi"))["task"]
			if got := str(task, "status", "state"); got != c.state {
				t.Errorf("state is %q, want %q", got, c.state)
			}
			if got := str(task, "status", "message", "parts", 0, "text"); got != c.text {
				t.Errorf("text is %q, want %q", got, c.text)
			}
		})
	}
}

// R115: the task waits for the authorization, and the client may say something meanwhile.
func TestATaskThatWaitsForAuthorizationTakesMessages(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("vault", func(_ context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			return "open", nil
		}
		return "", t.RequireAuth(server.AuthRequest{Prompt: "log in there"})
	})})
	id := str(a.ok("SendMessage", message("open it")), "task", "id")
	if got := str(a.ok("SendMessage", message("I did", `"taskId":"`+id+`"`)), "task", "status", "state"); got != "TASK_STATE_COMPLETED" {
		t.Errorf("the task is %q", got)
	}
}

func TestAPublicErrorBeforeAnyTaskIsTheAnswer(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("x", func(context.Context, *server.Task) (string, error) {
		return "", runtime.ErrContentTypeNotSupported.With("no pictures, please")
	})})
	_, e := a.call("SendMessage", message("hi"))
	if !errors.Is(e, runtime.ErrContentTypeNotSupported) || e.Message != "Incompatible content types" || e.Note != "no pictures, please" {
		t.Errorf("got %v", e)
	}
}

// R35, R36, R100, R218: what the codec does not check is checked too, with the field's path.
func TestSendRefusesInvalidMessages(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, c := range []struct {
		name, params, field string
		want                *runtime.Error
	}{
		{"no message", `{}`, "message", runtime.ErrInvalidParams},
		{"no parts", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`, "message.parts", runtime.ErrInvalidParams},
		{"bad base64 deep inside", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"},{"raw":"%%%"}]}}`, "message.parts[1].raw", runtime.ErrInvalidParams},
		{"agent's role", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"a"}]}}`, "message.role", runtime.ErrInvalidParams},
		{"empty message id", `{"message":{"messageId":"","role":"ROLE_USER","parts":[{"text":"a"}]}}`, "message.messageId", runtime.ErrInvalidParams},
		{"negative history", with(message("x"), `{"historyLength":-1}`), "configuration.historyLength", runtime.ErrInvalidParams},
		{"inline push", with(message("x"), `{"taskPushNotificationConfig":{"url":"https://x"}}`), "", runtime.ErrPushNotificationNotSupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, e := a.call("SendMessage", c.params)
			if !errors.Is(e, c.want) {
				t.Fatalf("got %v, want %v", e, c.want)
			}
			if c.field == "" {
				return
			}
			if vs := e.Violations(); len(vs) == 0 || vs[0].Field != c.field {
				t.Errorf("violations are %v, want field %q", vs, c.field)
			}
		})
	}
}

// TestTheRoleOfAnotherVersionIsAnsweredWithTheWordToUse: "user" is what 0.3 has, and a number is no name.
func TestTheRoleOfAnotherVersionIsAnsweredWithTheWordToUse(t *testing.T) {
	a := former(t)
	for _, tt := range []struct{ path, body, header, want string }{
		{"/message:send", `{"message":{"messageId":"m","role":"user","parts":[{"text":"a"}]}}`, "A2A-Version: 1.0", `message.role must be "ROLE_USER":`},
		{"/message:send", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"a"}]}}`, "A2A-Version: 1.0", `message.role must be "ROLE_USER":`},
		{"/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"text":"a"}]}}`, unversioned, `message.role must be "ROLE_USER":`},
	} {
		if resp, got := a.answer("POST", tt.path, tt.body, tt.header); !strings.Contains(fmt.Sprint(got), tt.want) {
			t.Errorf("%s of %s: %s %v", tt.path, tt.body, resp.Status, got)
		}
	}
	_, body := a.post(rpcBody("SendMessage", `{"message":{"messageId":"m","role":"user","parts":[{"text":"a"}]}}`))
	if !strings.Contains(body, `message.role must be \"ROLE_USER\":`) {
		t.Error(body)
	}
	_, body = a.post(rpcBody("message/send", `{"message":{"kind":"message","messageId":"m","role":"ROLE_USER","parts":[{"kind":"text","text":"a"}]}}`), unversioned)
	if !strings.Contains(body, `message.role must be \"user\":`) && !strings.Contains(body, `"result"`) {
		t.Error(body)
	}
}

// R301: a client that takes text but no JSON gets the JSON as text.
func TestResultIsTailoredToTheAcceptedOutputModes(t *testing.T) {
	a := start(t, testCard, []server.Skill{typed("calc", []string{"q"}, func(context.Context, *server.Task, map[string]any) (any, error) {
		return map[string]int{"n": 1}, nil
	})})
	for _, c := range []struct{ name, modes, member string }{
		{"no wish", `[]`, "data"},
		{"both", `["text/plain","application/json"]`, "data"},
		{"anything", `["*/*"]`, "data"},
		{"text only", `["text/plain"]`, "text"},
		{"neither", `["image/png"]`, "data"},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := a.ok("SendMessage", with(data(`{"q":"x"}`), `{"acceptedOutputModes":`+c.modes+`}`))["task"]
			part, _ := at(task, "artifacts", 0, "parts", 0).(map[string]any)
			if _, ok := part[c.member]; !ok {
				t.Errorf("part is %v, want a %s part", part, c.member)
			}
		})
	}
}

// A client that accepts nothing of what the skill gives learns it before any work is done.
func TestOutputThatTheClientCannotTakeIsRefusedBeforeTheWork(t *testing.T) {
	worked := 0
	skill := run("draw", func(context.Context, *server.Task) (string, error) {
		worked++
		return "", nil
	})
	for _, c := range []struct {
		name, accepts string
		gives         []string
		ok            bool
	}{
		{"no wish", `[]`, []string{"image/png"}, true},
		{"the same", `["image/png"]`, []string{"text/plain", "image/png"}, true},
		{"a wish for any image", `["image/*"]`, []string{"image/png"}, true},
		{"a skill that gives any image", `["image/png"]`, []string{"image/*"}, true},
		{"JSON as text", `["text/plain"]`, []string{"application/json"}, true},
		{"a name of 0.1", `["text"]`, []string{"text/plain"}, true},
		{"a skill that does not say", `["audio/ogg"]`, nil, true},
		{"another", `["audio/ogg"]`, []string{"text/plain", "image/png"}, false},
		{"text is no JSON", `["application/json"]`, []string{"text/plain"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			skill.OutputModes = c.gives
			a, before := start(t, testCard, []server.Skill{skill}), worked
			_, e := a.call("SendMessage", with(message("x"), `{"acceptedOutputModes":`+c.accepts+`}`))
			if c.ok != (e == nil) || (e != nil && !errors.Is(e, runtime.ErrContentTypeNotSupported)) || (worked > before) != c.ok {
				t.Errorf("got %v, the handler ran %d times", e, worked-before)
			}
		})
	}
}

// R219, R40, R231: concurrent work is bounded, and the client can tell that it passes.
func TestTooManyRunningHandlersAreRefusedAsBusy(t *testing.T) {
	release := make(chan struct{})
	a := start(t, testCard, []server.Skill{typed("slow", []string{"q"}, func(context.Context, *server.Task, map[string]any) (any, error) {
		<-release
		return map[string]any{}, nil
	})}, server.WithLimits(server.Limits{Running: 1}))
	task := a.ok("SendMessage", with(message("x"), `{"returnImmediately":true}`))["task"]
	_, e := a.call("SendMessage", message("y"))
	if e == nil || e.Reason != "RESOURCE_EXHAUSTED" {
		t.Errorf("got %v", e)
	}
	close(release)
	a.await(str(task, "id"), "TASK_STATE_COMPLETED")
	for range 100 { // the call is counted out a moment after its task has ended
		if _, e = a.call("SendMessage", message("z")); e == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("after the call: %v", e)
}

func TestMaxConcurrentMakesCallsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var skills = []server.Skill{run("one", func(context.Context, *server.Task) (string, error) {
		<-release
		return "ok", nil
	})}
	skills[0].MaxConcurrent = 1
	a := start(t, testCard, skills)
	first := a.ok("SendMessage", with(message("x"), `{"returnImmediately":true}`))["task"]
	second := a.ok("SendMessage", with(message("y"), `{"returnImmediately":true}`))["task"]
	if got := str(first, "status", "state"); got != "TASK_STATE_WORKING" {
		t.Errorf("the first is %q", got)
	}
	if got := str(second, "status", "state"); got != "TASK_STATE_SUBMITTED" {
		t.Errorf("the second is %q", got)
	}
	third := a.ok("SendMessage", with(message("z"), `{"returnImmediately":true}`))["task"]
	a.ok("CancelTask", `{"id":"`+str(third, "id")+`"}`)
	close(release)
	a.await(str(first, "id"), "TASK_STATE_COMPLETED")
	a.await(str(second, "id"), "TASK_STATE_COMPLETED")
	a.await(str(third, "id"), "TASK_STATE_CANCELED")
}
