package interop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	oldsrv "github.com/a2aproject/a2a-go/a2asrv"
	oldpush "github.com/a2aproject/a2a-go/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	peerpush "github.com/a2aproject/a2a-go/v2/a2asrv/push"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/push"
)

// ourHook is a webhook with our receiver, which has the same functions for agents of all versions.
func ourHook(t *testing.T) (*push.Receiver, *hook) {
	h := &hook{}
	line := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); len(h.lines) == 0 || s != "artifact" || h.lines[len(h.lines)-1] != s {
			h.lines = append(h.lines, s)
		}
	}
	r := ok[*push.Receiver](t)(push.NewReceiver(a2awires.Protocol(), push.Token(hookToken), push.WithLogger(slog.New(slog.DiscardHandler)),
		push.On(func(_ context.Context, e *a2awires.TaskStatusUpdateEvent, _ *push.Notification) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			line("status %s", e.Status.State)
			return nil
		}),
		push.On(func(_ context.Context, e *a2awires.TaskArtifactUpdateEvent, _ *push.Notification) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			line("artifact")
			for _, p := range e.Artifact.Parts {
				s, _ := p.Content.(a2awires.PartText)
				h.text += string(s)
			}
			return nil
		}),
	))
	h.Server = httptest.NewServer(r)
	t.Cleanup(h.Close)
	return r, h
}

// TestOurReceiverHearsTheOfficialAgents: those of 1.0 send events, those of 0.3 tasks, with a token and no more.
func TestOurReceiverHearsTheOfficialAgents(t *testing.T) {
	sender := peerpush.NewHTTPPushSender(&peerpush.HTTPSenderConfig{AllowPrivateNetworks: true})
	_, url := startPeerDesk(t, a2asrv.WithPushNotifications(peerpush.NewInMemoryStore(), sender))
	newer := ok[*rpc.Client](t)(rpc.New(t.Context(), a2awires.Protocol(), url))
	t.Cleanup(newer.Close)
	_, _, older := callOldDesk(t, oldsrv.WithPushNotifications(oldpush.NewInMemoryStore(), oldpush.NewHTTPPushSender(nil)))
	for name, c := range map[string]*rpc.Client{"1.0": newer, "0.3": older} {
		t.Run(name, func(t *testing.T) {
			receiver, h := ourHook(t)
			skill := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "desk", In: rpc.PlainInput, Out: rpc.PlainOutput}
			with := []rpc.CallOption{rpc.WithPush(h.URL, hookToken), rpc.ByPush(receiver)}
			r := ok[*rpc.Result](t)(skill.Call(t.Context(), c, rpc.Say("tell"), with...))
			equal(t, "text", r.Text(), wholeText())
			h.wants(t, wholeText(), "status TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING", "artifact", "status TASK_STATE_COMPLETED")

			h.forget()
			var ask *rpc.InputRequiredError
			// Without ByPush: the agent of 0.3 sends the question before it takes an answer.
			if _, err := skill.Call(t.Context(), c, rpc.Say("book"), with[0]); !errors.As(err, &ask) {
				t.Fatal(err)
			}
			booked := ok[*rpc.Result](t)(skill.Answer(t.Context(), c, ask, runtime.Text("Friday")))
			equal(t, "text", booked.Text(), "Booked for Friday.")
			h.ends(t, "artifact", "status TASK_STATE_COMPLETED")
			if !strings.Contains(strings.Join(h.lines, " "), "INPUT_REQUIRED") {
				t.Errorf("no question: %v", h.lines)
			}

			h.forget()
			var pending *rpc.PendingError
			if _, err := skill.Call(t.Context(), c, rpc.Say("wait"), with[0], rpc.ReturnImmediately()); !errors.As(err, &pending) {
				t.Fatal(err)
			}
			h.ends(t, "status TASK_STATE_WORKING")
			request := a2awires.Protocol().NewTaskRequest(runtime.RoleCancel, runtime.TaskRequest{ID: pending.TaskID})
			if _, err := c.Call(t.Context(), rpc.Method{Role: runtime.RoleCancel}, request); err != nil {
				t.Fatal(err)
			}
			h.ends(t, "status TASK_STATE_CANCELED")
		})
	}
}
