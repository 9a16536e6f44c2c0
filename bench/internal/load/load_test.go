package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/bench/internal/work"
)

const token = "tokenofthisprocess"

// ask runs one request against a handler that answers with the given text, in which NUMBER stands for the request's
// number. Server-sent events are separated by blank lines.
func ask(t *testing.T, d *Dialect, k work.Kind, n int, answer string) error {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		named := strings.Contains(string(body), `"id":"000000007"`)
		if _, isRPC := d.binding.(rpc); err != nil || named != isRPC || !strings.Contains(string(body), "m-000000007") {
			t.Errorf("request is %q (%v)", body, err)
		}
		if strings.HasPrefix(answer, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
			for event := range strings.SplitAfterSeq(strings.ReplaceAll(answer, "NUMBER", "000000007"), "\n\n") {
				io.WriteString(w, event)
				w.(http.Flusher).Flush()
			}
			return
		}
		io.WriteString(w, strings.ReplaceAll(answer, "NUMBER", "000000007"))
	}))
	defer srv.Close()
	addr := srv.Listener.Addr().String()
	l, err := dialHTTP(addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	driver := driver{l: l, r: d.newRequest(addr, k, n), check: newChecker(d, k, n, token)}
	if err := driver.drive(7, 8, 1, nil); err != nil {
		return err
	}
	if k == work.Stream && driver.writes != strings.Count(answer, "data:") {
		t.Errorf("%d writes were counted", driver.writes)
	}
	return nil
}

func TestAnswersAreChecked(t *testing.T) {
	reply := work.Reply(token)
	message := `{"jsonrpc":"2.0","id":"NUMBER","result":{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"` + reply + `"}]}}}`
	task := `{"jsonrpc":"2.0","id":"NUMBER","result":{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"text":"` + reply + `"}]}]}}}`
	old := `{"jsonrpc":"2.0","id":"NUMBER","result":{"kind":"task","id":"t","status":{"state":"completed"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"` + reply + `"}]}]}}`
	result := func(envelope string) string {
		_, inside, _ := strings.Cut(envelope, `"result":`)
		return strings.TrimSuffix(inside, "}")
	}
	for name, c := range map[string]struct {
		d      *Dialect
		kind   work.Kind
		answer string
		want   string // part of the error; "" for none
	}{
		"a message":                      {V1, work.Message, message, ""},
		"a task":                         {V1, work.Task, task, ""},
		"a message over HTTP+JSON":       {REST, work.Message, result(message), ""},
		"a task over HTTP+JSON":          {REST, work.Task, result(task), ""},
		"of the wrong kind, HTTP+JSON":   {REST, work.Message, result(task), "wrong kind"},
		"an envelope over HTTP+JSON":     {REST, work.Message, message, "the answer says []"},
		"a task of 0.2":                  {V02, work.Task, old, ""},
		"members in another order":       {V1, work.Message, `{"result":{"message":{"parts":[{"text":"` + reply + `"}]}},"jsonrpc":"2.0","id":"NUMBER"}`, ""},
		"from another process":           {V1, work.Message, strings.ReplaceAll(message, token, "someone"), "not the answer"},
		"for another request":            {V1, work.Message, strings.ReplaceAll(message, "NUMBER", "000000008"), "not the answer"},
		"a task in place of a message":   {V1, work.Message, task, "wrong kind"},
		"a message in place of a task":   {V1, work.Task, message, "not complete"},
		"a task that still works":        {V1, work.Task, strings.ReplaceAll(task, "COMPLETED", "WORKING"), "not complete"},
		"an error that quotes the token": {V1, work.Message, `{"jsonrpc":"2.0","id":"NUMBER","error":{"message":"` + reply + `"}}`, "not a JSON-RPC result"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, ask(t, c.d, c.kind, 0, c.answer), c.want) })
	}
}

func TestStreamsAreChecked(t *testing.T) {
	event := func(result string) string {
		return `data: {"jsonrpc":"2.0","id":"NUMBER","result":{` + result + "}}\n\n"
	}
	chunk := func(i int) string {
		return event(fmt.Sprintf(`"artifactUpdate":{"artifact":{"parts":[{"text":"%s"}]}}`, work.Chunk(token, i)))
	}
	open := event(`"task":{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}`)
	done := event(`"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED"}}`)
	for name, c := range map[string]struct{ stream, want string }{
		"complete":                 {open + chunk(0) + chunk(1) + chunk(2) + done, ""},
		"with a chunk lost":        {open + chunk(0) + chunk(2) + done, "chunk 1 was due"},
		"with chunks swapped":      {open + chunk(1) + chunk(0) + chunk(2) + done, "chunk 0 was due"},
		"with a chunk twice":       {open + chunk(0) + chunk(0) + chunk(1) + chunk(2) + done, "chunk 1 was due"},
		"with a chunk too many":    {open + chunk(0) + chunk(1) + chunk(2) + chunk(3) + done, "chunk 3 was due"},
		"without the end":          {open + chunk(0) + chunk(1) + chunk(2), "completed: false"},
		"that ends early":          {open + chunk(0) + done, "after 1 of 3"},
		"that goes on":             {open + chunk(0) + chunk(1) + chunk(2) + done + open, "after the last"},
		"for another request":      {strings.ReplaceAll(open, "NUMBER", "000000001"), "not an event for"},
		"with another one's chunk": {open + strings.ReplaceAll(chunk(0), token, "someone"), "chunk 0 was due"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, ask(t, V1, work.Stream, 3, c.stream), c.want) })
	}
	t.Run("over HTTP+JSON", func(t *testing.T) {
		bare := strings.NewReplacer(`{"jsonrpc":"2.0","id":"NUMBER","result":`, "", "}}\n", "}\n")
		expect(t, ask(t, REST, work.Stream, 1, bare.Replace(open+chunk(0)+done)), "")
		expect(t, ask(t, REST, work.Stream, 1, bare.Replace(open+done)), "after 0 of 1")
	})
}

func TestAnErrorStatusIsAnError(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	l, err := dialHTTP(srv.Listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = l.call(V1.newRequest("x", work.Message, 0))
	expect(t, err, "404")
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one with %q", err, want)
	}
}
