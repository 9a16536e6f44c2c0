package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime/server"
)

// restCard has both bindings: JSON-RPC at /rpc, HTTP+JSON below /rest.
const restCard = `{"name":"Test","description":"for tests","version":"1.0.0","supportedInterfaces":[{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
	{"url":"http://localhost/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true,"extensions":[{"uri":"https://example.com/x"}]},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// rest sends a request over HTTP+JSON with header lines "Name: value", and returns the response with its body unread.
func (a *agent) rest(method, path, body string, header ...string) *http.Response {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, strings.TrimSuffix(strings.TrimSuffix(a.url, "/rpc"), "/")+"/rest"+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/a2a+json")
	}
	req.Header.Set("A2A-Version", "1.0")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := a.web.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp
}

// answer is rest with the body decoded.
func (a *agent) answer(method, path, body string, header ...string) (*http.Response, map[string]any) {
	a.t.Helper()
	resp := a.rest(method, path, body, header...)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		a.t.Fatalf("%s %s: %s of type %q: %s", method, path, resp.Status, got, b)
	}
	var result map[string]any
	if err := json.Unmarshal(b, &result); err != nil {
		a.t.Fatalf("%v in %s", err, b)
	}
	return resp, result
}

// restEvents opens a stream over HTTP+JSON and returns the data of its events, by a function that ends with the stream.
func (a *agent) restEvents(method, path, body string, header ...string) func() (id string, data map[string]any, ok bool) {
	a.t.Helper()
	resp := a.rest(method, path, body, header...)
	a.t.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != sse.ContentType {
		b, _ := io.ReadAll(resp.Body)
		a.t.Fatalf("%s of type %q: %s", resp.Status, got, b)
	}
	r := sse.NewReader(bufio.NewReader(resp.Body), 0)
	return func() (string, map[string]any, bool) {
		e, err := r.Next()
		if err != nil {
			return "", nil, false
		}
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			a.t.Errorf("%v in %s", err, e.Data)
		}
		return string(e.ID), data, true
	}
}

// scripted does what a message says: it asks, waits, or answers.
func scripted(release <-chan struct{}) server.Skill {
	return run("scripted", func(ctx context.Context, t *server.Task) (string, error) {
		switch text := t.Text(); text {
		case "wait":
			if err := t.Progress("working"); err != nil {
				return "", err
			}
			select {
			case <-release:
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		case "fail":
			return "", errors.New("it failed")
		default:
			return "you said " + text, nil
		}
	})
}

// TestListsInTheWordsOfA2AGo: its client calls the time after which tasks have changed otherwise.
func TestListsInTheWordsOfA2AGo(t *testing.T) {
	a := start(t, restCard, []server.Skill{scripted(nil)})
	a.ok("SendMessage", message("hi"))
	for after, want := range map[string]int{"2020-01-02T03:04:05Z": 1, "2099-01-02T03:04:05Z": 0} {
		if _, got := a.answer("GET", "/tasks?lastUpdatedAfter="+after, ""); at(got, "totalSize") != float64(want) {
			t.Errorf("after %s: %v", after, got)
		}
	}
}

// TestStreamsOverHTTPJSON have the values alone in their events, ids to come back with, and end with the task (R171, T2).
func TestStreamsOverHTTPJSON(t *testing.T) {
	release := make(chan struct{})
	a := start(t, restCard, []server.Skill{scripted(release)})
	next := a.restEvents("POST", "/message:stream", message("wait"))
	id, first, _ := next()
	task := str(first, "task", "id")
	if id == "" || task == "" {
		t.Fatalf("the first event is %q %v", id, first)
	}
	for _, again := range []func() (string, map[string]any, bool){
		a.restEvents("GET", "/tasks/"+task+":subscribe", "", "Last-Event-ID: 0"),
		a.restEvents("POST", "/tasks/"+task+":subscribe", ""),
	} {
		if _, e, _ := again(); str(e, "task", "id") != task {
			t.Errorf("a subscription begins with %v", e)
		}
	}
	close(release)
	ids := []string{id}
	var last map[string]any
	for {
		id, e, ok := next()
		if !ok {
			break
		}
		ids, last = append(ids, id), e
	}
	if len(ids) > 2 { // who comes back while the task is kept goes on where it was
		again := a.restEvents("GET", "/tasks/"+task+":subscribe", "", "Last-Event-ID: "+ids[len(ids)-2])
		if got, e, _ := again(); got != ids[len(ids)-1] || cmp.Diff(last, e) != "" {
			t.Errorf("after %s comes %s %v, want %v", ids[len(ids)-2], got, e, last)
		}
	}
	if got := str(last, "statusUpdate", "status", "state"); got != "TASK_STATE_COMPLETED" || len(ids) < 3 {
		t.Errorf("events %v end with %v", ids, last)
	}
}

// TestWhatIsRefusedOverHTTPJSON answers with a status and a google.rpc.Status before anything is carried out (R161, R169,
// R170, T9).
func TestWhatIsRefusedOverHTTPJSON(t *testing.T) {
	t.Parallel()
	identity := server.WithProxyIdentity(func(r *http.Request) (string, error) {
		if r.Header.Get("Authorization") == "nobody" {
			return "", errors.New("unknown")
		}
		return "somebody", nil
	})
	a := start(t, restCard, []server.Skill{scripted(nil)}, identity, server.WithLimits(server.Limits{Body: 4 << 10}))
	send := message("hi")
	for _, tt := range []struct {
		name, method, path, body, header string
		status                           int
		name2, reason                    string
	}{
		{"unknown path", "GET", "/nowhere/at/all/x", "", "", 404, "NOT_FOUND", "METHOD_NOT_FOUND"},
		{"a path of another version", "POST", "/v1/x/message:send", send, "", 404, "NOT_FOUND", "METHOD_NOT_FOUND"},
		{"wrong verb", "DELETE", "/tasks/x", "", "", 405, "UNIMPLEMENTED", "METHOD_NOT_FOUND"},
		{"bad encoding of a query", "GET", "/tasks?pageToken=%zz", "", "", 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
		{"body that is cut", "POST", "/message:send", send[:40], "", 400, "INVALID_ARGUMENT", "PARSE_ERROR"},
		{"body that is no JSON", "POST", "/t/message:send", "{nope", "", 400, "INVALID_ARGUMENT", "PARSE_ERROR"},
		{"body that is no object", "POST", "/t/message:send", "[1]", "", 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
		{"another tenant in the body", "POST", "/t/message:send", `{"tenant":"u"}`, "", 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
		{"body that is too large", "POST", "/message:send", message(strings.Repeat("x", 5<<10)), "", 413, "INVALID_ARGUMENT", "INVALID_REQUEST"},
		{"wrong content type", "POST", "/message:send", send, "Content-Type: text/plain", 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"},
		{"unknown version", "POST", "/message:send", send, "A2A-Version: 9.0", 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"},
		{"unknown version in the query", "GET", "/tasks?A2A-Version=9.0", "", "A2A-Version: ", 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"},
		{"unknown caller", "GET", "/tasks", "", "Authorization: nobody", 401, "UNAUTHENTICATED", "UNAUTHENTICATED"},
		{"unknown caller nowhere", "GET", "/nowhere", "", "Authorization: nobody", 401, "UNAUTHENTICATED", "UNAUTHENTICATED"},
	} {
		resp, got := a.answer(tt.method, tt.path, tt.body, tt.header)
		if resp.StatusCode != tt.status || str(got, "error", "status") != tt.name2 || at(got, "error", "code") != float64(tt.status) ||
			str(got, "error", "details", 0, "reason") != tt.reason {
			t.Errorf("%s: %s %v", tt.name, resp.Status, got)
		}
		if allow := resp.Header.Get("Allow"); (tt.status == 405) != (allow == "GET, HEAD, OPTIONS") {
			t.Errorf("%s: Allow is %q", tt.name, allow)
		}
	}
	if resp := a.rest("GET", "/tasks", "", "X: "+strings.Repeat("x", 2<<20)); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header over the limit: %s", resp.Status)
	}
	if list := a.ok("ListTasks", `{}`); at(list, "totalSize") != float64(0) {
		t.Errorf("something was carried out: %v", list)
	}
}

// TestServiceParametersOverHTTPJSON are those of JSON-RPC: version, extensions, a key by which a message is known again.
func TestServiceParametersOverHTTPJSON(t *testing.T) {
	a := start(t, restCard, []server.Skill{scripted(nil)})
	resp, _ := a.answer("GET", "/tasks", "", "A2A-Version: ", "A2A-Extensions: https://example.com/x, https://example.com/y")
	if got := resp.Header.Get("A2A-Extensions"); resp.StatusCode != http.StatusOK || got != "https://example.com/x" {
		t.Errorf("%s, extensions %q", resp.Status, got)
	}
	if resp, got := a.answer("GET", "/tasks?A2A-Version=1.0.1", "", "A2A-Version: "); resp.StatusCode != http.StatusOK {
		t.Errorf("the version in the query: %v", got)
	}
	_, first := a.answer("POST", "/message:send", message("hi"), "Idempotency-Key: k")
	_, again := a.answer("POST", "/message:send", message("hi"), "Idempotency-Key: k")
	if id := str(first, "task", "id"); id == "" || str(again, "task", "id") != id {
		t.Errorf("a message that came again: %v, %v", first, again)
	}
	if resp := a.rest("POST", "/message:send", message("hi"), "Sec-Fetch-Site: cross-site"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %s", resp.Status)
	}
}

// TestMethodsOfPaths: HEAD is GET without the body, and OPTIONS says what a path has.
func TestMethodsOfPaths(t *testing.T) {
	a := start(t, restCard, []server.Skill{scripted(nil)}, server.WithOrigins("https://trusted.example"))
	for path, want := range map[string]string{
		"/tasks": "GET, HEAD, OPTIONS", "/acme/tasks/x": "GET, HEAD, OPTIONS", "/tasks/x:cancel": "POST, OPTIONS",
		"/tasks/x:subscribe": "GET, POST, OPTIONS", "/tasks/x/pushNotificationConfigs/y": "GET, HEAD, DELETE, OPTIONS",
	} {
		resp := a.rest("OPTIONS", path, "", "Origin: https://trusted.example", "Access-Control-Request-Method: GET")
		if got := resp.Header.Get("Allow"); resp.StatusCode != http.StatusNoContent || got != want {
			t.Errorf("OPTIONS %s: %s, Allow %q", path, resp.Status, got)
		}
		if got := resp.Header.Get("Access-Control-Allow-Methods"); got+", OPTIONS" != want {
			t.Errorf("OPTIONS %s: a page may use %q", path, got)
		}
	}
	for path, want := range map[string]int{"/tasks": 200, "/tasks/none": 404, "/tasks/x:subscribe": 405, "/message:send": 405} {
		resp := a.rest("HEAD", path, "")
		if b, _ := io.ReadAll(resp.Body); resp.StatusCode != want || len(b) > 0 || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("HEAD %s: %s %s", path, resp.Status, b)
		}
	}
	if resp := a.rest("OPTIONS", "/a/b/c/d", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("OPTIONS of nothing: %s", resp.Status)
	}
}

// TestABodyOfNullIsAnEmptyOne holds over every path that has a body (T66): a2a-go 2.3.1 sends it with :cancel and :subscribe.
func TestABodyOfNullIsAnEmptyOne(t *testing.T) {
	asks := run("ask", func(_ context.Context, t *server.Task) (string, error) { return "", t.Ask("When?") })
	a := start(t, restCard, []server.Skill{asks})
	for _, body := range []string{"null", " null\n", "{}", ""} {
		_, sent := a.answer("POST", "/message:send", message("go"))
		id := str(sent, "task", "id")
		resp := a.rest("POST", "/tasks/"+id+":subscribe", body)
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != sse.ContentType {
			t.Errorf("%q: to subscribe is %s of type %s", body, resp.Status, got)
		}
		_ = resp.Body.Close()
		if resp, got := a.answer("POST", "/tasks/"+id+":cancel", body); resp.StatusCode != http.StatusOK || str(got, "status", "state") != "TASK_STATE_CANCELED" {
			t.Errorf("%q: to cancel is %s %v", body, resp.Status, got)
		}
	}
	if resp, got := a.answer("POST", "/message:send", "null"); resp.StatusCode != http.StatusBadRequest || str(got, "error", "details", 0, "reason") != "INVALID_PARAMS" {
		t.Errorf("nothing to send: %s %v", resp.Status, got)
	}
}

// TestACompressedBodyIsRefused with the status for that (RFC 9110 §15.5.16), over both bindings, and in time to send
// another.
func TestACompressedBodyIsRefused(t *testing.T) {
	a := start(t, restCard, []server.Skill{echo()})
	for _, coding := range []string{"gzip", "deflate", "identity, gzip"} {
		resp, body := a.post(rpcBody("ListTasks", `{}`), "Content-Encoding: "+coding)
		if resp.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(body, "compressed") || resp.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s: %s %v %s", coding, resp.Status, resp.Header, body)
		}
		if resp, got := a.answer("POST", "/message:send", message("x"), "Content-Encoding: "+coding); resp.StatusCode != http.StatusUnsupportedMediaType ||
			str(got, "error", "details", 0, "reason") != "CONTENT_TYPE_NOT_SUPPORTED" {
			t.Errorf("%s: %s %v", coding, resp.Status, got)
		}
	}
	if resp, body := a.post(rpcBody("ListTasks", `{}`), "Content-Encoding: Identity"); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestTasksAreNotKeptByCaches: what GET returns may change, and is the caller's alone.
func TestTasksAreNotKeptByCaches(t *testing.T) {
	a := start(t, restCard, []server.Skill{echo()})
	for method, want := range map[string]string{http.MethodGet: "no-store", http.MethodPost: ""} {
		resp := a.rest(method, "/tasks", "")
		_ = resp.Body.Close()
		if got := resp.Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control is %q", method, got)
		}
	}
}

// TestOneAddressForBothBindings: JSON-RPC is at it, HTTP+JSON below it, and the card stays where it is.
func TestOneAddressForBothBindings(t *testing.T) {
	a := start(t, strings.NewReplacer("localhost/rpc", "localhost/", "localhost/rest", "localhost/").Replace(restCard), []server.Skill{scripted(nil)})
	base := strings.TrimSuffix(a.url, "/rpc")
	for path, want := range map[string]int{"/tasks": 200, "/.well-known/agent-card.json": 200, "/healthz": 200, "/none": 404, "/": 405} {
		resp, err := a.web.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	a.url = base + "/"
	a.ok("ListTasks", `{}`)
}

// TestAnAgentOfHTTPJSONAlone shows how it is talked to, and speaks nothing else.
func TestAnAgentOfHTTPJSONAlone(t *testing.T) {
	card := `{"name":"Test","description":"d","version":"1","supportedInterfaces":[{"url":"http://localhost/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],
		"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`
	a := start(t, card, []server.Skill{scripted(nil)})
	a.url = strings.TrimSuffix(a.url, "/rpc")
	resp, body := a.post(rpcBody("ListTasks", "{}"))
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, a.url+"/rest/message:send'") {
		t.Errorf("%s: %s", resp.Status, body)
	}
	if resp, got := a.answer("POST", "/message:send", message("hi")); resp.StatusCode != http.StatusOK {
		t.Errorf("%v", got)
	}
}

// T9, T67: the statuses of 1.0.0 by option.
func TestTheStatusesOfTheFormerPatchLevel(t *testing.T) {
	a := start(t, restCard, []server.Skill{scripted(nil)}, server.WithCompat(server.Compat{FormerStatuses: true}))
	done := str(a.ok("SendMessage", message("hi")), "task", "id")
	for _, tt := range []struct {
		method, path, body string
		status             int
		name               string
	}{
		{"POST", "/tasks/" + done + ":cancel", "", 409, "FAILED_PRECONDITION"},
		{"GET", "/tasks/" + done + ":subscribe", "", 400, "UNIMPLEMENTED"},
		{"GET", "/tasks/none", "", 404, "NOT_FOUND"},
		{"GET", "/tasks/x/pushNotificationConfigs", "", 400, "UNIMPLEMENTED"},
	} {
		resp, got := a.answer(tt.method, tt.path, tt.body)
		if resp.StatusCode != tt.status || at(got, "error", "code") != float64(tt.status) || str(got, "error", "status") != tt.name {
			t.Errorf("%s %s: %s %v", tt.method, tt.path, resp.Status, got)
		}
	}
}
