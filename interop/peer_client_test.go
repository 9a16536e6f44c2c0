package interop

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	peer "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// callDesk resolves our agent's card with the official SDK and makes its client from it.
func callDesk(t *testing.T) (*desk, *a2aclient.Client, *peer.AgentCard) {
	t.Helper()
	d, url := startDesk(t)
	card := ok[*peer.AgentCard](t)(agentcard.DefaultResolver.Resolve(t.Context(), url))
	c := ok[*a2aclient.Client](t)(a2aclient.NewFromCard(t.Context(), card))
	t.Cleanup(func() { c.Destroy() })
	return d, c, card
}

func say(text string) *peer.SendMessageRequest {
	return &peer.SendMessageRequest{Message: peer.NewMessage(peer.MessageRoleUser, peer.NewTextPart(text))}
}

// start sends a text without waiting for the end and returns the task.
func start(t *testing.T, c *a2aclient.Client, text string) *peer.Task {
	t.Helper()
	req := say(text)
	req.Config = &peer.SendMessageConfig{ReturnImmediately: true}
	return finished(t, c, req)
}

// finished sends a message that is answered by a task.
func finished(t *testing.T, c *a2aclient.Client, req *peer.SendMessageRequest) *peer.Task {
	t.Helper()
	res := ok[peer.SendMessageResult](t)(c.SendMessage(t.Context(), req))
	task, isTask := res.(*peer.Task)
	if !isTask {
		t.Fatalf("a %T came back, not a task", res)
	}
	return task
}

func peerText(parts peer.ContentParts) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text())
	}
	return b.String()
}

// story is a stream as one line an event.
func story(t *testing.T, events iter.Seq2[peer.Event, error]) (lines []string, text string) {
	t.Helper()
	for ev, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *peer.Task:
			lines = append(lines, fmt.Sprintf("task %s", ev.Status.State))
		case *peer.Message:
			lines = append(lines, "message "+peerText(ev.Parts))
		case *peer.TaskStatusUpdateEvent:
			lines = append(lines, fmt.Sprintf("status %s", ev.Status.State))
		case *peer.TaskArtifactUpdateEvent:
			text += peerText(ev.Artifact.Parts)
			if n := len(lines); n == 0 || lines[n-1] != "artifact" {
				lines = append(lines, "artifact")
			}
		}
	}
	return lines, text
}

func TestOfficialClientReadsOurCard(t *testing.T) {
	_, _, card := callDesk(t)
	equal(t, "name", card.Name, "Travel Desk")
	equal(t, "version", card.Version, "1.2.3")
	equal(t, "streaming", card.Capabilities.Streaming, true)
	equal(t, "skills", len(card.Skills), 1)
	equal(t, "skill", card.Skills[0].ID, "desk")
	equal(t, "protocol", card.SupportedInterfaces[0].ProtocolVersion, peer.ProtocolVersion("1.0"))
}

func TestOfficialClientSendsAndGetsAMessage(t *testing.T) {
	_, c, _ := callDesk(t)
	res := ok[peer.SendMessageResult](t)(c.SendMessage(t.Context(), say("hello")))
	m, isMessage := res.(*peer.Message)
	if !isMessage {
		t.Fatalf("a %T came back, not a message", res)
	}
	equal(t, "text", peerText(m.Parts), greeting)
	equal(t, "role", m.Role, peer.MessageRoleAgent)
	equal(t, "task of the message", m.TaskID, "")
}

func TestOfficialClientSendsAndGetsAFinishedTask(t *testing.T) {
	_, c, _ := callDesk(t)
	task := finished(t, c, say("forecast"))
	equal(t, "state", task.Status.State, peer.TaskStateCompleted)
	equal(t, "artifacts", len(task.Artifacts), 1)
	parts := task.Artifacts[0].Parts
	equal(t, "parts", len(parts), 3)
	equal(t, "text", parts[0].Text(), forecast)
	equal(t, "data", fmt.Sprint(parts[1].Data()), "map[celsius:11]")
	equal(t, "file", parts[2].Filename, "radar.bin")
	if !bytes.Equal(parts[2].Raw(), []byte{0, 1, 2, 255}) {
		t.Errorf("file holds %v", parts[2].Raw())
	}
	equal(t, "first message of the history", peerText(task.History[0].Parts), "forecast")
	if task.ContextID == "" || task.Status.Timestamp == nil {
		t.Errorf("task lacks context or time: %+v", task)
	}
}

