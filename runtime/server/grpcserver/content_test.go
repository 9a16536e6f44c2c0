package grpcserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/wire"
)

// unsayable are parts of handlers that some binding cannot say.
func unsayable() map[string]runtime.Part {
	return map[string]runtime.Part{
		"of no kind":       {},
		"no double":        runtime.Data(wire.Value(`{"a":1e400}`)),
		"no JSON":          runtime.Data(wire.Value(`{"a":`)),
		"a member twice":   runtime.Data(wire.Value(`{"a":1,"a":2}`)),
		"too deep":         runtime.Data(wire.Value(strings.Repeat("[", 47) + strings.Repeat("]", 47))),
		"metadata":         {Kind: runtime.PartText, Text: "x", Metadata: wire.Object(`{"a":1e400}`)},
		"metadata, a list": {Kind: runtime.PartText, Text: "x", Metadata: wire.Object(`[]`)},
	}
}

// says are the ways in which a handler says something.
var says = map[string]func(*server.Task, runtime.Part) error{
	"Artifact": func(t *server.Task, p runtime.Part) error { return t.Artifact("a", p) },
	"Emit": func(t *server.Task, p runtime.Part) error {
		return t.Emit(runtime.ArtifactData{Parts: []runtime.Part{p}})
	},
	"Stream": func(t *server.Task, p runtime.Part) error { return t.Stream("a").Part(p) },
	"Report": func(t *server.Task, p runtime.Part) error {
		return t.Say(runtime.StateWorking, runtime.MessageOf(p))
	},
	"Reply": func(t *server.Task, p runtime.Part) error { return t.Reply(p) },
	"Answer": func(t *server.Task, p runtime.Part) error {
		return t.Say(runtime.StateUnspecified, runtime.MessageOf(p))
	},
	"Complete": func(t *server.Task, p runtime.Part) error { return t.Say(runtime.StateCompleted, runtime.MessageOf(p)) },
	"End": func(t *server.Task, p runtime.Part) error {
		return t.Say(runtime.StateInputRequired, runtime.MessageOf(p))
	},
}

// TestAHandlerIsToldWhatCannotBeSaid holds that content which one binding could not say is an error for the handler that
// emits it, and nothing of it is kept (R35).
func TestAHandlerIsToldWhatCannotBeSaid(t *testing.T) {
	wrong := make(chan string, 100)
	sk := server.Skill{ID: "say", Name: "say", Run: func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		for how, say := range says {
			for what, part := range unsayable() {
				if err := say(t, part); err == nil || !strings.Contains(err.Error(), "cannot be sent") {
					wrong <- fmt.Sprintf("%s, %s: %v", how, what, err)
				}
			}
		}
		meta := runtime.MessageData{MessageInfo: runtime.MessageInfo{Metadata: wire.Object(`{"a":1e999}`)}, Parts: []runtime.Part{runtime.Text("x")}}
		if err := t.Say(runtime.StateWorking, meta); err == nil {
			wrong <- "metadata of a message are taken"
		}
		if err := t.Emit(runtime.ArtifactData{Metadata: meta.Metadata, Parts: meta.Parts}); err == nil {
			wrong <- "metadata of an artifact are taken"
		}
		return nil, t.Artifact("good", runtime.Data(wire.Value(`{"a":1e300}`)))
	}}
	a := start(t, []server.Skill{sk})
	c := a.dial()
	if _, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleSend), message("go")); err != nil {
		t.Fatal(err)
	}
	close(wrong)
	for what := range wrong {
		t.Error(what)
	}
	page, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleList), &a2awires.ListTasksRequest{IncludeArtifacts: new(true), HistoryLength: new(int32(10))})
	if err != nil {
		t.Fatal(err)
	}
	tasks := page.(*a2awires.ListTasksResponse).Tasks
	if len(tasks) != 1 || tasks[0].Status.State != a2awires.TaskStateCompleted || len(tasks[0].Artifacts) != 1 {
		t.Errorf("the list has %+v", tasks)
	}
}

// TestATypedResultThatCannotBeSaidFailsItsTaskAlone is for a result that is deeper than protobuf is read.
func TestATypedResultThatCannotBeSaidFailsItsTaskAlone(t *testing.T) {
	sk := server.Skill{ID: "say", Name: "say", OutputSchema: `{"type":"array"}`, Run: func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return []byte(strings.Repeat("[", 47) + strings.Repeat("]", 47)), t.Call().Begin()
	}}
	a := start(t, []server.Skill{sk})
	got, err := send(t.Context(), a.dial(), operation(t, "1.0", runtime.RoleSend), message("go"))
	if err != nil {
		t.Fatal(err)
	}
	if task, ok := runtime.Generated(got).(*a2awires.Task); !ok || task.Status.State != a2awires.TaskStateFailed {
		t.Errorf("the answer is %+v", got)
	}
}

