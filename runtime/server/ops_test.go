package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/wire"
)

func parking() server.Skill {
	return run("park", func(_ context.Context, t *server.Task) (string, error) { return "", t.Ask("more?") })
}

// R38, R60: unknown tasks are not found, whatever is asked of them.
func TestUnknownTasksAreNotFound(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, method := range []string{"GetTask", "CancelTask", "SubscribeToTask"} {
		if _, e := a.call(method, `{"id":"none"}`); !errors.Is(e, runtime.ErrTaskNotFound) || e.Metadata("taskId") != "none" {
			t.Errorf("%s: %v", method, e)
		}
		if _, e := a.call(method, `{"id":""}`); !errors.Is(e, runtime.ErrInvalidParams) {
			t.Errorf("%s without id: %v", method, e)
		}
	}
}

// R45, R46 (push notifications), R47 (streaming), R48 (extended card): operations that the card does not offer, or says it does not.
func TestUndeclaredCapabilitiesAreRefused(t *testing.T) {
	plain := start(t, strings.Replace(testCard, `{"streaming":true}`, `{}`, 1), []server.Skill{echo()})
	denied := start(t, strings.Replace(testCard, `{"streaming":true}`, `{"streaming":false,"pushNotifications":false,"extendedAgentCard":false}`, 1), []server.Skill{echo()})
	extended := start(t, strings.Replace(testCard, `{"streaming":true}`, `{"extendedAgentCard":true}`, 1), []server.Skill{echo()})
	for _, c := range []struct {
		method, params string
		agent          *agent
		want           *runtime.Error
	}{
		{"SendStreamingMessage", message("x"), plain, runtime.ErrUnsupportedOperation},
		{"SubscribeToTask", `{"id":"x"}`, plain, runtime.ErrUnsupportedOperation},
		{"CreateTaskPushNotificationConfig", `{"taskId":"x","url":"https://x"}`, plain, runtime.ErrPushNotificationNotSupported},
		{"GetTaskPushNotificationConfig", `{"taskId":"x","id":"y"}`, plain, runtime.ErrPushNotificationNotSupported},
		{"ListTaskPushNotificationConfigs", `{"taskId":"x"}`, plain, runtime.ErrPushNotificationNotSupported},
		{"DeleteTaskPushNotificationConfig", `{"taskId":"x","id":"y"}`, plain, runtime.ErrPushNotificationNotSupported},
		{"GetExtendedAgentCard", `{}`, plain, runtime.ErrUnsupportedOperation},
		{"SendStreamingMessage", message("x"), denied, runtime.ErrUnsupportedOperation},
		{"SubscribeToTask", `{"id":"x"}`, denied, runtime.ErrUnsupportedOperation},
		{"ListTaskPushNotificationConfigs", `{"taskId":"x"}`, denied, runtime.ErrPushNotificationNotSupported},
		{"GetExtendedAgentCard", `{}`, denied, runtime.ErrUnsupportedOperation},
		{"GetExtendedAgentCard", `{}`, extended, runtime.ErrExtendedAgentCardNotConfigured},
	} {
		t.Run(c.method+" "+c.want.Reason, func(t *testing.T) {
			if _, e := c.agent.call(c.method, c.params); !errors.Is(e, c.want) {
				t.Errorf("got %v, want %v", e, c.want)
			}
		})
	}
}

// §3.1.5, T17: cancel.
func TestCancel(t *testing.T) {
	causes := make(chan error, 1)
	a := start(t, testCard, []server.Skill{
		typed("slow", []string{"q"}, func(ctx context.Context, t *server.Task, _ map[string]any) (any, error) {
			<-ctx.Done()
			causes <- errors.Join(context.Cause(ctx), t.Progress("still here"))
			return map[string]any{"too": "late"}, nil
		}),
	})
	id := str(a.ok("SendMessage", with(message("x"), `{"returnImmediately":true}`)), "task", "id")
	canceled := a.ok("CancelTask", `{"id":"`+id+`"}`)
	if got := str(canceled, "status", "state"); got != "TASK_STATE_CANCELED" {
		t.Errorf("state is %q", got)
	}
	if err := <-causes; !errors.Is(err, server.ErrCanceled) {
		t.Errorf("the handler's cause is %v", err)
	}
	after := a.ok("GetTask", `{"id":"`+id+`"}`)
	if str(after, "status", "state") != "TASK_STATE_CANCELED" || at(after, "artifacts") != nil {
		t.Errorf("the canceled handler changed its task: %v", after)
	}
	if _, e := a.call("CancelTask", `{"id":"`+id+`"}`); !errors.Is(e, runtime.ErrTaskNotCancelable) {
		t.Errorf("a second cancel gives %v", e)
	}
}

func TestCancelEndsAParkedTask(t *testing.T) {
	a := start(t, testCard, []server.Skill{parking()})
	id := str(a.ok("SendMessage", message("x")), "task", "id")
	if got := str(a.ok("CancelTask", `{"id":"`+id+`"}`), "status", "state"); got != "TASK_STATE_CANCELED" {
		t.Errorf("state is %q", got)
	}
	if _, e := a.call("SendMessage", message("y", `"taskId":"`+id+`"`)); !errors.Is(e, runtime.ErrUnsupportedOperation) {
		t.Errorf("a message to a canceled task gives %v", e)
	}
}

