package interop

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
)

// callPeerDesk makes our client from the card of the peer's agent.
func callPeerDesk(t *testing.T) (*peerDesk, *a2aclient.Client) {
	t.Helper()
	d, url := startPeerDesk(t)
	c := ok[*a2aclient.Client](t)(a2aclient.New(t.Context(), url))
	t.Cleanup(c.Close)
	return d, c
}

func ask(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: &a2a.Message{
		MessageID: "m-" + text, Role: a2a.RoleUser, Parts: []*a2a.Part{{Content: a2a.PartText(text)}},
	}}
}

// task sends a message that is answered by a task.
func task(t *testing.T, c *a2aclient.Client, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	res := ok[a2a.SendMessageResponsePayload](t)(c.SendMessage(t.Context(), req))
	v, isTask := res.(*a2a.Task)
	if !isTask {
		t.Fatalf("a %T came back, not a task", res)
	}
	return v
}

// begin sends a text without waiting for the end.
func begin(t *testing.T, c *a2aclient.Client, text string) *a2a.Task {
	t.Helper()
	req := ask(text)
	req.Configuration = &a2a.SendMessageConfiguration{ReturnImmediately: true}
	return task(t, c, req)
}

func ourText(parts []*a2a.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if s, isText := p.Content.(a2a.PartText); isText {
			b.WriteString(string(s))
		}
	}
	return b.String()
}

// ourStory is a stream as one line an event.
func ourStory(t *testing.T, events iter.Seq2[a2a.StreamResponsePayload, error]) (lines []string, text string) {
	t.Helper()
	for ev, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *a2a.Task:
			lines = append(lines, fmt.Sprintf("task %s", ev.Status.State))
		case *a2a.Message:
			lines = append(lines, "message "+ourText(ev.Parts))
		case *a2a.TaskStatusUpdateEvent:
			lines = append(lines, fmt.Sprintf("status %s", ev.Status.State))
		case *a2a.TaskArtifactUpdateEvent:
			text += ourText(ev.Artifact.Parts)
			if n := len(lines); n == 0 || lines[n-1] != "artifact" {
				lines = append(lines, "artifact")
			}
		}
	}
	return lines, text
}

func TestOurClientReadsTheOfficialServersCard(t *testing.T) {
	_, c := callPeerDesk(t)
	card := c.Card()
	equal(t, "name", card.Name, "Peer Desk")
	equal(t, "skill", card.Skills[0].ID, "desk")
	if url := c.RPC().Interface().URL; !strings.HasSuffix(url, "/invoke") {
		t.Errorf("the interface in use is %s", url)
	}
}

func TestOurClientSendsAndGetsAMessage(t *testing.T) {
	_, c := callPeerDesk(t)
	res := ok[a2a.SendMessageResponsePayload](t)(c.SendMessage(t.Context(), ask("hello")))
	m, isMessage := res.(*a2a.Message)
	if !isMessage {
		t.Fatalf("a %T came back, not a message", res)
	}
	equal(t, "text", ourText(m.Parts), greeting)
	equal(t, "role", m.Role, a2a.RoleAgent)
}

func TestOurClientSendsAndGetsAFinishedTask(t *testing.T) {
	_, c := callPeerDesk(t)
	done := task(t, c, ask("tell"))
	equal(t, "state", done.Status.State, a2a.TaskStateCompleted)
	equal(t, "artifacts", len(done.Artifacts), 1)
	equal(t, "text", ourText(done.Artifacts[0].Parts), wholeText())
	equal(t, "first message of the history", ourText(done.History[0].Parts), "tell")
	if done.Status.Timestamp.IsZero() {
		t.Error("the status has no time")
	}
}

func TestOurClientStreamsATask(t *testing.T) {
	_, c := callPeerDesk(t)
	lines, text := ourStory(t, c.SendStreamingMessage(t.Context(), ask("tell")))
	sequence(t, "events", lines, "task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING", "artifact", "status TASK_STATE_COMPLETED")
	equal(t, "text", text, wholeText())
}

func TestOurClientStreamsAMessage(t *testing.T) {
	_, c := callPeerDesk(t)
	lines, _ := ourStory(t, c.SendStreamingMessage(t.Context(), ask("hello")))
	sequence(t, "events", lines, "message "+greeting)
}

func TestOurClientGetsATask(t *testing.T) {
	_, c := callPeerDesk(t)
	sent := task(t, c, ask("tell"))
	none := int32(0)
	got := ok[*a2a.Task](t)(c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: sent.ID, HistoryLength: &none}))
	equal(t, "id", got.ID, sent.ID)
	equal(t, "history", len(got.History), 0)
	equal(t, "text", ourText(got.Artifacts[0].Parts), wholeText())
}

