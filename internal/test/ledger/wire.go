package ledger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
)

// Caller speaks JSON-RPC of A2A 1.0 with nothing in between, so that what is compared is what was sent. Each request
// goes to one of the agent's replicas.
type Caller struct {
	agent *Agent
	owner string // who calls; "": nobody says
	http  *http.Client

	mu  sync.Mutex
	rnd *rand.Rand // picks replicas
}

// NewCaller makes a caller of an agent for an owner, "" where nobody says who calls. rnd picks replicas.
func NewCaller(a *Agent, owner string, rnd *rand.Rand) *Caller {
	return &Caller{agent: a, owner: owner, rnd: rnd, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// url is that of a replica.
func (c *Caller) url() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return "http://" + c.agent.Addresses[c.rnd.IntN(len(c.agent.Addresses))] + "/"
}

type part struct {
	Text string `json:"text,omitempty"`
}

type message struct {
	ID       string            `json:"messageId"`
	Role     string            `json:"role"`
	Context  string            `json:"contextId,omitempty"`
	Task     string            `json:"taskId,omitempty"`
	Parts    []part            `json:"parts"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Status is the state of a task, and what its message says.
type Status struct {
	State   string   `json:"state"`
	Message *message `json:"message"`
}

// Task is what the agent shows of one.
type Task struct {
	ID        string    `json:"id"`
	Status    Status    `json:"status"`
	History   []message `json:"history"`
	Artifacts []struct {
		ID    string `json:"artifactId"`
		Name  string `json:"name"`
		Parts []part `json:"parts"`
	} `json:"artifacts"`
}

// words is the text of its last status.
func (t *Task) words() string {
	if m := t.Status.Message; m != nil && len(m.Parts) > 0 {
		return m.Parts[0].Text
	}
	return ""
}

// Says is the result of the task, or else the text of its last status.
func (t *Task) Says() string { return cmp.Or(t.said("result"), t.words()) }

func (t *Task) ended() bool { return ended(t.Status.State) }

func ended(state string) bool {
	switch state {
	case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
		return true
	}
	return false
}

// said is the text of the artifact of a name, or id.
func (t *Task) said(name string) string {
	var s strings.Builder
	for _, a := range t.Artifacts {
		if a.Name == name || a.ID == name {
			for _, p := range a.Parts {
				s.WriteString(p.Text)
			}
		}
	}
	return s.String()
}

// refusal is an error that the agent has answered.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    []struct {
		Reason   string            `json:"reason"`
		Metadata map[string]string `json:"metadata"`
	} `json:"data"`
}

func (r *refusal) Error() string { return fmt.Sprint(r.Code, " ", r.Message, " ", r.Data) }

func (r *refusal) busy() bool {
	for _, d := range r.Data {
		if d.Reason == "RESOURCE_EXHAUSTED" {
			return true
		}
	}
	return false
}

// NotFound is the code of the answer about a task that is not there.
const NotFound = -32001

const (
	notCancel   = -32002
	unsupported = -32004
)

// Refused reports whether err is an answer with this code.
func Refused(err error, code int) bool {
	var r *refusal
	return errors.As(err, &r) && r.Code == code
}

// answer is the response to a request, or one event of a stream.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *refusal        `json:"error"`
}

func readAnswer(data []byte) (json.RawMessage, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("%w: %s", err, data)
	}
	if a.Error != nil {
		return nil, a.Error
	}
	return bytes.Clone(a.Result), nil
}

func (c *Caller) post(ctx context.Context, method string, params any, header ...string) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	if c.owner != "" {
		r.Header.Set(OwnerHeader, c.owner)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return c.http.Do(r)
}

// once asks one time. An error other than a refusal leaves open whether the agent has received it.
func (c *Caller) once(ctx context.Context, method string, params any, header ...string) (json.RawMessage, error) {
	ctx, cancel := c.agent.patience(ctx)
	defer cancel()
	res, err := c.post(ctx, method, params, header...)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", res.StatusCode, data)
	}
	return readAnswer(data)
}

// Ask asks until there is an answer.
func (c *Caller) Ask(ctx context.Context, method string, params any, header ...string) (json.RawMessage, error) {
	for {
		got, err := c.once(ctx, method, params, header...)
		if err == nil {
			return got, nil
		}
		var r *refusal
		if errors.As(err, &r) && !r.busy() || wait(ctx) != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
	}
}

func wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}

// Get asks for a task until there is an answer.
func (c *Caller) Get(ctx context.Context, id string) (*Task, error) {
	raw, err := c.Ask(ctx, "GetTask", map[string]string{"id": id})
	if err != nil {
		return nil, err
	}
	var t Task
	return &t, json.Unmarshal(raw, &t)
}

// events are those of a task by their numbers, as they were received.
type events map[int]string

// sums returns their digests: those of many tasks fit in memory.
func (e events) sums() sums {
	s := sums{}
	for n, text := range e {
		s[n] = sumOf(text)
	}
	return s
}

// sums are the digests of the events of a task by their numbers.
type sums map[int]uint64

func sumOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	return h.Sum64()
}

type update struct {
	Task   *Task `json:"task"`
	Status *struct {
		Status Status `json:"status"`
	} `json:"statusUpdate"`
}

// state is the state that an event of a stream tells, or "".
func (u *update) state() string {
	switch {
	case u.Task != nil:
		return u.Task.Status.State
	case u.Status != nil:
		return u.Status.Status.State
	}
	return ""
}

// said is the text that an event of a stream tells, or "".
func (u *update) said() string {
	if u.Status == nil || u.Status.Status.Message == nil || len(u.Status.Status.Message.Parts) == 0 {
		return ""
	}
	return u.Status.Status.Message.Parts[0].Text
}

// stream is what a client has read of a task, over one connection after the other.
type stream struct {
	task  string
	last  int // number of the last event; -1: none
	got   events
	state string // of the task, as far as the events say
	steps steps
}

// subscribe goes on after the last event until over says so or the connection ends.
func (c *Caller) subscribe(ctx context.Context, s *stream, over func(state string) bool) (done bool, err error) {
	var after []string
	if s.last >= 0 {
		after = []string{"Last-Event-ID", strconv.Itoa(s.last)}
	}
	return c.stream(ctx, s, over, "SubscribeToTask", map[string]string{"id": s.task}, after...)
}

// stream reads the answer to a request until over says so or the connection ends.
func (c *Caller) stream(
	ctx context.Context, s *stream, over func(state string) bool, method string, params any, header ...string,
) (done bool, err error) {
	ctx, cancel := c.agent.patience(ctx)
	defer cancel()
	res, err := c.post(ctx, method, params, append(header, "Accept", "text/event-stream")...)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return false, fmt.Errorf("status %d", res.StatusCode)
	}
	for r, first := sse.NewReader(res.Body, sse.DefaultMaxEvent), true; ; first = false {
		e, err := r.Next()
		if err != nil || e.Unfinished {
			return false, err
		}
		raw, err := readAnswer(e.Data)
		if err != nil {
			return false, err
		}
		if err := s.take(string(e.ID), raw, first); err != nil {
			return false, err
		}
		if over(s.state) {
			return true, nil
		}
	}
}

// take adds an event, which follows the one before. A connection may begin with the task as it stands: the first one,
// and one before which nothing was missed.
func (s *stream) take(id string, raw json.RawMessage, first bool) error {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		return err
	}
	n, err := strconv.Atoi(id)
	switch {
	case err == nil && first && u.Task != nil && (s.last < 0 || n == s.last):
		s.task, s.last = u.Task.ID, n
	case err == nil && s.last >= 0 && u.Task == nil && n == s.last+1:
		s.last, s.got[n] = n, string(raw)
	default:
		return &wrong{fmt.Sprintf("event %q of task %s follows %d: %s", id, s.task, s.last, raw)}
	}
	if err := s.steps.take(u.said()); err != nil {
		return err
	}
	if state := u.state(); state != "" {
		s.state = state
	}
	return nil
}

// wrong is something that no crash excuses.
type wrong struct{ what string }

func (w *wrong) Error() string { return w.what }
