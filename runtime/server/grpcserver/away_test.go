package grpcserver_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Without its store an agent answers UNAVAILABLE in every version, says when to come again, and that it serves nothing.
func TestWithoutItsStoreAnAgentIsUnavailable(t *testing.T) {
	tasks := faultstore.New(memory.New(memory.Limits{}).Instance(time.Second), nil)
	a := start(t, []server.Skill{echo()}, server.WithStore(tasks))
	watch, err := healthpb.NewHealthClient(a.plain()).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: "lf.a2a.v1.A2AService"})
	if err != nil {
		t.Fatal(err)
	}
	says := func(want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		if got, err := watch.Recv(); err != nil || got.GetStatus() != want {
			t.Fatalf("health says %v, %v; want %s", got, err, want)
		}
	}
	says(healthpb.HealthCheckResponse_SERVING)
	tasks.Plan(faultstore.Always(faultstore.Fault{Refuse: store.ErrUnavailable}))
	says(healthpb.HealthCheckResponse_NOT_SERVING)
	c := a.dial()
	for _, version := range []string{"1.0", "0.3"} {
		p := a2awires.Protocol()
		for role, request := range map[runtime.Role]any{
			runtime.RoleGet:    p.NewTaskRequest(runtime.RoleGet, runtime.TaskRequest{ID: "t"}),
			runtime.RoleCancel: p.NewTaskRequest(runtime.RoleCancel, runtime.TaskRequest{ID: "t"}),
			runtime.RoleSend: p.NewSend(runtime.SendRequest{Message: p.NewMessage(runtime.MessageData{
				MessageInfo: runtime.MessageInfo{ID: "m", User: true, TaskID: "t"}, Parts: []runtime.Part{runtime.Text("hello")},
			})}),
		} {
			_, err := send(context.Background(), c, operation(t, version, role), request)
			s := status.Convert(err)
			var again time.Duration
			for _, d := range s.Details() {
				if info, ok := d.(*errdetails.RetryInfo); ok {
					again = info.GetRetryDelay().AsDuration()
				}
			}
			if s.Code() != codes.Unavailable || again != time.Second {
				t.Errorf("%s, %v: %v, again after %s", version, role, err, again)
			}
		}
	}
	tasks.Plan(nil)
	says(healthpb.HealthCheckResponse_SERVING)
}
