package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/frames"
)

// streaming is a process that begins a stream with one answer, and then waits to be killed.
func streaming(began chan<- struct{}, answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
		w.(http.Flusher).Flush()
		began <- struct{}{}
		<-r.Context().Done()
	})
}

// TestAStreamIsTakenUpOnTheNextProcess after the last event that was whole, by the subscription of its version and
// binding; a half event is dropped.
func TestAStreamIsTakenUpOnTheNextProcess(t *testing.T) {
	first := func(data string) string { return "id: 3\ndata: " + data + "\n\nid: 4\ndata: {\"ha" }
	for name, tt := range map[string]struct{ path, body, first, rest, want string }{
		"1.0 JSON-RPC": {
			"/rpc", `{"jsonrpc":"2.0","id":7,"method":"SendStreamingMessage","params":{"tenant":"acme","message":{}}}`,
			`{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t 1","status":{"state":"TASK_STATE_WORKING"}}}}`,
			`{"jsonrpc":"2.0","id":7,"result":{"statusUpdate":{"taskId":"t 1","status":{"state":"TASK_STATE_COMPLETED"}}}}`,
			`POST /rpc 3 {"id":7,"jsonrpc":"2.0","method":"SubscribeToTask","params":{"id":"t 1","tenant":"acme"}}`,
		},
		"0.3 JSON-RPC": {
			"/", `{"jsonrpc":"2.0","id":"a","method":"message/stream","params":{}}`,
			`{"result":{"kind":"status-update","taskId":"t","status":{"state":"working"},"final":false}}`,
			`{"result":{"kind":"status-update","taskId":"t","status":{"state":"completed"},"final":true}}`,
			`POST / 3 {"id":"a","jsonrpc":"2.0","method":"tasks/resubscribe","params":{"id":"t"}}`,
		},
		"0.1": {
			"/", `{"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"t"}}`,
			`{"result":{"id":"t","status":{"state":"working"},"final":false}}`, `{"result":{"id":"t","status":{"state":"working"},"final":true}}`,
			`POST / 3 {"id":1,"jsonrpc":"2.0","method":"tasks/resubscribe","params":{"id":"t"}}`,
		},
		"HTTP+JSON": {
			"/acme/message:stream", `{"message":{}}`,
			`{"artifactUpdate":{"taskId":"t/1","artifact":{}}}`, `{"statusUpdate":{"taskId":"t/1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`,
			"GET /acme/tasks/t%2F1:subscribe 3 ",
		},
		"a subscription": {
			"/rpc", `{"jsonrpc":"2.0","id":7,"method":"SubscribeToTask","params":{"id":"t"}}`,
			`{"result":{"artifactUpdate":{"taskId":"t"}}}`, `{"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_FAILED"}}}}`,
			`POST /rpc 3 {"jsonrpc":"2.0","id":7,"method":"SubscribeToTask","params":{"id":"t"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, url := startFront(t)
			began, asked := make(chan struct{}, 1), make(chan string, 1)
			old := startProcess(t, streaming(began, first(tt.first)))
			f.Switch(old.addr())
			next := startProcess(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked <- fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Last-Event-ID"), body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "id: 4\ndata: "+tt.rest+"\n\n")
			}))
			go func() {
				<-began
				f.Hold()
				old.kill()
				f.Switch(next.addr())
			}()
			resp, err := http.Post(url+tt.path, "application/json", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			got, err := io.ReadAll(resp.Body)
			want := "id: 3\ndata: " + tt.first + "\n\n: a2agen dev: the agent was restarted; the stream goes on after event 3\n\nid: 4\ndata: " + tt.rest + "\n\n"
			if err != nil || string(got) != want {
				t.Errorf("got  %q, %v\nwant %q", got, err, want)
			}
			if r := <-asked; r != tt.want {
				t.Errorf("asked %s\nwant  %s", r, tt.want)
			}
		})
	}
}

// TestAStreamThatCannotBeTakenUpBreaks with a comment that says why, and is no whole answer.
func TestAStreamThatCannotBeTakenUpBreaks(t *testing.T) {
	f, url := startFront(t)
	began := make(chan struct{}, 1)
	old := startProcess(t, streaming(began, "id: 1\ndata: {\"result\":{\"task\":{\"id\":\"t\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n"))
	f.Switch(old.addr())
	go func() {
		<-began
		f.Hold()
		old.kill()
		f.Switch(startProcess(t, say(`{"error":{"message":"Task not found"}}`)).addr())
	}()
	resp, err := http.Post(url, "application/json", strings.NewReader(`{"method":"SendStreamingMessage"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err == nil || !strings.Contains(string(got), "could not be taken up") || !strings.Contains(string(got), "Task not found") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestAStreamThatTheAgentEndsIsOver, also at the moment of a restart.
func TestAStreamThatTheAgentEndsIsOver(t *testing.T) {
	f, url := startFront(t)
	const whole = "id: 2\ndata: {\"result\":{\"statusUpdate\":{\"taskId\":\"t\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n"
	f.Switch(startProcess(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, whole)
		w.(http.Flusher).Flush()
		f.Hold()
	})).addr())
	if got := ask(t, url); got != "200 "+strings.TrimSpace(whole) {
		t.Error(got)
	}
}

// TestAnEventOfAnySizePasses: one that is too long to be kept until it is whole goes on as it comes.
func TestAnEventOfAnySizePasses(t *testing.T) {
	const before, after = "id: 1\ndata: {}\n\n", "\n\nid: 3\ndata: {}\n\n"
	f, url := startFront(t)
	agent := startProcess(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, before)
		_, _ = w.Write(bytes.Repeat([]byte("x"), frames.MaxEvent+1))
		if r.URL.Path == "/breaks" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, after)
	}))
	f.Switch(agent.addr())
	for path, whole := range map[string]bool{"/": true, "/breaks": false} {
		resp, err := http.Post(url+path, "application/json", strings.NewReader(`{"method":"message/stream"}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if (err == nil) != whole || !bytes.HasPrefix(got, []byte(before+"xxx")) || bytes.HasSuffix(got, []byte("x"+after)) != whole {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
	}
}