func TestCancelOfABlockedSendLetsItReturnTheCanceledTask(t *testing.T) {
	started := make(chan string, 1)
	a := start(t, testCard, []server.Skill{run("slow", func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("going"); err != nil {
			return "", err
		}
		started <- t.Call().TaskID()
		<-ctx.Done()
		return "", ctx.Err()
	})})
	done := make(chan any, 1)
	go func() { done <- a.ok("SendMessage", message("x"))["task"] }()
	a.ok("CancelTask", `{"id":"`+<-started+`"}`)
	if got := str(<-done, "status", "state"); got != "TASK_STATE_CANCELED" {
		t.Errorf("the send returned %q", got)
	}
}

// R12–R15, R308, R309, R55: pages of tasks, by status time, which has milliseconds.
func TestListPagesThroughTasksNewestFirst(t *testing.T) {
	var ticks atomic.Int64 // each look at the clock is another millisecond
	clock := func() time.Time { return time.UnixMilli(1e12 + ticks.Add(1)) }
	a := start(t, testCard, []server.Skill{echo(), parking()}, server.WithClock(clock))
	var ids []string
	for i := range 7 {
		skill := []string{"echo", "park"}[i%2]
		task := a.ok("SendMessage", message(fmt.Sprint(i), `"contextId":"c`+fmt.Sprint(i%3)+`"`, `"metadata":{"skillId":"`+skill+`"}`))["task"]
		ids = append([]string{str(task, "id")}, ids...)
	}
	var got []string
	token := ""
	for page := 0; ; page++ {
		list := a.ok("ListTasks", `{"pageSize":3,"pageToken":"`+token+`"}`)
		if at(list, "totalSize") != 7.0 || at(list, "pageSize") != 3.0 {
			t.Errorf("page %d has size %v of %v", page, at(list, "pageSize"), at(list, "totalSize"))
		}
		for _, task := range at(list, "tasks").([]any) {
			got = append(got, str(task, "id"))
			if _, there := task.(map[string]any)["artifacts"]; there {
				t.Error("artifacts are there although nobody asked")
			}
			if _, there := task.(map[string]any)["history"]; there {
				t.Error("history is there although nobody asked")
			}
		}
		if token = str(list, "nextPageToken"); token == "" {
			break
		}
	}
	if strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("order is %v, want %v", got, ids)
	}
	for _, c := range []struct {
		name, params string
		want         float64
	}{
		{"context", `{"contextId":"c0"}`, 3},
		{"unknown context", `{"contextId":"nope"}`, 0},
		{"state", `{"status":"TASK_STATE_INPUT_REQUIRED"}`, 3},
		{"context and state", `{"contextId":"c0","status":"TASK_STATE_COMPLETED"}`, 2},
		{"after now", `{"statusTimestampAfter":"2999-01-01T00:00:00Z"}`, 0},
		{"after long ago", `{"statusTimestampAfter":"2000-01-01T00:00:00Z"}`, 7},
		{"page size 0 is the default", `{"pageSize":0}`, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := a.ok("ListTasks", c.params)
			tasks, ok := at(list, "tasks").([]any)
			if !ok || at(list, "totalSize") != c.want || float64(len(tasks)) != c.want || list["nextPageToken"] != "" {
				t.Errorf("got %v, want %v tasks", list, c.want)
			}
		})
	}
	list := a.ok("ListTasks", `{"includeArtifacts":true,"historyLength":1,"status":"TASK_STATE_COMPLETED"}`)
	if str(list, "tasks", 0, "artifacts", 0, "artifactId") != "result" || len(at(list, "tasks", 0, "history").([]any)) != 1 {
		t.Errorf("with artifacts and history: %v", at(list, "tasks", 0))
	}
}

// R13: a program finds the end of the list by the empty token, which is there also on the only page and when there is nothing.
func TestTheLastPageHasAnEmptyToken(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for range 3 {
		if _, body := a.post(rpcBody("ListTasks", `{"pageSize":2}`)); !strings.Contains(body, `"nextPageToken":""`) {
			t.Errorf("the only page is %s", body)
		}
		if at(a.ok("ListTasks", `{}`), "totalSize") == 2.0 {
			break
		}
		a.ok("SendMessage", message("x"))
	}
	a.ok("SendMessage", message("x"))
	first := a.ok("ListTasks", `{"pageSize":2}`)
	token := str(first, "nextPageToken")
	if token == "" {
		t.Fatalf("the first page of two is %v", first)
	}
	if _, body := a.post(rpcBody("ListTasks", `{"pageSize":2,"pageToken":"`+token+`"}`)); !strings.Contains(body, `"nextPageToken":""`) {
		t.Errorf("the last page is %s", body)
	}
}

