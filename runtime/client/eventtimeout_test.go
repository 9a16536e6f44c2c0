package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
)

// inBubble makes a test over each binding with a fake clock.
func inBubble(t *testing.T, test func(t *testing.T, binding string), some ...string) {
	over(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) { test(t, binding) })
	}, some...)
}

// newFakeInMemory is newFake without sockets, so that it works with a fake clock. Its pings over gRPC come every ten seconds.
func newFakeInMemory(t *testing.T, binding string, replies map[string][]reply) (*fake, []rpc.Option) {
	ln := bufconn.Listen(64 << 10)
	f := &fake{t: t, binding: binding, replies: replies, url: "http://127.0.0.1:8080"} // an address, which needs no resolver
	if binding == runtime.BindingGRPC {
		serveGRPC(t, f, ln, grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second}))
		dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return ln.DialContext(ctx) })
		return f, []rpc.Option{rpc.Use(grpcclient.Binding(grpcclient.DialOptions(dial)))}
	}
	srv := &http.Server{Handler: f}
	if binding == runtime.BindingHTTP {
		srv.Handler = restGateway{t, f}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln)
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return ln.DialContext(ctx) }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = srv.Close()
		<-done
	})
	return f, []rpc.Option{rpc.HTTPClient(&http.Client{Transport: transport})}
}

// every streams the first items and then a text again and again, with a pause before each. Without a pause it goes as fast as it can.
func every(pause time.Duration, text string, first ...string) reply {
	return stream(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
			}
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}, first...)
}

// future is an event of a kind that nobody knows.
const future = "data: {\"jsonrpc\":\"2.0\",\"result\":{\"future\":{}}}\n\n"

// noises are what keeps a stream alive and says nothing. Over gRPC all but the unknown events are pings.
var noises = map[string]string{
	"comments": ": beat\n\n", "empty events": "data:\n\n", "names of events": "event: working\n\n", "ids": "id: 7\n\n", "unknown events": future,
}

// subscriptions counts the calls of SubscribeToTask.
func subscriptions(f *fake) int { return strings.Count(f.methods(), "SubscribeToTask") }

