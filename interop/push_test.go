package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	old "github.com/a2aproject/a2a-go/a2a"
	peer "github.com/a2aproject/a2a-go/v2/a2a"
)

const hookToken = "s3cret"

// pushes is the capability of an agent that sends push notifications.
const pushes = `"pushNotifications":true`

// hook is a webhook as users of the official SDKs write one: it checks the token and decodes the body with the SDK.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	lines []string
	text  string // of artifacts
}

// openHook starts a webhook. read says what a body is: a line, and the text of artifacts so far behind the text before.
func openHook(t *testing.T, read func(body []byte, before string) (line, text string, err error)) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		line, text, readErr := read(body, h.text)
		if err != nil || readErr != nil || r.Header.Get("X-A2A-Notification-Token") != hookToken || r.Header.Get("A2A-Notification-Token") != hookToken {
			t.Errorf("a notification that the SDK does not read: %v %v, token %q: %s", err, readErr, r.Header.Get("X-A2A-Notification-Token"), body)
			w.WriteHeader(http.StatusGone)
			return
		}
		h.text = text
		if n := len(h.lines); n == 0 || line != "artifact" || h.lines[n-1] != line {
			h.lines = append(h.lines, line)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// wants waits until the webhook has heard all of these, and nothing else.
func (h *hook) wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	heard, said := h.until(func(heard []string, said string) bool { return len(heard) >= len(lines) && said == text })
	sequence(t, "notifications", heard, lines...)
	equal(t, "text of the notifications", said, text)
}

// ends waits until these are the last that the webhook has heard.
func (h *hook) ends(t *testing.T, lines ...string) {
	t.Helper()
	tail := func(heard []string) []string { return heard[max(0, len(heard)-len(lines)):] }
	heard, _ := h.until(func(heard []string, _ string) bool { return slices.Equal(tail(heard), lines) })
	sequence(t, "last notifications", tail(heard), lines...)
}

// until waits until what was heard is enough, but not for ever.
func (h *hook) until(enough func(heard []string, said string) bool) (heard []string, said string) {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		heard, said = slices.Clone(h.lines), h.text
		h.mu.Unlock()
		if enough(heard, said) || time.Now().After(end) {
			return heard, said
		}
	}
}

// forget begins another story.
func (h *hook) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines, h.text = nil, ""
}

// hookOf10 reads notifications with the SDK of 1.0.
func hookOf10(t *testing.T) *hook {
	return openHook(t, func(body []byte, before string) (string, string, error) {
		var item peer.StreamResponse
		if err := json.Unmarshal(body, &item); err != nil {
			return "", "", err
		}
		switch e := item.Event.(type) {
		case *peer.TaskStatusUpdateEvent:
			return fmt.Sprintf("status %s", e.Status.State), before, nil
		case *peer.TaskArtifactUpdateEvent:
			return "artifact", before + peerText(e.Artifact.Parts), nil
		}
		return fmt.Sprintf("a %T", item.Event), before, nil
	})
}

// hookOf03 reads notifications with the SDK of 0.3, each a task as it stands.
func hookOf03(t *testing.T) *hook {
	return openHook(t, func(body []byte, before string) (string, string, error) {
		event, err := old.UnmarshalEventJSON(body)
		if err != nil {
			return "", "", err
		}
		task, isTask := event.(*old.Task)
		if !isTask {
			return "", "", fmt.Errorf("a %T", event)
		}
		var text string
		for _, a := range task.Artifacts {
			text += oldText(a.Parts)
		}
		if !strings.HasPrefix(text, before) {
			return "", "", fmt.Errorf("the task says %q after %q", text, before)
		}
		if text != before {
			return "artifact", text, nil
		}
		return fmt.Sprintf("status %s", task.Status.State), text, nil
	})
}

