package caller

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// agent is one of 1.0 over JSON-RPC and HTTP+JSON, whose card has other addresses than the proxy that is before it.
type agent struct {
	*httptest.Server
	log   *traffic.Log
	got   chan http.Header
	wait  chan struct{} // a stream goes on when it is closed
	left  chan struct{} // the caller of a stream is gone
	calls *Caller
}

const card = `{"name":"A","description":"d","version":"1","defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"s","name":"s","description":"d","tags":["t"]}],
"capabilities":{"streaming":true,"extensions":[{"uri":"https://github.com/a2agen/a2agen/extensions/skills/v1","params":{"skills":{"s":{"input":{"type":"object"}}}}}]},
"supportedInterfaces":[{"url":"https://elsewhere.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"https://elsewhere.example","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
{"url":"https://elsewhere.example","protocolBinding":"SMOKE","protocolVersion":"1.0"},{"url":"https://elsewhere.example","protocolBinding":"JSONRPC","protocolVersion":"9.0"}]}`

const task = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}`

func start(t *testing.T) *agent {
	t.Helper()
	a := &agent{log: &traffic.Log{Feed: &live.Feed{}}, got: make(chan http.Header, 10), wait: make(chan struct{}), left: make(chan struct{})}
	a.Server = httptest.NewServer(a.log.Record(0, http.HandlerFunc(a.serve)))
	t.Cleanup(a.Close)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	a.calls = &Caller{Context: ctx, Traffic: a.log, Agent: func(_ context.Context, n int) (string, []byte, error) {
		if n != 0 {
			return "", nil, nil
		}
		return a.URL, []byte(card), nil
	}}
	return a
}

func (a *agent) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.got <- r.Header.Clone()
	if !strings.Contains(string(body), "SendStreamingMessage") {
		if r.URL.Path == "/rpc" {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"task":%s}}`, task)
			return
		}
		_, _ = fmt.Fprintf(w, `{"task":%s}`, task)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":%s}}\n\n", strings.Replace(task, "COMPLETED", "WORKING", 1))
	_ = http.NewResponseController(w).Flush()
	select {
	case <-a.wait:
	case <-r.Context().Done():
		close(a.left)
		panic(http.ErrAbortHandler) // as a proxy does
	}
}

const hi = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`

// ended waits until an exchange is over.
func (a *agent) ended(t *testing.T, id int64) traffic.Summary {
	t.Helper()
	for after := int64(0); ; {
		items, _, err := a.log.Feed.Next(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			after = i.Seq
			if s, ok := i.What.(*traffic.Summary); ok && s.ID == id && s.State != traffic.Running {
				return *s
			}
		}
	}
}

// TestACallIsMadeAsAskedAndFoundInTheRecord, through the proxy, wherever the card says that the agent is.
func TestACallIsMadeAsAskedAndFoundInTheRecord(t *testing.T) {
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		a := start(t)
		id, err := a.calls.Start(t.Context(), 0, Call{Binding: binding, Version: "1.0", Operation: "SendMessage", Request: json.RawMessage(hi), Header: http.Header{"Authorization": {"Bearer x"}}})
		if err != nil {
			t.Fatal(err)
		}
		if s := a.ended(t, id); s.Binding != binding || s.Caller != "page" || s.Version != "1.0" || s.Task != "t1" || s.State != traffic.Done {
			t.Errorf("%+v", s)
		}
		if h := <-a.got; h.Get("Authorization") != "Bearer x" || h.Get(traffic.KeyHeader) != "" || h.Get(traffic.CallerHeader) != "" {
			t.Errorf("%v", h)
		}
	}
}

// TestARunningCallIsStopped, and its agent sees that nobody listens; a second time there is nothing to stop.
func TestARunningCallIsStopped(t *testing.T) {
	a := start(t)
	id, err := a.calls.Start(t.Context(), 0, Call{Binding: "JSONRPC", Version: "1.0", Operation: "SendStreamingMessage", Request: json.RawMessage(hi), LastEventID: "7"})
	if err != nil {
		t.Fatal(err)
	}
	if h := <-a.got; h.Get("Last-Event-Id") != "7" {
		t.Errorf("%v", h)
	}
	if !a.calls.Stop(id) || a.calls.Stop(id) {
		t.Error("stopped otherwise than once")
	}
	<-a.left
	if s := a.ended(t, id); s.State != traffic.Broken {
		t.Errorf("%+v", s)
	}
}

// TestWhatCannotBeCalledSaysWhy, and nothing is sent.
func TestWhatCannotBeCalledSaysWhy(t *testing.T) {
	a := start(t)
	for name, tt := range map[string]struct {
		agent int
		call  Call
		want  string
	}{
		"no agent":     {1, Call{Binding: "JSONRPC", Version: "1.0", Operation: "SendMessage", Request: json.RawMessage(hi)}, "no such agent"},
		"no operation": {0, Call{Binding: "JSONRPC", Version: "1.0", Operation: "Explode", Request: json.RawMessage(hi)}, "no operation"},
		"no request":   {0, Call{Binding: "JSONRPC", Version: "1.0", Operation: "SendMessage", Request: json.RawMessage(`{"message":3}`)}, "the request is none of SendMessage"},
		"no version":   {0, Call{Binding: "JSONRPC", Version: "9.0", Operation: "SendMessage", Request: json.RawMessage(hi)}, `does not speak version "9.0"`},
		"no binding":   {0, Call{Binding: "GRPC", Version: "1.0", Operation: "SendMessage", Request: json.RawMessage(hi)}, "no interface"},
	} {
		if id, err := a.calls.Start(t.Context(), tt.agent, tt.call); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %d, %v", name, id, err)
		}
	}
	if list := a.log.List(0, 10); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// TestTheCardTellsHowAnAgentIsCalled: the interfaces that the command speaks, at the proxy, and the schemas of skills.
func TestTheCardTellsHowAnAgentIsCalled(t *testing.T) {
	a := start(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{agent}", a.calls.Serve)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/0", nil))
	var k Known
	if err := json.Unmarshal(w.Body.Bytes(), &k); err != nil {
		t.Fatal(err)
	}
	if len(k.Interfaces) != 2 || k.Interfaces[0].URL != a.URL+"/rpc" || k.Interfaces[1].URL != a.URL || string(k.Schemas["s"].Input) != `{"type":"object"}` || k.Extension == "" {
		t.Errorf("%+v", k)
	}
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/1", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
