package server_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/gen/handler"
	"github.com/a2agen/a2agen/runtime/server"
)

// inProcess is a client of an agent without a socket.
func inProcess(t *testing.T, s *server.Server) *rpc.Client {
	t.Helper()
	web := &http.Client{Transport: server.InProcess(s)}
	c, err := a2aclient.New(t.Context(), "http://localhost", rpc.HTTPClient(web), rpc.SendAnyway())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.RPC()
}

var (
	innerSkill = rpc.Skill[string, *rpc.Result]{ID: "inner", In: rpc.TextInput, Out: rpc.PlainOutput}
	outerSkill = rpc.Skill[string, *rpc.Result]{ID: "outer", In: rpc.TextInput, Out: rpc.PlainOutput}
)

func textSkill(id string, f func(context.Context, *server.Task) (string, error)) server.Skill {
	return server.Skill{ID: id, Name: id, Run: handler.Text(func(ctx context.Context, t *server.Task, _ *struct{}) (string, error) { return f(ctx, t) })}
}

// TestAHandlerCallsItsOwnAgentForItsCaller: the inner task is of the outer one's caller, whose credentials nobody asks for
// a second time.
func TestAHandlerCallsItsOwnAgentForItsCaller(t *testing.T) {
	var own *rpc.Client
	callers := make(chan string, 2)
	s := newServer(t, testCard, []server.Skill{
		textSkill("outer", func(ctx context.Context, _ *server.Task) (string, error) {
			callers <- server.CallerFrom(ctx).ID
			r, err := innerSkill.Call(ctx, own, "hello")
			if err != nil {
				return "", err
			}
			return "outer says: " + r.Text(), nil
		}),
		textSkill("inner", func(ctx context.Context, t *server.Task) (string, error) {
			callers <- server.CallerFrom(ctx).ID
			return "inner says: " + t.Text(), nil
		}),
	}, server.WithProxyIdentity(func(r *http.Request) (string, error) {
		if id := r.Header.Get("X-User"); id != "" {
			return id, nil
		}
		return "", errors.New("nobody")
	}))
	own = inProcess(t, s)
	a := host(t, s)
	c, err := a2aclient.New(t.Context(), a.url[:len(a.url)-len("/rpc")], rpc.HTTPClient(a.web), rpc.SendAnyway())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r, err := outerSkill.Call(t.Context(), c.RPC(), "hi", rpc.Header("X-User", "ann"))
	if err != nil || r.Text() != "outer says: inner says: hello" {
		t.Fatalf("got %v, %v", r, err)
	}
	if outer, inner := <-callers, <-callers; outer != "ann" || inner != "ann" {
		t.Errorf("the callers are %q and %q", outer, inner)
	}
}

// TestAnAnswerThatNobodyWaitsForEnds: who has left before the head of the answer reads no body.
func TestAnAnswerThatNobodyWaitsForEnds(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{textSkill("inner", func(context.Context, *server.Task) (string, error) { return "", nil })})
	old := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/.well-known/agent-card.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := server.InProcess(s).RoundTrip(r); err == nil {
			_ = got.Body.Close()
		} else if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	goleak.VerifyNone(t, old)
}

// TestACancelReachesTheInnerTask: a task that is canceled cancels what it called in its own agent.
func TestACancelReachesTheInnerTask(t *testing.T) {
	var own *rpc.Client
	begun, named, ended := make(chan string, 1), make(chan struct{}), make(chan struct{})
	s := newServer(t, testCard, []server.Skill{
		textSkill("outer", func(ctx context.Context, _ *server.Task) (string, error) {
			first := sync.OnceFunc(func() { close(named) })
			for _, err := range innerSkill.Stream(ctx, own, "hello") {
				if first(); err != nil {
					return "", err
				}
			}
			return "", nil
		}),
		textSkill("inner", func(ctx context.Context, task *server.Task) (string, error) {
			begun <- task.Call().TaskID()
			if err := task.Progress("at work"); err != nil {
				return "", err
			}
			<-ctx.Done()
			close(ended)
			return "", ctx.Err()
		}),
	})
	own = inProcess(t, s)
	host(t, s)
	var pending *rpc.PendingError
	if _, err := outerSkill.Call(t.Context(), own, "hi", rpc.ReturnImmediately()); !errors.As(err, &pending) {
		t.Fatalf("got %v, want a task at work", err)
	}
	inner := <-begun
	<-named // what is canceled before the caller knows its name goes on
	if _, err := own.Call(t.Context(), rpc.Method{Role: runtime.RoleCancel}, &a2a.CancelTaskRequest{ID: pending.TaskID}); err != nil {
		t.Fatal(err)
	}
	<-ended
	if r, err := own.Await(t.Context(), inner); r == nil || r.State != runtime.StateCanceled {
		t.Errorf("the inner task: %+v, %v", r, err)
	}
}

func TestAPanicCutsTheAnswerOff(t *testing.T) {
	s := newServer(t, testCard, nil)
	s.Handle("GET /bad", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	}))
	host(t, s)
	resp, err := (&http.Client{Transport: server.InProcess(s)}).Get("http://localhost/bad")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
		t.Error("a cut answer ended well")
	}
}
