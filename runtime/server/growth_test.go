package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// many is n numbered pieces of text.
func many(n int, piece func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(piece(i))
	}
	return b.String()
}

// list is many pieces with commas between them.
func list(n int, piece func(i int) string) string {
	return many(n, func(i int) string { return strings.Repeat(",", min(i, 1)) + piece(i) })
}

// Whatever a client sends takes time linear in its size.
func TestRequestsTakeLinearTime(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{
		typed("book", []string{"title", "author"}, func(_ context.Context, _ *server.Task, in map[string]any) (any, error) { return in, nil }),
		run("chat", func(_ context.Context, t *server.Task) (string, error) { return t.Text()[:1], nil }),
	}, server.WithLimits(server.Limits{Body: 64 << 20}))
	send := func(body string) {
		r := httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", "1.0")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("status %d: %.300s", w.Code, w.Body)
		}
	}
	book := `"metadata":{"skillId":"book"}`
	for _, tt := range []struct {
		name string
		n    int
		body func(n int) string
	}{
		{"a value of many pieces", 4 << 10, func(n int) string { return rpcBody("SendMessage", message("title: a"+strings.Repeat(",b", n), book)) }},
		{"many values of one name", 1 << 10, func(n int) string { return rpcBody("SendMessage", message(strings.Repeat("title: a,", n), book)) }},
		{"values that do not fit", 1 << 10, func(n int) string {
			return rpcBody("SendMessage", message(strings.Repeat("title: 1, author 2,", n), book))
		}},
		{"separators only", 40 << 10, func(n int) string { return rpcBody("SendMessage", message(strings.Repeat(",\n", n), book)) }},
		{"pairs longer than are read", 40 << 10, func(n int) string { return rpcBody("SendMessage", message("title: a"+strings.Repeat(",b", n), book)) }},
		{"spaces", 100 << 10, func(n int) string { return rpcBody("SendMessage", message(strings.Repeat(" ", n), book)) }},
		{"text that is JSON", 2 << 10, func(n int) string {
			return rpcBody("SendMessage", message(`{`+list(n, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) })+`}`, book))
		}},
		{"words", 20 << 10, func(n int) string {
			return rpcBody("SendMessage", message(many(n, func(i int) string { return fmt.Sprintf("w%d ", i) })))
		}},
		{"words without spaces", 20 << 10, func(n int) string { return rpcBody("SendMessage", message(strings.Repeat("日本", n))) }},
		{"parts", 4 << 10, func(n int) string {
			parts := list(n, func(i int) string { return fmt.Sprintf(`{"text":"w%d"}`, i) })
			return rpcBody("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[`+parts+`]}}`)
		}},
		{"data parts", 4 << 10, func(n int) string {
			parts := list(n, func(i int) string { return fmt.Sprintf(`{"data":{"w":%d}}`, i) })
			return rpcBody("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[`+parts+`],`+book+`}}`)
		}},
		{"files", 4 << 10, func(n int) string {
			parts := list(n, func(i int) string { return fmt.Sprintf(`{"url":"http://x/%d","mediaType":"text/x-%d"}`, i, i) })
			return rpcBody("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[`+parts+`]}}`)
		}},
		{"data with many members", 4 << 10, func(n int) string {
			return rpcBody("SendMessage", data(`{`+list(n, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) })+`}`))
		}},
		{"data that names a skill", 2 << 10, func(n int) string {
			return rpcBody("SendMessage", data(`{"skill":"book","input":{`+list(n, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) })+`}}`))
		}},
		{"a deep value", 800, func(n int) string { return rpcBody("SendMessage", data(strings.Repeat("[", n)+strings.Repeat("]", n))) }},
		{"metadata", 4 << 10, func(n int) string {
			return rpcBody("SendMessage", message("x", `"metadata":{`+list(n, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) })+`}`))
		}},
		{"extensions", 4 << 10, func(n int) string {
			return rpcBody("SendMessage", message("x", `"extensions":[`+list(n, func(i int) string { return fmt.Sprintf(`"k%d"`, i) })+`]`))
		}},
		{"members that nobody knows", 4 << 10, func(n int) string {
			more := many(n, func(i int) string { return fmt.Sprintf(`,"k%d":[%d]`, i, i) })
			return strings.TrimSuffix(rpcBody("SendMessage", strings.TrimSuffix(message("x", strings.TrimPrefix(more, ",")), "}")+more+"}"), "}") + more + "}"
		}},
		{"the same member again", 10 << 10, func(n int) string {
			return strings.TrimSuffix(rpcBody("SendMessage", message("x")), "}") + strings.Repeat(`,"x":1`, n) + "}"
		}},
		{"escapes", 40 << 10, func(n int) string {
			return rpcBody("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"`+strings.Repeat(`\u00e9\n`, n)+`"}]}}`)
		}},
		{"digits", 100 << 10, func(n int) string { return rpcBody("SendMessage", data(strings.Repeat("9", n))) }},
		{"a long method", 100 << 10, func(n int) string { return rpcBody(strings.Repeat("m", n), "{}") }},
		{"a long id", 100 << 10, func(n int) string {
			return `{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"},"id":"` + strings.Repeat("x", n) + `"}`
		}},
		{"a long task id", 100 << 10, func(n int) string { return rpcBody("GetTask", `{"id":"`+strings.Repeat("x", n)+`"}`) }},
		{"a long page token", 100 << 10, func(n int) string { return rpcBody("ListTasks", `{"pageToken":"`+strings.Repeat("x", n)+`"}`) }},
		{"a batch", 10 << 10, func(n int) string {
			return "[" + list(n, func(int) string { return rpcBody("GetTask", `{"id":"x"}`) }) + "]"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				body := tt.body(n)
				return func() { send(body) }
			})
		})
	}
}

