package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// collect describes every item of a stream in a few words, and returns the error that ended it.
func collect(seq iter.Seq2[a2a.StreamResponsePayload, error]) ([]string, error) {
	var items []string
	for e, err := range seq {
		if err != nil {
			return items, err
		}
		switch e := e.(type) {
		case *a2a.Task:
			items = append(items, "task "+string(e.Status.State))
		case *a2a.Message:
			items = append(items, "message "+e.MessageID)
		case *a2a.TaskStatusUpdateEvent:
			items = append(items, "status "+string(e.Status.State))
		case *a2a.TaskArtifactUpdateEvent:
			text, _ := e.Artifact.Parts[0].Content.(a2a.PartText)
			items = append(items, "artifact "+string(text))
		default:
			items = append(items, fmt.Sprintf("%T", e))
		}
	}
	return items, nil
}

func want(t *testing.T, seq iter.Seq2[a2a.StreamResponsePayload, error], items ...string) {
	t.Helper()
	got, err := collect(seq)
	if err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	if diff := cmp.Diff(items, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// T58 and §8.1: however a server frames its events.
func TestStreamsAreReadHoweverTheyAreFramed(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		big := strings.Repeat("x", 200_000)
		bigChunk := strings.Replace(chunk1, "sun", big, 1)
		tests := []struct {
			name  string
			reply reply
			want  []string
		}{
			{"plain", events(taskWorking, working, chunk1, chunk2, completed), []string{"task TASK_STATE_WORKING", "status TASK_STATE_WORKING", "artifact sun", "artifact ny", "status TASK_STATE_COMPLETED"}},
			{"CRLF, names, comments and heartbeats", events("!: hi\r\n\r\nretry: 10\r\nevent: message\r\nid: 5\r\ndata: {\"id\":$ID,\"result\":"+taskWorking+"}\r\n\r\n:\r\n\r\ndata:\r\n\r\n", completed), []string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}},
			{"data over several lines", events("!data: {\"id\":$ID,\ndata: \"result\":\ndata:" + completed + "}\n\n"), []string{"status TASK_STATE_COMPLETED"}},
			{"a line of 200 kB", events(taskWorking, bigChunk, completed), []string{"task TASK_STATE_WORKING", "artifact " + big, "status TASK_STATE_COMPLETED"}},
			{"no blank line at the end", events(taskWorking, "!data: {\"id\":$ID,\"result\":"+completed+"}\n"), []string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}},
			{"an event of a kind that a later version has", events(taskWorking, `{"future":{"x":1}}`, completed), []string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}},
			{"only a message", events(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`), []string{"message m"}},
			{"the final task again", events(taskWorking, completed, taskWorking), []string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}},
			{"a JSON body instead of events", result(completed), []string{"status TASK_STATE_COMPLETED"}},
			{"without a task at the start", events(working, completed), []string{"status TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {tt.reply}})
				want(t, f.typed().SendStreamingMessage(t.Context(), hello()), tt.want...)
			})
		}
	})
}

// §8.1, T66: an error may come as a JSON body, as the first event or later.
func TestStreamErrorsAreTypedWhereverTheyCome(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		const notFound = `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"no"}}`
		tests := []struct {
			name  string
			reply reply
			items int
			want  error
		}{
			{"JSON body", body(200, "application/json", notFound), 0, runtime.ErrTaskNotFound},
			{"JSON body with status 404", body(404, "application/json", notFound), 0, runtime.ErrTaskNotFound},
			{"first event", events("!data: " + notFound + "\n\n"), 0, runtime.ErrTaskNotFound},
			{"event named error", events("!event: error\ndata: " + notFound + "\n\n"), 0, runtime.ErrTaskNotFound},
			{"later event", events(taskWorking, "!data: "+notFound+"\n\n"), 1, runtime.ErrTaskNotFound},
			{"event that is no JSON", events(taskWorking, "!data: [DONE]\n\n"), 1, runtime.ErrInvalidAgentResponse},
			{"event of another shape", events(taskWorking, `{"task":7}`), 1, runtime.ErrInvalidAgentResponse},
			{"event without result", events(taskWorking, "!data: {\"id\":$ID}\n\n"), 1, runtime.ErrInvalidAgentResponse},
			{"page", body(200, "text/html", "<p>"), 0, runtime.ErrInvalidAgentResponse},
			{"event over the limit", events(taskWorking, strings.Replace(chunk1, "sun", strings.Repeat("x", 3000), 1)), 1, runtime.ErrInvalidAgentResponse},
		}
		for _, tt := range tests {
			if binding != runtime.BindingJSONRPC && tt.name == "event without result" {
				continue // only JSON-RPC has anything around it
			}
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {tt.reply}})
				items, err := collect(f.typed(rpc.MaxEvent(2000)).SendStreamingMessage(t.Context(), hello()))
				if !errors.Is(err, tt.want) || len(items) != tt.items {
					t.Errorf("got %d items and %v, want %d and %v", len(items), err, tt.items, tt.want)
				}
				if f.methods() != "SendStreamingMessage" {
					t.Errorf("an error of the agent is final, but the client called %s", f.methods())
				}
			})
		}
	})
}

// A broken stream is resumed by subscribing, the message is never sent again.
func TestABrokenStreamIsTakenUpAgain(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		const subscribed = "SendStreamingMessage SubscribeToTask"
		failing := body(503, "", "")
		notFound := fault(`{"code":-32001,"message":"no"}`)
		over := fault(`{"code":-32004,"message":"it is over"}`)
		cut := events(withID("1", taskWorking), "!id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"resu")
		tests := []struct {
			name      string
			send      reply
			subscribe []reply
			get       []reply
			want      []string
			calls     string
			lastID    string
			err       error
		}{
			{"with the missed events", stream(drop, withID("1", taskWorking), withID("2", chunk1)), []reply{events(withID("3", chunk2), withID("4", completed))}, nil,
				[]string{"task TASK_STATE_WORKING", "artifact sun", "artifact ny", "status TASK_STATE_COMPLETED"}, subscribed, "2", nil},
			{"with the task as it stands", stream(drop, taskWorking, chunk1), []reply{events(taskWorking, completed)}, nil,
				[]string{"task TASK_STATE_WORKING", "artifact sun", "task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}, subscribed, "", nil},
			{"when the agent ends it too early", events(withID("1", taskWorking)), []reply{events(completed)}, nil,
				[]string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}, subscribed, "1", nil},
			{"when an event is cut", cut, []reply{events(withID("2", completed))}, nil,
				[]string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}, subscribed, "1", nil},
			{"when the agent is away for a while", stream(drop, taskWorking), []reply{failing, failing, events(completed)}, nil,
				[]string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}, subscribed + " SubscribeToTask SubscribeToTask", "", nil},
			{"several times", stream(drop, taskWorking), []reply{stream(drop, chunk1), stream(drop, chunk2), events(completed)}, nil,
				[]string{"task TASK_STATE_WORKING", "artifact sun", "artifact ny", "status TASK_STATE_COMPLETED"}, subscribed + " SubscribeToTask SubscribeToTask", "", nil},
			{"unless the task is over meanwhile", stream(drop, taskWorking), []reply{over}, []reply{result(taskT1)},
				[]string{"task TASK_STATE_WORKING", "task TASK_STATE_COMPLETED"}, subscribed + " GetTask", "", nil},
			{"unless it is over meanwhile, said by an event", stream(drop, taskWorking), []reply{events("!data: {\"id\":$ID,\"error\":{\"code\":-32004,\"message\":\"over\"}}\n\n")}, []reply{result(taskT1)},
				[]string{"task TASK_STATE_WORKING", "task TASK_STATE_COMPLETED"}, subscribed + " GetTask", "", nil},
			{"unless the agent cannot", stream(drop, taskWorking), []reply{over}, []reply{result(`{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`)},
				[]string{"task TASK_STATE_WORKING"}, subscribed + " GetTask", "", io.ErrUnexpectedEOF},
			{"unless the task is gone", stream(drop, taskWorking), []reply{notFound}, nil, []string{"task TASK_STATE_WORKING"}, subscribed, "", runtime.ErrTaskNotFound},
			{"at most so many times", stream(drop, taskWorking), []reply{stream(drop, taskWorking)}, nil,
				[]string{"task TASK_STATE_WORKING", "task TASK_STATE_WORKING", "task TASK_STATE_WORKING", "task TASK_STATE_WORKING"}, subscribed + " SubscribeToTask SubscribeToTask", "", io.ErrUnexpectedEOF},
			{"but not before the first event", stream(drop), nil, nil, nil, "SendStreamingMessage", "", io.ErrUnexpectedEOF},
			{"but not when the task waits", stream(drop, strings.Replace(taskWorking, "WORKING", "INPUT_REQUIRED", 1)), nil, nil, []string{"task TASK_STATE_INPUT_REQUIRED"}, "SendStreamingMessage", "", nil},
			{"but not after the end", stream(drop, taskWorking, completed), nil, nil, []string{"task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}, "SendStreamingMessage", "", nil},
		}
		for _, tt := range tests {
			if binding == runtime.BindingGRPC && tt.name == "when an event is cut" {
				continue // a message comes whole or not at all
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {tt.send}, "SubscribeToTask": tt.subscribe, "GetTask": tt.get})
				items, err := collect(f.typed(rpc.Reattach(3)).SendStreamingMessage(t.Context(), hello()))
				if !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
				var broken *rpc.StreamError
				if errors.Is(err, io.ErrUnexpectedEOF) && (!errors.As(err, &broken) || broken.TaskID == "" && len(items) > 0) {
					t.Errorf("%v is no StreamError with the task's id", err)
				}
				if diff := cmp.Diff(tt.want, items); diff != "" {
					t.Errorf("items (-want +got):\n%s", diff)
				}
				if f.methods() != tt.calls {
					t.Errorf("calls %q, want %q", f.methods(), tt.calls)
				}
				if strings.HasPrefix(tt.calls, subscribed) {
					q := f.call(1)
					if binding == runtime.BindingGRPC {
						tt.lastID = "" // it has none
					}
					if got := q.Header.Get("Last-Event-ID"); got != tt.lastID {
						t.Errorf("Last-Event-ID %q, want %q", got, tt.lastID)
					}
					if string(q.Params) != `{"id":"t1"}` || q.Header.Get("A2A-Version") != "1.0" {
						t.Errorf("subscribed with %s, %v", q.Params, q.Header)
					}
				}
			})
		}
	})
}

func TestReattachingCanBeTurnedOff(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {stream(drop, taskWorking)}})
		for name, seq := range map[string]iter.Seq2[a2a.StreamResponsePayload, error]{
			"for a client": f.typed(rpc.Reattach(0)).SendStreamingMessage(t.Context(), hello()),
			"for a call":   f.typed().SendStreamingMessage(t.Context(), hello(), rpc.ReattachCall(0)),
		} {
			var broken *rpc.StreamError
			if items, err := collect(seq); !errors.As(err, &broken) || broken.TaskID != "t1" || len(items) != 1 {
				t.Errorf("%s: %v, %v", name, items, err)
			}
		}
	})
}

func TestASilentStreamCountsAsBroken(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		silent := stream(hang, withID("1", taskWorking))
		beating := stream(func(w http.ResponseWriter, r *http.Request) {
			for range 24 { // longer than the idle timeout in all, far shorter each
				time.Sleep(50 * time.Millisecond)
				_, _ = io.WriteString(w, ":\n\n")
				w.(http.Flusher).Flush()
			}
			_, _ = io.WriteString(w, "data: {\"result\":"+completed+"}\n\n")
		}, taskWorking)
		t.Run("and is taken up again", func(t *testing.T) {
			t.Parallel()
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {silent}, "SubscribeToTask": {events(completed)}})
			want(t, f.typed(rpc.IdleTimeout(500*time.Millisecond)).SendStreamingMessage(t.Context(), hello()), "task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED")
		})
		t.Run("and is named so", func(t *testing.T) {
			t.Parallel()
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {silent}})
			_, err := collect(f.typed(rpc.IdleTimeout(100*time.Millisecond), rpc.Reattach(0)).SendStreamingMessage(t.Context(), hello()))
			if !errors.Is(err, rpc.ErrIdle) {
				t.Errorf("got %v", err)
			}
		})
		t.Run("also before its headers", func(t *testing.T) {
			t.Parallel()
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {func(_ http.ResponseWriter, r *http.Request, _ request) { <-r.Context().Done() }}})
			_, err := collect(f.typed(rpc.IdleTimeout(50*time.Millisecond)).SendStreamingMessage(t.Context(), hello()))
			if !errors.Is(err, rpc.ErrIdle) {
				t.Errorf("got %v", err)
			}
		})
		t.Run("unless there are heartbeats", func(t *testing.T) {
			t.Parallel()
			if binding == runtime.BindingGRPC {
				return // whose pings are no part of a call
			}
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {beating}})
			want(t, f.typed(rpc.IdleTimeout(time.Second)).SendStreamingMessage(t.Context(), hello()), "task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED")
		})
		t.Run("unless its consumer is what is slow", func(t *testing.T) {
			t.Parallel()
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {stream(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(80 * time.Millisecond)
				_, _ = io.WriteString(w, "data: {\"result\":"+completed+"}\n\n")
			}, taskWorking)}})
			n := 0
			for _, err := range f.typed(rpc.IdleTimeout(time.Second)).SendStreamingMessage(t.Context(), hello()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				time.Sleep(1200 * time.Millisecond)
			}
			if n != 2 || f.methods() != "SendStreamingMessage" {
				t.Errorf("%d items, calls %s", n, f.methods())
			}
		})
	})
}

// T39: a stream is over when the task is, whether or not the agent says so.
func TestAStreamLeftOpenAfterItsEndIsClosed(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {stream(hang, taskWorking, completed)}})
		within(t, func() {
			want(t, f.typed().SendStreamingMessage(t.Context(), hello()), "task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED")
		})
	})
}

func TestEndingTheLoopClosesTheConnection(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		gone := make(chan struct{})
		f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {stream(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(gone)
		}, taskWorking)}})
		for range f.typed().SendStreamingMessage(t.Context(), hello()) {
			break
		}
		within(t, func() { <-gone })
		if f.methods() != "SendStreamingMessage" {
			t.Errorf("leaving a stream must not touch the task, but the client called %s", f.methods())
		}
	})
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		because := errors.New("enough")
		for name, send := range map[string]reply{"while reading": stream(hang, taskWorking), "while it pauses before subscribing": stream(drop, taskWorking)} {
			t.Run(name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {send}, "SubscribeToTask": {body(503, "", "")}})
				ctx, cancel := context.WithCancelCause(t.Context())
				var err error
				within(t, func() {
					for _, e := range f.typed().SendStreamingMessage(ctx, hello()) {
						time.AfterFunc(20*time.Millisecond, func() { cancel(because) })
						err = e
					}
				})
				if !errors.Is(err, because) && !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
	})
}

func TestAStreamCanBeIteratedAgain(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SubscribeToTask": {events(taskWorking, completed)}})
		seq := f.typed().SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t1"}, rpc.LastEventID("9"))
		want(t, seq, "task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED")
		want(t, seq, "task TASK_STATE_WORKING", "status TASK_STATE_COMPLETED")
		if got := f.call(1).Header.Get("Last-Event-ID"); got != "9" {
			t.Errorf("the second iteration resumes after %q", got)
		}
	})
}
