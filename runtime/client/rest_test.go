package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// dialREST calls an agent of HTTP+JSON that is written by hand.
func dialREST(t *testing.T, agent http.HandlerFunc, opts ...rpc.Option) *a2aclient.Client {
	t.Helper()
	web := httptest.NewServer(agent)
	t.Cleanup(web.Close)
	c, err := a2aclient.FromCard(decodeCard(t, withInterfaces(iface(web.URL, "HTTP+JSON", "1.0", ""))).Generated().(*a2a.AgentCard), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestSubscribingIsTriedUnderBothVerbs: the text of 1.0 says POST, its definition GET (T2).
func TestSubscribingIsTriedUnderBothVerbs(t *testing.T) {
	const unknown = `{"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"%"}]}}`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		verbs  string
		want   error
	}{
		{"there is POST", 200, "", "POST", nil},
		{"there is no such path", 404, "404 page not found", "POST GET", nil},
		{"there is no such verb", 405, "", "POST GET", nil},
		{"it is not implemented", 501, `{"error":{"code":501,"message":"Not Implemented"}}`, "POST GET", nil},
		{"there is no such method", 404, strings.Replace(unknown, "%", "METHOD_NOT_FOUND", 1), "POST GET", nil},
		{"there is no such task", 404, strings.Replace(unknown, "%", "TASK_NOT_FOUND", 1), "POST", runtime.ErrTaskNotFound},
		{"it is refused", 403, "", "POST", &rpc.HTTPError{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var verbs []string
			c := dialREST(t, func(w http.ResponseWriter, r *http.Request) {
				verbs = append(verbs, r.Method)
				if r.Method == http.MethodPost && tt.status != 200 {
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
					return
				}
				if got := r.Header.Get("Accept") + " " + r.URL.Path + " " + r.Header.Get("A2A-Version"); got != "text/event-stream, application/json /tasks/t1:subscribe 1.0" {
					t.Errorf("%s %s", r.Method, got)
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: "+taskWorking+"\n\ndata: "+completed+"\n\n")
			})
			_, err := collect(c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t1"}))
			var status *rpc.HTTPError
			if tt.want == nil && err != nil || tt.want != nil && !errors.Is(err, tt.want) && !errors.As(err, &status) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got := strings.Join(verbs, " "); got != tt.verbs {
				t.Errorf("asked by %s, want %s", got, tt.verbs)
			}
		})
	}
}

// TestAnySuccessIsTaken: agents answer 201 and 204, with other types of JSON, and with nothing.
func TestAnySuccessIsTaken(t *testing.T) {
	c := dialREST(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			w.Header().Set("Content-Type", "application/a2a+json; charset=utf-8")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"taskId":"t1","id":"p","url":"https://a.example"}`)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, taskT1)
		}
	})
	if made, err := c.CreateTaskPushNotificationConfig(t.Context(), &a2a.TaskPushNotificationConfig{TaskID: "t1", URL: "https://a.example"}); err != nil || made.ID != "p" {
		t.Errorf("create: %v, %v", made, err)
	}
	if err := c.DeleteTaskPushNotificationConfig(t.Context(), &a2a.DeleteTaskPushNotificationConfigRequest{TaskID: "t1", ID: "p"}); err != nil {
		t.Errorf("delete: %v", err)
	}
	if task, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err != nil || task.ID != "t1" {
		t.Errorf("get: %v, %v", task, err)
	}
}

// TestErrorsOnAStreamOfRESTAreTyped wherever and however they come.
func TestErrorsOnAStreamOfRESTAreTyped(t *testing.T) {
	for name, event := range map[string]string{
		"a status":          `data: {"error":{"code":404,"message":"Task not found"}}`,
		"JSON-RPC's object": `data: {"code":-32001,"message":"no"}`,
		"an event named so": "event: error\ndata: {\"message\":\"Task not found\"}",
		"words, named so":   "event: error\ndata: Task not found",
		"a class, named so": "event: error\ndata: {\"error\":\"TaskNotFoundError\"}",
	} {
		c := dialREST(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+taskWorking+"\n\n"+event+"\n\n")
		})
		if items, err := collect(c.SendStreamingMessage(t.Context(), hello())); !errors.Is(err, runtime.ErrTaskNotFound) || len(items) != 1 {
			t.Errorf("%s: %v, %v", name, items, err)
		}
	}
}

// TestHeadersHaveALimit over HTTP, too.
func TestHeadersHaveALimit(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		long := func(w http.ResponseWriter, r *http.Request, q request) {
			w.Header().Set("X-Long", strings.Repeat("x", 2<<20))
			result(taskT1)(w, r, q)
		}
		f := newFake(t, binding, map[string][]reply{"GetTask": {long}})
		if _, err := f.typed(rpc.Policy(rpc.CallPolicy{Attempts: 1})).GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err == nil {
			t.Error("it was read")
		}
	}, overHTTP...)
}
