package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/push"
)

// memory is an agent of one version that answers without a network: by method, one result after the other, the last one
// for ever. "!" stands for no connection.
type memory struct {
	mu      sync.Mutex
	results map[string][]string
	params  map[string]string // the last of each method
	calls   []string
}

func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var in struct {
		ID, Params json.RawMessage
		Method     string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	m.calls, m.params[in.Method] = append(m.calls, in.Method), string(in.Params)
	list := m.results[in.Method]
	if len(list) == 0 {
		return nil, errors.New("unexpected " + in.Method)
	}
	if len(list) > 1 {
		m.results[in.Method] = list[1:]
	}
	if list[0] == "!" {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.WriteString(`{"jsonrpc":"2.0","id":` + string(in.ID) + `,"result":` + list[0] + `}`)
	return w.Result(), nil
}

// dialMemory makes a client that has to speak a version, of an agent that sends push notifications.
func dialMemory(t *testing.T, version string, results map[string][]string, capabilities string) (*memory, *a2aclient.Client) {
	t.Helper()
	m := &memory{results: results, params: map[string]string{}}
	card := strings.NewReplacer(`"pushNotifications":false`, `"pushNotifications":true`, `"protocolVersion":"1.0"`, `"protocolVersion":"`+version+`"`).
		Replace(cardJSON("http://agent.test/rpc", "", capabilities))
	newest, err := a2awires.Protocol().DecodeCard([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	c, err := a2aclient.FromCard(newest.Generated().(*a2awires.AgentCard), rpc.HTTPClient(&http.Client{Transport: m}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return m, c
}

const (
	working10   = `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`
	working10T  = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}`
	finished10T = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"dry"}]}]}`
	finished03  = `{"kind":"task","id":"t1","contextId":"c1","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"dry"}]}]}`
	finished01  = `{"id":"t1","sessionId":"c1","status":{"state":"completed"},"artifacts":[{"index":0,"parts":[{"type":"text","text":"dry"}]}]}`
)

// TestWithPushIsWrittenAsEachVersionHasIt: the inline configuration of a send, which names no task (R302).
func TestWithPushIsWrittenAsEachVersionHasIt(t *testing.T) {
	config := runtime.PushConfig{ID: "p1", URL: "https://me.example/hook", Token: "tok", Scheme: "Bearer", Credentials: "cred"}
	for version, tt := range map[string]struct {
		method, answer string
		path           []string
		want           string
	}{
		"1.0": {
			"SendMessage", `{"task":` + finished10T + `}`, []string{"configuration", "taskPushNotificationConfig"},
			`{"id":"p1","url":"https://me.example/hook","token":"tok","authentication":{"scheme":"Bearer","credentials":"cred"}}`,
		},
		"0.3": {
			"message/send", finished03, []string{"configuration", "pushNotificationConfig"},
			`{"id":"p1","url":"https://me.example/hook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}}`,
		},
		"0.2": {
			"message/send", finished03, []string{"configuration", "pushNotificationConfig"},
			`{"id":"p1","url":"https://me.example/hook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}}`,
		},
		"0.1": {
			"tasks/send", finished01, []string{"pushNotification"},
			`{"url":"https://me.example/hook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}}`,
		},
	} {
		t.Run(version, func(t *testing.T) {
			m, c := dialMemory(t, version, map[string][]string{tt.method: {tt.answer}}, declared)
			if r, err := chat.Call(t.Context(), c.RPC(), rpc.Say("hi"), rpc.WithPushConfig(config)); err != nil || r.Text() != "dry" {
				t.Fatalf("%v %v", r, err)
			}
			same(t, member(t, m.params[tt.method], tt.path...), tt.want)
		})
	}
}

// member returns a member inside of an object.
func member(t *testing.T, object string, path ...string) string {
	t.Helper()
	for _, name := range path {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(object), &m); err != nil || m[name] == nil {
			t.Fatalf("no %s in %s", name, object)
		}
		object = string(m[name])
	}
	return object
}

// same fails unless two texts are the same JSON.
func same(t *testing.T, got, want string) {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(got), &x), json.Unmarshal([]byte(want), &y)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(y, x); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWithPushIsRefusedWhereTheCardHasNone(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, nil)
	_, err := chat.Call(t.Context(), f.dial(), rpc.Say("hi"), rpc.WithPush("https://me.example/hook", "tok"))
	if !errors.Is(err, runtime.ErrPushNotificationNotSupported) || f.methods() != "" {
		t.Errorf("%v after calls of %q", err, f.methods())
	}
}

// TestThePushConfigurationsOfATask: the operations of the emitted client, in the words of each version that has them.
func TestThePushConfigurationsOfATask(t *testing.T) {
	for version, tt := range map[string]struct{ create, get, list, remove, config, all string }{
		"1.0": {
			"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig",
			`{"taskId":"t1","id":"p1","url":"https://me.example/hook"}`, `{"configs":[$]}`,
		},
		"0.3": {
			"tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/delete",
			`{"taskId":"t1","pushNotificationConfig":{"id":"p1","url":"https://me.example/hook"}}`, `[$]`,
		},
		"0.2": {
			"tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/delete",
			`{"taskId":"t1","pushNotificationConfig":{"id":"p1","url":"https://me.example/hook"}}`, `[$]`,
		},
	} {
		t.Run(version, func(t *testing.T) {
			m, c := dialMemory(t, version, map[string][]string{
				tt.create: {tt.config}, tt.get: {tt.config}, tt.list: {strings.Replace(tt.all, "$", tt.config, 1), "null"}, tt.remove: {"null"},
			}, "")
			ctx, config := t.Context(), &a2awires.TaskPushNotificationConfig{TaskID: "t1", ID: "p1", URL: "https://me.example/hook"}
			made, err := c.CreateTaskPushNotificationConfig(ctx, config)
			if err != nil || made.ID != "p1" || made.TaskID != "t1" {
				t.Errorf("create: %+v %v", made, err)
			}
			same(t, m.params[tt.create], tt.config)
			got, err := c.GetTaskPushNotificationConfig(ctx, &a2awires.GetTaskPushNotificationConfigRequest{TaskID: "t1", ID: "p1"})
			if err != nil || got.URL != config.URL {
				t.Errorf("get: %+v %v", got, err)
			}
			list, err := c.ListTaskPushNotificationConfigs(ctx, &a2awires.ListTaskPushNotificationConfigsRequest{TaskID: "t1"})
			if err != nil || len(list.Configs) != 1 || list.Configs[0].ID != "p1" {
				t.Errorf("list: %+v %v", list, err)
			}
			if err := c.DeleteTaskPushNotificationConfig(ctx, &a2awires.DeleteTaskPushNotificationConfigRequest{TaskID: "t1", ID: "p1"}); err != nil {
				t.Errorf("delete: %v", err)
			}
			none, err := c.ListTaskPushNotificationConfigs(ctx, &a2awires.ListTaskPushNotificationConfigsRequest{TaskID: "t1"})
			if err != nil || len(none.Configs) != 0 {
				t.Errorf("a list that is null: %+v %v", none, err)
			}
		})
	}
}

// notify sends a notification to a receiver.
func notify(t *testing.T, r http.Handler, body string) {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	req.Header.Set(runtime.PushTokenHeader, "tok")
	w := httptest.NewRecorder()
	if r.ServeHTTP(w, req); w.Code != http.StatusOK {
		t.Errorf("the receiver answers %d %s", w.Code, w.Body)
	}
}

// TestACallWaitsByPush: the agent answers at once, and a notification says that the task ended (R117).
func TestACallWaitsByPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := dialMemory(t, "1.0", map[string][]string{"SendMessage": {working10}, "GetTask": {working10T, finished10T}}, streams+declared)
		hook, err := push.NewReceiver(a2awires.Protocol(), push.Token("tok"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second)
			notify(t, hook, working)
			time.Sleep(time.Second)
			notify(t, hook, completed)
		}()
		began := time.Now()
		r, err := chat.Call(t.Context(), c.RPC(), rpc.Say("hi"), rpc.WithPush("https://me.example/hook", "tok"), rpc.ByPush(hook))
		if err != nil || r.Text() != "dry" {
			t.Fatalf("%v %v", r, err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		if got := strings.Join(m.calls, " "); got != "SendMessage GetTask GetTask" {
			t.Errorf("calls: %s", got)
		}
		if got := member(t, m.params["SendMessage"], "configuration", "returnImmediately"); got != "true" {
			t.Errorf("returnImmediately is %s", got)
		}
	})
}

// TestAwaitByPushAsksAnyway: a notification got lost, and the agent was down for a while.
func TestAwaitByPushAsksAnyway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook, err := push.NewReceiver(a2awires.Protocol(), push.Token("tok"))
		if err != nil {
			t.Fatal(err)
		}
		m, c := dialMemory(t, "1.0", map[string][]string{"GetTask": {working10T, "!", "!", working10T, finished10T}}, "")
		began := time.Now()
		r, err := c.RPC().Await(t.Context(), "t1", rpc.ByPush(hook))
		if err != nil || r.Text() != "dry" {
			t.Fatalf("%v %v", r, err)
		}
		if took := time.Since(began); took != 2*time.Minute || len(m.calls) != 5 {
			t.Errorf("it took %v and %d calls", took, len(m.calls))
		}
		m, c = dialMemory(t, "1.0", map[string][]string{"GetTask": {"!"}}, "")
		if _, err := c.RPC().Await(t.Context(), "t1", rpc.ByPush(hook), rpc.ReattachCall(2)); err == nil || len(m.calls) != 3 {
			t.Errorf("an agent that is gone: %v after %d calls", err, len(m.calls))
		}
	})
}

// always is a receiver that tells of every task, again and again, that it settled.
type always struct{}

func (always) Settled(string) (<-chan struct{}, func()) {
	news := make(chan struct{})
	close(news)
	return news, func() {}
}

// TestNotificationsThatTheTaskContradictsAreFollowedEverMoreSlowly: an agent says "completed" without an end, and its task works.
func TestNotificationsThatTheTaskContradictsAreFollowedEverMoreSlowly(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		f, opts := newFakeInMemory(t, binding, map[string][]reply{"GetTask": {result(`{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`)}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := f.dial(opts...).Await(ctx, "t1", rpc.ByPush(always{}))
		if n := strings.Count(f.methods(), "GetTask"); !errors.Is(err, context.DeadlineExceeded) || n > 3600/5+10 || n < 3600/10 {
			t.Errorf("it was asked for %d times in an hour, %v", n, err)
		}
	})
}
