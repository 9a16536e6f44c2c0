package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/observed"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
)

var aList = rpcBody("ListTasks", "{}")

// doing are skills that end in every way.
func doing() []server.Skill {
	skill := func(id string, f func(t *server.Task) error) server.Skill {
		sk := run(id, func(_ context.Context, t *server.Task) (string, error) { return "done", f(t) })
		sk.Tags = []string{id}
		return sk
	}
	return []server.Skill{
		skill("work", func(*server.Task) error { return nil }),
		skill("reply", func(t *server.Task) error { return t.Reply(runtime.Text("hi")) }),
		skill("wait", func(t *server.Task) error { return t.Ask("what else?") }),
		skill("fail", func(t *server.Task) error { return t.Fail("no") }),
		skill("decline", func(t *server.Task) error { return t.Reject("no") }),
		skill("break", func(*server.Task) error { return errors.New("secret") }),
		skill("panic", func(*server.Task) error { panic("secret") }),
		skill("refuse", func(*server.Task) error { return &runtime.Error{Code: -32050, Reason: "secret"} }),
	}
}

// TestCallsAndRunsAreObserved: a call with the run that it leads to, over both bindings of HTTP.
func TestCallsAndRunsAreObserved(t *testing.T) {
	var seen observed.Recorder
	a := start(t, restCard, doing(), server.WithObserver(&seen))
	send := func(skill string) string { return message("x", `"metadata":{"skillId":"`+skill+`"}`) }
	over := map[string]func(body, header string){
		runtime.BindingJSONRPC: func(body, header string) { a.post(rpcBody("SendMessage", body), header) },
		runtime.BindingHTTP: func(body, header string) {
			resp := a.rest("POST", "/message:send", body, header)
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		},
	}
	for binding, call := range over {
		for skill, want := range map[string]string{
			"work":    "serve work task | run work task completed",
			"reply":   "serve reply | run reply unspecified",
			"wait":    "serve wait task | run wait task input-required",
			"fail":    "serve fail task | run fail task failed FAILED",
			"decline": "serve decline task | run decline task rejected REJECTED",
			"break":   "serve break task | run break task failed INTERNAL_ERROR",
			"panic":   "serve panic task | run panic task failed INTERNAL_ERROR",
			"refuse":  "serve refuse UNKNOWN | run refuse unspecified UNKNOWN",
		} {
			call(send(skill), "Traceparent: p")
			all := seen.Wait(t, 2)
			serve, run := all[0], all[1]
			if got := told(serve) + " | " + told(run); got != want {
				t.Errorf("%s: %s, want %s", binding, got, want)
			}
			if serve.Operation != "SendMessage" || serve.Binding != binding || serve.Version != "1.0" || serve.Begun.IsZero() || serve.Stream {
				t.Errorf("%+v", serve)
			}
			if run.Context == "" || serve.Context != run.Context && want != "serve refuse UNKNOWN | run refuse unspecified UNKNOWN" {
				t.Errorf("%s: contexts are %q and %q", skill, serve.Context, run.Context)
			}
			if run.Attempt != 1 || run.Within != serve.N || serve.Carried != "p" || serve.Within != 0 {
				t.Errorf("%s: %+v in %+v", skill, run, serve)
			}
		}
	}
}

// told is what an activity says of itself.
func told(a *observed.Activity) string {
	words := []string{a.Kind.String()}
	if a.Skill != "" {
		words = append(words, a.Skill)
	}
	if a.Task != "" {
		words = append(words, "task")
	}
	if a.Kind == observe.Run {
		words = append(words, a.State.String())
	}
	if a.Reason != "" {
		words = append(words, a.Reason)
	}
	return strings.Join(words, " ")
}

