package server_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/wire"
)

var pushCard = strings.Replace(testCard, `{"streaming":true}`, `{"streaming":true,"pushNotifications":true}`, 1)

var open = server.WithPushTargets("127.0.0.0/8")

// inbox is a receiver that keeps what came.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	got    []got
	answer func(n int, r *http.Request) int // status of the n-th request
	came   chan struct{}
}

type got struct {
	header http.Header
	body   string
}

func receiver(t *testing.T) *inbox {
	d := &inbox{came: make(chan struct{}, 1)}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	d.got = append(d.got, got{r.Header, string(body)})
	n, answer := len(d.got), d.answer
	d.mu.Unlock()
	select {
	case d.came <- struct{}{}:
	default:
	}
	status := http.StatusOK
	if answer != nil {
		status = answer(n, r)
	}
	w.WriteHeader(status)
}

// wait returns what came as soon as there are n of them.
func (d *inbox) wait(t *testing.T, n int) []got {
	t.Helper()
	end := time.After(time.Minute)
	for {
		d.mu.Lock()
		all := append([]got(nil), d.got...)
		d.mu.Unlock()
		if len(all) >= n {
			return all
		}
		select {
		case <-d.came:
		case <-end:
			t.Fatalf("%d notifications came, want %d: %v", len(all), n, all)
		}
	}
}

// sequences are the numbers of what came.
func sequences(all []got) (list []string) {
	for _, g := range all {
		list = append(list, g.header.Get(runtime.PushSequenceHeader))
	}
	return list
}

// talker is a skill that streams words into an artifact.
func talker(words ...string) server.Skill {
	return run("talk", func(ctx context.Context, t *server.Task) (string, error) {
		w := t.Stream("story")
		for _, word := range words {
			if _, err := w.Write([]byte(word)); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	})
}

// inline is a send configuration with a push configuration.
func inline(url string, more string) string {
	return `{"returnImmediately":true,"taskPushNotificationConfig":{"url":"` + url + `"` + more + `}}`
}

func TestEveryEventGoesToEveryConfigurationInOrder(t *testing.T) { // R18, R84
	begun, second := make(chan string), make(chan struct{})
	skill := run("talk", func(_ context.Context, task *server.Task) (string, error) {
		if err := task.Progress("thinking"); err != nil {
			return "", err
		}
		begun <- task.Call().TaskID()
		<-second
		if err := task.Artifact("story", runtime.Text("Once.")); err != nil {
			return "", err
		}
		return "Done.", nil
	})
	a := start(t, pushCard, []server.Skill{skill}, open)
	one, two := receiver(t), receiver(t)
	a.ok("SendMessage", with(message("go"), inline(one.URL, `,"token":"k","id":"p"`))) // does not wait
	id := <-begun
	one.wait(t, 1)
	made := a.ok("CreateTaskPushNotificationConfig", `{"taskId":"`+id+`","url":"`+two.URL+`","authentication":{"scheme":"Bearer","credentials":"c"}}`)
	if str(made, "id") == "" || str(made, "taskId") != id || str(made, "url") != two.URL {
		t.Errorf("created: %v", made)
	}
	close(second)
	first := one.wait(t, 4)
	if got := fmt.Sprint(sequences(first)); got != "[2 3 4 5]" {
		t.Errorf("the first got %s", got)
	}
	var kinds []string
	for i, g := range first {
		var body map[string]any
		if err := json.Unmarshal([]byte(g.body), &body); err != nil {
			t.Fatal(err)
		}
		for k, v := range body {
			kinds = append(kinds, k+":"+str(v, "status", "state"))
			if str(v, "taskId") != id {
				t.Errorf("%s is of another task", g.body)
			}
		}
		h := g.header
		if h.Get("X-A2A-Notification-Token") != "k" || h.Get("A2A-Notification-Token") != "k" || h.Get("Content-Type") != "application/json" ||
			h.Get("A2A-Version") != "1.0" || h.Get("X-A2A-Notification-Task") != id || h.Get("X-A2A-Notification-Config") != "p" ||
			len(h.Get("X-A2A-Notification-Id")) != 32 || h.Get("Authorization") != "" {
			t.Errorf("header %d: %v", i, h)
		}
	}
	if got := strings.Join(kinds, " "); got != "statusUpdate:TASK_STATE_WORKING artifactUpdate: artifactUpdate: statusUpdate:TASK_STATE_COMPLETED" {
		t.Errorf("the first got %s", got)
	}
	later := two.wait(t, 3)
	if got := fmt.Sprint(sequences(later)); got != fmt.Sprint(sequences(first)[1:]) {
		t.Errorf("the second got %s", got)
	}
	if h := later[0].header; h.Get("Authorization") != "Bearer c" || h.Get("X-A2A-Notification-Id") == first[1].header.Get("X-A2A-Notification-Id") {
		t.Errorf("to the second: %v", h) // R79, R190
	}
}

// polyglotPush is an agent of all versions that sends push notifications.
func polyglotPush(t *testing.T, opts ...server.Option) *agent {
	t.Helper()
	var interfaces []string
	versions := []string{"1.0", "0.3", "0.2", "0.1"}
	for _, v := range versions {
		interfaces = append(interfaces, `{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"`+v+`"}`)
	}
	return polyglotCard(t, versions, `{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":[`+strings.Join(interfaces, ",")+`],
		"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`, append(opts, open)...)
}

// said is what a request of a version is answered, without the envelope.
func (a *agent) said(version, method, params string) string {
	a.t.Helper()
	header := "A2A-Version: " + version
	if version == "0.3" || version == "0.1" { // whose clients do not say it
		header = "A2A-Version: "
	}
	_, body := a.post(rpcBody(method, params), header)
	var r response
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		a.t.Fatalf("%v in %s", err, body)
	}
	if r.Error != nil {
		e, _ := runtime.ReadError(r.Error)
		return e.Error()
	}
	return string(r.Result)
}

