package push_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet keeps what is refused on purpose out of the tests' output.
var quiet = push.WithLogger(slog.New(slog.DiscardHandler))

const token = "s3cret"

// desk is a receiver that writes down what its functions get, one line an event.
type desk struct {
	*push.Receiver
	mu    sync.Mutex
	lines []string
	fail  func(line string) error
}

func newDesk(t *testing.T, opts ...push.Option) *desk {
	t.Helper()
	return deskOf(t, append([]push.Option{push.Token(token)}, opts...)...)
}

func deskOf(t *testing.T, opts ...push.Option) *desk {
	t.Helper()
	d := &desk{}
	opts = append([]push.Option{quiet, push.On(d.hear)}, opts...)
	r, err := push.NewReceiver(a2a.Protocol(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	d.Receiver = r
	return d
}

func (d *desk) hear(_ context.Context, e anyEvent, n *push.Notification) error {
	line := say(e)
	if n.Late {
		line = "late " + line
	}
	d.mu.Lock()
	fail := d.fail
	d.mu.Unlock()
	if fail != nil {
		if err := fail(line); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
	return nil
}

// story returns what was heard so far.
func (d *desk) story() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, ", ")
}

func (d *desk) failing(f func(line string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

// say puts an event into words.
func say(e anyEvent) string {
	state := func(s *a2a.TaskStatus) string {
		return strings.ToLower(strings.TrimPrefix(string(s.State), "TASK_STATE_"))
	}
	text := func(parts []*a2a.Part) (s string) {
		for _, p := range parts {
			s += " " + string(p.Content.(a2a.PartText))
		}
		return s
	}
	switch e := e.(type) {
	case *a2a.Task:
		return "task " + state(e.Status)
	case *a2a.TaskStatusUpdateEvent:
		if m := e.Status.Message; m != nil {
			return state(e.Status) + text(m.Parts)
		}
		return state(e.Status)
	case *a2a.TaskArtifactUpdateEvent:
		if e.Append {
			return "append " + e.Artifact.ArtifactID + text(e.Artifact.Parts)
		}
		return "artifact " + e.Artifact.ArtifactID + text(e.Artifact.Parts)
	case *a2a.Message:
		return "message"
	}
	return fmt.Sprintf("%T", e)
}

// note is a notification to send.
type note struct {
	body   string
	header map[string]string
	method string
	path   string
}

// numbered is a notification as our agents send it.
func numbered(sequence, id, body string) note {
	return note{body: body, header: map[string]string{
		"A2A-Version": "1.0", runtime.PushIDHeader: id, runtime.PushTaskHeader: "t", runtime.PushConfigHeader: "c", runtime.PushSequenceHeader: sequence,
	}}
}

func status(state string) string {
	return `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_` + strings.ToUpper(state) + `"}}}`
}

func chunk(text string, more bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":%q}]},"append":%v}}`, text, more)
}

// send gives the notification to the receiver, with the right token unless it has one.
func send(r http.Handler, n note) *http.Response {
	return sendAs(context.Background(), r, n)
}

func sendAs(ctx context.Context, r http.Handler, n note) *http.Response {
	if n.method == "" {
		n.method = http.MethodPost
	}
	if n.path == "" {
		n.path = "/hook"
	}
	req := httptest.NewRequestWithContext(ctx, n.method, n.path, strings.NewReader(n.body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(runtime.PushTokenHeader, token)
	for k, v := range n.header {
		if v == "" {
			req.Header.Del(k)
			continue
		}
		req.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Result()
}

// want fails unless the answer has the status. It returns the answer's words.
func want(t *testing.T, resp *http.Response, status int) string {
	t.Helper()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != status {
		t.Errorf("the answer is %d %s, want %d", resp.StatusCode, text, status)
	}
	return strings.TrimSpace(string(text))
}

func (d *desk) wantStory(t *testing.T, lines ...string) {
	t.Helper()
	if got, want := d.story(), strings.Join(lines, ", "); got != want {
		t.Errorf("heard: %s\n want: %s", got, want)
	}
}

// quietAgent keeps what an agent logs out of the tests' output.
var quietAgent = server.WithLogger(slog.New(slog.DiscardHandler))

// anyEvent has functions called with all events.
type anyEvent = a2a.StreamResponsePayload

func protocol() *runtime.Protocol { return a2a.Protocol() }