// TestWhatIsWrongIsObserved: whatever keeps a call from being carried out, its reason is told, and who called.
func TestWhatIsWrongIsObserved(t *testing.T) {
	var seen observed.Recorder
	a := start(t, authCard, waiting(), guards(), server.WithObserver(&seen))
	rest := func(method, path, body string, header ...string) {
		_ = a.rest(method, path, body, header...).Body.Close()
	}
	for name, c := range map[string]struct {
		call                      func()
		operation, caller, reason string
	}{
		"no credentials":         {func() { a.post(aList) }, "", "", "UNAUTHENTICATED"},
		"wrong ones":             {func() { a.post(aList, as("nobody")) }, "", "", "UNAUTHENTICATED"},
		"no issuer":              {func() { a.post(aList, as("down")) }, "", "", "RESOURCE_EXHAUSTED"},
		"a scope too few":        {func() { a.post(aList, as("zoe")) }, "", "", "PERMISSION_DENIED"},
		"for the skill":          {func() { a.post(rpcBody("SendMessage", message("x", `"metadata":{"skillId":"run"}`)), as("eve")) }, "SendMessage", "https://a.example|ann", "PERMISSION_DENIED"},
		"good ones":              {func() { a.post(aList, as("ann")) }, "ListTasks", "https://a.example|ann", ""},
		"another's tenant":       {func() { a.post(aList, as("acme"), "A2A-Tenant: other") }, "ListTasks", "https://a.example|ann", "PERMISSION_DENIED"},
		"no task":                {func() { a.post(rpcBody("GetTask", `{"id":"x"}`), as("ann")) }, "GetTask", "https://a.example|ann", "TASK_NOT_FOUND"},
		"no JSON":                {func() { a.post("{", as("ann")) }, "", "https://a.example|ann", "PARSE_ERROR"},
		"no such method":         {func() { a.post(rpcBody("Nope", "{}"), as("ann")) }, "", "https://a.example|ann", "METHOD_NOT_FOUND"},
		"wrong parameters":       {func() { a.post(rpcBody("GetTask", `{"id":5}`), as("ann")) }, "GetTask", "https://a.example|ann", "INVALID_PARAMS"},
		"no such version":        {func() { a.post(aList, as("ann"), "A2A-Version: 99.0") }, "", "https://a.example|ann", "VERSION_NOT_SUPPORTED"},
		"another content type":   {func() { a.post(aList, "Content-Type: text/plain") }, "", "", "CONTENT_TYPE_NOT_SUPPORTED"},
		"REST, no task":          {func() { rest("GET", "/tasks/x", "", as("ann")) }, "GetTask", "https://a.example|ann", "TASK_NOT_FOUND"},
		"REST, no such path":     {func() { rest("GET", "/nope", "", as("ann")) }, "", "https://a.example|ann", "METHOD_NOT_FOUND"},
		"REST, another method":   {func() { rest("PUT", "/tasks/x", "", as("ann")) }, "", "https://a.example|ann", "METHOD_NOT_FOUND"},
		"REST, no credentials":   {func() { rest("GET", "/tasks/x", "") }, "", "", "UNAUTHENTICATED"},
		"a notification":         {func() { a.post(`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}`, as("ann")) }, "GetTask", "https://a.example|ann", "TASK_NOT_FOUND"},
		"a stream that is wrong": {func() { a.post(rpcBody("SubscribeToTask", `{"id":"x"}`), as("ann")) }, "SubscribeToTask", "https://a.example|ann", "TASK_NOT_FOUND"},
	} {
		c.call()
		got := seen.Wait(t, 1)[0]
		if got.Operation != c.operation || got.Caller.Principal() != c.caller || got.Reason != c.reason || got.Kind != observe.Serve {
			t.Errorf("%s: %q by %q, %q, want %q by %q, %q", name, got.Operation, got.Caller.Principal(), got.Reason, c.operation, c.caller, c.reason)
		}
		if got.Stream != (c.operation == "SubscribeToTask") {
			t.Errorf("%s: stream %v", name, got.Stream)
		}
	}
}

