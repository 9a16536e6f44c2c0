package run

import (
	"errors"

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
	// ErrLost: another instance has the task, because a client canceled it there or this instance's lease ran out.
	// Nothing that the handler still says is stored.
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
	// ErrContextChanged: another task of the context has saved something since this one loaded it: load it again, and
	// decide anew.
	ErrContextChanged = errors.New("another task has changed the context since it was loaded")
)
