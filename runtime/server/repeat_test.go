package server_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// A client that has not heard the answer sends its request again with the key of the first, and gets the first one's
// task.
func TestARequestWithAnIdempotencyKeyIsTakenOnOnce(t *testing.T) {
	var runs atomic.Int32
	a := start(t, testCard, []server.Skill{run("count", func(context.Context, *server.Task) (string, error) {
		runs.Add(1)
		return "counted", nil
	})})
	first, err := a.call("SendMessage", message("hello"), "Idempotency-Key: k")
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.call("SendMessage", message("hello"), `Idempotency-Key: "k"`) // as the draft standard quotes it
	if err != nil || runs.Load() != 1 || again["task"].(map[string]any)["id"] != first["task"].(map[string]any)["id"] {
		t.Errorf("%v, then %v, %v: %d runs", first, again, err, runs.Load())
	}
	_, err = a.call("SendMessage", message("goodbye"), "Idempotency-Key: k")
	if err == nil || err.Code != runtime.ErrInvalidParams.Code || !strings.Contains(err.Error(), "Idempotency-Key") {
		t.Errorf("another content: %v", err)
	}
	if _, err := a.call("SendMessage", message("hello")); err != nil || runs.Load() != 2 {
		t.Errorf("without a key: %v, %d runs", err, runs.Load())
	}
}

// TestTwoIdempotencyKeysAreOneTooMany: nobody could say by which the message is known. It is an error over each binding.
func TestTwoIdempotencyKeysAreOneTooMany(t *testing.T) {
	a := start(t, restCard, []server.Skill{echo()})
	base := strings.TrimSuffix(a.url, "/rpc")
	for _, c := range []struct {
		path, body string
		status     int
	}{{"/rpc", rpcBody("SendMessage", message("hello")), 200}, {"/rest/message:send", message("hello"), 400}} {
		for _, second := range []string{"two", "one"} {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+c.path, strings.NewReader(c.body))
			req.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}, "Idempotency-Key": {"one", second}}
			resp, err := a.web.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != c.status || !strings.Contains(string(body), "INVALID_PARAMS") || !strings.Contains(string(body), "Idempotency-Key") {
				t.Errorf("%s: %s %s", c.path, resp.Status, body)
			}
		}
	}
	said := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}],"metadata":{"` + runtime.SkillsExtension + `":{"idempotencyKey":"two"}}}}`
	if _, err := a.call("SendMessage", said, "Idempotency-Key: one"); err == nil || !strings.Contains(err.Error(), "is not what Idempotency-Key says") {
		t.Errorf("another one in the metadata: %v", err)
	}
	if _, err := a.call("SendMessage", said, "Idempotency-Key: two"); err != nil {
		t.Errorf("the same in the metadata: %v", err)
	}
	if list := a.ok("ListTasks", `{}`); at(list, "totalSize") != float64(1) {
		t.Errorf("there are %v tasks", at(list, "totalSize"))
	}
}

// TestTheAgeOfAMessageIsANumberOfSeconds within the time for which keys are known.
func TestTheAgeOfAMessageIsANumberOfSeconds(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, age := range []string{"-1", "1.5", "x", "4294967296"} {
		_, err := a.call("SendMessage", message("hello"), "Idempotency-Key: k", "Idempotency-Age: "+age)
		if err == nil || err.Code != runtime.ErrInvalidParams.Code || !strings.Contains(err.Error(), "Idempotency-Age") {
			t.Errorf("%q: %v", age, err)
		}
	}
	if _, err := a.call("SendMessage", message("hello"), "Idempotency-Age: x"); err != nil {
		t.Errorf("without a key, which an age is of: %v", err)
	}
	_, err := a.call("SendMessage", message("hello"), "Idempotency-Key: k", "Idempotency-Age: 90000")
	if err == nil || !strings.Contains(err.Error(), "no longer knows") {
		t.Errorf("older than any key: %v", err)
	}
}

// A sender that names a key relies on it: a key that cannot be one is an error, not a message without a key.
func TestAnIdempotencyKeyThatIsNoneIsAnError(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("count", func(context.Context, *server.Task) (string, error) { return "counted", nil })})
	send := func(key string) error {
		_, err := a.call("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}],"metadata":{"`+
			runtime.SkillsExtension+`":{"skill":"count"`+key+`}}}}`)
		if err == nil {
			return nil
		}
		return err
	}
	for _, key := range []string{"3", `""`, "true", "{}", `["k"]`} {
		if err := send(`,"idempotencyKey":` + key); err == nil || !strings.Contains(err.Error(), "idempotencyKey must be a text") {
			t.Errorf("the key %s: %v", key, err)
		}
	}
	for _, key := range []string{"", `,"idempotencyKey":null`, `,"idempotencyKey":"k"`} {
		if err := send(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}
