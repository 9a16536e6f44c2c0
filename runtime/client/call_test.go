package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

const taskT1 = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}`

// R71, R150, R151, R152, R153: version and extensions go as headers with every request.
func TestEveryRequestCarriesTheServiceParameters(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{
			"GetTask":              {result(taskT1)},
			"SendStreamingMessage": {events(completed)},
		})
		c := f.typed(rpc.DefaultHeader("Authorization", "Bearer x"), rpc.DefaultExtensions("https://e.example/1", " "))
		if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}, rpc.Extensions("https://e.example/2", "https://e.example/1"), rpc.Header("X-Trace", "7")); err != nil {
			t.Fatal(err)
		}
		for _, err := range c.SendStreamingMessage(t.Context(), hello()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		accept := map[string]string{runtime.BindingJSONRPC: "application/json", runtime.BindingHTTP: "application/json, application/a2a+json"}[binding]
		want := []map[string]string{
			{"A2a-Version": "1.0", "A2a-Extensions": "https://e.example/1, https://e.example/2", "Authorization": "Bearer x", "X-Trace": "7", "Accept": accept},
			{"A2a-Version": "1.0", "A2a-Extensions": "https://e.example/1", "Authorization": "Bearer x", "X-Trace": "", "Content-Type": "application/json", "Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"},
		}
		http := map[string]bool{"Accept": true, "Accept-Encoding": true, "Content-Type": true}
		for i, headers := range want {
			for name, value := range headers {
				if binding == runtime.BindingGRPC && http[name] {
					continue
				}
				if got := f.call(i).Header.Get(name); got != value {
					t.Errorf("%s: header %s is %q, want %q", f.call(i).Method, name, got, value)
				}
			}
		}
		if got := string(f.call(0).Params); got != `{"id":"t1"}` {
			t.Errorf("params %s", got)
		}
	})
}

// R125, R306: the tenant of the interface goes into every request that does not name one.
func TestEveryRequestNamesTheTenantOfTheInterface(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"GetTask": {result(taskT1)}, "ListTasks": {result(`{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`)}})
		c, err := a2aclient.FromCard(decodeCard(t, f.card(cardJSON(f.url, `,"tenant":"acme"`, ""))).Generated().(*a2a.AgentCard), withGRPC(nil)...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		req := &a2a.GetTaskRequest{ID: "t1"}
		_, err1 := c.GetTask(t.Context(), req)
		_, err2 := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1", Tenant: "other"})
		_, err3 := c.ListTasks(t.Context(), nil)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{`"tenant":"acme"`, `"tenant":"other"`, `"tenant":"acme"`} {
			if got := string(f.call(i).Params); !strings.Contains(got, want) {
				t.Errorf("params %s lack %s", got, want)
			}
		}
		if req.Tenant != "" {
			t.Error("the caller's request was changed")
		}
	})
}

func TestResultsAreTyped(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{
			"SendMessage":                      {result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`), result(`{"task":` + taskT1 + `}`)},
			"CancelTask":                       {result(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELED"}}`)},
			"DeleteTaskPushNotificationConfig": {result(`{}`), result(`null`), body(200, "application/json", `{"jsonrpc":"2.0","id":$ID}`)},
		})
		c := f.typed()
		first, err := c.SendMessage(t.Context(), hello())
		if m, ok := first.(*a2a.Message); err != nil || !ok || m.MessageID != "m" {
			t.Errorf("a message comes as %T, %v", first, err)
		}
		second, err := c.SendMessage(t.Context(), hello())
		if task, ok := second.(*a2a.Task); err != nil || !ok || task.ID != "t1" {
			t.Errorf("a task comes as %T, %v", second, err)
		}
		task, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "t1"})
		if err != nil || task.Status.State != a2a.TaskStateCanceled {
			t.Errorf("cancel gives %+v, %v", task, err)
		}
		for _, name := range []string{"an empty object", "null", "neither result nor error (T61)"} {
			if err := c.DeleteTaskPushNotificationConfig(t.Context(), &a2a.DeleteTaskPushNotificationConfigRequest{TaskID: "t1", ID: "p"}); err != nil {
				t.Errorf("a delete answered by %s gives %v", name, err)
			}
		}
	})
}

