package mcptools

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/task"
)

// ToolError is a result that is an error.
type ToolError struct {
	Server, Tool string
	Text         string // what the tool says
}

// Error is the tool's text.
func (e *ToolError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the tool %s of %s failed, and does not say why", e.Tool, e.Server)
	}
	return e.Text
}

// CallError is an error of the protocol with which a server answers a call.
type CallError struct {
	Server string
	Code   int64
	Text   string
}

// Error says what the server says.
func (e *CallError) Error() string { return fmt.Sprintf("%s answered: %s", e.Server, e.Text) }

// CredentialError says that the environment has no credentials for a server that needs them.
type CredentialError struct {
	Server string
	Env    string // the variable that is not set
}

// Error names the variable.
func (e *CredentialError) Error() string {
	return fmt.Sprintf("there are no credentials for %s: set %s", e.Server, e.Env)
}

// RefusedError says that a server does not accept the credentials, or wants some.
type RefusedError struct {
	Server string
	Status int // 401 or 403
}

// Error names the status.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.Server, e.Status, http.StatusText(e.Status))
}

// UnreachableError says that there was no answer.
type UnreachableError struct {
	Server string
	Err    error
	Stderr string // what a command printed last, where it ended
}

// Error says why, without the address.
func (e *UnreachableError) Error() string {
	s := fmt.Sprintf("%s did not answer: %v", e.Server, e.Err)
	if e.Stderr != "" {
		s += "; it printed: " + e.Stderr
	}
	return s
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// AnswerError says that a result is not what the server's listing says.
type AnswerError struct {
	Server string
	Err    error
}

// Error says what does not fit.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer of %s does not fit its description: %v", e.Server, e.Err)
}

// Unwrap returns what does not fit.
func (e *AnswerError) Unwrap() error { return e.Err }

// LostError says that nobody knows what became of a call: the process has ended in the middle of it, or its question is no
// longer open. The tool is not called again, since that might do its work twice.
type LostError struct{ Server, Tool string }

// Error names the tool.
func (e *LostError) Error() string {
	return fmt.Sprintf("it is not known what became of the call of %s of %s", e.Tool, e.Server)
}

// Explain is the error with which a handler ends after a call that failed, in the terms of A2A:
//
//   - a tool that asks something: the task waits, with that question
//   - an input that the server takes for wrong: invalid parameters
//   - a result that is an error: a failed task, in the tool's words
//   - credentials that are missing or that the server refuses: a failed task, whose text names no variable
//   - anything else: a failed task that says what can be said to a caller
//
// What the caller is not told, a variable that is not set or why there was no answer, is logged.
func Explain(t Task, err error) error {
	var asked *question
	if errors.As(err, &asked) {
		return t.AskFrom(asked)
	}
	var tool *ToolError
	var answered *CallError
	var answer *AnswerError
	var lost *LostError
	switch {
	case errors.As(err, &tool):
		return t.Fail("%s", tool.Error())
	case errors.As(err, &answered) && answered.Code == jsonrpc.CodeInvalidParams:
		return runtime.ErrInvalidParams.With("%s", answered.Error())
	case errors.As(err, &answered):
		return t.Fail("%s", answered.Error())
	case errors.As(err, &answer):
		return t.Fail("%s", answer.Error())
	case errors.As(err, &lost):
		return t.Fail("%s", "It is not known what became of the call of "+lost.Server+". Start a new task.")
	}
	return explainServer(t, err)
}

// explainServer is Explain for a server that cannot be called.
func explainServer(t Task, err error) error {
	var missing *CredentialError
	var refused *RefusedError
	var unreachable *UnreachableError
	switch {
	case errors.As(err, &missing):
		t.Logger().Error("an MCP server cannot be called", "error", err)
		return t.Fail("%s", "This agent has no credentials for "+missing.Server+".")
	case errors.As(err, &refused):
		t.Logger().Error("an MCP server does not accept the credentials of this agent", "error", err)
		return t.Fail("%s", refused.Server+" does not accept the credentials of this agent for that.")
	case errors.As(err, &unreachable):
		t.Logger().Error("an MCP server cannot be called", "error", err)
		return t.Fail("%s", unreachable.Server+" did not answer. Try again later.")
	}
	return err
}

// The error of a task that asks is for package task.
var _ task.Question = (*question)(nil)

// maxExcerpt is how much of a text of others is repeated to a caller, in characters.
const maxExcerpt = 2000

// excerpt is the beginning of a text without what does not show.
func excerpt(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
	if rs := []rune(s); len(rs) > n {
		s = string(rs[:n]) + "…"
	}
	return strings.TrimSpace(s)
}

// withoutURL drops the address from an error of net/http: it may have a key in its query.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
