package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Causes with which a handler's context is canceled: ask context.Cause.
var (
	// ErrCanceled: the client canceled the task.
	ErrCanceled = errors.New("the client canceled the task")
	// ErrTimeout: the skill's time is up.
	ErrTimeout = errors.New("the skill's time is up")
	// ErrShutdown: the agent is shutting down.
	ErrShutdown = errors.New("the agent is shutting down")
	// ErrLost: somebody else has the task, since a client canceled it there or this process was not heard of for too long.
	// Nothing the handler still says counts.
	ErrLost = store.ErrLost
)

// Errors of a handler's Task.
var (
	// ErrAnswered: the handler already answered with a Message, or its call is over.
	ErrAnswered = errors.New("the message has been answered already")
	// ErrTaskExists: a plain Message can no longer be the answer.
	ErrTaskExists = errors.New("there is a task already: answer through it")
	// ErrTooManyArtifacts: the task has as many artifacts as a task may have, [runtime.MaxArtifacts].
	ErrTooManyArtifacts = errors.New("the task has as many artifacts as a task may have")
	// ErrTooLarge: an event is over the server's limit.
	ErrTooLarge = errors.New("the event is larger than the server's limit")
	// ErrTaskTooLarge: with the event, the task would be larger than the store keeps one. The handler can still end it,
	// in few words.
	ErrTaskTooLarge = store.ErrTooLarge
)

// ErrUnidentified refuses what is only for callers who say who they are. A2A has no code for it (R29): a binding answers
// it as it refuses wrong credentials.
var ErrUnidentified = errors.New("the caller has not said who it is")

// ErrBusy tells the client to come back later (R40): the code is the internal error's, the reason says that it passes.
var ErrBusy = &runtime.Error{
	Code: runtime.ErrInternal.Code, Reason: "RESOURCE_EXHAUSTED",
	Message: runtime.ErrInternal.Message, Note: "the agent is busy, try again later",
}

// InvalidInput wraps what decoding or validating an input found (*check.Error, *wire.Error) as InvalidParams with one
// violation for each finding. Generated code calls it.
func InvalidInput(err error) error {
	if err == nil {
		return nil
	}
	return invalidParams("the input does not fit the skill: ", "input", err)
}

// InvalidParams makes an InvalidParams of what decoding parameters found.
func InvalidParams(err error) *runtime.Error { return invalidParams("", "", err) }

// invalidParams makes an InvalidParams of err, with a note that begins with intro. Its pointers are turned into field
// paths below root.
func invalidParams(intro, root string, err error) *runtime.Error {
	var vs []runtime.Violation
	var found *check.Error
	var syntax *wire.Error
	switch {
	case errors.As(err, &found):
		for _, v := range found.Violations {
			vs = append(vs, runtime.Violation{Field: fieldPath(root, v.Pointer), Description: v.Message})
		}
	case errors.As(err, &syntax):
		vs = append(vs, runtime.Violation{Field: fieldPath(root, syntax.Pointer), Description: syntax.Reason})
	}
	if len(vs) == 0 {
		return runtime.ErrInvalidParams.With("%s", strings.TrimSuffix(intro, ": "))
	}
	first := strings.TrimSpace(vs[0].Field + " " + vs[0].Description)
	return runtime.ErrInvalidParams.With("%s%s", intro, first).WithViolations(vs...)
}

// violation makes an InvalidParams for one field.
func violation(field, description string) *runtime.Error {
	return runtime.ErrInvalidParams.With("%s %s", field, description).
		WithViolations(runtime.Violation{Field: field, Description: description})
}

// fieldPath turns a JSON pointer into a field path: "/message/parts/0/raw" is "message.parts[0].raw".
func fieldPath(root, pointer string) string {
	var b strings.Builder
	b.WriteString(root)
	if pointer == "" {
		return b.String()
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() == 0:
			b.WriteString(token)
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}

// Passing reports whether a request failed for a reason that lies with the agent, not with the request.
func Passing(err error) bool {
	e, _ := ToError(err)
	return e.Code == runtime.ErrInternal.Code
}

// byOwnCode is an error of the agent's own code (a router, a hook, an operation) while it serves a request: an A2A error
// that it made or passes on is the answer, and the end of ctx, which is the request's, ends it. Anything else is an
// internal error that shows nothing of what it wraps: the end of a context of its own, or an error of another agent.
func byOwnCode(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if e := runtime.Made(err); e != nil {
		return e
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return fmt.Errorf("%s: %v", what, err)
}

// ToError turns any error into one for the peer. What is not meant for the peer becomes ErrInternal, what another agent
// has said included; known says whether it was.
func ToError(err error) (e *runtime.Error, known bool) {
	switch e = runtime.Made(err); {
	case e != nil:
		return e, true
	case errors.Is(err, store.ErrNotFound):
		return runtime.ErrTaskNotFound, true
	case errors.Is(err, store.ErrEnded):
		return runtime.ErrUnsupportedOperation.With("the task has ended"), true
	case errors.Is(err, store.ErrCursor):
		return violation("pageToken", "is not a token of this query"), true
	case errors.Is(err, store.ErrFull):
		return ErrBusy, true
	case errors.Is(err, store.ErrExists):
		return ErrBusy.With("somebody else made the task at the same time, try again"), true
	case errors.Is(err, store.ErrTooLarge):
		return violation("message", "does not fit: its task would be larger than this agent keeps one"), true
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrLost):
		return ErrBusy.With("the task was changed by somebody else, try again"), true
	case errors.Is(err, store.ErrNoSpace):
		return ErrBusy.With("the agent has no room to keep anything, try again later"), true
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrUnknown):
		return ErrBusy.With("the agent cannot reach its tasks, try again later"), true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ErrBusy.With("the request was given up"), true
	}
	return runtime.ErrInternal, false
}
