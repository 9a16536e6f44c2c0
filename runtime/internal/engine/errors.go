package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// ErrUnidentified refuses what is only for callers who say who they are. A2A has no code for it (R29): a binding
// answers it as it refuses wrong credentials.
var ErrUnidentified = errors.New("the caller has not said who it is")

// ErrBusy is [budget.ErrBusy], for bindings.
var ErrBusy = budget.ErrBusy

// Away reports whether a request failed because the store cannot be reached or written: nothing that needs it can be
// answered, whoever asks, until it is back.
func Away(err error) bool {
	for _, away := range []error{store.ErrUnavailable, store.ErrUnknown, store.ErrNoSpace} {
		if errors.Is(err, away) {
			return true
		}
	}
	return err == run.ErrUnwritten
}

// Passing reports whether a request failed for a reason that lies with the agent, not with the request, so that the
// same request may succeed later.
func Passing(err error) bool {
	e, _ := ToError(err)
	return e.Code == runtime.ErrInternal.Code
}

// byOwnCode returns the error to answer with when the agent's own code (a router, a hook, an operation) failed with
// err. An A2A error that the code made or passes on is the answer; so is the end of ctx, the request's context.
// Anything else becomes an internal error, and what it wraps (the end of another context, the error of another agent)
// is not shown.
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
	case errors.Is(err, store.ErrForgotten):
		return errForgotten, true
	case errors.Is(err, store.ErrEnded):
		return runtime.ErrUnsupportedOperation.With("the task has ended"), true
	case errors.Is(err, store.ErrCursor):
		return invalid.Field("pageToken", "is not a token of this query"), true
	case errors.Is(err, store.ErrFull):
		return ErrBusy, true
	case errors.Is(err, store.ErrExists):
		return ErrBusy.With("somebody else made the task at the same time, try again"), true
	case errors.Is(err, store.ErrPushes):
		return runtime.ErrInvalidParams.With("%s", err), true
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
