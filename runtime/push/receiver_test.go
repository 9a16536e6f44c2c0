package push_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
)

func TestFunctionsGetTheEventsOfTheirType(t *testing.T) {
	var heard []string
	r, err := push.NewReceiver(a2a.Protocol(), quiet, push.Token(token),
		push.On(func(_ context.Context, e *a2a.TaskStatusUpdateEvent, n *push.Notification) error {
			heard = append(heard, fmt.Sprintf("%s %s %s %s %d-%d", n.TaskID, n.ContextID, n.Config, n.Version, n.First, n.Last), string(e.Status.State))
			return nil
		}),
		push.On(func(_ context.Context, e *a2a.TaskArtifactUpdateEvent, _ *push.Notification) error {
			heard = append(heard, e.Artifact.ArtifactID)
			return nil
		}),
		push.On(func(context.Context, any, *push.Notification) error {
			heard = append(heard, "any")
			return nil
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	want(t, send(r, numbered("1", "i1", status("working"))), 200)
	want(t, send(r, numbered("2-4", "i2", chunk("x", false))), 200)
	if got := strings.Join(heard, ", "); got != "t c c 1.0 1-1, TASK_STATE_WORKING, any, a, any" {
		t.Error(got)
	}
}

func TestAReceiverWantsToKnowItsSenders(t *testing.T) {
	p := a2a.Protocol()
	for name, opts := range map[string][]push.Option{
		"nothing": nil, "an empty token": {push.Token("")}, "no token": {push.Token()}, "anyone with a token": {push.Token("x"), push.Anyone()},
		"a scheme without credentials": {push.Authorization("Bearer", "")},
	} {
		if _, err := push.NewReceiver(p, opts...); err == nil {
			t.Errorf("%s: a receiver was made", name)
		}
	}
	onTask := push.On(func(context.Context, *a2a.Task, *push.Notification) error { return nil })
	if _, err := push.NewReceiver(p, push.Anyone(), onTask); err == nil {
		t.Error("a receiver with a function that is never called was made")
	}
	if _, err := push.NewReceiver(p, push.Anyone(), onTask, push.Whole()); err != nil {
		t.Error(err)
	}
	if _, err := push.NewReceiver(nil, push.Anyone()); err == nil {
		t.Error("a receiver without a protocol was made")
	}
	if _, err := push.NewReceiver(a2a.ServerProtocol(), push.Anyone()); err == nil || !strings.Contains(err.Error(), "a2a.ClientProtocol()") {
		t.Errorf("a receiver with the protocol of servers: %v", err)
	}
	want(t, send(deskOf(t, push.Anyone()), note{body: status("working"), header: map[string]string{runtime.PushTokenHeader: ""}}), 200)
}

// R83
func TestTheTokenIsChecked(t *testing.T) {
	d := newDesk(t, push.Token("old", token)) // both must hold
	for name, tt := range map[string]struct {
		header map[string]string
		status int
	}{
		"right":                       {nil, 200},
		"under the other name":        {map[string]string{runtime.PushTokenHeader: "", runtime.PushTokenHeaderToo: token}, 200},
		"under both names":            {map[string]string{runtime.PushTokenHeaderToo: token}, 200},
		"two different ones":          {map[string]string{runtime.PushTokenHeaderToo: "other"}, 401},
		"missing":                     {map[string]string{runtime.PushTokenHeader: ""}, 401},
		"wrong":                       {map[string]string{runtime.PushTokenHeader: "S3cret"}, 401},
		"a prefix":                    {map[string]string{runtime.PushTokenHeader: token[:3]}, 401},
		"with more behind":            {map[string]string{runtime.PushTokenHeader: token + "x"}, 401},
		"right for one of two checks": {map[string]string{runtime.PushTokenHeader: "old"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			resp := send(d, note{body: status("working"), header: tt.header})
			text := want(t, resp, tt.status)
			if tt.status == 401 && (text != "the token is missing or wrong" || resp.Header.Get("WWW-Authenticate") == "") {
				t.Errorf("%q %v", text, resp.Header)
			}
		})
	}
}

// R82: a token is good for the task that it was made for.
func TestTheTokenOfATaskIsChecked(t *testing.T) {
	d := deskOf(t, push.Tokens(func(_ context.Context, taskID, shown string) bool { return shown == "token of "+taskID }))
	want(t, send(d, note{body: status("working"), header: map[string]string{runtime.PushTokenHeader: "token of t"}}), 200)
	want(t, send(d, note{body: status("completed"), header: map[string]string{runtime.PushTokenHeader: "token of u"}}), 401)
	d.wantStory(t, "working")
}

// R194
func TestTheAuthorizationIsChecked(t *testing.T) {
	for _, tt := range []struct {
		scheme, credentials, header, value string
		status                             int
	}{
		{"Bearer", "abc", "Authorization", "Bearer abc", 200},
		{"Bearer", "abc", "Authorization", "bearer  abc", 200},
		{"Bearer", "abc", "Authorization", "Bearer abd", 401},
		{"Bearer", "abc", "Authorization", "Basic abc", 401},
		{"Bearer", "abc", "Authorization", "abc", 401},
		{"Bearer", "abc", "Authorization", "", 401},
		{"Basic", "me:pass:word", "Authorization", "Basic bWU6cGFzczp3b3Jk", 200},
		{"Basic", "bWU6cGFzczp3b3Jk", "Authorization", "Basic bWU6cGFzczp3b3Jk", 200},
		{"ApiKey", "abc", "Authorization", "ApiKey abc", 200},
		{"ApiKey", "X-Key: abc", "X-Key", "abc", 200},
		{"ApiKey", "X-Key: abc", "Authorization", "ApiKey abc", 401},
	} {
		d := deskOf(t, push.Authorization(tt.scheme, tt.credentials))
		want(t, send(d, note{body: status("working"), header: map[string]string{tt.header: tt.value}}), tt.status)
	}
}

func TestWhatIsNoNotificationIsRefusedInWords(t *testing.T) {
	d := newDesk(t, push.Path("/hook"), push.WithLimits(push.Limits{Body: 200}))
	for name, tt := range map[string]struct {
		note   note
		status int
		text   string
	}{
		"method":           {note{method: "GET"}, 405, "push notifications are sent by POST"},
		"path":             {note{path: "/hook/", body: status("working")}, 404, "push notifications go to another path"},
		"content type":     {note{body: "x", header: map[string]string{"Content-Type": "text/plain"}}, 415, "a push notification is application/json"},
		"compressed":       {note{body: "x", header: map[string]string{"Content-Encoding": "gzip"}}, 415, "compressed push notifications are not read"},
		"too large":        {note{body: strings.Repeat(" ", 201)}, 413, "the notification is larger than 200 bytes"},
		"no JSON":          {note{body: "hello"}, 400, "the body is no notification: expected an object"},
		"empty":            {note{}, 400, "the body is no notification: unexpected end of input, expected an object"},
		"no task":          {note{body: `{"statusUpdate":{"taskId":"","contextId":"","status":{"state":"TASK_STATE_WORKING"}}}`}, 400, "the body is no notification: it names no task"},
		"another task":     {note{body: status("working"), header: map[string]string{runtime.PushTaskHeader: "u"}}, 400, "the body is of another task than the header X-A2A-Notification-Task says"},
		"an escape":        {note{body: status("working"), header: map[string]string{runtime.PushTaskHeader: "%zz"}}, 400, "the header X-A2A-Notification-Task is not one id"},
		"no number":        {note{body: status("working"), header: map[string]string{runtime.PushSequenceHeader: "+1"}}, 400, "the header X-A2A-Notification-Sequence is neither a number nor a range of numbers"},
		"a range backward": {note{body: status("working"), header: map[string]string{runtime.PushSequenceHeader: "3-2"}}, 400, "the header X-A2A-Notification-Sequence is neither a number nor a range of numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			if text := want(t, send(d, tt.note), tt.status); text != tt.text {
				t.Errorf("%q, want %q", text, tt.text)
			}
		})
	}
	d.wantStory(t)
}

func TestOtherJSONTypesAreRead(t *testing.T) {
	for _, contentType := range []string{"application/a2a+json", "application/json; charset=utf-8", ""} {
		want(t, send(newDesk(t), note{body: status("working"), header: map[string]string{"Content-Type": contentType}}), 200)
	}
}

// R80: 2xx says that it is done.
func TestAnErrorOfAFunctionLetsTheNotificationComeAgain(t *testing.T) {
	d := newDesk(t)
	d.failing(func(string) error { return errors.New("the database is down") })
	n := numbered("1", "i", status("working"))
	if text := want(t, send(d, n), 500); strings.Contains(text, "database") {
		t.Errorf("the sender reads %q", text)
	}
	d.failing(func(string) error { panic("oops") })
	want(t, send(d, n), 500)
	d.failing(nil)
	want(t, send(d, n), 200)
	want(t, send(d, n), 200)
	d.wantStory(t, "working")
	d.failing(func(string) error { return fmt.Errorf("%w: enough", push.ErrGone) })
	want(t, send(d, numbered("2", "j", status("completed"))), 410)
}

func TestAnEventOfALaterVersionIsSkipped(t *testing.T) {
	d := newDesk(t)
	want(t, send(d, numbered("1", "i", `{"delegation":{"taskId":"t"}}`)), 200)
	d.wantStory(t)
}

// TestForeignSendersAreUnderstood: those that send a token and a body and nothing else.
func TestForeignSendersAreUnderstood(t *testing.T) {
	for name, tt := range map[string]struct{ body, want, version string }{
		"1.0 status":   {status("completed"), "completed", "1.0"},
		"1.0 task":     {`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`, "completed", "1.0"},
		"1.0 message":  {`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`, "message", "1.0"},
		"0.3 task":     {`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}]}`, "artifact a x, completed", "0.3"},
		"0.3 status":   {`{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"completed"}}`, "completed", "0.3"},
		"0.1 task":     {`{"id":"t","sessionId":"c","status":{"state":"completed"},"artifacts":[{"parts":[{"type":"text","text":"x"}],"index":0}]}`, "artifact 0 x, completed", "0.1"},
		"without kind": {`{"id":"t","contextId":"c","status":{"state":"completed"}}`, "completed", "0.3"},
	} {
		t.Run(name, func(t *testing.T) {
			var version string
			d := newDesk(t, push.On(func(_ context.Context, _ anyEvent, n *push.Notification) error {
				version = n.Version
				return nil
			}))
			want(t, send(d, note{body: tt.body}), 200)
			d.wantStory(t, tt.want)
			if version != tt.version {
				t.Errorf("version %s, want %s", version, tt.version)
			}
		})
	}
}

// TestForeignDoublesAreDropped: what comes twice in a row with the same content is one, except a chunk (R81).
func TestForeignDoublesAreDropped(t *testing.T) {
	d := newDesk(t)
	for _, body := range []string{
		status("working"), status("working"), chunk("x", false), chunk("x", false), chunk("y", true), chunk("y", true),
		status("working"), status("completed"), status("completed") + "\n",
	} {
		want(t, send(d, note{body: body}), 200)
	}
	d.wantStory(t, "working", "artifact a x", "append a y", "append a y", "working", "completed")
}

// task03 is a notification before 1.0: the task as it stands.
func task03(state, at, message string, artifacts ...string) string {
	list := ""
	for i, a := range artifacts {
		if i > 0 {
			list += ","
		}
		list += fmt.Sprintf(`{"artifactId":"a%d","parts":[{"kind":"text","text":%q}]}`, i, a)
	}
	if message != "" {
		message = fmt.Sprintf(`,"message":{"kind":"message","messageId":"m-%s","role":"agent","parts":[{"kind":"text","text":%q}]}`, message, message)
	}
	return fmt.Sprintf(`{"kind":"task","id":"t","contextId":"c","status":{"state":%q,"timestamp":%q%s},"artifacts":[%s]}`, state, at, message, list)
}

const noon, later = "2026-01-02T12:00:00Z", "2026-01-02T12:00:01Z"

func TestBefore10TheNewsOfATaskAreEvents(t *testing.T) {
	d := newDesk(t)
	for _, body := range []string{
		task03("working", noon, ""),
		task03("working", later, "Looking."),
		task03("working", later, "Looking.", "one"),
		task03("working", later, "Looking.", "one two"),
		task03("working", later, "Looking.", "one two", "other"),
		task03("completed", later, "", "one two", "other three"),
	} {
		want(t, send(d, note{body: body}), 200)
	}
	d.wantStory(t, "working", "working Looking.", "artifact a0 one", "append a0  two", "artifact a1 other", "append a1  three", "completed")
}

// TestATaskIn10IsNewsToo: an agent of 1.0 sends one at first, or when its log does not reach back far enough.
func TestATaskIn10IsNewsToo(t *testing.T) {
	d := newDesk(t)
	task := func(state, text string) string {
		return fmt.Sprintf(`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_%s"},"artifacts":[{"artifactId":"a","parts":[{"text":%q}]}]}}`, state, text)
	}
	for _, body := range []string{task("WORKING", "x"), chunk("y", true), task("COMPLETED", "xyz")} {
		want(t, send(d, note{body: body}), 200)
	}
	d.wantStory(t, "artifact a x", "working", "append a y", "artifact a xyz", "completed")
}

func TestBefore10ARepeatGoesOnBehindWhatWasTaken(t *testing.T) {
	d := newDesk(t)
	body := task03("completed", noon, "", "one", "two")
	d.failing(func(line string) error {
		if line == "artifact a1 two" {
			return errors.New("not now")
		}
		return nil
	})
	want(t, send(d, note{body: body}), 500)
	d.failing(nil)
	want(t, send(d, note{body: body}), 200)
	d.wantStory(t, "artifact a0 one", "artifact a1 two", "completed")
}

func TestWholeHandsOverTheTask(t *testing.T) {
	d := newDesk(t, push.Whole())
	want(t, send(d, note{body: task03("working", noon, "")}), 200)
	want(t, send(d, note{body: task03("completed", noon, "", "x")}), 200)
	d.wantStory(t, "task working", "task completed")
}

// TestOverARealConnection: a server of net/http, whose connection stays good after a refusal.
func TestOverARealConnection(t *testing.T) {
	d := newDesk(t)
	srv := httptest.NewServer(d)
	defer srv.Close()
	for _, tt := range []struct {
		token string
		want  int
	}{{token, 200}, {"wrong", 401}, {token, 200}} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, strings.NewReader(chunk("x", true)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(runtime.PushTokenHeader, tt.token)
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		want(t, resp, tt.want)
		resp.Body.Close()
	}
	d.wantStory(t, "append a x", "append a x")
}
