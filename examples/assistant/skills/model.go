package skills

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/tool"
)

// Model is a language model behind an endpoint for chat completions, as OpenAI, Ollama, vLLM, LM Studio, llama.cpp and
// most gateways have one. This file and model_stream.go are all there is to it: change them as you like.
type Model struct {
	URL     string       // before /chat/completions: "http://127.0.0.1:11434/v1"
	Key     string       // "" sends none
	Name    string       // "llama3.2"
	Dialect tool.Dialect // of JSON Schema, for endpoints that do not take all of it

	Tokens  int           // of a reply at most
	Bytes   int64         // of the stream of a reply at most
	Timeout time.Duration // of a reply
	Tries   int           // of a request that the endpoint cannot answer now

	HTTP *http.Client
	wait func(context.Context, time.Duration) error // between tries
}

// ModelOf makes the model that the environment names: MODEL_URL, MODEL_KEY, MODEL_NAME, and MODEL_DIALECT, one of
// openai, gemini and anthropic, for an endpoint that refuses the schemas of tools as they are.
func ModelOf(getenv func(string) string) *Model {
	return &Model{
		URL: strings.TrimRight(getenv("MODEL_URL"), "/"), Key: getenv("MODEL_KEY"), Name: getenv("MODEL_NAME"),
		Dialect: tool.Dialect(getenv("MODEL_DIALECT")),
		Tokens:  2000, Bytes: 4 << 20, Timeout: 2 * time.Minute, Tries: 3, HTTP: &http.Client{}, wait: wait,
	}
}

// NewModel is [ModelOf] the process's environment.
func NewModel() *Model { return ModelOf(os.Getenv) }

// ModelError is a reply that the model did not give.
type ModelError struct {
	Remedy string        // what to do, for a person
	Status int           // of HTTP; 0: there was no answer, or it broke
	After  time.Duration // how long the endpoint asks to wait; 0: it does not say
	Err    error         // for the log
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("%s (HTTP %d: %v)", e.Remedy, e.Status, e.Err)
}

// Unwrap returns what went wrong.
func (e *ModelError) Unwrap() error { return e.Err }

// message is one of a conversation.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []wireCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// wireCall is a call as endpoints write it.
type wireCall struct {
	Index    int    `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// call is a call of a tool.
type call struct{ ID, Name, Arguments string }

// usage counts tokens.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// reply is what the model said.
type reply struct {
	Text  string
	Calls []call
	Model string
	Usage usage
	Cut   bool // the limit of tokens was met
}

// message is the reply as one of the conversation.
func (r reply) message() message {
	m := message{Role: "assistant", Content: r.Text}
	for _, c := range r.Calls {
		w := wireCall{ID: c.ID, Type: "function"}
		w.Function.Name, w.Function.Arguments = c.Name, c.Arguments
		m.Calls = append(m.Calls, w)
	}
	return m
}

// Say asks the model for the next message, and calls write with its text as it comes. Errors: *[ModelError], those of
// write, and that of ctx, whose end ends the request.
func (m *Model) Say(ctx context.Context, messages []message, tools []tool.Tool, write func(string) error) (reply, error) {
	if m.URL == "" {
		return reply{}, &ModelError{
			Remedy: "The assistant has no model. Set MODEL_URL to an endpoint for chat completions, such as " +
				"http://127.0.0.1:11434/v1 of Ollama, and MODEL_NAME to the name of a model there; then start it again.",
			Err: errors.New("MODEL_URL is not set"),
		}
	}
	body, err := m.request(messages, tools)
	if err != nil {
		return reply{}, err
	}
	for try := 1; ; try++ {
		r, begun, err := m.try(ctx, body, write)
		var failed *ModelError
		if err == nil || begun || try >= m.Tries || !errors.As(err, &failed) || !failed.temporary() {
			return r, err
		}
		if err := m.wait(ctx, cmp.Or(failed.After, time.Duration(try)*time.Second)); err != nil {
			return r, err
		}
	}
}

// request is the body of a request.
func (m *Model) request(messages []message, tools []tool.Tool) ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict,omitempty"`
	}
	type offered struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var list []offered
	for _, t := range tools {
		schema := t.Input
		if m.Dialect != "" {
			schema, _ = tool.Portable(t.Input, m.Dialect)
		}
		list = append(list, offered{"function", function{t.Name, t.Description, schema, m.Dialect == tool.OpenAI}})
	}
	return json.Marshal(struct {
		Model         string         `json:"model"`
		Messages      []message      `json:"messages"`
		Tools         []offered      `json:"tools,omitempty"`
		Stream        bool           `json:"stream"`
		StreamOptions map[string]any `json:"stream_options"`
		MaxTokens     int            `json:"max_tokens"`
	}{m.Name, messages, list, true, map[string]any{"include_usage": true}, m.Tokens})
}

// try sends the request once. begun says that some of the reply was passed on.
func (m *Model) try(ctx context.Context, body []byte, write func(string) error) (r reply, begun bool, err error) {
	within, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodPost, m.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return r, false, &ModelError{
			Remedy: "MODEL_URL is no URL: write one such as http://127.0.0.1:11434/v1.",
			Status: http.StatusBadRequest, Err: err,
		}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	resp, err := m.HTTP.Do(req)
	if ctx.Err() != nil {
		return r, false, ctx.Err()
	}
	if err != nil {
		return r, false, &ModelError{
			Remedy: "Nothing answers at the model's address: see that MODEL_URL is right and the model runs.", Err: err,
		}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return r, false, refused(resp)
	}
	r, err = m.read(resp, func(text string) error {
		begun = true
		return write(text)
	})
	if ctx.Err() != nil {
		err = ctx.Err() // the task was canceled, or its time is up
	}
	return r, begun, err
}

// temporary reports whether the same request may succeed later.
func (e *ModelError) temporary() bool {
	return e.Status == 0 || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// refused is the error of an answer that is no success.
func refused(resp *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	e := &ModelError{Status: resp.StatusCode, Err: errors.New(strings.Join(strings.Fields(string(said)), " "))}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Remedy = "The model's endpoint refuses the key: set MODEL_KEY."
	case http.StatusNotFound:
		e.Remedy = "The endpoint has no such model, or no chat completions there: see MODEL_NAME and MODEL_URL, " +
			"which ends before /chat/completions."
	case http.StatusTooManyRequests:
		e.Remedy = "The model has too much to do, or its quota is used up. Try again later."
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds >= 0 {
			e.After = min(time.Duration(seconds)*time.Second, time.Minute)
		}
	default:
		e.Remedy = "The model's endpoint fails. Try again later."
		if e.Status < 500 {
			e.Remedy = "The model's endpoint refuses the request: the agent's log says why. " +
				"MODEL_DIALECT may help if it is about the schema of a tool."
		}
	}
	return e
}

// wait waits, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
