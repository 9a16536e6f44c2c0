package recording

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/test/talktest"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/wire"
	"github.com/a2agen/a2agen/testkit/record"
)

// talk says to an agent what a client says that streams, asks and gives up.
func talk(t *testing.T, url string, opts ...rpc.Option) (said []string) {
	t.Helper()
	c, err := a2aclient.New(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send := func(text string) *a2awires.SendMessageRequest {
		m := a2awires.NewMessage(a2awires.RoleUser, a2awires.Text(text))
		m.Metadata = wire.Object(`{"skillId":"chat"}`)
		return &a2awires.SendMessageRequest{Message: m}
	}
	answer, err := c.SendMessage(t.Context(), send("ask"))
	if err != nil {
		t.Fatal(err)
	}
	task := answer.(*a2awires.Task)
	said = append(said, task.Status.Message.Text())
	reply := send("Monday")
	reply.Message.TaskID = task.ID
	if answer, err = c.SendMessage(t.Context(), reply); err != nil {
		t.Fatal(err)
	}
	said = append(said, answer.(*a2awires.Task).Artifacts[0].Text())
	for e, err := range c.SendStreamingMessage(t.Context(), send("stream")) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := e.(*a2awires.TaskArtifactUpdateEvent); ok {
			said = append(said, a.Artifact.Text())
		}
	}
	for e, err := range c.SendStreamingMessage(t.Context(), send("wait")) {
		if err != nil {
			t.Fatal(err)
		}
		if first, ok := e.(*a2awires.Task); ok {
			if _, err := c.CancelTask(t.Context(), &a2awires.CancelTaskRequest{ID: first.ID}); err != nil {
				t.Fatal(err)
			}
		}
		if s, ok := e.(*a2awires.TaskStatusUpdateEvent); ok {
			said = append(said, string(s.Status.State))
		}
	}
	return said
}

// observed serves an agent behind a recorder.
func observed(t *testing.T) (*traffic.Log, string) {
	t.Helper()
	at, stop, err := talktest.Agent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	log := &traffic.Log{}
	pass := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // is on the card
	}}
	front := httptest.NewServer(log.Record(0, pass))
	t.Cleanup(front.Close)
	return log, front.URL
}

// all waits until every exchange has ended, and returns them.
func all(t *testing.T, log *traffic.Log) (list []traffic.Exchange) {
	t.Helper()
	for _, s := range log.List(0, traffic.MaxCalls) {
		x, _ := log.Get(s.ID)
		for x.State == traffic.Running && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
			x, _ = log.Get(s.ID)
		}
		list = append(list, x)
	}
	return list
}

// TestWhatWasSeenIsReplayed: a test of a client plays what the loop has kept of the same conversation, with the card
// that its client had fetched, or with one that is given.
func TestWhatWasSeenIsReplayed(t *testing.T) {
	log, at := observed(t)
	resp, err := http.Get(at + CardPath)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	card := all(t, log)[0].Response.Bytes
	log.Clear()
	want := strings.Join(talk(t, at, rpc.Prefer(runtime.BindingJSONRPC)), "|")
	if !strings.HasPrefix(want, "For which day?|for Monday|one ") || !strings.HasSuffix(want, "|TASK_STATE_CANCELED") {
		t.Fatal(want)
	}
	list := all(t, log)
	for name, exchanges := range map[string][]traffic.Exchange{"its own card": list, "a given card": list[1:]} {
		t.Run(name, func(t *testing.T) {
			text, left, err := Lines(exchanges, at, card)
			if err != nil || len(left) > 0 {
				t.Fatal(err, left)
			}
			if strings.Contains(string(text), at) || strings.Count(string(text), `"type":"request"`) != len(list) {
				t.Errorf("%s", text)
			}
			file := filepath.Join(t.TempDir(), "talk.jsonl")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(talk(t, "https://agent.example", record.Replay(t, file)), "|"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestWhatCannotBeRecordedIsNamed, and is an error where nothing else is left.
func TestWhatCannotBeRecordedIsNamed(t *testing.T) {
	good := traffic.Exchange{Summary: traffic.Summary{ID: 1, Method: "POST", Path: "/", State: traffic.Done, Status: 200}, Response: traffic.Body{Bytes: []byte(`{}`)}}
	with := func(change func(*traffic.Exchange)) traffic.Exchange {
		x := good
		change(&x)
		return x
	}
	list := []traffic.Exchange{
		with(func(x *traffic.Exchange) { x.Binding = runtime.BindingGRPC }),
		with(func(x *traffic.Exchange) { x.Request.Cut = true }),
		with(func(x *traffic.Exchange) { x.Response.Cut = true }),
		with(func(x *traffic.Exchange) { x.EventN = 2 }),
		with(func(x *traffic.Exchange) { x.State, x.Status = traffic.Running, 0 }),
		with(func(x *traffic.Exchange) { x.Header = http.Header{"Content-Encoding": {"gzip"}} }),
	}
	if text, left, err := Lines(list, "http://a.test", nil); err == nil || len(left) != len(list) || text != nil || !strings.Contains(err.Error(), "gRPC") {
		t.Errorf("%s %v %v", text, left, err)
	}
	if text, left, err := Lines(append(list, good), "http://a.test", nil); err != nil || len(left) != len(list) || !strings.Contains(string(text), `"path":"/"`) {
		t.Errorf("%s %v %v", text, left, err)
	}
}

// TestAnAnswerThatBreaksOffBreaksOffAgain where it did.
func TestAnAnswerThatBreaksOffBreaksOffAgain(t *testing.T) {
	stream := func(problem string, status int) string {
		x := traffic.Exchange{Summary: traffic.Summary{ID: 1, Method: "POST", Path: "/", State: traffic.Broken, Status: status, Problem: problem}}
		if status != 0 {
			x.Header = http.Header{"Content-Type": {"text/event-stream"}}
			x.EventN, x.Events = 1, []traffic.Event{{N: 1, Bytes: []byte("id: 1\ndata: {\"a\":1}\n\n")}}
		}
		text, _, err := Lines([]traffic.Exchange{x}, "http://a.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if s := stream("the answer broke off", 200); !strings.Contains(s, `"type":"event"`) || !strings.Contains(s, `"how":"cut"`) {
		t.Error(s)
	}
	if s := stream(traffic.CallerLeft, 200); !strings.Contains(s, `"how":"left"`) {
		t.Error(s)
	}
	if s := stream(traffic.CallerLeft, 0); strings.Contains(s, `"type":"response"`) || !strings.Contains(s, `"how":"left"`) {
		t.Error(s)
	}
	if s := stream("the answer broke off", 0); !strings.Contains(s, `"how":"cut"`) {
		t.Error(s)
	}
}