// TestTheTraceOfACallIsInItsHeadersOrItsMessage: and of the message only where the headers say none.
func TestTheTraceOfACallIsInItsHeadersOrItsMessage(t *testing.T) {
	var seen observed.Recorder
	a := start(t, testCard, doing()[1:2], server.WithObserver(&seen))
	for _, c := range []struct{ metadata, header, want string }{
		{`{"traceparent":"m"}`, "X: x", "m"},
		{`{"traceparent":"m","tracestate":5}`, "Traceparent: h", "h"},
		{`{"traceparent":5}`, "X: x", ""},
		{`{"traceparent":"` + strings.Repeat("m", 1000) + `"}`, "X: x", ""},
	} {
		a.post(rpcBody("SendMessage", message("x", `"metadata":`+c.metadata)), c.header)
		if got := seen.Wait(t, 2)[0].Carried; got != c.want {
			t.Errorf("%s and %s: %q", c.metadata, c.header, got)
		}
	}
}

// TestAFollowUpBelongsToTheTraceOfItsTask: its run begins within its own call, and is told where the task comes from.
func TestAFollowUpBelongsToTheTraceOfItsTask(t *testing.T) {
	var seen observed.Recorder
	a := start(t, testCard, doing()[2:3], server.WithObserver(&seen))
	id := str(a.ok("SendMessage", message("x")), "task", "id")
	first := seen.Wait(t, 2)
	a.ok("SendMessage", message("y", `"taskId":"`+id+`"`))
	then := seen.Wait(t, 2)
	kept := fmt.Sprint("t", first[0].N)
	if first[1].Carried != "" || then[1].Carried != kept || then[1].Within != then[0].N || then[1].Task != id {
		t.Errorf("%+v, then %+v, want %s", first[1], then[1], kept)
	}
}

// TestAStreamIsObservedToItsEnd: it has ended well when its client has got everything.
func TestAStreamIsObservedToItsEnd(t *testing.T) {
	var seen observed.Recorder
	going := make(chan struct{})
	a := start(t, testCard, []server.Skill{run("go", func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("going"); err != nil {
			return "", err
		}
		select {
		case <-going:
		case <-ctx.Done():
		}
		return "done", nil
	})}, server.WithObserver(&seen))
	left := a.open(rpcBody("SendStreamingMessage", message("x")), "Accept: text/event-stream")
	if _, err := left.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = left.Body.Close()
	for seen.Going() > 1 { // the run
		time.Sleep(time.Millisecond)
	}
	whole := a.stream("SendStreamingMessage", message("y"))
	close(going)
	whole.rest()
	reasons := map[string]int{}
	for _, got := range seen.Wait(t, 4) {
		if got.Kind == observe.Serve && !got.Stream || got.Task == "" {
			t.Errorf("%+v", got)
		}
		reasons[got.Kind.String()+" "+got.Reason]++
	}
	if reasons["serve "] != 1 || reasons["serve CANCELED"] != 1 || reasons["run "] != 2 {
		t.Errorf("%v", reasons)
	}
}

// broken panics whatever it is told.
type broken struct{}

func (broken) Begin(context.Context, *observe.Activity) context.Context { panic("begin") }
func (broken) End(context.Context, *observe.Activity)                   { panic("end") }

func TestAnObserverThatPanicsHarmsNobody(t *testing.T) {
	var log bytes.Buffer
	a := start(t, testCard, []server.Skill{echo()}, server.WithObserver(broken{}), server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if got := str(a.ok("SendMessage", message("hi")), "task", "status", "state"); got != "TASK_STATE_COMPLETED" {
		t.Errorf("state %s", got)
	}
	if err := a.Close(); err != nil || strings.Count(log.String(), "an observer panicked") != 4 {
		t.Errorf("%v, logged: %s", err, &log)
	}
}

// TestRefusalsAreLoggedAtABoundedRate: R225.
func TestRefusalsAreLoggedAtABoundedRate(t *testing.T) {
	var log bytes.Buffer
	now := time.Now()
	clock := server.WithClock(func() time.Time { return now })
	s := newServer(t, authCard, waiting(), guards(), clock, server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	t.Cleanup(func() { _ = s.Close() })
	for range 100 {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(aList)))
	}
	if n := strings.Count(log.String(), "request refused"); n != 60 {
		t.Errorf("%d of 100 refusals were logged", n)
	}
	log.Reset()
	now = now.Add(time.Minute)
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(aList)))
	if !strings.Contains(log.String(), "left_out=40") {
		t.Errorf("then: %s", &log)
	}
}

