package interop

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	old "github.com/a2aproject/a2a-go/a2a"
	oldclient "github.com/a2aproject/a2a-go/a2aclient"
	oldcard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	peer "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2agen/a2agen/internal/a2awires"
)

// twoClients are the official SDKs of 0.3 and of 1.0 at one URL of an agent that speaks all versions. Each takes the card as it finds it.
func twoClients(t *testing.T, capabilities ...string) (*desk, *oldclient.Client, *a2aclient.Client) {
	t.Helper()
	d, url := serveDesk(t, a2awires.Protocol(), capabilities...)
	card := ok[*old.AgentCard](t)(oldcard.DefaultResolver.Resolve(t.Context(), url))
	equal(t, "protocol of the card", card.ProtocolVersion, "0.3.0")
	equal(t, "name", card.Name, "Travel Desk")
	equal(t, "skill", card.Skills[0].ID, "desk")
	c03 := ok[*oldclient.Client](t)(oldclient.NewFromCard(t.Context(), card))
	t.Cleanup(func() { c03.Destroy() })
	newer := ok[*peer.AgentCard](t)(agentcard.DefaultResolver.Resolve(t.Context(), url))
	equal(t, "protocol of the first interface", newer.SupportedInterfaces[0].ProtocolVersion, peer.ProtocolVersion("1.0"))
	c10 := ok[*a2aclient.Client](t)(a2aclient.NewFromCard(t.Context(), newer))
	t.Cleanup(func() { c10.Destroy() })
	return d, c03, c10
}

func oldSay(text string) *old.MessageSendParams {
	return &old.MessageSendParams{Message: old.NewMessage(old.MessageRoleUser, old.TextPart{Text: text})}
}

func oldText(parts []old.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if text, ok := p.(old.TextPart); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// oldFinished sends a message that is answered by a task.
func oldFinished(t *testing.T, c *oldclient.Client, params *old.MessageSendParams) *old.Task {
	t.Helper()
	res := ok[old.SendMessageResult](t)(c.SendMessage(t.Context(), params))
	task, isTask := res.(*old.Task)
	if !isTask {
		t.Fatalf("a %T came back, not a task", res)
	}
	return task
}

// oldStart sends a text without waiting for the end.
func oldStart(t *testing.T, c *oldclient.Client, text string) *old.Task {
	t.Helper()
	params, no := oldSay(text), false
	params.Config = &old.MessageSendConfig{Blocking: &no}
	return oldFinished(t, c, params)
}

// oldStory is a stream as one line an event.
func oldStory(t *testing.T, events iter.Seq2[old.Event, error], each func(line string)) (lines []string, text string) {
	t.Helper()
	for ev, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		var line string
		switch ev := ev.(type) {
		case *old.Task:
			line = fmt.Sprintf("task %s", ev.Status.State)
		case *old.Message:
			line = "message " + oldText(ev.Parts)
		case *old.TaskStatusUpdateEvent:
			line = fmt.Sprintf("status %s final %v", ev.Status.State, ev.Final)
		case *old.TaskArtifactUpdateEvent:
			line, text = "artifact", text+oldText(ev.Artifact.Parts)
		}
		if each != nil {
			each(line)
		}
		if n := len(lines); n == 0 || line != "artifact" || lines[n-1] != line {
			lines = append(lines, line)
		}
	}
	return lines, text
}

func TestOfficial03ClientGetsAnswersAndTasks(t *testing.T) {
	_, c, _ := twoClients(t)
	res := ok[old.SendMessageResult](t)(c.SendMessage(t.Context(), oldSay("hello")))
	m, isMessage := res.(*old.Message)
	if !isMessage {
		t.Fatalf("a %T came back, not a message", res)
	}
	equal(t, "text", oldText(m.Parts), greeting)
	equal(t, "role", m.Role, old.MessageRoleAgent)

	task := oldFinished(t, c, oldSay("forecast"))
	equal(t, "state", task.Status.State, old.TaskStateCompleted)
	parts := task.Artifacts[0].Parts
	equal(t, "parts", len(parts), 3)
	equal(t, "text", oldText(parts[:1]), forecast)
	equal(t, "data", fmt.Sprint(parts[1].(old.DataPart).Data), "map[celsius:11]")
	file := parts[2].(old.FilePart).File.(old.FileBytes)
	equal(t, "file", file.Name+" "+file.MimeType+" "+file.Bytes, "radar.bin application/octet-stream AAEC/w==")
	equal(t, "first message of the history", oldText(task.History[0].Parts), "forecast")

	none := 0
	got := ok[*old.Task](t)(c.GetTask(t.Context(), &old.TaskQueryParams{ID: task.ID, HistoryLength: &none}))
	equal(t, "id", got.ID, task.ID)
	equal(t, "history", len(got.History), 0)
	equal(t, "state", oldFinished(t, c, oldSay("sing")).Status.State, old.TaskStateRejected)
	failed := oldFinished(t, c, oldSay("break"))
	equal(t, "state", failed.Status.State, old.TaskStateFailed)
	if text := oldText(failed.Status.Message.Parts); strings.Contains(text, "secret") || text == "" {
		t.Errorf("the client is told %q", text)
	}
}

