package grpcclient_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	a2art "github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
)

// frame is a message with its length before it, true or not.
func frame(length uint32, text string) string {
	head := make([]byte, 5)
	binary.BigEndian.PutUint32(head[1:], length)
	return string(head) + text
}

// answer writes what begins an answer, and the texts with a pause before each; a text "∞" repeats the one before for ever.
func answer(pause time.Duration, texts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc+proto")
		w.(http.Flusher).Flush()
		for i := 0; i < len(texts) && r.Context().Err() == nil; i++ {
			if texts[i] == "∞" {
				i--
			}
			time.Sleep(pause)
			if _, err := w.Write([]byte(texts[i])); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			if i+1 < len(texts) && texts[i+1] == "∞" {
				i--
			}
		}
	}
}

// attacks are what no honest server of gRPC does.
var attacks = map[string]http.HandlerFunc{
	"says nothing":                    func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"begins an answer and waits":      func(w http.ResponseWriter, r *http.Request) { answer(0, "\x00")(w, r); <-r.Context().Done() },
	"drips a message":                 answer(5*time.Millisecond, frame(1<<16, "x"), "x", "∞"),
	"announces 4 GB":                  answer(0, frame(1<<32-1, "x")),
	"announces more than it says":     answer(0, frame(1000, "x")),
	"never ends a message":            answer(0, frame(1<<31, strings.Repeat("x", 4096)), strings.Repeat("x", 4096), "∞"),
	"never ends messages":             answer(0, frame(0, ""), "∞"),
	"is a page":                       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<h1>Log in</h1>")) },
	"is not there":                    http.NotFound,
	"ends without a status":           answer(0),
	"answers with garbage":            answer(0, frame(3, "\xff\xff\xff")),
	"compresses with what nobody has": answer(0, "\x01\x00\x00\x00\x01x"),
	"has a header over the limit": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2<<20))
		answer(0, frame(0, ""))(w, r)
	},
	"has a trailer over the limit": func(w http.ResponseWriter, r *http.Request) {
		answer(0)(w, r)
		w.Header().Set(http.TrailerPrefix+"X-Long", strings.Repeat("x", 2<<20))
	},
	"cuts the connection": func(w http.ResponseWriter, r *http.Request) { answer(0, "\x00")(w, r); panic(http.ErrAbortHandler) },
}

// TestAHostileAgentIsSurvived: whatever comes, a call ends soon, with an error, and memory follows the limits.
func TestAHostileAgentIsSurvived(t *testing.T) {
	calls := map[string]func(ctx context.Context, c *a2aclient.Client) error{
		"call": func(ctx context.Context, c *a2aclient.Client) error {
			_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "t1"})
			return err
		},
		"stream": func(ctx context.Context, c *a2aclient.Client) (err error) {
			for _, err = range c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "t1"}) {
			}
			return err
		},
		"await": func(ctx context.Context, c *a2aclient.Client) error {
			_, err := c.RPC().Await(ctx, "t1")
			return err
		},
	}
	for name, attack := range attacks {
		web := serve(t, attack)
		for how, call := range calls {
			t.Run(how+"/"+name, func(t *testing.T) {
				c := dial(t, web.Listener.Addr().String(), nil, client.IdleTimeout(20*time.Millisecond), client.Policy(client.CallPolicy{Attempts: 1}), client.Reattach(1), client.MaxResponse(2<<20), client.MaxEvent(64<<10))
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var err error
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err = call(ctx, c)
				runtime.ReadMemStats(&after)
				if err == nil || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it ends with %v", err)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
					t.Errorf("%d MB were allocated", used>>20)
				}
			})
		}
	}
}

// TestASilentSendIsWaitedFor: only its answer may begin as late as the context allows, because a skill may work for hours.
func TestASilentSendIsWaitedFor(t *testing.T) {
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/SendMessage") {
			<-r.Context().Done() // until the client gives up
			return
		}
		time.Sleep(300 * time.Millisecond)
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "5")
		w.Header().Set("Grpc-Message", "Task not found")
	})
	c := dial(t, web.Listener.Addr().String(), nil, client.IdleTimeout(50*time.Millisecond), client.Policy(client.CallPolicy{Attempts: 1}))
	if _, err := c.SendMessage(t.Context(), hello()); !errors.Is(err, a2art.ErrTaskNotFound) {
		t.Errorf("send: %v", err)
	}
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); !errors.Is(err, client.ErrIdle) {
		t.Errorf("get: %v", err)
	}
}

func TestAnswersAndEventsHaveALimitEach(t *testing.T) {
	web := serve(t, answer(0, frame(100_000, strings.Repeat("\x00", 100_000))))
	c := dial(t, web.Listener.Addr().String(), nil, client.MaxResponse(64<<10), client.MaxEvent(1<<20))
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); !errors.Is(err, client.ErrTooLarge) {
		t.Errorf("get: %v", err)
	}
	c = dial(t, web.Listener.Addr().String(), nil, client.MaxResponse(1<<20), client.MaxEvent(64<<10))
	for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t1"}) {
		if !errors.Is(err, client.ErrTooLarge) {
			t.Errorf("subscribe: %v", err)
		}
	}
}

// TestAMessageIsNotSentAgainOverAConnectionThatBroke: the agent may have it.
func TestAMessageIsNotSentAgainOverAConnectionThatBroke(t *testing.T) {
	var sent atomic.Int32
	var web *httptest.Server
	web = serve(t, func(http.ResponseWriter, *http.Request) {
		sent.Add(1)
		go web.CloseClientConnections()
		time.Sleep(100 * time.Millisecond)
	})
	c := dial(t, web.Listener.Addr().String(), nil)
	if _, err := c.SendMessage(t.Context(), hello()); err == nil || sent.Load() != 1 {
		t.Errorf("%v after %d messages", err, sent.Load())
	}
}

// serve answers HTTP/2 in clear text.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	web := httptest.NewUnstartedServer(h)
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(web.Close)
	return web
}