// book sends a message after which the task waits, and returns its id.
func (a *agent) book(more ...string) string {
	a.t.Helper()
	return str(a.ok("SendMessage", message("book", more...)), "task", "id")
}

func TestPushConfigurationsInTheWordsOfEachVersion(t *testing.T) { // R18, R19, R20, R21
	a := polyglotPush(t)
	const url = "https://hook.example/x"
	const v03 = `{"taskId":"T","pushNotificationConfig":{"url":"` + url + `","id":"p","token":"k","authentication":{"schemes":["Bearer"],"credentials":"c"}}}`
	const v10 = `{"id":"p","taskId":"T","url":"` + url + `","token":"k","authentication":{"scheme":"Bearer","credentials":"c"}}`
	own := strings.Replace(strings.Replace(v10, `"p"`, `"T"`, 1), `"k"`, `"l"`, 1)
	type exchange struct{ version, method, params, want string }
	for name, list := range map[string][]exchange{
		"1.0": {
			{"1.0", "CreateTaskPushNotificationConfig", v10, v10},
			{"1.0", "GetTaskPushNotificationConfig", `{"taskId":"T","id":"p"}`, v10},
			{"1.0", "CreateTaskPushNotificationConfig", strings.Replace(strings.Replace(v10, `"p"`, `"q"`, 1), `"k"`, `"l"`, 1), ""},
			{"1.0", "ListTaskPushNotificationConfigs", `{"taskId":"T","pageSize":1}`, `{"configs":[` + v10 + `],"nextPageToken":"cA"}`},
			{"1.0", "ListTaskPushNotificationConfigs", `{"taskId":"T","pageToken":"cA"}`, `{"configs":[` + strings.Replace(strings.Replace(v10, `"p"`, `"q"`, 1), `"k"`, `"l"`, 1) + `]}`},
			{"1.0", "DeleteTaskPushNotificationConfig", `{"taskId":"T","id":"p"}`, `{}`},
			{"1.0", "DeleteTaskPushNotificationConfig", `{"taskId":"T","id":"p"}`, `{}`},                                                                                    // again
			{"1.0", "GetTaskPushNotificationConfig", `{"taskId":"T","id":"p"}`, `Task not found: it has no such push notification configuration (TASK_NOT_FOUND) [-32001]`}, // T18
			{"1.0", "GetTaskPushNotificationConfig", `{"taskId":"T"}`, `Invalid parameters: id required, but missing (INVALID_PARAMS) [-32602]`},
			{"1.0", "GetTaskPushNotificationConfig", `{"taskId":"nobody","id":"p"}`, `Task not found (TASK_NOT_FOUND) [-32001]`},
			{"1.0", "CreateTaskPushNotificationConfig", `{"taskId":"nobody","url":"` + url + `"}`, `Task not found (TASK_NOT_FOUND) [-32001]`},
			{"1.0", "CreateTaskPushNotificationConfig", `{"url":"` + url + `"}`, `Invalid parameters: taskId is required (INVALID_PARAMS) [-32602]`}, // T29
			{"1.0", "CreateTaskPushNotificationConfig", `{"taskId":"T","url":"https://10.0.0.1/"}`, `Invalid parameters: url is not an address of the public internet (INVALID_PARAMS) [-32602]`},
			{"1.0", "ListTaskPushNotificationConfigs", `{"taskId":"T","pageSize":101}`, `Invalid parameters: pageSize must be between 1 and 100 (INVALID_PARAMS) [-32602]`},
			{"1.0", "ListTaskPushNotificationConfigs", `{"taskId":"T","pageToken":"!"}`, `Invalid parameters: pageToken is not a token of this query (INVALID_PARAMS) [-32602]`},
		},
		"0.3 and 0.2": {
			{"0.3", "tasks/pushNotificationConfig/set", v03, v03},
			{"0.3", "tasks/pushNotificationConfig/get", `{"id":"T","pushNotificationConfigId":"p"}`, v03},
			{"0.3", "tasks/pushNotificationConfig/get", `{"id":"T"}`, v03},
			{"0.3", "tasks/pushNotificationConfig/list", `{"id":"T"}`, `[` + v03 + `]`},
			{"1.0", "ListTaskPushNotificationConfigs", `{"taskId":"T"}`, `{"configs":[` + v10 + `]}`},
			{"0.3", "tasks/pushNotificationConfig/delete", `{"id":"T","pushNotificationConfigId":"p"}`, `null`},
			{"0.3", "tasks/pushNotificationConfig/list", `{"id":"T"}`, `[]`},
			{"0.3", "tasks/pushNotificationConfig/set", strings.Replace(strings.Replace(v03, `"id":"p",`, ``, 1), `"k"`, `"l"`, 1),
				strings.Replace(strings.Replace(v03, `"p"`, `"T"`, 1), `"k"`, `"l"`, 1)},
			{"0.2", "tasks/pushNotificationConfig/get", `{"id":"T"}`, strings.Replace(strings.Replace(v03, `"p"`, `"T"`, 1), `"k"`, `"l"`, 1)},
			{"0.3", "tasks/pushNotificationConfig/get", `{"id":"nobody"}`, `Task not found (TASK_NOT_FOUND) [-32001]`},
		},
		"0.1": {
			{"0.1", "tasks/pushNotification/set", `{"id":"T","pushNotificationConfig":{"url":"` + url + `","token":"l","authentication":{"schemes":["Bearer"],"credentials":"c"}}}`,
				`{"id":"T","pushNotificationConfig":{"url":"` + url + `","token":"l","authentication":{"schemes":["Bearer"],"credentials":"c"}}}`},
			{"0.1", "tasks/pushNotification/get", `{"id":"T"}`,
				`{"id":"T","pushNotificationConfig":{"url":"` + url + `","token":"l","authentication":{"schemes":["Bearer"],"credentials":"c"}}}`},
			{"1.0", "GetTaskPushNotificationConfig", `{"taskId":"T","id":"T"}`, own},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a.t = t
			id := a.book()
			for _, x := range list {
				got := strings.ReplaceAll(a.said(x.version, x.method, strings.ReplaceAll(x.params, `"T"`, `"`+id+`"`)), id, "T")
				if x.want != "" && !sameJSON(got, x.want) {
					t.Errorf("%s %s\ngot  %s\nwant %s", x.method, x.params, got, x.want)
				}
			}
		})
	}
}

