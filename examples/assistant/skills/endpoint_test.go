package skills

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// endpoint is an endpoint for chat completions that says what a test has written down: one answer a request.
type endpoint struct {
	t   *testing.T
	url string

	otherwise http.HandlerFunc // answers what no test has written down an answer for; nil: that fails the test

	mu      sync.Mutex
	answers []http.HandlerFunc
	asked   []request
}

// request is what the endpoint was asked.
type request struct {
	Model     string
	Messages  []message
	Tools     []struct{ Function struct{ Name string } }
	MaxTokens int `json:"max_tokens"`
	Auth      string
}

func newEndpoint(t *testing.T, answers ...http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{t: t, answers: answers}
	srv := httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(srv.Close)
	e.url = srv.URL
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	q := request{Auth: r.Header.Get("Authorization")}
	if err := json.Unmarshal(body, &q); err != nil || r.URL.Path != "/chat/completions" {
		e.t.Errorf("%s %s: %v", r.URL.Path, body, err)
	}
	e.mu.Lock()
	e.asked = append(e.asked, q)
	n := len(e.asked) - 1
	answer := e.otherwise
	if n < len(e.answers) {
		answer = e.answers[n]
	}
	e.mu.Unlock()
	if answer == nil {
		e.t.Errorf("request %d was not expected: %+v", n+1, q.Messages[len(q.Messages)-1])
		http.Error(w, "no more", http.StatusTeapot)
		return
	}
	answer(w, r)
}

// requests are those that were made.
func (e *endpoint) requests() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]request(nil), e.asked...)
}

// stream answers with events, as they are written here.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
			w.(http.Flusher).Flush()
		}
	}
}

const (
	stop   = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	usage1 = `{"model":"tiny-1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`
	done   = `[DONE]`
)

// words are an event with text.
func words(s string) string { return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, s) }

// says answers with text, in pieces.
func says(pieces ...string) http.HandlerFunc {
	var events []string
	for _, p := range pieces {
		events = append(events, words(p))
	}
	return stream(append(events, stop, usage1, done)...)
}

// piece is an event with a piece of a call.
func piece(index int, id, name, arguments string) string {
	return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":%q,"function":{"name":%q,"arguments":%q}}]}}]}`, index, id, name, arguments)
}

// calls answers with calls of tools, each as "name {arguments}".
func calls(list ...string) http.HandlerFunc {
	var events []string
	for i, c := range list {
		name, arguments, _ := strings.Cut(c, " ")
		events = append(events, piece(i, fmt.Sprintf("call_%d", i), name, arguments))
	}
	return stream(append(events, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, usage1, done)...)
}

// status answers with a status and a text.
func status(code int, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		http.Error(w, text, code)
	}
}
