package server_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// serve answers one call in process, so that time can be a bubble's.
func serve(s *server.Server, method, params string) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/rpc", strings.NewReader(rpcBody(method, params))))
	return w.Body.String()
}

func TestLongTimeoutsEndCallsWithoutATimerEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skill := run("slow", func(ctx context.Context, _ *server.Task) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		skill.Timeout = 2 * time.Hour
		s := newServer(t, testCard, []server.Skill{skill})
		begin := time.Now()
		if body := serve(s, "SendMessage", message("x")); !strings.Contains(body, "The work took longer than allowed.") {
			t.Errorf("answer is %s", body)
		}
		if took := time.Since(begin); took < 2*time.Hour || took > 2*time.Hour+5*time.Second {
			t.Errorf("the call ended after %s", took)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestEndedTasksAreDroppedAfterTheRetentionTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, testCard, []server.Skill{echo()})
		serve(s, "SendMessage", message("x"))
		time.Sleep(59 * time.Minute)
		if body := serve(s, "ListTasks", `{}`); !strings.Contains(body, `"totalSize":1`) {
			t.Errorf("after 59 minutes: %s", body)
		}
		time.Sleep(2 * time.Minute)
		if body := serve(s, "ListTasks", `{}`); !strings.Contains(body, `"totalSize":0`) {
			t.Errorf("after 61 minutes: %s", body)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestASilentStreamBeatsEveryFifteenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, testCard, []server.Skill{run("quiet", func(_ context.Context, t *server.Task) (string, error) {
			if err := t.Progress("thinking"); err != nil {
				return "", err
			}
			time.Sleep(50 * time.Second)
			return "done", nil
		})})
		body := serve(s, "SendStreamingMessage", message("x"))
		if n := strings.Count(body, ":\n\n"); n != 3 {
			t.Errorf("%d heartbeats in 50 seconds: %s", n, body)
		}
		if !strings.Contains(body, "TASK_STATE_COMPLETED") {
			t.Errorf("the stream is %s", body)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A client that does not wait gets its task after 200 ms at the latest, a Message that comes earlier is its answer.
func TestPatienceWithUndecidedHandlers(t *testing.T) {
	for _, c := range []struct {
		name   string
		after  time.Duration
		answer string
	}{
		{"quick", 199 * time.Millisecond, `"result":{"message":`},
		{"slow", 201 * time.Millisecond, `"result":{"task":`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, testCard, []server.Skill{run("chat", func(_ context.Context, t *server.Task) (string, error) {
					time.Sleep(c.after)
					return "", t.Reply(runtime.Text("hi"))
				})})
				if body := serve(s, "SendMessage", with(message("x"), `{"returnImmediately":true}`)); !strings.Contains(body, c.answer) {
					t.Errorf("answer is %s", body)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		})
	}
}