func TestOurClientListsTasksByContextAndPage(t *testing.T) {
	_, c := callPeerDesk(t)
	first := task(t, c, ask("tell"))
	more := ask("tell")
	more.Message.ContextID = first.ContextID
	task(t, c, more)
	task(t, c, ask("tell")) // in a context of its own
	one := int32(1)
	req := &a2a.ListTasksRequest{ContextID: first.ContextID, PageSize: &one}
	page := ok[*a2a.ListTasksResponse](t)(c.ListTasks(t.Context(), req))
	equal(t, "tasks on the first page", len(page.Tasks), 1)
	equal(t, "total", page.TotalSize, 2)
	req.PageToken = page.NextPageToken
	page = ok[*a2a.ListTasksResponse](t)(c.ListTasks(t.Context(), req))
	equal(t, "tasks on the last page", len(page.Tasks), 1)
	equal(t, "id of the oldest", page.Tasks[0].ID, first.ID)
	equal(t, "token of the last page", page.NextPageToken, "")
}

func TestOurClientReadsAnEmptyListOfTheOfficialServer(t *testing.T) {
	_, c := callPeerDesk(t)
	page := ok[*a2a.ListTasksResponse](t)(c.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: "nobody"})) // it says "tasks":null
	equal(t, "tasks", len(page.Tasks), 0)
}

func TestOurClientCancelsATask(t *testing.T) {
	_, c := callPeerDesk(t)
	waiting := begin(t, c, "wait")
	canceled := ok[*a2a.Task](t)(c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: waiting.ID}))
	equal(t, "state", canceled.Status.State, a2a.TaskStateCanceled)
	done := task(t, c, ask("tell"))
	if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: done.ID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
		t.Errorf("canceling a finished task: %v", err)
	}
}

func TestOurClientSubscribesToARunningTask(t *testing.T) {
	d, c := callPeerDesk(t)
	waiting := begin(t, c, "wait")
	var kinds []string
	var text string
	for ev, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: waiting.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(kinds) == 0 {
			close(d.release) // the subscription stands: now let the task go on
		}
		kinds = append(kinds, fmt.Sprintf("%T", ev))
		if a, isArtifact := ev.(*a2a.TaskArtifactUpdateEvent); isArtifact {
			text += ourText(a.Artifact.Parts)
		}
	}
	equal(t, "first event", kinds[0], "*a2a.Task")
	equal(t, "last event", kinds[len(kinds)-1], "*a2a.TaskStatusUpdateEvent")
	equal(t, "text", text, wholeText())
}

func TestOurClientAnswersAQuestion(t *testing.T) {
	_, c := callPeerDesk(t)
	asked := task(t, c, ask("book"))
	equal(t, "state", asked.Status.State, a2a.TaskStateInputRequired)
	equal(t, "question", ourText(asked.Status.Message.Parts), question)
	answer := ask("Friday")
	answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
	booked := task(t, c, answer)
	equal(t, "id", booked.ID, asked.ID)
	equal(t, "state", booked.Status.State, a2a.TaskStateCompleted)
	equal(t, "booking", ourText(booked.Artifacts[0].Parts), "Booked for Friday.")
}

func TestOurClientRecognisesTheOfficialServersErrors(t *testing.T) {
	_, c := callPeerDesk(t)
	ctx := t.Context()
	for name, tc := range map[string]struct {
		call func() error
		want error
	}{
		"get an unknown task": {func() error {
			_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "nobody"})
			return err
		}, a2a.ErrTaskNotFound},
		"cancel an unknown task": {func() error {
			_, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: "nobody"})
			return err
		}, a2a.ErrTaskNotFound},
		"subscribe to an unknown task": {func() (err error) {
			for _, err = range c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "nobody"}) {
			}
			return err
		}, a2a.ErrTaskNotFound},
		"a message to an unknown task": {func() error {
			req := ask("more")
			req.Message.TaskID = "nobody"
			_, err := c.SendMessage(ctx, req)
			return err
		}, a2a.ErrTaskNotFound},
		"a page that is too large": {func() error {
			size := int32(1000)
			_, err := c.ListTasks(ctx, &a2a.ListTasksRequest{PageSize: &size})
			return err
		}, a2a.ErrInvalidRequest},
		"push configuration": {func() error {
			_, err := c.CreateTaskPushNotificationConfig(ctx, &a2a.TaskPushNotificationConfig{TaskID: "t", URL: "https://example.com/hook"})
			return err
		}, a2a.ErrPushNotificationNotSupported},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.call(); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
		})
	}
}
