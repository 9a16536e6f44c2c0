package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// R41: what a client or an operator decides is no failure of the agent; an operator who is woken by errors should not see one.
func TestHowASkillEndsIsLoggedAtTheLevelOfWhoCausedIt(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("going"); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", ctx.Err()
	}
	changed, tried := make(chan struct{}), make(chan struct{})
	tasks := memory.New(memory.Limits{})
	intervene := func(a *agent, id string) { // as another process with the same store would
		a.await(id, "TASK_STATE_WORKING")
		key := store.Key{Task: id}
		snap, err := tasks.Get(t.Context(), key, store.Full)
		if err != nil {
			t.Fatal(err)
		}
		e := a2a.Protocol().NewStatus(id, snap.Task.TaskInfo().ContextID, runtime.StateFailed, nil, time.Now())
		if _, err := tasks.Apply(t.Context(), key, snap.Version, store.Update{Event: e}, nil); err != nil {
			t.Fatal(err)
		}
		close(changed)
	}
	later := with(message("x"), `{"returnImmediately":true}`)
	for _, c := range []struct {
		name  string
		skill func(ctx context.Context, t *server.Task) (string, error)
		then  func(a *agent, id string)
		want  string
		level slog.Level
	}{
		{"its client cancels the task", waits, func(a *agent, id string) { a.ok("CancelTask", `{"id":"`+id+`"}`) }, "task canceled", slog.LevelInfo},
		{"the agent shuts down", waits, func(*agent, string) {}, "skill stopped by the shutdown", slog.LevelInfo},
		{"its time is up", waits, func(a *agent, id string) { a.await(id, "TASK_STATE_FAILED") }, "skill took longer than allowed", slog.LevelWarn},
		{"somebody else ends the task", func(ctx context.Context, t *server.Task) (string, error) {
			if err := t.Progress("going"); err != nil {
				return "", err
			}
			<-changed
			defer close(tried)
			_ = t.Progress("still going")
			return "", ctx.Err()
		}, func(a *agent, id string) { intervene(a, id); <-tried }, "task goes on elsewhere", slog.LevelInfo},
		{"it fails", func(_ context.Context, t *server.Task) (string, error) {
			return "", errors.Join(t.Progress("going"), errors.New("no disk"))
		}, func(a *agent, id string) { a.await(id, "TASK_STATE_FAILED") }, "skill failed", slog.LevelError},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer // the handler writes one record at a time
			skill := run("work", c.skill)
			if c.level == slog.LevelWarn {
				skill.Timeout = 20 * time.Millisecond
			}
			a := start(t, testCard, []server.Skill{skill}, server.WithLogger(slog.New(slog.NewTextHandler(&out, nil))), server.WithStore(tasks), server.WithoutCallLog())
			c.then(a, str(a.ok("SendMessage", later), "task", "id"))
			if err := a.Close(); err != nil { // returns when the handler has
				t.Fatal(err)
			}
			if got := out.String(); !strings.Contains(got, `msg="`+c.want+`"`) || !strings.Contains(got, "level="+c.level.String()) || strings.Count(got, "level=") != 1 {
				t.Errorf("want one record %q at %v, got\n%s", c.want, c.level, got)
			}
		})
	}
}

// R229: what clients send is theirs: no message, no header of it is logged, whatever becomes of the call.
func TestWhatClientsSendIsNotLogged(t *testing.T) {
	var out bytes.Buffer // each call is over before the next begins
	failing := run("work", func(context.Context, *server.Task) (string, error) { return "", errors.New("no disk") })
	panicking := run("panic", func(context.Context, *server.Task) (string, error) { panic("no luck") })
	a := start(t, testCard, []server.Skill{failing, panicking}, server.WithLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	for _, params := range []string{
		message("sesame", `"metadata":{"skillId":"work"}`), message("sesame", `"metadata":{"skillId":"panic"}`),
		message("sesame", `"metadata":{"skillId":"sesame"}`), `{"message":{"sesame":1}}`,
	} {
		a.call("SendMessage", params, "Authorization: Bearer sesame")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "sesame") || !strings.Contains(got, "no disk") || !strings.Contains(got, "no luck") {
		t.Errorf("logged:\n%s", got)
	}
}

// TestEveryCallIsOneLine: what was called, for whom, what came of it and how long it took.
func TestEveryCallIsOneLine(t *testing.T) {
	log := new(lines)
	skills := []server.Skill{
		run("say", func(context.Context, *server.Task) (string, error) { return "x", nil }),
		run("break", func(context.Context, *server.Task) (string, error) { return "", errors.New("no disk") }),
		run("run", nothing),
	}
	a := start(t, authCard, skills, guards(), open, server.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	to := func(skill string) string { return message("x", `"metadata":{"skillId":"`+skill+`"}`) }
	a.post(rpcBody("SendMessage", to("say")), as("ann"))
	a.post(rpcBody("SendMessage", to("break")), as("ann"))
	a.post(rpcBody("SendStreamingMessage", to("say")), as("ann"))
	a.post(rpcBody("GetTask", `{"id":"none"}`), as("ann"))
	a.post(rpcBody("SendMessage", `{}`), as("ann"))
	a.post(rpcBody("SendMessage", to("say")))            // of nobody: one line says that it was refused
	a.post(rpcBody("SendMessage", to("run")), as("eve")) // who may not
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	var calls, refused []string
	for line := range strings.Lines(log.text.String()) {
		switch {
		case strings.Contains(line, "msg=request "):
			calls = append(calls, line)
		case strings.Contains(line, `msg="request refused"`):
			refused = append(refused, line)
		}
	}
	const ann = "caller=https://a.example|ann"
	for i, want := range [][]string{
		{"level=INFO", "operation=SendMessage", "skill=say", "task=", ann, "state=completed", "outcome=ok", "took="},
		{"operation=SendMessage", "skill=break", "state=failed", "outcome=ok"},
		{"operation=SendStreamingMessage", "skill=say", "task=", "outcome=ok"},
		{"operation=GetTask", "task=none", "outcome=TASK_NOT_FOUND"},
		{"operation=SendMessage", "outcome=INVALID_PARAMS"},
	} {
		if i >= len(calls) {
			break
		}
		for _, attribute := range append(want, ann) {
			if !strings.Contains(calls[i], attribute) {
				t.Errorf("%s is not in: %s", attribute, calls[i])
			}
		}
	}
	if len(calls) != 5 || len(refused) != 2 {
		t.Errorf("%d calls, %d were refused:\n%s", len(calls), len(refused), &log.text)
	}
}
