package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

// realAgent runs our own server with a few skills; next lets the forecast go on.
type realAgent struct {
	web     *httptest.Server
	server  *server.Server
	handles chan string // of authorizations
	next    chan struct{}

	mu      sync.Mutex
	methods []string
}

func startReal(t *testing.T, binding string) *realAgent {
	t.Helper()
	a := &realAgent{next: make(chan struct{}), handles: make(chan string, 2)}
	protocol := a2a.Protocol()
	card, err := protocol.DecodeCard([]byte(strings.Replace(cardJSON("http://localhost/rpc", "", streams+declared), "JSONRPC", binding, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Protocol: protocol, Card: card, Skills: a.skills()}, server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve())
	if err != nil {
		t.Fatal(err)
	}
	a.server = s
	a.web = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.note(r)
		s.ServeHTTP(w, r)
	}))
	a.web.Config.Protocols = new(http.Protocols)
	a.web.Config.Protocols.SetHTTP1(true)
	a.web.Config.Protocols.SetUnencryptedHTTP2(true)
	a.web.Start()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
		a.web.Close()
	})
	return a
}

// note remembers the method of a call.
func (a *realAgent) note(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var q struct{ Method string }
	if json.Unmarshal(body, &q) != nil || q.Method == "" {
		if rpc, ok := strings.CutPrefix(r.URL.Path, "/lf.a2a.v1.A2AService/"); ok {
			q.Method = rpc
		} else if q.Method, _ = operationAt(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/rpc")); q.Method == "" {
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.methods = append(a.methods, q.Method)
}

func (a *realAgent) called() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.methods)
}

