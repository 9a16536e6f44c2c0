package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	old "github.com/a2aproject/a2a-go/a2a"
	oldsrv "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// oldDesk is the same agent as [desk], built with the official SDK of 0.3.
type oldDesk struct{ release chan struct{} }

// callOldDesk makes our clients, of operations and of skills, from the card of the agent of 0.3. More options are those of
// push notifications.
func callOldDesk(t *testing.T, more ...oldsrv.RequestHandlerOption) (*oldDesk, *a2aclient.Client, *rpc.Client) {
	t.Helper()
	d := &oldDesk{release: make(chan struct{})}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	mux.Handle("/invoke", oldsrv.NewJSONRPCHandler(oldsrv.NewHandler(d,
		append(more, oldsrv.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))...)))
	mux.Handle(oldsrv.WellKnownAgentCardPath, oldsrv.NewStaticAgentCardHandler(&old.AgentCard{
		Name: "Old Desk", Description: "Answers travellers.", Version: "1.0.0", ProtocolVersion: "0.3.0",
		URL: srv.URL + "/invoke", PreferredTransport: old.TransportProtocolJSONRPC,
		Capabilities:      old.AgentCapabilities{Streaming: true, PushNotifications: len(more) > 0},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []old.AgentSkill{{ID: "desk", Name: "Desk", Description: "Answers.", Tags: []string{"travel"}}},
	}))
	c := ok[*a2aclient.Client](t)(a2aclient.New(t.Context(), srv.URL))
	t.Cleanup(c.Close)
	skills := ok[*rpc.Client](t)(rpc.New(t.Context(), a2awires.Protocol(), srv.URL))
	t.Cleanup(skills.Close)
	equal(t, "version", skills.Interface().Version, "0.3")
	return d, c, skills
}

// Execute does what the first word of the message says.
func (d *oldDesk) Execute(ctx context.Context, rc *oldsrv.RequestContext, q eventqueue.Queue) error {
	word := oldText(rc.Message.Parts)
	var events []old.Event
	final := func(state old.TaskState, m *old.Message) old.Event {
		e := old.NewStatusUpdateEvent(rc, state, m)
		e.Final = true
		return e
	}
	switch {
	case word == "hello":
		events = append(events, old.NewMessage(old.MessageRoleAgent, old.TextPart{Text: greeting}))
	case rc.StoredTask != nil:
		events = append(events, old.NewArtifactEvent(rc, old.TextPart{Text: "Booked for " + word + "."}), final(old.TaskStateCompleted, nil))
	case word == "book":
		events = append(events, old.NewSubmittedTask(rc, rc.Message), final(old.TaskStateInputRequired, old.NewMessageForTask(old.MessageRoleAgent, rc, old.TextPart{Text: question})))
	default:
		events = append(events, old.NewSubmittedTask(rc, rc.Message), old.NewStatusUpdateEvent(rc, old.TaskStateWorking, nil))
		first := old.NewArtifactEvent(rc, old.TextPart{Text: chunk(0)})
		events = append(events, first)
		for i := 1; i < chunks; i++ {
			events = append(events, old.NewArtifactUpdateEvent(rc, first.Artifact.ID, old.TextPart{Text: chunk(i)}))
		}
		events = append(events, final(old.TaskStateCompleted, nil))
	}
	for i, e := range events {
		if word == "wait" && i == 2 {
			select {
			case <-d.release:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := q.Write(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// Cancel ends the task as canceled.
func (*oldDesk) Cancel(ctx context.Context, rc *oldsrv.RequestContext, q eventqueue.Queue) error {
	e := old.NewStatusUpdateEvent(rc, old.TaskStateCanceled, nil)
	e.Final = true
	return q.Write(ctx, e)
}

func TestOurClientCallsTheOfficial03Server(t *testing.T) {
	d, c, skills := callOldDesk(t)
	ctx := t.Context()
	skill := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "desk", In: rpc.PlainInput, Out: rpc.PlainOutput}
	said := func(text string) *rpc.Result {
		t.Helper()
		return ok[*rpc.Result](t)(skill.Call(ctx, skills, rpc.Say(text)))
	}
	equal(t, "answer", said("hello").Text(), greeting)
	told := said("tell")
	equal(t, "text", told.Text(), wholeText())
	task := ok[*a2awires.Task](t)(c.GetTask(ctx, &a2awires.GetTaskRequest{ID: told.TaskID}))
	equal(t, "state", task.Status.State, a2awires.TaskStateCompleted)
	equal(t, "text awaited of an ended task", ok[*rpc.Result](t)(skills.Await(ctx, told.TaskID)).Text(), wholeText())

	var asked *rpc.InputRequiredError
	if _, err := skill.Call(ctx, skills, rpc.Say("book")); !errors.As(err, &asked) {
		t.Fatalf("book: %v", err)
	}
	equal(t, "booking", ok[*rpc.Result](t)(skill.Answer(ctx, skills, asked, runtime.Text("Friday"))).Text(), "Booked for Friday.")
	if _, err := c.GetTask(ctx, &a2awires.GetTaskRequest{ID: "nobody"}); !errors.Is(err, runtime.ErrTaskNotFound) {
		t.Errorf("unknown task: %v", err)
	}
	if _, err := c.ListTasks(ctx, &a2awires.ListTasksRequest{}); !errors.Is(err, runtime.ErrUnsupportedOperation) {
		t.Errorf("0.3 has no list: %v", err)
	}

	var lines []string
	for e, err := range c.SendStreamingMessage(ctx, &a2awires.SendMessageRequest{Message: &a2awires.Message{MessageID: "w", Role: a2awires.RoleUser, Parts: []*a2awires.Part{{Content: a2awires.PartText("wait")}}}}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 1 {
			close(d.release)
		}
		lines = append(lines, fmt.Sprintf("%T", e))
	}
	sequence(t, "first events", lines[:2], "*a2awires.Task", "*a2awires.TaskStatusUpdateEvent")
	equal(t, "last event", lines[len(lines)-1], "*a2awires.TaskStatusUpdateEvent")
	equal(t, "events", len(lines), chunks+3)
}

func TestOurClientCancelsAndFollowsOnTheOfficial03Server(t *testing.T) {
	d, c, skills := callOldDesk(t)
	ctx := t.Context()
	begun := func() string {
		t.Helper()
		req := &a2awires.SendMessageRequest{
			Message:       &a2awires.Message{MessageID: old.NewMessageID(), Role: a2awires.RoleUser, Parts: []*a2awires.Part{{Content: a2awires.PartText("wait")}}},
			Configuration: &a2awires.SendMessageConfiguration{ReturnImmediately: true},
		}
		task, isTask := ok[a2awires.SendMessageResponsePayload](t)(c.SendMessage(ctx, req)).(*a2awires.Task)
		if !isTask {
			t.Fatal("no task came back")
		}
		return task.ID
	}
	task := ok[*a2awires.Task](t)(c.CancelTask(ctx, &a2awires.CancelTaskRequest{ID: begun()}))
	equal(t, "state", task.Status.State, a2awires.TaskStateCanceled)
	id := begun()
	close(d.release)
	equal(t, "text awaited", ok[*rpc.Result](t)(skills.Await(ctx, id)).Text(), wholeText())
}
