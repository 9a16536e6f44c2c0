package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/internal/sse"
)

// stream is a stream of server-sent events on its way to its reader, over as many processes as it takes.
type stream struct {
	*call
	up *upstream

	begun bool   // the head is written
	last  string // the id of the last event that was passed on; "" if there was none
	task  string // the id of its task; "" if it is not known yet
	ended bool   // the last event is the last of its stream
}

// relay passes a stream on, and takes it up on the next process when the one that sends it ends.
func (s *stream) relay(resp *http.Response) {
	for {
		err := s.copyEvents(resp)
		_ = resp.Body.Close()
		switch {
		case s.r.Context().Err() != nil, errors.Is(err, errReader), errors.Is(err, errInEvent):
			panic(http.ErrAbortHandler)
		case s.ended, err == nil && !s.up.stops():
			return
		case !s.up.ends(s.r.Context()):
			panic(http.ErrAbortHandler) // as the agent did
		}
		if resp, err = s.resume(); err != nil {
			s.note("the stream could not be taken up: " + err.Error())
			panic(http.ErrAbortHandler)
		}
	}
}

var (
	// errReader is the error of a reader that is gone.
	errReader = errors.New("the reader is gone")
	// errInEvent is the error of a stream that nobody can take up.
	errInEvent = errors.New("the stream broke off within an event of which the reader has a part")
)

// copyEvents passes on the events of an answer that are whole.
func (s *stream) copyEvents(resp *http.Response) error {
	if !s.begun {
		s.begun = true
		resp.Header.Del("Content-Length")
		s.head(resp)
		_ = http.NewResponseController(s.w).Flush() // the next write fails if this does
	}
	var split frames.Splitter
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if split.Feed(buf[:n]) != nil {
			s.ended = true
			return s.passRest(split.Rest(), buf[:n], resp.Body)
		}
		for block := split.Next(); block != nil; block = split.Next() {
			s.learn(block)
			if err := s.write(block); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return s.write(split.Rest())
		case err != nil:
			return err
		}
	}
}

// passRest passes on what remains of a stream as it comes: an event is too long to be kept until it is whole.
func (c *call) passRest(kept, next []byte, rest io.Reader) error {
	if c.flow(io.MultiReader(bytes.NewReader(kept), bytes.NewReader(next), rest), true) != nil {
		return errInEvent
	}
	return nil
}

func (s *stream) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := s.w.Write(b); err != nil {
		return errReader
	}
	_ = http.NewResponseController(s.w).Flush() // the next write fails if this does
	return nil
}

// note writes a comment, which readers ignore.
func (s *stream) note(text string) {
	_ = s.write([]byte(": a2agen dev: " + string(bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(" "))) + "\n\n"))
}

// event is what any version says in an event about its task.
type event struct {
	ID     string `json:"id"`
	TaskID string `json:"taskId"`
	Final  bool   `json:"final"`
	Status struct {
		State string `json:"state"`
	} `json:"status"`
	Task           *event          `json:"task"`
	StatusUpdate   *event          `json:"statusUpdate"`
	ArtifactUpdate *event          `json:"artifactUpdate"`
	Message        json.RawMessage `json:"message"`
}

// envelope is what JSON-RPC puts around an event.
type envelope struct {
	Error  json.RawMessage `json:"error"`
	Result json.RawMessage `json:"result"`
}

// endings are the states after which a stream ends, in all versions.
var endings = []string{
	"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_CANCELLED", "TASK_STATE_REJECTED",
	"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED",
	"completed", "failed", "canceled", "rejected", "input-required", "auth-required",
}

// learn takes note of what an event says.
func (s *stream) learn(block []byte) {
	e, err := sse.NewReader(bytes.NewReader(block), frames.MaxEvent).Next()
	if err != nil {
		return // a comment
	}
	if len(e.ID) > 0 {
		s.last = string(e.ID)
	}
	data, around := e.Data, envelope{}
	if json.Unmarshal(data, &around) != nil {
		return
	}
	if around.Result != nil {
		data = around.Result
	}
	in := &event{}
	if json.Unmarshal(data, in) != nil {
		return
	}
	s.ended = around.Error != nil || in.Message != nil
	for _, inner := range []*event{in.Task, in.StatusUpdate, in.ArtifactUpdate} {
		if inner != nil {
			in = inner
		}
	}
	if id := in.TaskID; id != "" {
		s.task = id
	} else if in.ID != "" && in.Status.State != "" {
		s.task = in.ID
	}
	s.ended = s.ended || in.Final || slices.Contains(endings, in.Status.State)
}

// resume asks the next process for the rest of the stream.
func (s *stream) resume() (*http.Response, error) {
	up, why, err := s.front.enter(s.r.Context())
	switch {
	case err != nil:
		return nil, err
	case up == nil:
		return nil, errors.New(why)
	}
	defer up.leave()
	s.up = up
	r, err := s.again(up)
	if err != nil {
		return nil, err
	}
	resp, err := up.roundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || !frames.IsServerSent(resp.Header) {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("the agent answers %s: %s", resp.Status, bytes.TrimSpace(said))
	}
	s.note("the agent was restarted; the stream goes on after event " + s.last)
	return resp, nil
}

// again is the request for the rest of the stream: a subscription to its task, after the last event. Before a task is
// known it is the caller's own request, which agents know by the id of its message.
func (s *stream) again(up *upstream) (*http.Request, error) {
	r := s.request(s.r.Context(), up)
	if s.last != "" {
		r.Header.Set("Last-Event-ID", s.last)
	}
	if s.task == "" || s.operation == "SubscribeToTask" {
		return r, nil
	}
	before, last := lastSegment(r.URL.EscapedPath())
	if last == "message:stream" {
		path := before + "tasks/" + url.PathEscape(s.task) + ":subscribe"
		r.Method, r.URL.Path, r.URL.RawPath = http.MethodGet, before+"tasks/"+s.task+":subscribe", path
		r.Header.Del("Content-Type")
		s.setBody(r, nil)
		return r, nil
	}
	body, err := subscription(s.body, s.task)
	if err != nil {
		return nil, err
	}
	s.setBody(r, body)
	return r, nil
}

// subscribing are the methods of JSON-RPC that subscribe to a task, by those that begin a stream.
var subscribing = map[string]string{
	"SendStreamingMessage": "SubscribeToTask", "message/stream": "tasks/resubscribe", "tasks/sendSubscribe": "tasks/resubscribe",
}

// subscription makes a request of JSON-RPC that begins a stream into one that subscribes to its task.
func subscription(body []byte, task string) ([]byte, error) {
	var request struct {
		ID     json.RawMessage `json:"id,omitempty"`
		Method string          `json:"method"`
		Params struct {
			Tenant string `json:"tenant"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	method := subscribing[request.Method]
	if method == "" {
		return nil, fmt.Errorf("nothing subscribes to what %q begins", request.Method)
	}
	params := map[string]string{"id": task}
	if request.Params.Tenant != "" {
		params["tenant"] = request.Params.Tenant
	}
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "method": method, "params": params})
}
