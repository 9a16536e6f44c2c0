package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/store"
)

// Causes with which a handler's context is canceled: ask context.Cause.
var (
	// ErrCanceled: the client canceled the task.
	ErrCanceled = errors.New("the client canceled the task")
	// ErrTimeout: the skill's time is up.
	ErrTimeout = errors.New("the skill's time is up")
	// ErrShutdown: the agent is shutting down.
	ErrShutdown = errors.New("the agent is shutting down")
	// ErrLost: another instance has the task, because a client canceled it there or this instance's lease ran out. Nothing
	// that the handler still says is stored.
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

// ErrBusy is [budget.ErrBusy], for bindings.
var ErrBusy = budget.ErrBusy

// Passing reports whether a request failed for a reason that lies with the agent, not with the request, so that the same
// request may succeed later.
func Passing(err error) bool {
	e, _ := ToError(err)
	return e.Code == runtime.ErrInternal.Code
}

// byOwnCode returns the error to answer with when the agent's own code (a router, a hook, an operation) failed with err.
// An A2A error that the code made or passes on is the answer; so is the end of ctx, the request's context. Anything else
// becomes an internal error, and what it wraps (the end of another context, the error of another agent) is not shown.
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

// ToError turns any error into one for the peer. What is not meant for the peer, an error of another agent included,
// becomes [runtime.ErrInternal]; known is false then.
func ToError(err error) (e *runtime.Error, known bool) {
	switch e = runtime.Made(err); {
	case e != nil:
		return e, true
	case errors.Is(err, store.ErrNotFound):
		return runtime.ErrTaskNotFound, true
	case errors.Is(err, store.ErrEnded):
		return runtime.ErrUnsupportedOperation.With("the task has ended"), true
	case errors.Is(err, store.ErrCursor):
		return invalid.Field("pageToken", "is not a token of this query"), true
	case errors.Is(err, store.ErrFull):
		return ErrBusy, true
	case errors.Is(err, store.ErrExists):
		return ErrBusy.With("somebody else made the task at the same time, try again"), true
	case errors.Is(err, store.ErrTooLarge):
		return invalid.Field("message", "does not fit: its task would be larger than this agent keeps one"), true
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
