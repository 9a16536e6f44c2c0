package grpcserver_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/a2agen/a2agen/internal/test/observed"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
)

// TestCallsAreObserved: as over any binding, with the metadata as headers and the names of the newest version.
func TestCallsAreObserved(t *testing.T) {
	var seen observed.Recorder
	c := start(t, []server.Skill{echo()}, server.WithObserver(&seen)).dial()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "p")
	for _, version := range []string{"1.0", "0.3"} {
		if _, err := send(ctx, c, operation(t, version, runtime.RoleSend), message("hello")); err != nil {
			t.Fatal(err)
		}
		all := seen.Wait(t, 2)
		serve, run := all[0], all[1]
		if serve.Operation != "SendMessage" || serve.Binding != runtime.BindingGRPC || serve.Version != version || serve.Carried != "p" ||
			serve.Skill != "echo" || serve.Reason != "" || run.Kind != observe.Run || run.Within != serve.N {
			t.Errorf("%s: %+v, %+v", version, serve, run)
		}
	}
	if _, err := send(ctx, c, operation(t, "1.0", runtime.RoleGet), taskRequest(runtime.RoleGet, "none")); err == nil {
		t.Error("a task that is not there was found")
	}
	if got := seen.Wait(t, 1)[0]; got.Operation != "GetTask" || got.Task != "none" || got.Reason != "TASK_NOT_FOUND" {
		t.Errorf("%+v", got)
	}
	broken := []byte("hello")
	if err := c.Invoke(ctx, operation(t, "1.0", runtime.RoleSend).GRPC, &broken, new([]byte)); err == nil {
		t.Error("what is no message was read")
	}
	if got := seen.Wait(t, 1)[0]; got.Operation != "SendMessage" || got.Reason != "INVALID_PARAMS" {
		t.Errorf("%+v", got)
	}
}

// TestAStreamIsObservedToItsEnd: whether its client has got everything, or has left.
func TestAStreamIsObservedToItsEnd(t *testing.T) {
	var seen observed.Recorder
	going := make(chan struct{})
	c := start(t, []server.Skill{run("go", func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("going"); err != nil {
			return "", err
		}
		select {
		case <-going:
		case <-ctx.Done():
		}
		return "done", nil
	})}, server.WithObserver(&seen)).dial()
	ctx, leave := context.WithCancel(t.Context())
	if _, err := open(ctx, t, c, "1.0", runtime.RoleStream, message("x")).next(); err != nil {
		t.Fatal(err)
	}
	leave()
	for seen.Going() > 1 { // the run
		time.Sleep(time.Millisecond)
	}
	whole := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("y"))
	if _, err := whole.next(); err != nil {
		t.Fatal(err)
	}
	close(going)
	if _, err := whole.rest(); err != nil {
		t.Fatal(err)
	}
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