func (a *realAgent) skills() []server.Skill {
	return []server.Skill{
		{ID: "forecast", Name: "forecast", InputSchema: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`, OutputSchema: `{"type":"object"}`, Run: a.forecast},
		{ID: "chat", Name: "chat", Run: a.chat},
	}
}

// forecast sends five chunks, one when it may.
func (a *realAgent) forecast(ctx context.Context, t *server.Task, in any) ([]byte, error) {
	var v input
	if err := json.Unmarshal(in.([]byte), &v); err != nil || v.City == "" {
		return nil, server.InvalidInput(violation("/city", "must not be empty"))
	}
	if err := t.Call().Begin(); err != nil {
		return nil, err
	}
	if err := t.Progress("looking at %s", v.City); err != nil {
		return nil, err
	}
	w := t.Stream("map")
	for i := range 5 {
		select {
		case <-a.next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if _, err := fmt.Fprintf(w, "%d", i); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return []byte(`{"sky":"blue"}`), nil
}

// chat answers, asks, fails or refuses, as it is told.
func (a *realAgent) chat(_ context.Context, t *server.Task, _ any) ([]byte, error) {
	var code string
	if granted, err := t.Call().Authorized(&code); granted {
		return []byte("granted " + code), err
	}
	switch text := t.Text(); {
	case t.Resumed():
		return []byte("you said " + text), nil
	case text == "ask":
		return nil, t.Ask("which one?", []string{"a", "b"})
	case text == "auth":
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "log in"})
	case text == "grant":
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "log in", Scheme: "idp", Scopes: []string{"read"}, Visit: func(handle string) string {
			a.handles <- handle
			return "https://idp.example/login"
		}})
	case text == "reject":
		return nil, t.Reject("not mine")
	case text == "message":
		return nil, t.Reply(runtime.Text("just words"))
	default:
		return []byte("hello " + text), nil
	}
}

func (a *realAgent) dial(t *testing.T, opts ...rpc.Option) *a2aclient.Client {
	t.Helper()
	c, err := a2aclient.New(t.Context(), a.web.URL, append(withGRPC(opts), rpc.Endpoint(a.web.URL+"/rpc"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCallAgainstOurServer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		a := startReal(t, binding)
		c := a.dial(t)
		go func() {
			for range 5 {
				a.next <- struct{}{}
			}
		}()
		out, err := forecast.Call(t.Context(), c.RPC(), &input{"Rome"})
		if err != nil || out.Sky != "blue" {
			t.Fatalf("got %+v, %v", out, err)
		}
		r, err := chat.Call(t.Context(), c.RPC(), rpc.Say("you"))
		if err != nil || r.Text() != "hello you" || r.State != runtime.StateCompleted {
			t.Errorf("got %+v, %v", r, err)
		}
		r, err = chat.Call(t.Context(), c.RPC(), rpc.Say("message"))
		if err != nil || r.Text() != "just words" || r.Task != nil {
			t.Errorf("got %+v, %v", r, err)
		}
		var refused *rpc.TaskError
		if _, err = chat.Call(t.Context(), c.RPC(), rpc.Say("reject")); !errors.As(err, &refused) || refused.State != runtime.StateRejected || refused.Message != "not mine" {
			t.Errorf("got %v", err)
		}
		if _, err = c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "none"}); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("got %v", err)
		}
		plain := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "forecast", In: rpc.PlainInput, Out: rpc.PlainOutput}
		if _, err = plain.Call(t.Context(), c.RPC(), []runtime.Part{runtime.Data(map[string]int{"city": 1})}); !errors.Is(err, a2a.ErrInvalidParams) {
			t.Errorf("an input that the server refuses gives %v", err)
		}
	})
}

func TestQuestionsAgainstOurServer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		c := startReal(t, binding).dial(t)
		_, err := chat.Call(t.Context(), c.RPC(), rpc.Say("ask"))
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) || ask.Prompt != "which one?" || string(ask.Data) != `["a","b"]` || ask.Auth != nil {
			t.Fatalf("got %v", err)
		}
		r, err := chat.Answer(t.Context(), c.RPC(), ask, runtime.Text("b"))
		if err != nil || r.Text() != "you said b" || r.TaskID != ask.TaskID || r.ContextID != ask.ContextID {
			t.Errorf("got %+v, %v", r, err)
		}
		if _, err = chat.Call(t.Context(), c.RPC(), rpc.Say("auth")); !errors.As(err, &ask) || ask.Auth == nil || ask.Prompt != "log in" {
			t.Errorf("got %v", err)
		}
		_, _, err = steps(chat.Stream(t.Context(), c.RPC(), rpc.Say("ask")))
		if !errors.As(err, &ask) || ask.Prompt != "which one?" {
			t.Errorf("a question on a stream gives %v", err)
		}
	})
}

// A task that waits for an authorization says which, and goes on when it is granted elsewhere: on the stream that is
// open, and for who waits.
func TestAnAuthorizationAgainstOurServer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		a := startReal(t, binding)
		c := a.dial(t)
		_, err := chat.Call(t.Context(), c.RPC(), rpc.Say("grant"))
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) || ask.Auth == nil || ask.Prompt != "log in" || ask.Auth.Scheme != "idp" || !slices.Equal(ask.Auth.Scopes, []string{"read"}) ||
			ask.Auth.URL != "https://idp.example/login" || time.Until(ask.Auth.Expires).Round(time.Minute) != time.Hour ||
			!strings.HasSuffix(err.Error(), "needs authorization: log in https://idp.example/login") {
			t.Fatalf("got %+v, %v", ask, err)
		}
		if err := a.server.Redeem(t.Context(), <-a.handles, "c1"); err != nil {
			t.Fatal(err)
		}
		if r, err := c.RPC().Await(t.Context(), ask.TaskID); err != nil || r.Text() != "granted c1" {
			t.Errorf("awaited: %+v, %v", r, err)
		}
		for e, err := range chat.Stream(t.Context(), c.RPC(), rpc.Say("grant")) {
			if err != nil {
				t.Fatal(err)
			}
			if e.State == runtime.StateAuthRequired {
				if err := a.server.Redeem(t.Context(), <-a.handles, "c2"); err != nil {
					t.Fatal(err)
				}
			}
			if e.Done && e.Result.Text() != "granted c2" {
				t.Errorf("streamed: %+v", e.Result)
			}
		}
	})
}

// A connection that breaks twice in the middle loses no event, doubles none, and the work runs once.
func TestABrokenStreamLosesNothingAgainstOurServer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		a := startReal(t, binding)
		c := a.dial(t)
		var list []string
		var last rpc.Event[*output]
		within(t, func() {
			for e, err := range forecast.Stream(t.Context(), c.RPC(), &input{"Rome"}) {
				if err != nil {
					t.Errorf("after %v: %v", list, err)
					return
				}
				last = e
				switch {
				case e.Done:
					list = append(list, "done")
				case e.Text() != "":
					list = append(list, e.Text())
				}
				if e.Text() == "1" || e.Text() == "3" {
					a.web.CloseClientConnections()
				}
				if e.Progress != "" || e.Artifact != nil && len(e.Text()) == 1 && e.Text() != "4" {
					a.next <- struct{}{}
				}
			}
		})
		if diff := cmp.Diff([]string{"looking at Rome", "0", "1", "2", "3", "4", "done"}, list); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		if last.Output == nil || last.Output.Sky != "blue" {
			t.Errorf("last step %+v", last)
		}
		got, want := strings.Join(a.called(), " "), "SendStreamingMessage SubscribeToTask SubscribeToTask"
		if binding == runtime.BindingGRPC { // without ids, a task that is over by then is asked for
			got = strings.TrimSuffix(got, " GetTask")
		}
		if got != want {
			t.Errorf("calls %q, want %q", got, want)
		}
	})
}

func TestCancelAgainstOurServer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		a := startReal(t, binding)
		c := a.dial(t)
		var err error
		within(t, func() {
			var e rpc.Event[*output]
			for e, err = range forecast.Stream(t.Context(), c.RPC(), &input{"Rome"}) {
				if e.Progress != "" && err == nil {
					if _, cancelErr := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: e.TaskID}); cancelErr != nil {
						t.Errorf("cancel: %v", cancelErr)
					}
				}
			}
		})
		var ended *rpc.TaskError
		if !errors.As(err, &ended) || ended.State != runtime.StateCanceled {
			t.Fatalf("got %v", err)
		}
		if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: ended.TaskID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
			t.Errorf("canceling again gives %v", err)
		}
		if _, err := collect(c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: ended.TaskID})); !errors.Is(err, a2a.ErrUnsupportedOperation) {
			t.Errorf("subscribing to a task that ended gives %v", err)
		}
		page, err := c.ListTasks(t.Context(), nil)
		if err != nil || len(page.Tasks) != 1 || page.Tasks[0].ID != ended.TaskID || page.Tasks[0].Status.State != a2a.TaskStateCanceled {
			t.Errorf("the list is %+v, %v", page, err)
		}
	})
}

func TestAwaitAgainstOurServer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		a := startReal(t, binding)
		c := a.dial(t)
		_, err := forecast.Call(t.Context(), c.RPC(), &input{"Rome"}, rpc.ReturnImmediately())
		var pending *rpc.PendingError
		if !errors.As(err, &pending) {
			t.Fatalf("got %v", err)
		}
		go func() {
			for range 5 {
				a.next <- struct{}{}
			}
		}()
		within(t, func() {
			r, err := c.RPC().Await(t.Context(), pending.TaskID)
			var data output
			if err != nil || r.Data(&data) != nil || data.Sky != "blue" || !strings.Contains(text(r), "01234") {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	})
}

// text joins the texts of all artifacts.
func text(r *rpc.Result) string {
	var b strings.Builder
	for _, a := range r.Artifacts {
		for _, p := range a.Parts {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