// TestWhatTheStoreHoldsAndABindingCannotSayCostsThatTask holds that a task kept by an earlier version, with a part that
// protobuf cannot say, is listed with its id and state, refused by itself, and costs no other.
func TestWhatTheStoreHoldsAndABindingCannotSayCostsThatTask(t *testing.T) {
	st := memory.New(memory.Limits{})
	keep(t, st, "bad-1", `{"foo":"bar"}`)
	keep(t, st, "good", `{"text":"hello"}`)
	keep(t, st, "bad-2", `{"data":{"a":1e400}}`)
	a := startCard(t, testCard, []server.Skill{{ID: "x", Name: "x", Run: func(context.Context, *server.Task, any) ([]byte, error) { return nil, nil }}},
		server.WithStore(st))
	c := a.dial()
	page, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleList), &a2awires.ListTasksRequest{HistoryLength: new(int32(10))})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	list := page.(*a2awires.ListTasksResponse)
	for _, task := range list.Tasks {
		seen[task.ID] = len(task.History)
		if task.Status.State != a2awires.TaskStateInputRequired || task.ContextID != "context" {
			t.Errorf("%s is listed as %+v", task.ID, task)
		}
	}
	if len(list.Tasks) != 3 || list.TotalSize != 3 || seen["good"] != 1 || seen["bad-1"] != 0 || seen["bad-2"] != 0 {
		t.Errorf("the list has %d tasks of %d, with histories of %v", len(list.Tasks), list.TotalSize, seen)
	}
	for id, want := range map[string]codes.Code{"good": codes.OK, "bad-1": codes.Internal, "bad-2": codes.Internal} {
		_, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleGet), &a2awires.GetTaskRequest{ID: id})
		if status.Code(err) != want {
			t.Errorf("get %s: %v", id, err)
		}
		if _, err := firstOf(t, c, id); status.Code(err) != want {
			t.Errorf("subscribe to %s: %v", id, err)
		}
	}
}

// firstOf is what a subscription begins with.
func firstOf(t *testing.T, c *grpc.ClientConn, id string) (runtime.Event, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return open(ctx, t, c, "1.0", runtime.RoleSubscribe, &a2awires.SubscribeToTaskRequest{ID: id}).next()
}

// keep puts a task that waits into a store, with a message of one part.
func keep(t *testing.T, st store.Store, id, part string) {
	t.Helper()
	p := a2awires.Protocol()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	read, err := p.Versions[0].Operations[0].Decode([]byte(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + part + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	task := p.NewTask(id, "context", at)
	task.AddMessage(read.(*runtime.SendRequest).Message)
	if err := task.Apply(p.NewStatus(id, "context", runtime.StateInputRequired, nil, at)); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Create(t.Context(), store.Key{Task: id}, store.New{Task: task, Private: store.Private{Skill: "x"}}, nil); err != nil {
		t.Fatal(err)
	}
}

// TestAnEventThatABindingCannotSayCostsThatEvent has a hook put into events what protobuf cannot say: the stream goes on
// to its end.
func TestAnEventThatABindingCannotSayCostsThatEvent(t *testing.T) {
	sk := server.Skill{ID: "say", Name: "say", Run: func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		return nil, t.Artifact("a", runtime.Text("one"))
	}}
	spoil := server.OnMade(func(_ context.Context, u *a2awires.TaskArtifactUpdateEvent) {
		u.Artifact.Metadata = wire.Object(`{"a":1e400}`)
	})
	a := start(t, []server.Skill{sk}, spoil)
	st := open(t.Context(), t, a.dial(), "1.0", runtime.RoleStream, message("go"))
	all, err := st.rest()
	if err != nil || len(all) < 3 {
		t.Fatalf("%d events, %v", len(all), err)
	}
	if last := all[len(all)-1].EventInfo(); last.State != runtime.StateCompleted {
		t.Errorf("the stream ends with %+v", last)
	}
	found := false
	for _, e := range all {
		if u, ok := e.(runtime.ArtifactUpdate); ok {
			found = u.ArtifactUpdate().Parts[0].Text == "[This content cannot be expressed here.]"
		}
	}
	if !found {
		t.Errorf("the events are %+v", all)
	}
}