// sameJSON reports whether two texts are the same JSON, or the same text.
func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

func TestAPushConfigurationIsItsTasksOwners(t *testing.T) { // R19, R187, R202
	who := func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	a := start(t, pushCard, []server.Skill{run("ask", func(_ context.Context, task *server.Task) (string, error) { return "", task.Ask("What?") })},
		open, server.WithProxyIdentity(who))
	id := str(a.ok("SendMessage", message("go"), "X-User: ann"), "task", "id")
	config := `{"taskId":"` + id + `","id":"p","url":"https://hook.example/"}`
	a.ok("CreateTaskPushNotificationConfig", config, "X-User: ann")
	for method, params := range map[string]string{
		"CreateTaskPushNotificationConfig": config, "GetTaskPushNotificationConfig": `{"taskId":"` + id + `","id":"p"}`,
		"ListTaskPushNotificationConfigs": `{"taskId":"` + id + `"}`, "DeleteTaskPushNotificationConfig": `{"taskId":"` + id + `","id":"p"}`,
	} {
		_, foreign := a.call(method, params, "X-User: bob")
		_, unknown := a.call(method, strings.Replace(params, id, "nobody", 1), "X-User: bob")
		if foreign == nil || unknown == nil || foreign.Code != runtime.ErrTaskNotFound.Code || foreign.Text() != unknown.Text() {
			t.Errorf("%s: %v, of an unknown one %v", method, foreign, unknown)
		}
		_, tenant := a.call(method, strings.Replace(params, "{", `{"tenant":"other",`, 1), "X-User: ann")
		if tenant == nil || tenant.Code != runtime.ErrTaskNotFound.Code {
			t.Errorf("%s of another tenant: %v", method, tenant)
		}
	}
	if got := a.ok("ListTaskPushNotificationConfigs", `{"taskId":"`+id+`"}`, "X-User: ann"); len(at(got, "configs").([]any)) != 1 {
		t.Errorf("ann has %v", got)
	}
}

