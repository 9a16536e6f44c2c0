package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/internal/test/observed"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
)

// TestCallsAreObservedAndHandTheTraceOn: over every binding and version, from the call here to the handler there.
func TestCallsAreObservedAndHandTheTraceOn(t *testing.T) {
	chat := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "chat", In: rpc.PlainInput, Out: rpc.PlainOutput}
	over(t, func(t *testing.T, binding string) {
		for _, v := range a2a.Protocol().Versions {
			if v.Over(binding) == nil {
				continue
			}
			var here, there observed.Recorder
			url, last := polyglot(t, binding, server.WithObserver(&there))
			c := speak(t, url, v.Name, binding, rpc.WithObserver(&here)).RPC()
			if _, err := chat.Call(t.Context(), c, rpc.Say("ask")); err == nil {
				t.Fatal("it did not ask")
			}
			call, serve := here.Wait(t, 1)[0], there.Wait(t, 2)[0]
			trace := fmt.Sprint("t", call.N)
			if serve.Carried != trace || last.Get("Traceparent") != trace {
				t.Errorf("%s: the agent got trace %q, want %q", v.Name, serve.Carried, trace)
			}
			if call.Kind != observe.Call || call.Operation != "SendMessage" || call.Binding != binding || call.Version != v.Name ||
				call.Skill != "chat" || call.Task != serve.Task || call.Context != serve.Context || call.Reason != "" ||
				"http://"+call.Peer+"/rpc" != url {
				t.Errorf("%+v", call)
			}
			if metadata := message(t, c, call.Task); metadata != trace && !v.Rules.NoHistory {
				t.Errorf("%s: the message has trace %q, want %q", v.Name, metadata, trace)
			}
		}
	})
}

// message is the trace context in the first message of a task.
func message(t *testing.T, c *rpc.Client, task string) string {
	t.Helper()
	r, err := c.Await(t.Context(), task)
	var ask *rpc.InputRequiredError
	if errors.As(err, &ask) {
		r = ask.Result
	}
	src, err := json.Marshal(r.Task)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(src), `"traceparent":"`)
	trace, _, _ := strings.Cut(rest, `"`)
	return trace
}

// TestStreamsAreObservedToTheirEnd: with what became of them.
func TestStreamsAreObservedToTheirEnd(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		var here observed.Recorder
		url, _ := polyglot(t, binding)
		c := speak(t, url, "1.0", binding, rpc.WithObserver(&here))
		for _, err := range c.SendStreamingMessage(t.Context(), hello()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := here.Wait(t, 1)[0]; got.Operation != "SendStreamingMessage" || !got.Stream || got.Task == "" || got.Reason != "" {
			t.Errorf("%+v", got)
		}
		for range c.SendStreamingMessage(t.Context(), hello()) {
			break
		}
		if got := here.Wait(t, 1)[0]; got.Task == "" || got.Reason != "" {
			t.Errorf("left early: %+v", got)
		}
		for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "none"}) {
			if err == nil {
				t.Error("a task that is not there has a stream")
			}
		}
		if got := here.Wait(t, 1)[0]; got.Reason != "TASK_NOT_FOUND" {
			t.Errorf("%+v", got)
		}
	})
}

// TestWhatAnAgentSaysOfItsErrorsIsNoReason: reasons are of a closed set, whoever answers.
func TestWhatAnAgentSaysOfItsErrorsIsNoReason(t *testing.T) {
	for answer, want := range map[string]string{
		`200 {"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"secret"}}`:                                                                                         observe.ReasonUnknown,
		`200 {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"secret","domain":"x"}]}}`: "TASK_NOT_FOUND",
		`200 nonsense`: "INVALID_AGENT_RESPONSE",
		`401 {}`:       "UNAUTHENTICATED",
		`403 {}`:       "PERMISSION_DENIED",
		`503 {}`:       observe.ReasonBusy,
		`418 {}`:       observe.ReasonUnknown,
		``:             observe.ReasonAway,
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if answer == "" {
				panic(http.ErrAbortHandler)
			}
			var status int
			_, _ = fmt.Sscan(answer, &status)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(answer[4:]))
		}))
		var here observed.Recorder
		c := speak(t, strings.Replace(web.URL, "http://", "http://user:secret@", 1), "1.0", "JSONRPC", rpc.WithObserver(&here))
		if _, err := c.SendMessage(t.Context(), hello()); err == nil {
			t.Errorf("%s: no error", answer)
		}
		got := here.Wait(t, 1)[0]
		if got.Reason != want {
			t.Errorf("%s: %s, want %s", answer, got.Reason, want)
		}
		if "http://"+got.Peer != web.URL {
			t.Errorf("peer %s", got.Peer)
		}
		web.Close()
	}
}

// TestACallThatLacksACredentialIsUnauthenticated: it is not sent, and no peer's error.
func TestACallThatLacksACredentialIsUnauthenticated(t *testing.T) {
	var here observed.Recorder
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, securedCard("http://127.0.0.1:1", keyScheme, "key", "-")), rpc.WithObserver(&here))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := askForecast(t, c); err == nil {
		t.Error("no error")
	}
	if got := here.Wait(t, 1)[0]; got.Reason != "UNAUTHENTICATED" {
		t.Errorf("%+v", got)
	}
}

// TestAMessageThatComesAgainMayHaveAnotherTrace: its key says that it is the same.
func TestAMessageThatComesAgainMayHaveAnotherTrace(t *testing.T) {
	chat := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "chat", In: rpc.PlainInput, Out: rpc.PlainOutput}
	url, _ := polyglot(t, "JSONRPC")
	var here observed.Recorder
	seen, unseen := speak(t, url, "1.0", "JSONRPC", rpc.WithObserver(&here)), speak(t, url, "1.0", "JSONRPC")
	task := ""
	for i, c := range []*a2aclient.Client{seen, seen, unseen} {
		r, err := chat.Call(t.Context(), c.RPC(), rpc.Say("forecast"), rpc.IdempotencyKey("k"), rpc.MessageID("m"))
		if err != nil || task != "" && r.TaskID != task {
			t.Fatalf("call %d: %v, %v", i, r, err)
		}
		task = r.TaskID
	}
}

// TestMarkingLeavesTheRequestAlone: of every version's own types, and of what has no message.
func TestMarkingLeavesTheRequestAlone(t *testing.T) {
	trace := &observing.Trace{Parent: "p", State: "s"}
	request := hello()
	request.Message.Metadata = []byte(`{"a":1}`)
	marked := observing.Mark(request, trace).(*a2a.SendMessageRequest)
	if got := string(marked.Message.Metadata); got != `{"a":1,"traceparent":"p","tracestate":"s"}` {
		t.Errorf("marked: %s", got)
	}
	if string(request.Message.Metadata) != `{"a":1}` {
		t.Errorf("the request became %s", request.Message.Metadata)
	}
	if got := observing.Unmark(marked).(*a2a.SendMessageRequest).Message.Metadata; string(got) != `{"a":1}` {
		t.Errorf("unmarked: %s", got)
	}
	for _, other := range []any{nil, 5, (*a2a.SendMessageRequest)(nil), &a2a.SendMessageRequest{}, &a2a.GetTaskRequest{ID: "x"}} {
		if got := observing.Mark(other, trace); got != other {
			t.Errorf("%v became %v", other, got)
		}
	}
}
