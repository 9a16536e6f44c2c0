package talk

import (
	"context"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/gen"
)

// firstEvent is the number of the event that makes a task. Agents made with a2agen send all that come after it.
const firstEvent = "1"

// Inspect gives the task o.Task of an agent: first as it stands, then the events of its log, as far as the agent has
// them, and of a task that is worked on those to come, until it rests or the context ends. Events are those of
// a2awires. An error that is not nil is an *[Error].
func Inspect(ctx context.Context, o Options, stands func(*a2awires.Task), event func(any)) error {
	t := &talk{Options: o, taskID: o.Task}
	t.print = &printer{Options: &t.Options}
	var err error
	if t.client, err = t.dial(ctx); err != nil {
		return t.failed(ctx, err)
	}
	defer t.client.Close()
	of := runtime.TaskRequest{Tenant: t.client.Tenant(), ID: o.Task}
	get := a2awires.Protocol().NewTaskRequest(runtime.RoleGet, of)
	task, err := gen.As[*a2awires.Task](t.client.Call(ctx, rpc.Method{Role: runtime.RoleGet, RPC: "GetTask"}, get))
	if err != nil {
		return t.failed(ctx, err)
	}
	stands(task)
	subscribe := a2awires.Protocol().NewTaskRequest(runtime.RoleSubscribe, of)
	for e, err := range t.client.Stream(ctx, rpc.Method{Role: runtime.RoleSubscribe, RPC: "SubscribeToTask"}, subscribe, rpc.LastEventID(firstEvent)) {
		if err != nil {
			t.verbose("the agent does not tell the events of this task: %v", err)
			return nil // it stands as it was printed
		}
		event(runtime.Generated(e))
	}
	return nil
}