func TestATaskHasSoManyPushConfigurations(t *testing.T) {
	a := start(t, pushCard, []server.Skill{run("ask", func(_ context.Context, task *server.Task) (string, error) { return "", task.Ask("What?") })},
		open, server.WithLimits(server.Limits{Pushes: 2}))
	id := str(a.ok("SendMessage", with(message("go"), inline("https://hook.example/", `,"id":"a"`))), "task", "id")
	config := func(id, p string) string {
		return `{"taskId":"` + id + `","id":"` + p + `","url":"https://hook.example/"}`
	}
	a.ok("CreateTaskPushNotificationConfig", config(id, "b"))
	a.ok("CreateTaskPushNotificationConfig", config(id, "a")) // in place of the one
	const want = "the task has as many push notification configurations as it may have, 2"
	if _, err := a.call("CreateTaskPushNotificationConfig", config(id, "c")); err == nil || err.Note != want {
		t.Errorf("one too many: %v", err)
	}
	more := with(message("more", `"taskId":"`+id+`"`), inline("https://hook.example/", `,"id":"c"`))
	if _, err := a.call("SendMessage", more); err == nil || err.Note != want {
		t.Errorf("one too many with a message: %v", err)
	}
	if got := a.ok("GetTask", `{"id":"`+id+`"}`); len(at(got, "history").([]any)) != 1 {
		t.Errorf("the message was taken all the same: %v", got)
	}
	for _, bad := range []string{`{"taskPushNotificationConfig":{"url":"http://10.0.0.1/"}}`, `{"taskPushNotificationConfig":{}}`} {
		if _, err := a.call("SendMessage", with(message("go"), bad)); err == nil || err.Code != runtime.ErrInvalidParams.Code ||
			!strings.Contains(err.Text(), "url") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestANotificationThatCannotBeWrittenHoldsBackNoOther: a hook puts into answers what is no JSON, and the receiver gets
// the task without it, to the end.
func TestANotificationThatCannotBeWrittenHoldsBackNoOther(t *testing.T) {
	spoil := server.OnAnswer(func(_ context.Context, task *a2awires.Task) { task.Metadata = wire.Object(`{"a":`) })
	a, d := polyglotPush(t, spoil), receiver(t)
	// The answer has what cannot be written, too, and is an error.
	a.post(rpcBody("message/send", `{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"maps"}]},`+
		`"configuration":{"blocking":true,"pushNotificationConfig":{"url":"`+d.URL+`"}}}`), unversioned)
	for n := 1; ; n++ {
		g := d.wait(t, n)[n-1]
		var task struct {
			ID     string
			Status struct{ State string }
		}
		if err := json.Unmarshal([]byte(g.body), &task); err != nil || task.ID == "" || strings.Contains(g.body, `"metadata"`) {
			t.Fatalf("%v: %s", err, g.body)
		}
		if task.Status.State == "completed" {
			return
		}
	}
}

// TestAnInlinePushConfigurationIsForTheTaskOfItsMessage refuses one that names another task or tenant, and takes one that
// names the message's.
func TestAnInlinePushConfigurationIsForTheTaskOfItsMessage(t *testing.T) {
	a := start(t, pushCard, []server.Skill{run("ask", func(_ context.Context, task *server.Task) (string, error) { return "", task.Ask("What?") })}, open)
	id := str(a.ok("SendMessage", message("go")), "task", "id")
	other := str(a.ok("SendMessage", message("go")), "task", "id")
	for _, tt := range []struct{ message, more, field string }{
		{message("go"), `,"taskId":"` + id + `"`, "taskId"},
		{message("more", `"taskId":"`+id+`"`), `,"taskId":"` + other + `"`, "taskId"},
		{message("go"), `,"tenant":"acme"`, "tenant"},
	} {
		_, err := a.call("SendMessage", with(tt.message, inline("https://hook.example/", tt.more)))
		if err == nil || len(err.Violations()) != 1 || err.Violations()[0].Field != "configuration.taskPushNotificationConfig."+tt.field {
			t.Errorf("%s: %v", tt.more, err)
		}
	}
	a.ok("SendMessage", with(message("more", `"taskId":"`+id+`"`), inline("https://hook.example/", `,"taskId":"`+id+`"`)))
	if got := a.ok("ListTaskPushNotificationConfigs", `{"taskId":"`+id+`"}`); len(at(got, "configs").([]any)) != 1 {
		t.Errorf("the task has %v", got)
	}
}

// Before 1.0 a notification is the task as it was at the event, which the task has left behind by then.
func TestOlderReceiversGetTheTaskAsItWas(t *testing.T) {
	for version, send := range map[string]string{
		"0.3": `message/send {"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"maps"}]},"configuration":{"blocking":true,"pushNotificationConfig":{"url":"URL","token":"k"}}}`,
		"0.2": `message/send {"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"maps"}]},"configuration":{"acceptedOutputModes":["text/plain"],"blocking":true,"pushNotificationConfig":{"url":"URL","token":"k"}}}`,
		"0.1": `tasks/send {"id":"t-1","message":{"role":"user","parts":[{"type":"text","text":"maps"}]},"pushNotification":{"url":"URL","token":"k"}}`,
	} {
		t.Run(version, func(t *testing.T) {
			a, d := polyglotPush(t), receiver(t)
			var held sync.Once
			d.answer = func(int, *http.Request) int { held.Do(func() { time.Sleep(100 * time.Millisecond) }); return 200 }
			method, params, _ := strings.Cut(strings.Replace(send, "URL", d.URL, 1), " ")
			answered := a.said(version, method, params)
			var task struct {
				ID     string
				Status struct{ State string }
			}
			if err := json.Unmarshal([]byte(answered), &task); err != nil || task.Status.State != "completed" {
				t.Fatalf("%v: %s", err, answered)
			}
			var tale []string
			for n := 1; len(tale) == 0 || !strings.HasPrefix(tale[len(tale)-1], "completed"); n++ {
				g := d.wait(t, n)[n-1]
				var was struct {
					ID        string
					Status    struct{ State string }
					Artifacts []struct{ Parts []struct{ Text string } }
				}
				if err := json.Unmarshal([]byte(g.body), &was); err != nil || was.ID != task.ID {
					t.Fatalf("%v: %s", err, g.body)
				}
				text := was.Status.State
				for _, artifact := range was.Artifacts {
					text += " "
					for _, p := range artifact.Parts {
						text += p.Text
					}
				}
				tale = append(tale, text)
				if h := g.header; h.Get("X-A2A-Notification-Token") != "k" || h.Get("A2A-Version") != version || h.Get("Content-Type") != "application/json" {
					t.Errorf("header: %v", h)
				}
			}
			if len(tale) < 3 || !strings.HasPrefix(tale[0], "working") || tale[len(tale)-1] != "completed NS EW Two maps." {
				t.Errorf("it is told %q", tale)
			}
			for i := 1; i < len(tale)-1; i++ {
				if len(tale[i]) < len(tale[i-1]) || !strings.HasPrefix(tale[i], "working") {
					t.Errorf("it is told %q", tale)
				}
			}
		})
	}
}

func TestAReceiverThatIsDownGetsEverythingLater(t *testing.T) { // R84, R192
	d := receiver(t)
	d.answer = func(n int, _ *http.Request) int { return []int{503, 500, 200}[min(n-1, 2)] }
	var out bytes.Buffer
	a := start(t, pushCard, []server.Skill{talker("a", "b")}, open, server.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	a.ok("SendMessage", with(message("go"), inline(d.URL, "")))
	all := d.wait(t, 3)
	for _, g := range all[1:3] {
		if g.body != all[0].body || g.header.Get(runtime.PushIDHeader) != all[0].header.Get(runtime.PushIDHeader) {
			t.Errorf("%s is repeated as %s", all[0].body, g.body)
		}
	}
	for n := 3; !strings.Contains(all[len(all)-1].body, "TASK_STATE_COMPLETED"); n++ {
		all = d.wait(t, n)
	}
	if err := a.Close(); err != nil { // nothing is logged any more
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "did not arrive") != 1 || !strings.Contains(text, "503") {
		t.Errorf("the first failure, and no repeat of it, is to be logged, not %s", text)
	}
}

// What an instance before could not deliver goes out when the next one starts.
func TestNotificationsGoOutAfterARestart(t *testing.T) {
	d, kept := receiver(t), memory.New(memory.Limits{})
	gone := make(chan struct{})
	d.answer = func(int, *http.Request) int { // the agent ends while it waits for an answer: nothing is put off
		<-gone
		return 503
	}
	a := newServer(t, pushCard, []server.Skill{talker("a", "b")}, open, server.WithStore(kept))
	h := httptest.NewServer(a)
	b := &agent{a, t, h.URL + "/rpc", http.DefaultClient}
	b.ok("SendMessage", with(message("go"), inline(d.URL, "")))
	first := d.wait(t, 1)[0]
	err := a.Close()
	if close(gone); err != nil {
		t.Fatal(err)
	}
	h.Close()
	http.DefaultClient.CloseIdleConnections()
	d.mu.Lock()
	d.got, d.answer = nil, nil
	d.mu.Unlock()
	start(t, pushCard, []server.Skill{talker()}, open, server.WithStore(kept))
	all := d.wait(t, 1)
	if all[0].body != first.body || all[0].header.Get(runtime.PushIDHeader) != first.header.Get(runtime.PushIDHeader) {
		t.Errorf("%s goes on with %s", first.body, all[0].body)
	}
	for n := 2; !strings.Contains(all[len(all)-1].body, "TASK_STATE_COMPLETED"); n++ {
		all = d.wait(t, n)
	}
}

func TestAnAgentThatSignsServesItsKeys(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := push.NewSigner("https://agent.example", key)
	if err != nil {
		t.Fatal(err)
	}
	d := receiver(t)
	a := start(t, pushCard, []server.Skill{talker("a")}, open, server.WithPushSigner(signer))
	a.ok("SendMessage", with(message("go"), inline(d.URL, `,"authentication":{"scheme":"Bearer"}`)))
	h := d.wait(t, 1)[0].header
	if jwt := h.Get(runtime.PushSignatureHeader); strings.Count(jwt, ".") != 2 || h.Get("Authorization") != "Bearer "+jwt {
		t.Errorf("header: %v", h)
	}
	resp, err := a.web.Get(strings.TrimSuffix(a.url, "/rpc") + runtime.PushKeysPath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.Header.Get("Content-Type") != "application/jwk-set+json" || string(body) != string(signer.Keys()) {
		t.Errorf("keys: %s", body)
	}
	plain := start(t, pushCard, []server.Skill{talker("a")})
	resp, err = plain.web.Get(strings.TrimSuffix(plain.url, "/rpc") + runtime.PushKeysPath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("an agent without keys: %s", resp.Status)
	}
}

func TestWhatTheCardPromisesHasToBeSent(t *testing.T) {
	_, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, pushCard)})
	if err == nil || !strings.Contains(err.Error(), "webhooks.Send()") {
		t.Errorf("nothing sends push notifications, and nobody says so: %v", err)
	}
	_, err = server.New(server.Config{Protocol: a2a.ServerProtocol(), Card: readCard(t, pushCard)}, webhooks.Send())
	if err == nil || !strings.Contains(err.Error(), "a2a.Protocol()") {
		t.Errorf("the protocol has no codecs for push notifications, and nobody says so: %v", err)
	}
}

func TestPushTargetsComeFromTheEnvironmentToo(t *testing.T) {
	t.Setenv(server.EnvPushTargets, "127.0.0.1/32, ::1")
	d := receiver(t)
	a := start(t, pushCard, []server.Skill{talker("a")})
	a.ok("SendMessage", with(message("go"), inline(d.URL, "")))
	d.wait(t, 1)
	t.Setenv(server.EnvPushTargets, "localhost")
	if _, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, pushCard)}, webhooks.Send()); err == nil || !strings.Contains(err.Error(), server.EnvPushTargets) {
		t.Errorf("a name is taken for a network: %v", err)
	}
}

func TestAnEndedTaskHasNothingToSay(t *testing.T) {
	a, d := start(t, pushCard, []server.Skill{talker("a")}, open), receiver(t)
	id := str(a.ok("SendMessage", message("go")), "task", "id")
	a.ok("CreateTaskPushNotificationConfig", `{"taskId":"`+id+`","id":"late","url":"`+d.URL+`"}`)
	if got := a.ok("ListTaskPushNotificationConfigs", `{"taskId":"`+id+`"}`); str(got, "configs", 0, "id") != "late" {
		t.Errorf("there are %v", got)
	}
	other := receiver(t) // by the time that it has heard of its task, the first would have, too
	a.ok("SendMessage", with(message("go"), inline(other.URL, "")))
	for n, all := 1, other.wait(t, 1); !strings.Contains(all[len(all)-1].body, "TASK_STATE_COMPLETED"); n++ {
		all = other.wait(t, n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.got) != 0 {
		t.Errorf("it gets %v", d.got)
	}
}