// R96, R98, T60: whatever the clock says, status times are in UTC with milliseconds.
func TestStatusTimesAreUTCWithMilliseconds(t *testing.T) {
	clock := func() time.Time {
		return time.Date(2026, 3, 1, 1, 30, 15, 123_456_789, time.FixedZone("", 2*3600+1800))
	}
	a := start(t, testCard, []server.Skill{echo(), parking()}, server.WithClock(clock))
	const want = `"timestamp":"2026-02-28T23:00:15.123Z"`
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		for _, skill := range []string{"echo", "park"} {
			_, body := a.post(rpcBody(method, message("x", `"metadata":{"skillId":"`+skill+`"}`)))
			if n := strings.Count(body, `"timestamp"`); n == 0 || strings.Count(body, want) != n {
				t.Errorf("%s to %s: %s", method, skill, body)
			}
		}
	}
	if list := a.ok("ListTasks", `{"statusTimestampAfter":"2026-03-01T01:30:15.123+02:30"}`); at(list, "totalSize") != 4.0 {
		t.Errorf("tasks since their own time in another zone: %v", list)
	}
}

// T57: ids are no paths. What would be special in one is kept as it is.
func TestIDsWithSpecialCharacters(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, id := range []string{"a/b:cancel", "../tasks", "a%2Fb", "a?b#c d", "ä😀", `a"b\\c`, "a\u0000b"} {
		quoted, _ := json.Marshal(id)
		_, e := a.call("GetTask", `{"id":`+string(quoted)+`}`)
		if !errors.Is(e, runtime.ErrTaskNotFound) || e.Metadata("taskId") != id {
			t.Errorf("task %s: %v", quoted, e)
		}
		task := a.ok("SendMessage", message("x", `"contextId":`+string(quoted)))["task"]
		list := a.ok("ListTasks", `{"contextId":`+string(quoted)+`}`)
		if str(task, "contextId") != id || at(list, "totalSize") != 1.0 || str(list, "tasks", 0, "id") != str(task, "id") {
			t.Errorf("context %s: %v in %v", quoted, task, list)
		}
	}
}

func TestListRefusesBadParameters(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	a.ok("SendMessage", message("1"))
	a.ok("SendMessage", message("2"))
	token := str(a.ok("ListTasks", `{"pageSize":1}`), "nextPageToken")
	a.ok("ListTasks", `{"pageSize":2,"pageToken":"`+token+`"}`)
	for _, c := range []struct{ name, params, field string }{
		{"page too large", `{"pageSize":101}`, "pageSize"},
		{"page negative", `{"pageSize":-1}`, "pageSize"},
		{"history negative", `{"historyLength":-1}`, "historyLength"},
		{"token made up", `{"pageToken":"AAAA"}`, "pageToken"},
		{"token of another query", `{"contextId":"c","pageToken":"` + token + `"}`, "pageToken"},
		{"token of another tenant", `{"tenant":"c","pageToken":"` + token + `"}`, "pageToken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, e := a.call("ListTasks", c.params)
			if !errors.Is(e, runtime.ErrInvalidParams) {
				t.Fatalf("got %v", e)
			}
			if vs := e.Violations(); len(vs) != 1 || vs[0].Field != c.field {
				t.Errorf("violations are %v", vs)
			}
		})
	}
}

// A task that has ended is kept in another form: whoever asks for it later gets the bytes that its sender got.
func TestAnEndedTaskIsFetchedAsItWasAnswered(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("work", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Say(runtime.StateWorking, runtime.MessageData{
			MessageInfo: runtime.MessageInfo{Metadata: wire.Object(`{"step": 1, "of": [2.50, "é\u00e9"]}`), References: []string{"other"}},
			Parts:       []runtime.Part{runtime.Text("half <way>\u2028\n"), {Kind: runtime.PartData, Data: []byte(`{"b":1,"a":{}}`)}},
		}); err != nil {
			return "", err
		}
		file := runtime.Part{Kind: runtime.PartRaw, Raw: []byte{0, 1, 255}, Filename: "f", MediaType: "image/png", Metadata: wire.Object(`{}`)}
		return "", t.Artifact("made", file, runtime.Part{Kind: runtime.PartURL, URL: "https://example.com/?a=b&c"}, runtime.Text(""))
	})})
	var answer, fetched struct{ Result json.RawMessage }
	_, body := a.post(rpcBody("SendMessage", message("go \U0001F600", `"metadata":{"a":{"b":[]}},"extensions":["urn:x"]`)))
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	var sent struct{ Task json.RawMessage }
	var task struct{ ID string }
	if err := errors.Join(json.Unmarshal(answer.Result, &sent), json.Unmarshal(sent.Task, &task)); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	_, body = a.post(rpcBody("GetTask", `{"id":"`+task.ID+`"}`))
	if err := json.Unmarshal([]byte(body), &fetched); err != nil || string(fetched.Result) != string(sent.Task) {
		t.Errorf("the task is fetched as\n%s (%v), it was answered as\n%s", fetched.Result, err, sent.Task)
	}
}