// So does whatever stands in a header.
func TestHeadersTakeLinearTime(t *testing.T) {
	s := newServer(t, restCard, []server.Skill{run("chat", func(context.Context, *server.Task) (string, error) { return "x", nil })}, server.WithForwarded())
	for _, tt := range []struct {
		name, header string
		n            int
		value        func(n int) string
	}{
		{"extensions", "A2a-Extensions", 10_000, func(n int) string {
			return list(n, func(i int) string { return fmt.Sprintf("https://example.com/%d", i) })
		}},
		{"one extension again and again", "A2a-Extensions", 10_000, func(n int) string { return strings.Repeat("https://example.com/x,", n) }},
		{"extensions of 0.3", "X-A2a-Extensions", 100_000, func(n int) string { return strings.Repeat(", ", n) }},
		{"a version", "A2a-Version", 200_000, func(n int) string { return strings.Repeat("1.", n) }},
		{"a tenant", "A2a-Tenant", 200_000, func(n int) string { return strings.Repeat("t", n) }},
		{"a key", "Idempotency-Key", 200_000, func(n int) string { return strings.Repeat(`"`, n) }},
		{"a place in a stream", "Last-Event-ID", 200_000, func(n int) string { return strings.Repeat("9", n) }},
		{"what is accepted", "Accept", 100_000, func(n int) string { return strings.Repeat("text/html;", n) }},
		{"a content type", "Content-Type", 100_000, func(n int) string { return "application/json" + strings.Repeat("; a=b", n) }},
		{"an origin", "Origin", 100_000, func(n int) string { return "https://" + strings.Repeat("a.", n) }},
		{"proxies", "Forwarded", 50_000, func(n int) string { return strings.Repeat("for=1;proto=http,", n) }},
		{"a prefix", "X-Forwarded-Prefix", 100_000, func(n int) string { return strings.Repeat("/a", n) }},
		{"cookies", "Cookie", 50_000, func(n int) string { return strings.Repeat("a=b; ", n) }},
		{"credentials", "Authorization", 200_000, func(n int) string { return "Bearer " + strings.Repeat("a", n) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				value := tt.value(n)
				return func() {
					for _, path := range []string{"/rpc", "/rest/message:stream"} {
						body := message("x")
						if path == "/rpc" {
							body = rpcBody("SendStreamingMessage", body)
						}
						r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
						r.Header.Set(tt.header, value)
						s.ServeHTTP(httptest.NewRecorder(), r)
					}
				}
			})
		})
	}
}

// Reading a text is work, and counts as such.
func TestTextIsReadOnlyWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	block, blocked := make(chan struct{}), make(chan struct{})
	checks := 0
	book := typed("book", []string{"title", "author"}, func(_ context.Context, _ *server.Task, in map[string]any) (any, error) { return in, nil })
	decode := book.Decode
	book.Decode = func(input []byte) (any, error) { checks++; return decode(input) }
	a := start(t, testCard, []server.Skill{book, run("chat", func(context.Context, *server.Task) (string, error) { close(blocked); <-block; return "", nil })},
		server.WithLimits(server.Limits{Running: 1}))
	parked := a.ok("SendMessage", message("hello", `"metadata":{"skillId":"book"}`))
	id := str(parked, "task", "id")
	a.ok("SendMessage", with(message("x", `"metadata":{"skillId":"chat"}`), `{"returnImmediately":true}`))
	<-blocked
	checks = 0
	for _, more := range []string{`"metadata":{"skillId":"book"}`, `"taskId":"` + id + `"`} {
		if _, e := a.call("SendMessage", message("title: a", more)); e == nil || e.Reason != "RESOURCE_EXHAUSTED" {
			t.Errorf("with %s the answer is %v, not that the agent is busy", more, e)
		}
	}
	close(block)
	if checks > 0 {
		t.Errorf("a busy agent read the input %d times", checks)
	}
	for {
		result, e := a.call("SendMessage", message("title: a, author: b", `"taskId":"`+id+`"`))
		if e != nil && e.Reason == "RESOURCE_EXHAUSTED" { // the call before counts until it has returned
			continue
		}
		if got := str(result, "task", "status", "state"); got != "TASK_STATE_COMPLETED" {
			t.Errorf("the task is %s: %v", got, e)
		}
		return
	}
}

// Each event of an artifact looks for its own among all of its task's.
func TestATaskHasABoundedNumberOfArtifacts(t *testing.T) {
	t.Parallel()
	given, err := 0, error(nil)
	a := start(t, testCard, []server.Skill{run("many", func(_ context.Context, t *server.Task) (string, error) {
		for ; err == nil && given < 2*runtime.MaxArtifacts; given++ {
			err = t.Artifact("", runtime.Text("x"))
		}
		return "done", nil
	})})
	task := a.ok("SendMessage", message("x"))["task"]
	if !errors.Is(err, server.ErrTooManyArtifacts) || given != runtime.MaxArtifacts {
		t.Errorf("after %d artifacts: %v", given, err)
	}
	if state, last := str(task, "status", "state"), str(task, "artifacts", runtime.MaxArtifacts-1, "parts", 0, "text"); state != "TASK_STATE_COMPLETED" || last != "done" {
		t.Errorf("the task is %s, its last artifact %q", state, last)
	}
}