// A task that says nothing for long is followed for as long as the agent has it, however often its stream is cut: one that goes on after an
// event begins with the next one.
func TestAStreamOfASilentTaskIsTakenUpAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		const times = 8
		beats := every(10*time.Second, noises["comments"])
		f, opts := newFakeInMemory(t, binding, map[string][]reply{
			"SendStreamingMessage": {every(10*time.Second, noises["comments"], taskWorking)}, "GetTask": {result(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}`)},
			"SubscribeToTask": append(slices.Repeat([]reply{beats}, times), events(completed)),
		})
		items, err := collect(f.typed(append(opts, rpc.Reattach(3), rpc.QuietTimeout(time.Minute))...).SendStreamingMessage(t.Context(), hello()))
		if err != nil || len(items) != 2 || subscriptions(f) != times+1 {
			t.Errorf("after %d subscriptions %v, %v", subscriptions(f), items, err)
		}
	})
}

// A stream that lives and never brings an event that is known is taken up again after the quiet time, a few times, and ends, unless the agent
// says of the task that it goes on.
func TestAStreamWithoutKnownEventsEnds(t *testing.T) {
	for name, noise := range noises {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, binding string) {
				f, opts := newFakeInMemory(t, binding, map[string][]reply{
					"SendStreamingMessage": {every(10*time.Second, noise, taskWorking)}, "SubscribeToTask": {every(10*time.Second, noise)},
					"GetTask": {body(503, "", "")},
				})
				begun := time.Now()
				items, err := collect(f.typed(append(opts, rpc.Reattach(3), rpc.QuietTimeout(time.Minute))...).SendStreamingMessage(t.Context(), hello()))
				var broken *rpc.StreamError
				if !errors.Is(err, rpc.ErrNoEvent) || !errors.As(err, &broken) || broken.TaskID != "t1" || len(items) != 1 {
					t.Errorf("%v, %v", items, err)
				}
				if want := "for 1m0s; 3 attempts in a row to take it up again brought nothing new"; !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%v does not say %q", err, want)
				}
				if took := time.Since(begun); took < 4*time.Minute || took > 5*time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Before its first event a stream cannot be taken up again, and ends at once.
func TestAStreamThatNeverBeginsEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {every(time.Second, future)}})
		begun := time.Now()
		_, err := collect(f.typed(opts...).SendStreamingMessage(t.Context(), hello()))
		if !errors.Is(err, rpc.ErrNoEvent) || time.Since(begun) != rpc.DefaultQuietTimeout || f.methods() != "SendStreamingMessage" {
			t.Errorf("%v after %v, calls %s", err, time.Since(begun), f.methods())
		}
	})
}

// An agent that ends its stream after one event is asked again ever more seldom, and not for ever.
func TestAnAgentThatClosesAfterEachEventIsLeftInPeace(t *testing.T) {
	for name, tt := range map[string]struct {
		item  func(n int) string
		calls int
		words string
	}{
		"the same task": {func(int) string { return taskWorking }, 5, "5 attempts in a row to take it up again brought nothing new"},
		"a task that ages": {func(n int) string {
			return strings.Replace(taskWorking, `"c1"`, fmt.Sprintf(`"c1","metadata":{"n":%d}`, n), 1)
		}, 5, "brought nothing new"},
		"the same status": {func(int) string { return working }, 6, "5 attempts in a row to take it up again brought nothing new"},
		"news each time":  {func(n int) string { return strings.Replace(working, "half way", fmt.Sprint(n), 1) }, 100, "it was taken up again 100 times in a row, and never lasted 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, binding string) {
				n := 0
				once := func(w http.ResponseWriter, r *http.Request, q request) {
					n++
					events(tt.item(n))(w, r, q)
				}
				f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {events(taskWorking)}, "SubscribeToTask": {once}})
				begun := time.Now()
				_, err := collect(f.typed(opts...).SendStreamingMessage(t.Context(), hello()))
				if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), tt.words) {
					t.Error(err)
				}
				// The pauses double from 50–100 ms to 5–10 s.
				least := min(50*time.Millisecond<<tt.calls, 5*time.Second*time.Duration(tt.calls-8)) / 2
				if took := time.Since(begun); subscriptions(f) != tt.calls || took < least {
					t.Errorf("%d subscriptions in %v, want %d in %v at least", subscriptions(f), took, tt.calls, least)
				}
			})
		})
	}
}

// A task may work for hours and say nothing: an agent that says so whenever it is subscribed to is waited for.
func TestALongSilentTaskIsWaitedFor(t *testing.T) {
	const rounds = 12
	for name, silent := range map[string]reply{
		"with heartbeats": every(10*time.Second, ": beat\n\n", taskWorking),
		"cut every minute": stream(func(http.ResponseWriter, *http.Request) {
			time.Sleep(time.Minute)
			panic(http.ErrAbortHandler)
		}, taskWorking),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, binding string) {
				var subscribed []reply
				for range rounds {
					subscribed = append(subscribed, silent)
				}
				f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {silent}, "SubscribeToTask": append(subscribed, events(completed))})
				items, err := collect(f.typed(append(opts, rpc.Reattach(2))...).SendStreamingMessage(t.Context(), hello()))
				if err != nil || len(items) != rounds+2 || items[rounds+1] != "status TASK_STATE_COMPLETED" {
					t.Errorf("%v, %v", items, err)
				}
			})
		})
	}
}

// Before 1.0 a subscription may say nothing until something happens. The client asks for the task meanwhile.
func TestALongSilentTaskOfAnOldAgentIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const task = `{"kind":"task","id":"t1","contextId":"c1","status":{"state":"STATE"}}`
		silent, asked := every(10*time.Second, ": beat\n\n"), make([]reply, 12)
		for i := range asked {
			asked[i] = result(strings.Replace(task, "STATE", "working", 1))
		}
		f, opts := newFakeInMemory(t, runtime.BindingJSONRPC, map[string][]reply{
			"message/stream": {every(10*time.Second, ": beat\n\n", strings.Replace(task, "STATE", "working", 1))}, "tasks/resubscribe": {silent},
			"tasks/get": append(asked, result(strings.Replace(task, "STATE", "completed", 1))),
		})
		card := `{"protocolVersion":"0.3.0","name":"a","description":"d","version":"1","url":"` + f.url + `","preferredTransport":"JSONRPC","capabilities":{"streaming":true},
			"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`
		c := f.dialCard(card, append(opts, rpc.Reattach(2))...)
		var last a2a.TaskState
		for e, err := range c.Stream(t.Context(), rpc.Method{Role: runtime.RoleStream}, hello()) {
			if err != nil {
				t.Fatal(err)
			}
			if task, ok := e.(*a2a.Task); ok {
				last = task.Status.State
			}
		}
		if n := strings.Count(f.methods(), "tasks/get"); last != a2a.TaskStateCompleted || n != 13 {
			t.Errorf("the task is %s after it was asked for %d times", last, n)
		}
	})
}

// Heartbeats that are well-behaved never add up to too much.
func TestKnownEventsBeginTheLimitsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		hourly := stream(func(w http.ResponseWriter, r *http.Request) {
			for i := range 1000 {
				if i%50 == 49 {
					_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"result\":"+strings.Replace(working, "half way", fmt.Sprint(i), 1)+"}\n\n")
				} else {
					_, _ = io.WriteString(w, future)
				}
				w.(http.Flusher).Flush()
				time.Sleep(time.Minute / 2)
			}
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"result\":"+completed+"}\n\n")
		}, taskWorking)
		f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {hourly}})
		items, err := collect(f.typed(opts...).SendStreamingMessage(t.Context(), hello()))
		if err != nil || len(items) != 22 || f.methods() != "SendStreamingMessage" {
			t.Errorf("%d items, %v, calls %s", len(items), err, f.methods())
		}
	})
}
