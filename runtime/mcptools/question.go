package mcptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
)

// question is what a tool asks. It is the error of a call whose task waits for the answer.
type question struct {
	of      *running
	number  int
	tool    string
	message string
	schema  json.RawMessage // of the answer, flat; nil: any
	problem string          // with the answer before; "": there was none
	answer  chan map[string]any
}

// Error is the question.
func (q *question) Error() string { return q.text() }

// Task is the id of the call that waits.
func (q *question) Task() string { return q.of.id }

// Token names the question.
func (q *question) Token() string { return q.of.id + "." + strconv.Itoa(q.number) }

// Words is the question as a message: a text, and a data part with the schema of the answer.
func (q *question) Words() (said runtime.MessageData, authorization bool) {
	said.Parts = []runtime.Part{runtime.Text(q.text())}
	if q.schema != nil {
		said.Parts = append(said.Parts, runtime.Data(map[string]any{"skill": q.tool, "input": q.schema}))
	}
	return said, false
}

// text is the question in words.
func (q *question) text() string {
	text := cmp.Or(excerpt(q.message, maxExcerpt), "The tool "+q.tool+" asks for something.")
	if names := slices.Sorted(maps.Keys(q.fields())); len(names) > 1 {
		text += "\nAsked for: " + strings.Join(names, ", ")
	}
	if q.problem != "" {
		text = q.problem + "\n" + text
	}
	return text
}

// field is one that is asked for.
type field struct {
	Type string            `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

// fields are those that are asked for.
func (q *question) fields() map[string]field {
	var schema struct {
		Properties map[string]field `json:"properties"`
	}
	_ = json.Unmarshal(q.schema, &schema)
	return schema.Properties
}

// errNobody says that a tool asks where nobody can be asked.
var errNobody = errors.New("nobody can be asked: which call the question belongs to is not known")

// elicit answers a question of the server: it hands it to the call that it belongs to, and waits for the answer.
func (c *connection) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	r, _ := ctx.Value(runningKey{}).(*running)
	if r == nil {
		r = c.only() // before 2026-07-28 questions do not say of which call they are
	}
	if r == nil {
		return nil, errNobody
	}
	if !r.asks || req.Params.URL != "" {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	if err := r.asking.take(ctx); err != nil {
		return nil, err
	}
	defer r.asking.release()
	q := &question{of: r, message: req.Params.Message, answer: make(chan map[string]any, 1)}
	if req.Params.RequestedSchema != nil {
		schema, err := json.Marshal(req.Params.RequestedSchema)
		if err != nil {
			return nil, err
		}
		q.schema = schema
	}
	select {
	case r.questions <- q:
	case <-r.over:
		return nil, context.Canceled
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case content := <-q.answer:
		return &sdk.ElicitResult{Action: "accept", Content: content}, nil
	case <-r.over: // of which the server need not have told
		return &sdk.ElicitResult{Action: "cancel"}, nil
	case <-ctx.Done():
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
}

// only is the call that the server works on, if it is only one.
func (c *connection) only() *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) != 1 {
		return nil
	}
	for _, r := range c.calls {
		return r
	}
	return nil
}

// ask ends the call of the handler with a question: the tool waits meanwhile.
func (c *call) ask(q *question) error {
	q.tool = c.tool.Name
	if err := c.handler.Began(c.known.ID, c.running.id); err != nil {
		c.running.cancel()
		return err
	}
	c.known.Task = c.running.id
	if !c.server.waiting.add(c.running, q) {
		c.running.cancel()
		return fmt.Errorf("more than %d tools of %s wait for an answer", maxWaiting, c.server.Name)
	}
	return q
}

// resume goes on with a call whose question has an answer.
func (c *call) resume(ctx context.Context) (*sdk.CallToolResult, error) {
	r, q := c.server.waiting.take(c.known.Task)
	if r == nil {
		return nil, c.lost()
	}
	c.running = r
	if c.known.Answer == nil || c.known.Answer.Question != q.Token() {
		return nil, c.ask(q)
	}
	content, err := q.read(c.known.Answer.Parts)
	if err != nil {
		again := *q
		again.number++
		again.problem = "That does not fit: " + excerpt(err.Error(), maxExcerpt) + "."
		return nil, c.ask(&again)
	}
	c.handler.Answered(c.known.ID)
	q.answer <- content
	return c.follow(ctx)
}

// read reads an answer: an object with the fields, or a text for a single one.
func (q *question) read(parts []runtime.Part) (map[string]any, error) {
	content := map[string]any{}
	var texts []string
	for _, p := range parts {
		switch p.Kind {
		case runtime.PartData:
			if err := json.Unmarshal(p.Data, &content); err != nil {
				return nil, errors.New("the answer is no object")
			}
			return content, q.check(content)
		case runtime.PartText:
			texts = append(texts, p.Text)
		}
	}
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &content) == nil {
		return content, q.check(content)
	}
	fields := q.fields()
	if len(fields) > 1 {
		return nil, errors.New("write an object in JSON, with the fields that are asked for")
	}
	for name, f := range fields {
		v, err := f.value(text)
		if err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		content[name] = v
	}
	return content, q.check(content)
}

// value reads a text as a field.
func (f field) value(text string) (any, error) {
	switch f.Type {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "y", "true", "ok":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
		return nil, errors.New("must be yes or no")
	case "integer", "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errors.New("must be a number")
		}
		return n, nil
	}
	return text, nil
}

// check checks an answer by the schema that the server gave.
func (q *question) check(content map[string]any) error {
	if q.schema == nil {
		return nil
	}
	var schema jsonschema.Schema
	if err := json.NewDecoder(bytes.NewReader(q.schema)).Decode(&schema); err != nil {
		return nil // the server checks it, too
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved.Validate(content)
}

// waiting are the calls of a server that wait for the answer to a question.
type waiting struct {
	mu  sync.Mutex
	all map[string]*parked
}

type parked struct {
	running *running
	asked   *question
	timer   *time.Timer
}

// maxWaiting is how many calls of one server wait at a time.
const maxWaiting = 1000

// add has a call wait, for questionTimeout at most. It reports false if there is no room.
func (w *waiting) add(r *running, q *question) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) >= maxWaiting {
		return false
	}
	if w.all == nil {
		w.all = map[string]*parked{}
	}
	w.all[r.id] = &parked{r, q, time.AfterFunc(questionTimeout, func() { _ = w.cancel(r.id) })}
	return true
}

// take takes a call out that has waited; nil if it does not wait here.
func (w *waiting) take(id string) (*running, *question) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.all[id]
	if p == nil {
		return nil, nil
	}
	p.timer.Stop()
	delete(w.all, id)
	return p.running, p.asked
}

// cancel cancels a call that waits.
func (w *waiting) cancel(id string) error {
	if r, _ := w.take(id); r != nil {
		r.cancel()
	}
	return nil
}
