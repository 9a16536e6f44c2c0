package server_test

import (
	"context"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/wire"
)

func TestHooksSeeWhatIsMadeAskedAndAnswered(t *testing.T) {
	made := map[string]int{}
	a := start(t, testCard, []server.Skill{typed("slow", []string{"q"}, func(ctx context.Context, _ *server.Task, _ map[string]any) (any, error) {
		if req, ok := server.RequestFrom[*a2a.SendMessageRequest](ctx); !ok || req.Message.MessageID == "" {
			t.Error("the handler's context has no request")
		}
		return map[string]any{}, nil
	})},
		server.OnMade(func(_ context.Context, task *a2a.Task) { made["task"]++; task.Metadata = wire.Object(`{"made":1}`) }),
		server.OnMade(func(_ context.Context, e *a2a.TaskStatusUpdateEvent) { made["status"]++ }),
		server.OnMade(func(_ context.Context, e *a2a.TaskArtifactUpdateEvent) { made["artifact"]++ }),
		server.OnRequest(func(_ context.Context, req *a2a.CancelTaskRequest) error { return a2a.ErrTaskNotFound }),
		server.OnAnswer(func(ctx context.Context, task *a2a.Task) {
			if req, ok := server.RequestFrom[*a2a.GetTaskRequest](ctx); ok && req.HistoryLength != nil {
				task.Metadata = wire.Object(`{"shown":1}`)
			}
		}),
	)
	task := a.ok("SendMessage", message("x"))["task"]
	if got, _ := a.ok("GetTask", `{"id":"`+str(task, "id")+`","historyLength":3}`)["metadata"].(map[string]any); got["shown"] == nil {
		t.Errorf("metadata %v", got)
	}
	if got, _ := a.ok("GetTask", `{"id":"`+str(task, "id")+`"}`)["metadata"].(map[string]any); got["made"] == nil {
		t.Errorf("what is stored was changed: metadata %v", got)
	}
	if _, e := a.call("CancelTask", `{"id":"`+str(task, "id")+`"}`); e == nil || e.Code != -32001 {
		t.Errorf("error %v", e)
	}
	if made["task"] != 1 || made["status"] < 1 || made["artifact"] != 1 {
		t.Errorf("made %v", made)
	}
}
