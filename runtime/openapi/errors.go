package openapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/a2agen/a2agen/runtime"
)

// StatusError is an answer of an API that is no success.
type StatusError struct {
	API        string
	Method     string
	Status     int // "404"
	Body       []byte
	RetryAfter time.Duration // that the API asks for; 0: it does not
}

// Error says what the API answered, as far as that is text.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("%s answered %d %s", e.API, e.Status, http.StatusText(e.Status))
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		return s
	}
	if text := excerpt(e.Body); text != "" {
		s += ": " + text
	}
	return s
}

func (e *StatusError) ok() bool { return e.Status >= 200 && e.Status < 300 }

// Limits of repetitions.
const (
	maxAttempts = 3
	firstWait   = 500 * time.Millisecond
	maxWait     = 20 * time.Second
)

// again waits until the request may be sent again, and reports whether it may: the API has to be busy, not to have
// done it, and there must be time.
func (e *StatusError) again(ctx context.Context, attempt int) bool {
	if e.Status != http.StatusTooManyRequests && e.Status != http.StatusServiceUnavailable || attempt+1 >= maxAttempts {
		return false
	}
	wait := firstWait << attempt
	if e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	if deadline, has := ctx.Deadline(); wait > maxWait || has && time.Until(deadline) < wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// retryAfter reads a Retry-After: seconds, or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// maxExcerpt is how much of an answer is repeated to a caller, in characters.
const maxExcerpt = 300

// excerpt is the beginning of an answer on one line; "" for what is no text.
func excerpt(body []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*maxExcerpt)]), "")), " ")
	if strings.HasPrefix(s, "<") || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	if rs := []rune(s); len(rs) > maxExcerpt {
		return string(rs[:maxExcerpt]) + "…"
	}
	return s
}

// CredentialError says that the environment has no credentials for an operation that needs them.
type CredentialError struct {
	API string
	Env string // the variable that is not set
}

// Error names the variable.
func (e *CredentialError) Error() string {
	return fmt.Sprintf("there are no credentials for %s: set %s", e.API, e.Env)
}

// AnswerError says that an answer is not what the document of the API says.
type AnswerError struct {
	API string
	Err error
}

// Error says what does not fit.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer of %s does not fit its description: %v", e.API, e.Err)
}

// Unwrap returns what does not fit.
func (e *AnswerError) Unwrap() error { return e.Err }

// UnreachableError says that there was no answer.
type UnreachableError struct {
	API string
	Err error
}

// Error says why, without the address.
func (e *UnreachableError) Error() string { return fmt.Sprintf("%s did not answer: %v", e.API, e.Err) }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// withoutURL drops the address from an error of net/http: it may have a key in its query.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// Task is what an error is told to: the task of a handler, and its logger.
type Task interface {
	Fail(reason string, args ...any) error
	Logger() *slog.Logger
}

// Explain is the error with which a handler ends after a call that failed, in the terms of A2A:
//
//   - an API that takes the input for wrong (400, 422), or an input that cannot be sent: invalid parameters
//   - credentials that are missing or that the API refuses (401, 403): a failed task, whose text names no variable
//   - anything else: a failed task with what the API said
//
// What the caller is not told, a variable that is not set or why there was no answer, is logged.
func Explain(t Task, err error) error {
	var status *StatusError
	var missing *CredentialError
	var answer *AnswerError
	var unreachable *UnreachableError
	switch {
	case errors.Is(err, errInput):
		return runtime.ErrInvalidParams.With("%v", err)
	case errors.As(err, &missing):
		t.Logger().Error("an API cannot be called", "error", err)
		return t.Fail("%s", "This agent has no credentials for "+missing.API+".")
	case errors.As(err, &status):
		return explainStatus(t, status)
	case errors.As(err, &answer):
		return t.Fail("%s", answer.Error())
	case errors.As(err, &unreachable):
		t.Logger().Error("an API cannot be called", "error", err)
		return t.Fail("%s", unreachable.API+" did not answer. Try again later.")
	}
	return err
}

func explainStatus(t Task, e *StatusError) error {
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return runtime.ErrInvalidParams.With("%s", e.Error())
	case http.StatusUnauthorized, http.StatusForbidden:
		t.Logger().Error("an API does not accept the credentials of this agent", "error", e)
		return t.Fail("%s", e.API+" does not accept the credentials of this agent for that.")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return t.Fail("%s", e.API+" is busy. Try again later.")
	}
	return t.Fail("%s", e.Error())
}
