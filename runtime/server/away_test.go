package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/test/faultstore"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// awayCard is a card of all versions over the bindings that are HTTP.
const awayCard = `{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":[
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"},
	{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.2"},{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.1"}],
	"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
	"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`

// awayAgent serves a skill in all versions, from a store that may be away.
func awayAgent(t *testing.T, tasks *faultstore.Store, skill server.Skill, opts ...server.Option) *server.Server {
	t.Helper()
	p := a2awires.Protocol()
	card, err := p.DecodeCard([]byte(awayCard))
	if err != nil {
		t.Fatal(err)
	}
	opts = append([]server.Option{
		server.WithLogger(slog.New(slog.DiscardHandler)), server.WithStore(tasks), webhooks.Send(), open,
	}, opts...)
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{skill}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request is a request in process: "POST /rest/tasks 1.0 body".
func request(s *server.Server, line string) *httptest.ResponseRecorder {
	var method, path, version, body string
	_, _ = fmt.Sscan(line, &method, &path, &version)
	if i := strings.IndexByte(line, '{'); i >= 0 {
		body = line[i:]
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if version != "-" {
		r.Header.Set("A2A-Version", version)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// Requests that need the store, by what they are. TASK is the id of a task that waits for its client.
var needStore = map[string]string{
	"1.0 send":         `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}}`,
	"1.0 send at once": `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]},"configuration":{"returnImmediately":true}}}`,
	"1.0 follow":       `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","taskId":"TASK","role":"ROLE_USER","parts":[{"text":"go"}]}}}`,
	"1.0 stream":       `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}}`,
	"1.0 subscribe":    `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"TASK"}}`,
	"1.0 get":          `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"TASK"}}`,
	"1.0 list":         `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`,
	"1.0 cancel":       `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"TASK"}}`,
	"1.0 set push":     `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"TASK","url":"http://127.0.0.1:1/x"}}`,
	"1.0 get push":     `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"GetTaskPushNotificationConfig","params":{"taskId":"TASK","id":"p"}}`,
	"1.0 list push":    `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"ListTaskPushNotificationConfigs","params":{"taskId":"TASK"}}`,
	"1.0 delete push":  `POST /rpc 1.0 {"jsonrpc":"2.0","id":1,"method":"DeleteTaskPushNotificationConfig","params":{"taskId":"TASK","id":"p"}}`,

	"1.0 REST send":        `POST /rest/message:send 1.0 {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}`,
	"1.0 REST stream":      `POST /rest/message:stream 1.0 {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}`,
	"1.0 REST subscribe":   `POST /rest/tasks/TASK:subscribe 1.0`,
	"1.0 REST get":         `GET /rest/tasks/TASK 1.0`,
	"1.0 REST list":        `GET /rest/tasks 1.0`,
	"1.0 REST cancel":      `POST /rest/tasks/TASK:cancel 1.0`,
	"1.0 REST set push":    `POST /rest/tasks/TASK/pushNotificationConfigs 1.0 {"url":"http://127.0.0.1:1/x"}`,
	"1.0 REST delete push": `DELETE /rest/tasks/TASK/pushNotificationConfigs/p 1.0`,

	"0.3 send":      `POST /rpc 0.3 {"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}]}}}`,
	"0.3 stream":    `POST /rpc 0.3 {"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}]}}}`,
	"0.3 subscribe": `POST /rpc 0.3 {"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"TASK"}}`,
	"0.3 get":       `POST /rpc 0.3 {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"TASK"}}`,
	"0.3 cancel":    `POST /rpc 0.3 {"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"id":"TASK"}}`,
	"0.3 set push":  `POST /rpc 0.3 {"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"TASK","pushNotificationConfig":{"url":"http://127.0.0.1:1/x"}}}`,
	"0.3 REST send": `POST /rest/v1/message:send - {"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"go"}]}}`,
	"0.3 REST get":  `GET /rest/v1/tasks/TASK -`,

	"0.2 send": `POST /rpc 0.2 {"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`,
	"0.2 get":  `POST /rpc 0.2 {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"TASK"}}`,

	"0.1 send":   `POST /rpc 0.1 {"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"mine","message":{"role":"user","parts":[{"type":"text","text":"go"}]}}}`,
	"0.1 stream": `POST /rpc 0.1 {"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"yours","message":{"role":"user","parts":[{"type":"text","text":"go"}]}}}`,
	"0.1 get":    `POST /rpc 0.1 {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"TASK"}}`,
}

// longestWait is how long a client waits at most for the answer that the store is away, if that hangs.
const longestWait = 45 * time.Second

// Without its store an agent answers nothing as if it had it: in every version and over every binding 503, with a time
// after which to come again, and within bounds when the store does not even refuse.
func TestWithoutItsStoreAnAgentIsUnavailable(t *testing.T) {
	for way, fault := range faultstore.Away {
		for name, line := range needStore {
			t.Run(way+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tasks := faultstore.New(memory.New(memory.Limits{}), nil)
					s := awayAgent(t, tasks, run("desk", func(_ context.Context, t *server.Task) (string, error) {
						if t.Text() == "ask" {
							return "", t.Ask("what?")
						}
						return "done", nil
					}))
					asked := request(s, strings.Replace(needStore["1.0 REST send"], `"go"`, `"ask"`, 1)).Body.String()
					_, id, _ := strings.Cut(asked, `"id":"`)
					id, _, _ = strings.Cut(id, `"`)
					tasks.Plan(faultstore.Always(fault))
					begin := time.Now()
					got := request(s, strings.ReplaceAll(line, "TASK", id))
					if got.Code != 503 || got.Header().Get("Retry-After") == "" {
						t.Errorf("got %d, Retry-After %q: %s", got.Code, got.Header().Get("Retry-After"), got.Body)
					}
					if took := time.Since(begin); took > longestWait {
						t.Errorf("after %s", took)
					}
					tasks.Plan(nil)
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// An agent without its store is well, so that nobody starts it again, but not ready.
func TestAnAgentWithoutItsStoreIsWellButNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := faultstore.New(memory.New(memory.Limits{}).Instance(9*time.Second), nil)
		s := awayAgent(t, tasks, worker())
		check := func(path string, code int, body string) {
			t.Helper()
			if got := request(s, "GET "+path+" -"); got.Code != code || got.Body.String() != body {
				t.Errorf("%s: %d %q, want %d %q", path, got.Code, got.Body, code, body)
			}
		}
		request(s, needStore["1.0 REST send"]) // work begins: the lease is renewed from now on
		time.Sleep(time.Second)
		check("/healthz", 200, "ok\n")
		check("/readyz", 200, "ok\n")
		tasks.Plan(faultstore.Always(faultstore.Fault{Hang: true}))
		time.Sleep(9 * time.Second)
		check("/healthz", 200, "ok, but not ready: the store cannot be reached\n")
		check("/readyz", 503, "the store cannot be reached\n")
		tasks.Plan(nil)
		time.Sleep(20 * time.Second)
		check("/readyz", 200, "ok\n")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		check("/healthz", 503, "shutting down\n")
		check("/readyz", 503, "shutting down\n")
	})
}