func TestOfficialClientStreamsATask(t *testing.T) {
	_, c, _ := callDesk(t)
	lines, text := story(t, c.SendStreamingMessage(t.Context(), say("tell")))
	sequence(t, "events", lines, "task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING", "artifact", "status TASK_STATE_COMPLETED")
	equal(t, "text", text, wholeText())
}

func TestOfficialClientStreamsAMessage(t *testing.T) {
	_, c, _ := callDesk(t)
	lines, _ := story(t, c.SendStreamingMessage(t.Context(), say("hello")))
	sequence(t, "events", lines, "message "+greeting)
}

func TestOfficialClientGetsATask(t *testing.T) {
	_, c, _ := callDesk(t)
	sent := finished(t, c, say("forecast"))
	none := 0
	got := ok[*peer.Task](t)(c.GetTask(t.Context(), &peer.GetTaskRequest{ID: sent.ID, HistoryLength: &none}))
	equal(t, "id", got.ID, sent.ID)
	equal(t, "state", got.Status.State, peer.TaskStateCompleted)
	equal(t, "history", len(got.History), 0)
	equal(t, "artifacts", len(got.Artifacts), 1)
}

func TestOfficialClientListsTasksByContextAndPage(t *testing.T) {
	_, c, _ := callDesk(t)
	first := finished(t, c, say("forecast"))
	for range 2 {
		time.Sleep(2 * time.Millisecond) // status times are in milliseconds; equal ones are ordered by id
		more := say("forecast")
		more.Message.ContextID = first.ContextID
		equal(t, "context", finished(t, c, more).ContextID, first.ContextID)
	}
	finished(t, c, say("forecast")) // in a context of its own
	req := &peer.ListTasksRequest{ContextID: first.ContextID, PageSize: 2}
	page := ok[*peer.ListTasksResponse](t)(c.ListTasks(t.Context(), req))
	equal(t, "tasks on the first page", len(page.Tasks), 2)
	equal(t, "total", page.TotalSize, 3)
	equal(t, "artifacts in a list", len(page.Tasks[0].Artifacts), 0)
	req.PageToken = page.NextPageToken
	page = ok[*peer.ListTasksResponse](t)(c.ListTasks(t.Context(), req))
	equal(t, "tasks on the last page", len(page.Tasks), 1)
	equal(t, "id of the oldest", page.Tasks[0].ID, first.ID)
	equal(t, "token of the last page", page.NextPageToken, "")
}

func TestOfficialClientCancelsATaskOnce(t *testing.T) {
	_, c, _ := callDesk(t)
	task := start(t, c, "wait")
	canceled := ok[*peer.Task](t)(c.CancelTask(t.Context(), &peer.CancelTaskRequest{ID: task.ID}))
	equal(t, "state", canceled.Status.State, peer.TaskStateCanceled)
	_, err := c.CancelTask(t.Context(), &peer.CancelTaskRequest{ID: task.ID})
	if !errors.Is(err, peer.ErrTaskNotCancelable) {
		t.Errorf("canceling twice: %v", err)
	}
}

func TestOfficialClientSubscribesToARunningTask(t *testing.T) {
	d, c, _ := callDesk(t)
	task := start(t, c, "wait")
	var lines []string
	for ev, err := range c.SubscribeToTask(t.Context(), &peer.SubscribeToTaskRequest{ID: task.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			close(d.release) // the subscription stands: now let the task go on
		}
		lines = append(lines, fmt.Sprintf("%T", ev))
	}
	equal(t, "first event", lines[0], "*a2a.Task")
	sequence(t, "last events", lines[len(lines)-2:], "*a2a.TaskArtifactUpdateEvent", "*a2a.TaskStatusUpdateEvent")
	done := ok[*peer.Task](t)(c.GetTask(t.Context(), &peer.GetTaskRequest{ID: task.ID}))
	equal(t, "state", done.Status.State, peer.TaskStateCompleted)
}

