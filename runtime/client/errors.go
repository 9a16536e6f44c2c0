package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// ErrIdle is the error of an answer, and the cause of a stream's break, of which nothing more arrived for the idle time ([IdleTimeout]).
var ErrIdle = errors.New("nothing arrived for too long")

// ErrNoEvent is the cause of the break of a stream that brought no known event for the quiet time ([QuietTimeout]), or none in
// as many bytes as an event may have ([MaxEvent]): only heartbeats, or events of unknown kinds.
var ErrNoEvent = errors.New("no event that is known arrived")

// ErrTooLarge is the error of an answer, or of the events of a call, beyond the limits [MaxResponse] and [MaxEvents].
var ErrTooLarge = errors.New("the answer is too large")

func tooLarge(limit int, unit string) error {
	return fmt.Errorf("%w: over %d %s", ErrTooLarge, limit, unit)
}

// HTTPError is an answer whose HTTP status is not 2xx. When its body was an A2A error, Err is that error.
type HTTPError struct {
	Status     int
	Body       string        // start of the body as printable text, at most 500 characters
	RetryAfter time.Duration // of the header Retry-After; 0 without
	Challenge  string        // of the header WWW-Authenticate, with 401
	Err        error         // *runtime.Error or nil
}

// Error renders the status, and the A2A error or the body.
func (e *HTTPError) Error() string {
	s := fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))
	switch {
	case e.Err != nil:
		s += ": " + e.Err.Error()
	case e.Body != "":
		s += ": " + e.Body
	}
	if e.Challenge != "" {
		s += " (wants " + e.Challenge + ")"
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %v)", e.RetryAfter)
	}
	return s
}

// Unwrap returns the A2A error in the body, if there was one.
func (e *HTTPError) Unwrap() error { return e.Err }

// AuthenticateChallenge returns the challenge of a 401.
func (e *HTTPError) AuthenticateChallenge() string { return e.Challenge }

// Is matches the statuses 401 and 403 with their A2A errors, also when the body has none.
func (e *HTTPError) Is(target error) bool {
	switch e.Status {
	case http.StatusUnauthorized:
		return runtime.ErrUnauthenticated.Is(target)
	case http.StatusForbidden:
		return runtime.ErrPermissionDenied.Is(target)
	}
	return false
}

// TryLater reports whether the same request may succeed later. An A2A error is final, unless its status is a temporary one.
func (e *HTTPError) TryLater() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.Err == nil && e.Status >= 500 && e.Status != http.StatusNotImplemented
}

// TryAfter is the pause before the next request that the agent asks for; 0 for none.
func (e *HTTPError) TryAfter() time.Duration { return e.RetryAfter }

// missing reports whether the agent has no such method at this place.
func (e *HTTPError) missing() bool {
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return e.Err == nil || errors.Is(e.Err, runtime.ErrMethodNotFound)
	}
	return false
}

// temporary reports whether a request that failed with err may succeed later. An A2A error is final.
func temporary(err error) bool {
	var says interface{ TryLater() bool }
	var rpc *runtime.Error
	if errors.As(err, &says) {
		return says.TryLater()
	}
	return !errors.As(err, &rpc)
}

// StreamError is a stream that broke and could not be taken up again. The task may still be running.
type StreamError struct {
	TaskID      string // "" when the stream broke before its first event
	LastEventID string // "" when the agent sends no ids
	Err         error
}

// Error renders the task and the cause.
func (e *StreamError) Error() string {
	if e.TaskID == "" {
		return "the stream broke before its first event: " + e.Err.Error()
	}
	return fmt.Sprintf("the stream of task %s broke: %v", e.TaskID, e.Err)
}

// Unwrap returns the cause.
func (e *StreamError) Unwrap() error { return e.Err }

// TaskError is a task that ended without a result: failed, rejected or canceled.
type TaskError struct {
	TaskID, ContextID string
	State             runtime.State
	Message           string  // text of the status message
	Result            *Result // the task, with partial artifacts
}

// Error renders the state and the message.
func (e *TaskError) Error() string {
	s := fmt.Sprintf("task %s %s", e.TaskID, e.State)
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// OutputError is a completed task whose output breaks its schema, because the agent's schema has changed, for example. The work is
// done, so that calling again does it again: the answer is in Result. [Lenient] decodes such an output as far as possible.
type OutputError struct {
	Skill  string  // its id
	Result *Result // with the task
	Err    error   // how the output breaks its schema: a *check.Error, for the most part
}

// Error renders the skill and the violation.
func (e *OutputError) Error() string {
	return fmt.Sprintf("output of skill %q: %v: %v", e.Skill, errInvalid, e.Err)
}

// Unwrap returns [runtime.ErrInvalidAgentResponse] and the cause.
func (e *OutputError) Unwrap() []error { return []error{errInvalid, e.Err} }

// InputRequiredError is a task that waits for its client. Answer it with the skill's Answer method, or send any message to the
// same task with [InTask].
type InputRequiredError struct {
	TaskID, ContextID string
	Prompt            string     // text of the question
	Data              wire.Value // data of the question; nil without
	Schema            wire.Value // JSON Schema of the answer, where the agent has one; nil without
	Result            *Result    // the task
	// Auth is the authorization for which the task waits (auth-required), with the details that the agent gives; nil when it waits
	// for input. The URL is not verified: ask the person before you open it. The task goes on when the authorization was granted, or by
	// a message.
	Auth *runtime.Authorization

	opts     []CallOption // of the answer
	skill    string       // that asked; "" if unknown
	question string       // id of the message that asks
	from     asker
}

// With returns the question with options of the call that answers it: ask.With(client.Header("X-Trace", id)).
func (e *InputRequiredError) With(opts ...CallOption) *InputRequiredError {
	with := *e
	with.opts = append(slices.Clone(e.opts), opts...)
	return &with
}

// options are those of the call that answers the question, in its task.
func (e *InputRequiredError) options() []CallOption {
	return append([]CallOption{InTask(e.TaskID), InContext(e.ContextID)}, e.opts...)
}

// Error renders the question.
func (e *InputRequiredError) Error() string {
	what := "input"
	if e.Auth != nil {
		what = "authorization"
	}
	s := fmt.Sprintf("task %s needs %s", e.TaskID, what)
	if e.Prompt != "" {
		s += ": " + e.Prompt
	}
	if e.Auth != nil && e.Auth.URL != "" {
		s += " " + e.Auth.URL
	}
	return s
}

// PendingError is a task that goes on after a call with [ReturnImmediately] came back. [Client.Await] waits for it.
type PendingError struct {
	TaskID, ContextID string
	State             runtime.State
}

// Error renders the state.
func (e *PendingError) Error() string { return fmt.Sprintf("task %s goes on (%s)", e.TaskID, e.State) }

// retryAfter reads seconds or a date (RFC 9110 §10.2.3).
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// Printable makes a text of an agent safe to print: one line, without control characters, at most 500 characters.
func Printable(s string) string {
	const limit = 500
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), 4*limit)], ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return s
}

// errInvalid is the error of an answer that breaks the protocol. Like all A2A errors of the client it counts as received: a handler that returns
// it does not answer its own caller with it.
var errInvalid = runtime.ErrInvalidAgentResponse.AsReceived()

// invalid is the error of an answer that breaks the protocol.
func invalid(what string, err error) error { return fmt.Errorf("%w: %s: %w", errInvalid, what, err) }