// TestOfficialClientIsToldByPush: a client of 1.0 registers its webhook with a message, and later.
func TestOfficialClientIsToldByPush(t *testing.T) {
	_, _, c := twoClients(t, pushes)
	ctx, h := t.Context(), hookOf10(t)
	with := func(text string) *peer.SendMessageRequest {
		req := say(text)
		req.Config = &peer.SendMessageConfig{PushConfig: &peer.PushConfig{URL: h.URL, Token: hookToken}}
		return req
	}

	lines, text := story(t, c.SendStreamingMessage(ctx, with("tell")))
	h.wants(t, text, lines[1:]...) // a stream begins with the task
	equal(t, "text", text, wholeText())

	h.forget()
	asked := finished(t, c, with("book"))
	h.wants(t, "", "status TASK_STATE_INPUT_REQUIRED")
	answer := say("Friday")
	answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
	equal(t, "state", finished(t, c, answer).Status.State, peer.TaskStateCompleted)
	h.wants(t, "Booked for Friday.", "status TASK_STATE_INPUT_REQUIRED", "status TASK_STATE_WORKING", "artifact", "status TASK_STATE_COMPLETED")

	h.forget()
	wait := with("wait")
	wait.Config.ReturnImmediately = true
	waiting := finished(t, c, wait)
	h.wants(t, "", "status TASK_STATE_WORKING")
	canceled := ok[*peer.Task](t)(c.CancelTask(ctx, &peer.CancelTaskRequest{ID: waiting.ID}))
	equal(t, "state", canceled.Status.State, peer.TaskStateCanceled)
	h.wants(t, "", "status TASK_STATE_WORKING", "status TASK_STATE_CANCELED")
}

// TestOfficialClientKeepsItsPushConfigurations: a client of 1.0 makes one for a task at work, and has it back.
func TestOfficialClientKeepsItsPushConfigurations(t *testing.T) {
	d, _, c := twoClients(t, pushes)
	ctx, h := t.Context(), hookOf10(t)
	task := start(t, c, "wait")
	for task.Status.State != peer.TaskStateWorking {
		task = ok[*peer.Task](t)(c.GetTask(ctx, &peer.GetTaskRequest{ID: task.ID}))
	}
	made := ok[*peer.PushConfig](t)(c.CreateTaskPushConfig(ctx, &peer.PushConfig{TaskID: task.ID, ID: "mine", URL: h.URL, Token: hookToken}))
	equal(t, "id", made.ID, "mine")
	got := ok[*peer.PushConfig](t)(c.GetTaskPushConfig(ctx, &peer.GetTaskPushConfigRequest{TaskID: task.ID, ID: "mine"}))
	equal(t, "url", got.URL, h.URL)
	other := ok[*peer.PushConfig](t)(c.CreateTaskPushConfig(ctx, &peer.PushConfig{TaskID: task.ID, URL: h.URL + "/other", Token: hookToken}))
	equal(t, "configurations", len(ok[[]*peer.PushConfig](t)(c.ListTaskPushConfigs(ctx, &peer.ListTaskPushConfigRequest{TaskID: task.ID}))), 2)
	if err := c.DeleteTaskPushConfig(ctx, &peer.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: other.ID}); err != nil {
		t.Error(err)
	}
	close(d.release)
	h.wants(t, forecast, "artifact", "status TASK_STATE_COMPLETED")
}

// TestOfficial03ClientIsToldByPush is the same with a client of 0.3, whose webhook gets tasks.
func TestOfficial03ClientIsToldByPush(t *testing.T) {
	_, c, _ := twoClients(t, pushes)
	ctx, h := t.Context(), hookOf03(t)
	with := func(text string) *old.MessageSendParams {
		params := oldSay(text)
		params.Config = &old.MessageSendConfig{PushConfig: &old.PushConfig{URL: h.URL, Token: hookToken}}
		return params
	}

	_, text := oldStory(t, c.SendStreamingMessage(ctx, with("tell")), nil)
	h.wants(t, text, "status working", "artifact", "status completed")
	equal(t, "text", text, wholeText())

	h.forget()
	asked := oldFinished(t, c, with("book"))
	h.wants(t, "", "status input-required")
	answer := oldSay("Friday")
	answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
	equal(t, "state", oldFinished(t, c, answer).Status.State, old.TaskStateCompleted)
	h.wants(t, "Booked for Friday.", "status input-required", "status working", "artifact", "status completed")

	h.forget()
	wait, no := with("wait"), false
	wait.Config.Blocking = &no
	waiting := oldFinished(t, c, wait)
	h.wants(t, "", "status working")
	canceled := ok[*old.Task](t)(c.CancelTask(ctx, &old.TaskIDParams{ID: waiting.ID}))
	equal(t, "state", canceled.Status.State, old.TaskStateCanceled)
	h.wants(t, "", "status working", "status canceled")
}