func TestOfficial03ClientStreams(t *testing.T) {
	_, c, _ := twoClients(t)
	lines, text := oldStory(t, c.SendStreamingMessage(t.Context(), oldSay("tell")), nil)
	sequence(t, "events", lines, "task submitted", "status working final false", "artifact", "status completed final true")
	equal(t, "text", text, wholeText())
	lines, _ = oldStory(t, c.SendStreamingMessage(t.Context(), oldSay("hello")), nil)
	sequence(t, "events", lines, "message "+greeting)
	lines, _ = oldStory(t, c.SendStreamingMessage(t.Context(), oldSay("book")), nil)
	sequence(t, "last events", lines[len(lines)-1:], "status input-required final true")
}

func TestOfficial03ClientAnswersAQuestion(t *testing.T) {
	_, c, _ := twoClients(t)
	asked := oldFinished(t, c, oldSay("book"))
	equal(t, "state", asked.Status.State, old.TaskStateInputRequired)
	equal(t, "question", oldText(asked.Status.Message.Parts), question)
	booked := oldFinished(t, c, &old.MessageSendParams{Message: old.NewMessageForTask(old.MessageRoleUser, asked, old.TextPart{Text: "Friday"})})
	equal(t, "id", booked.ID, asked.ID)
	equal(t, "state", booked.Status.State, old.TaskStateCompleted)
	equal(t, "booking", oldText(booked.Artifacts[0].Parts), "Booked for Friday.")
}

func TestOfficial03ClientCancelsAndResubscribes(t *testing.T) {
	d, c, _ := twoClients(t)
	task := oldStart(t, c, "wait")
	canceled := ok[*old.Task](t)(c.CancelTask(t.Context(), &old.TaskIDParams{ID: task.ID}))
	equal(t, "state", canceled.Status.State, old.TaskStateCanceled)

	task = oldStart(t, c, "wait")
	first := true
	lines, _ := oldStory(t, c.ResubscribeToTask(t.Context(), &old.TaskIDParams{ID: task.ID}), func(string) {
		if first {
			close(d.release) // the subscription stands: now let the task go on
			first = false
		}
	})
	sequence(t, "last events", lines[len(lines)-2:], "artifact", "status completed final true")
	lines, _ = oldStory(t, c.ResubscribeToTask(t.Context(), &old.TaskIDParams{ID: task.ID}), nil)
	sequence(t, "events of an ended task", lines, "task completed", "status completed final true")
}