// TestADeliveryBelongsToTheTraceOfItsTask: each attempt is observed, and sends the trace context on.
func TestADeliveryBelongsToTheTraceOfItsTask(t *testing.T) {
	t.Parallel()
	var seen observed.Recorder
	a := start(t, pushCard, []server.Skill{echo()}, open, server.WithObserver(&seen))
	to := receiver(t)
	to.answer = func(n int, _ *http.Request) int {
		if n == 1 {
			return http.StatusBadGateway
		}
		return http.StatusNoContent
	}
	a.ok("SendMessage", with(message("x"), `{"taskPushNotificationConfig":{"url":"`+to.URL+`/?secret=s"}}`))
	all := to.wait(t, 3) // the first of the two, twice
	var serve *observed.Activity
	var attempts []string
	for _, got := range seen.Wait(t, 1+1+len(all)) {
		if got.Kind == observe.Serve {
			serve = got
		}
		if got.Kind != observe.Deliver {
			continue
		}
		attempts = append(attempts, fmt.Sprint(got.Attempt, got.Reason))
		if want := strings.TrimPrefix(to.URL, "http://"); got.Peer != want || got.Carried != fmt.Sprint("t", serve.N) || got.Task != serve.Task ||
			got.Context != serve.Context || got.Skill != "echo" || got.Within != 0 {
			t.Errorf("%+v", got)
		}
	}
	if fmt.Sprint(attempts) != "[1FAILED 2 1]" {
		t.Errorf("attempts were %v", attempts)
	}
	for i, got := range all {
		if h := got.header.Get("Traceparent"); !strings.HasPrefix(h, "t") {
			t.Errorf("notification %d has the trace %q", i, h)
		}
	}
}

// TestLogLinesSayWhoDidWhat: task, skill, caller and operation, as far as there are any.
func TestLogLinesSayWhoDidWhat(t *testing.T) {
	log := new(lines)
	skills := append(doing(), run("say", func(_ context.Context, t *server.Task) (string, error) {
		t.Logger().Info("a handler's own")
		return "x", nil
	}), run("run", nothing))
	card := strings.Replace(authCard, `"id":"ask"`, `"id":"break"`, 1)
	a := start(t, card, skills, guards(), open, server.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	send := func(skill, who string) {
		a.post(rpcBody("SendMessage", message("x", `"metadata":{"skillId":"`+skill+`"}`)), as(who))
	}
	send("break", "ann")
	send("say", "ann")
	send("run", "eve")
	a.post(rpcBody("GetTask", `{"id":"none"}`), as("bob"))
	to := receiver(t)
	to.answer = func(int, *http.Request) int { return http.StatusGone }
	a.post(rpcBody("SendMessage", with(message("x", `"metadata":{"skillId":"say"}`), `{"taskPushNotificationConfig":{"url":"`+to.URL+`"}}`)), as("ann"))
	const ann = "caller=https://a.example|ann"
	for what, want := range map[string][]string{
		"skill failed":    {"skill=break", "task=", ann},
		"a handler's own": {"skill=say", "task=", ann},
		"request refused": {"skill=run", "operation=SendMessage", ann, "status=403"},
		"push notifications are not wanted any more": {"skill=say", "task=", ann, "host=127.0.0.1"},
		"msg=request operation=GetTask":              {"operation=GetTask", "task=none", "caller=https://a.example|bob"},
	} {
		line := log.await(t, what)
		for _, attribute := range want {
			if !strings.Contains(line, attribute) {
				t.Errorf("%s is not in: %s", attribute, line)
			}
		}
	}
}

func nothing(context.Context, *server.Task) (string, error) { return "", nil }

// lines are what is logged.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// await returns the first line that contains a text.
func (l *lines) await(t *testing.T, text string) string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		all := l.text.String()
		l.mu.Unlock()
		for line := range strings.Lines(all) {
			if strings.Contains(line, text) {
				return line
			}
		}
	}
	t.Fatalf("%q was not logged", text)
	return ""
}