// T9, §14: errors are decoded by reason, then by code; data may be anything.
func TestAgentErrorsAreTyped(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"t1"}}`
		tests := []struct {
			name  string
			reply reply
			want  error
		}{
			{"by code", fault(`{"code":-32001,"message":"no"}`), runtime.ErrTaskNotFound},
			{"by reason", fault(`{"code":-32001,"message":"no","data":[` + info + `]}`), runtime.ErrTaskNotFound},
			{"reason against code", fault(`{"code":-32603,"message":"no","data":[` + info + `]}`), runtime.ErrTaskNotFound},
			{"data is an object", fault(`{"code":-32002,"message":"no","data":{"a":1}}`), runtime.ErrTaskNotCancelable},
			{"data is a string", fault(`{"code":-32004,"message":"no","data":"x"}`), runtime.ErrUnsupportedOperation},
			{"data is null", fault(`{"code":-32009,"message":"no","data":null}`), runtime.ErrVersionNotSupported},
			{"data is an array of anything", fault(`{"code":-32602,"message":"no","data":[1,"x",null,{}]}`), runtime.ErrInvalidParams},
			{"with HTTP status 400", body(400, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32005,"message":"no"}}`), runtime.ErrContentTypeNotSupported},
			{"with id null", body(200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`), runtime.ErrParse},
			{"result null beside it", body(200, "application/json; charset=utf-8", `{"jsonrpc":"2.0","id":$ID,"result":null,"error":{"code":-32003,"message":"no"}}`), runtime.ErrPushNotificationNotSupported},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"GetTask": {tt.reply}})
				_, err := f.typed().GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"})
				if !errors.Is(err, tt.want) {
					t.Fatalf("got %v, want %v", err, tt.want)
				}
				var e *runtime.Error
				if !errors.As(err, &e) || e.Message != "no" {
					t.Errorf("the agent's own words are lost: %v", err)
				}
				if !strings.HasPrefix(err.Error(), "GetTask: ") {
					t.Errorf("%v does not say what was being done", err)
				}
			})
		}
	})
}

// TestRefusalsAreTheSameOverEveryBinding, whatever else an answer holds.
func TestRefusalsAreTheSameOverEveryBinding(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		for status, want := range map[int]error{401: runtime.ErrUnauthenticated, 403: runtime.ErrPermissionDenied} {
			refused := body(status, "text/plain", "no")
			f := newFake(t, binding, map[string][]reply{"GetTask": {refused}, "SendStreamingMessage": {refused}})
			c := f.typed()
			if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); !errors.Is(err, want) {
				t.Errorf("call: %v", err)
			}
			if _, err := collect(c.SendStreamingMessage(t.Context(), hello())); !errors.Is(err, want) {
				t.Errorf("stream: %v", err)
			}
		}
	})
}

func TestHTTPErrorsKeepWhatHelps(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		header := func(name, value string, next reply) reply {
			return func(w http.ResponseWriter, r *http.Request, q request) {
				w.Header().Set(name, value)
				next(w, r, q)
			}
		}
		tests := []struct {
			name  string
			reply reply
			want  rpc.HTTPError
		}{
			{"text", body(502, "text/plain", "bad\n\n gateway\x00"), rpc.HTTPError{Status: 502, Body: "bad gateway"}},
			{"retry after seconds", header("Retry-After", "7", body(503, "", "")), rpc.HTTPError{Status: 503, RetryAfter: 7 * time.Second}},
			{"challenge", header("WWW-Authenticate", `Bearer realm="x"`, body(401, "", "")), rpc.HTTPError{Status: 401, Challenge: `Bearer realm="x"`}},
			{"long text", body(500, "text/plain", strings.Repeat("é", 3000)), rpc.HTTPError{Status: 500, Body: strings.Repeat("é", 500) + "…"}},
			{"bytes", body(500, "application/octet-stream", "\xff\xfe\x01ok"), rpc.HTTPError{Status: 500, Body: "ok"}},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"GetTask": {tt.reply}, "SendStreamingMessage": {tt.reply}})
				c := f.typed(rpc.Policy(rpc.CallPolicy{Attempts: 1}))
				_, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"})
				var e *rpc.HTTPError
				if !errors.As(err, &e) || *e != tt.want {
					t.Errorf("call: got %v, want %+v", err, tt.want)
				}
				for _, err = range c.SendStreamingMessage(t.Context(), hello()) {
					if !errors.As(err, &e) || *e != tt.want {
						t.Errorf("stream: got %v, want %+v", err, tt.want)
					}
				}
			})
		}
	}, overHTTP...)
}

func TestInvalidAnswersAreNamed(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		tests := []struct {
			name  string
			reply reply
			want  string
		}{
			{"a page", body(200, "text/html", "<h1>Log in</h1>"), "the answer is text/html: <h1>Log in</h1>"},
			{"cut JSON", body(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{`), "response: "},
			{"nothing", body(200, "application/json", ""), "response: "},
			{"another id", body(200, "application/json", `{"jsonrpc":"2.0","id":"77","result":{}}`), `id "77" instead of`},
			{"a result of another shape", result(`{"id":1}`), "result: "},
			{"an error that is none", fault(`"oops"`), "response: "},
			{"a repeated member", body(200, "application/json", `{"id":$ID,"result":{},"result":{}}`), "more than once"},
			{"neither result nor error", body(200, "application/json", `{"jsonrpc":"2.0","id":$ID}`), "result: "},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"GetTask": {tt.reply}})
				_, err := f.typed().GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"})
				framed := binding == runtime.BindingJSONRPC || binding == runtime.BindingHTTP && tt.name == "a page" // else there is nothing that could be named
				if !errors.Is(err, runtime.ErrInvalidAgentResponse) || framed && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want ErrInvalidAgentResponse with %q", err, tt.want)
				}
			})
		}
	})
}