func TestOfficial03ClientRecognisesOurErrors(t *testing.T) {
	_, c, _ := twoClients(t)
	done := oldFinished(t, c, oldSay("forecast"))
	ctx := t.Context()
	last := func(events iter.Seq2[old.Event, error]) (err error) {
		for _, err = range events {
		}
		return err
	}
	for name, tc := range map[string]struct {
		call func(ctx context.Context) error
		want error
	}{
		"get an unknown task": {func(ctx context.Context) error {
			_, err := c.GetTask(ctx, &old.TaskQueryParams{ID: "nobody"})
			return err
		}, old.ErrTaskNotFound},
		"cancel an ended task": {func(ctx context.Context) error {
			_, err := c.CancelTask(ctx, &old.TaskIDParams{ID: done.ID})
			return err
		}, old.ErrTaskNotCancelable},
		"resubscribe to an unknown task": {func(ctx context.Context) error {
			return last(c.ResubscribeToTask(ctx, &old.TaskIDParams{ID: "nobody"}))
		}, old.ErrTaskNotFound},
		"a stream of a message without parts": {func(ctx context.Context) error {
			return last(c.SendStreamingMessage(ctx, &old.MessageSendParams{Message: old.NewMessage(old.MessageRoleUser)}))
		}, old.ErrInvalidParams},
		"a message to an ended task": {func(ctx context.Context) error {
			_, err := c.SendMessage(ctx, &old.MessageSendParams{Message: old.NewMessageForTask(old.MessageRoleUser, done, old.TextPart{Text: "more"})})
			return err
		}, old.ErrUnsupportedOperation},
		"push configuration": {func(ctx context.Context) error {
			_, err := c.SetTaskPushConfig(ctx, &old.TaskPushConfig{TaskID: done.ID, Config: old.PushConfig{URL: "https://example.com/hook"}})
			return err
		}, old.ErrPushNotificationNotSupported},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.call(ctx); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
		})
	}
}

// TestOfficialClientsOfTwoVersionsShareTasks: what one begins the other reads, follows and answers.
func TestOfficialClientsOfTwoVersionsShareTasks(t *testing.T) {
	d, c03, c10 := twoClients(t)
	asked := oldFinished(t, c03, oldSay("book"))
	seen := ok[*peer.Task](t)(c10.GetTask(t.Context(), &peer.GetTaskRequest{ID: peer.TaskID(asked.ID)}))
	equal(t, "state", seen.Status.State, peer.TaskStateInputRequired)
	answer := &peer.SendMessageRequest{Message: peer.NewMessageForTask(peer.MessageRoleUser, seen, peer.NewTextPart("Friday"))}
	equal(t, "state", finished(t, c10, answer).Status.State, peer.TaskStateCompleted)
	got := ok[*old.Task](t)(c03.GetTask(t.Context(), &old.TaskQueryParams{ID: asked.ID}))
	equal(t, "booking", oldText(got.Artifacts[0].Parts), "Booked for Friday.")

	task := start(t, c10, "wait")
	first := true
	lines, text := oldStory(t, c03.ResubscribeToTask(t.Context(), &old.TaskIDParams{ID: old.TaskID(task.ID)}), func(string) {
		if first {
			close(d.release)
			first = false
		}
	})
	sequence(t, "last events", lines[len(lines)-2:], "artifact", "status completed final true")
	equal(t, "text", text, forecast)
}

// TestOfficialClientOf10SpeaksThe03OfOurCard takes 0.3 by the compatibility layer of the newer SDK, which is another implementation than the SDK of 0.3.
func TestOfficialClientOf10SpeaksThe03OfOurCard(t *testing.T) {
	_, url := serveDesk(t, a2awires.Protocol())
	resolver := &agentcard.Resolver{CardParser: a2av0.NewAgentCardParser()}
	card := ok[*peer.AgentCard](t)(resolver.Resolve(t.Context(), url))
	var only []*peer.AgentInterface
	for _, i := range card.SupportedInterfaces {
		if strings.HasPrefix(string(i.ProtocolVersion), "0.3") {
			only = append(only, i)
		}
	}
	equal(t, "interfaces of 0.3", len(only), 1)
	c := ok[*a2aclient.Client](t)(a2aclient.NewFromEndpoints(t.Context(), only,
		a2aclient.WithCompatTransport(a2av0.Version, peer.TransportProtocolJSONRPC, a2av0.NewJSONRPCTransportFactory(a2av0.JSONRPCTransportConfig{}))))
	t.Cleanup(func() { c.Destroy() })
	task := finished(t, c, say("forecast"))
	equal(t, "state", task.Status.State, peer.TaskStateCompleted)
	equal(t, "text", task.Artifacts[0].Parts[0].Text(), forecast)
	lines, text := story(t, c.SendStreamingMessage(t.Context(), say("tell")))
	sequence(t, "last event", lines[len(lines)-1:], "status TASK_STATE_COMPLETED")
	equal(t, "text", text, wholeText())
	if _, err := c.GetTask(t.Context(), &peer.GetTaskRequest{ID: "nobody"}); !errors.Is(err, peer.ErrTaskNotFound) {
		t.Errorf("unknown task: %v", err)
	}
}