func TestOfficialClientAnswersAQuestion(t *testing.T) {
	_, c, _ := callDesk(t)
	asked := finished(t, c, say("book"))
	equal(t, "state", asked.Status.State, peer.TaskStateInputRequired)
	equal(t, "question", peerText(asked.Status.Message.Parts), question)
	answer := &peer.SendMessageRequest{Message: peer.NewMessageForTask(peer.MessageRoleUser, asked, peer.NewTextPart("Friday"))}
	booked := finished(t, c, answer)
	equal(t, "id", booked.ID, asked.ID)
	equal(t, "state", booked.Status.State, peer.TaskStateCompleted)
	equal(t, "booking", peerText(booked.Artifacts[0].Parts), "Booked for Friday.")
}

func TestOfficialClientSeesFailureAndRejectionWithoutInternals(t *testing.T) {
	_, c, _ := callDesk(t)
	failed := finished(t, c, say("break"))
	equal(t, "state", failed.Status.State, peer.TaskStateFailed)
	if text := peerText(failed.Status.Message.Parts); strings.Contains(text, "secret") || text == "" {
		t.Errorf("the client is told %q", text)
	}
	equal(t, "state", finished(t, c, say("sing")).Status.State, peer.TaskStateRejected)
}

func TestOfficialClientRecognisesOurErrors(t *testing.T) {
	_, c, _ := callDesk(t)
	done := finished(t, c, say("forecast"))
	ctx := t.Context()
	last := func(events iter.Seq2[peer.Event, error]) (err error) {
		for _, err = range events {
		}
		return err
	}
	for name, tc := range map[string]struct {
		call func() error
		want error
	}{
		"get an unknown task": {func() error {
			_, err := c.GetTask(ctx, &peer.GetTaskRequest{ID: "nobody"})
			return err
		}, peer.ErrTaskNotFound},
		"cancel an unknown task": {func() error {
			_, err := c.CancelTask(ctx, &peer.CancelTaskRequest{ID: "nobody"})
			return err
		}, peer.ErrTaskNotFound},
		"subscribe to an unknown task": {func() error {
			return last(c.SubscribeToTask(ctx, &peer.SubscribeToTaskRequest{ID: "nobody"}))
		}, peer.ErrTaskNotFound},
		"subscribe to a finished task": {func() error {
			return last(c.SubscribeToTask(ctx, &peer.SubscribeToTaskRequest{ID: done.ID}))
		}, peer.ErrUnsupportedOperation},
		"a message without parts": {func() error {
			_, err := c.SendMessage(ctx, &peer.SendMessageRequest{Message: peer.NewMessage(peer.MessageRoleUser)})
			return err
		}, peer.ErrInvalidParams},
		"a stream of a message without parts": {func() error {
			return last(c.SendStreamingMessage(ctx, &peer.SendMessageRequest{Message: peer.NewMessage(peer.MessageRoleUser)}))
		}, peer.ErrInvalidParams},
		"a message to a finished task": {func() error {
			_, err := c.SendMessage(ctx, &peer.SendMessageRequest{Message: peer.NewMessageForTask(peer.MessageRoleUser, done, peer.NewTextPart("more"))})
			return err
		}, peer.ErrUnsupportedOperation},
		"a page token of nobody's": {func() error {
			_, err := c.ListTasks(ctx, &peer.ListTasksRequest{PageToken: "nonsense"})
			return err
		}, peer.ErrInvalidParams},
		"push configuration": {func() error {
			_, err := c.CreateTaskPushConfig(ctx, &peer.PushConfig{TaskID: done.ID, URL: "https://example.com/hook"})
			return err
		}, peer.ErrPushNotificationNotSupported},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.call(); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
		})
	}
}
