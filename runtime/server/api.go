package server

import (
	"context"
	"iter"

	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/task"
)

// The types of the engine that generated code and handlers use.
type (
	// Config is the agent as generated code describes it: protocol, card and skills.
	Config = engine.Config
	// Skill is one skill of the agent with its handler.
	Skill = engine.Skill
	// Task is one call of a handler: the message being handled and the task it belongs to.
	Task = task.Task
	// Context holds what handlers keep with a context, for its later tasks.
	Context = task.Context
	// Exchange is a task of a conversation, with its messages.
	Exchange = task.Exchange
	// ArtifactWriter streams one artifact.
	ArtifactWriter = task.ArtifactWriter
	// Operation carries out an operation of a protocol definition of the user's own.
	Operation = engine.Operation
	// Router picks the skill for a message that does not name one.
	Router = engine.Router
	// Extensions are those of an agent whose values are typed.
	Extensions = engine.Extensions
	// Repeats says how an agent recognizes repeated messages.
	Repeats = engine.Repeats
	// AuthRequest is an authorization that a handler needs.
	AuthRequest = task.AuthRequest
	// Limits bound what a server takes on.
	Limits = engine.Limits
)

// Causes with which a handler's context is canceled: ask context.Cause.
var (
	// ErrCanceled: the client canceled the task.
	ErrCanceled = run.ErrCanceled
	// ErrTimeout: the skill's time is up.
	ErrTimeout = run.ErrTimeout
	// ErrShutdown: the agent is shutting down.
	ErrShutdown = run.ErrShutdown
	// ErrLost: another instance runs the task.
	ErrLost = run.ErrLost
)

// What becomes of a call that a crash or a shutdown interrupts.
const (
	CrashFail  = engine.CrashFail
	CrashRetry = engine.CrashRetry
)

// Errors of a handler's Task.
var (
	// ErrAnswered: the handler already answered with a Message, or its call is over.
	ErrAnswered = run.ErrAnswered
	// ErrTaskExists: a plain Message can no longer be the answer.
	ErrTaskExists = run.ErrTaskExists
	// ErrBusy tells the client to try again later (R40): HTTP 503, UNAVAILABLE, or an internal error with the reason
	// RESOURCE_EXHAUSTED.
	ErrBusy = engine.ErrBusy
	// ErrTooManyArtifacts: the task has as many artifacts as a task may have, [runtime.MaxArtifacts].
	ErrTooManyArtifacts = run.ErrTooManyArtifacts
	// ErrTooLarge: an event is over the server's limit.
	ErrTooLarge = run.ErrTooLarge
	// ErrTaskTooLarge: with the event, the task would be larger than the store keeps one. The handler can still end it,
	// in few words.
	ErrTaskTooLarge = run.ErrTaskTooLarge
	// ErrContextChanged: another task has changed the context since it was loaded.
	ErrContextChanged = run.ErrContextChanged
)

// ErrHandle is the error of [Server.Redeem] for a handle that is not good.
var ErrHandle = engine.ErrHandle

// InvalidInput wraps what decoding or validating an input found (*check.Error, *wire.Error) as InvalidParams with one
// violation for each finding. Generated code calls it.
func InvalidInput(err error) error { return invalid.Input(err) }

// NewOperation makes an operation of a typed function. A nil result is an error.
func NewOperation[In, Out any](run func(context.Context, *In) (*Out, error)) Operation {
	return engine.NewOperation(run)
}

// NewStreamOperation makes an operation of a typed function whose result is a stream: each item is sent as it comes. An
// error ends the stream and is answered as an [Operation]'s is. The sequence runs on a goroutine of its own; ctx ends
// when the client leaves, the server shuts down or the time limit of handlers is over, and the sequence has to end
// then.
func NewStreamOperation[In, Out any](run func(context.Context, *In) iter.Seq2[*Out, error]) Operation {
	return engine.NewStreamOperation(run)
}