func TestAnIDThatCameBackAsAStringIsAccepted(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"GetTask": {body(200, "application/json", `{"jsonrpc":"2.0","id":"$ID","result":`+taskT1+`}`)}})
		if _, err := f.typed().GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err != nil {
			t.Error(err)
		}
	})
}

func TestLargeAnswersAreRefused(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		long := result(`{"id":"` + strings.Repeat("x", 2000) + `","status":{"state":"TASK_STATE_WORKING"}}`)
		flushed := func(w http.ResponseWriter, _ *http.Request, _ request) { // without Content-Length
			w.(http.Flusher).Flush()
			_, _ = w.Write(make([]byte, 2000))
		}
		replies := map[string]reply{"announced": long, "chunked": flushed}
		if binding == runtime.BindingGRPC {
			delete(replies, "chunked")
		}
		for name, r := range replies {
			t.Run(name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"GetTask": {r}})
				_, err := f.typed(rpc.MaxResponse(1000)).GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"})
				if err == nil || !strings.Contains(err.Error(), "over 1000 bytes") {
					t.Errorf("got %v", err)
				}
			})
		}
	})
}

func TestACallEndsWithItsContext(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		because := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		f := newFake(t, binding, map[string][]reply{"GetTask": {func(_ http.ResponseWriter, r *http.Request, _ request) {
			cancel(because)
			<-r.Context().Done()
		}}})
		if _, err := f.typed().GetTask(ctx, &a2a.GetTaskRequest{ID: "t1"}); !errors.Is(err, because) && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestACallEndsAtItsDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		f, opts := newFakeInMemory(t, binding, map[string][]reply{"GetTask": {func(_ http.ResponseWriter, r *http.Request, _ request) { <-r.Context().Done() }}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := f.typed(opts...).GetTask(ctx, &a2a.GetTaskRequest{ID: "t1"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirectsThatWouldDropTheRequestAreRefused(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"CancelTask": {func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}}})
		_, err := f.typed().CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "t1"})
		if err == nil || !strings.Contains(err.Error(), "would turn POST into GET") {
			t.Errorf("got %v", err)
		}
	}, overHTTP...)
}

func TestOneHTTPClientMayBeShared(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"GetTask": {result(taskT1)}})
		var used int
		h := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			used++
			return http.DefaultTransport.RoundTrip(r)
		})}
		defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if _, err := f.typed(rpc.HTTPClient(h)).GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err != nil || used != 1 {
			t.Errorf("%v, used %d times", err, used)
		}
	}, overHTTP...)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
