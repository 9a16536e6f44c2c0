package task

import (
	"context"
	"log/slog"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// run is what a Task asks of the run behind it, which the server has.
type run interface {
	runtime.Call
	ContextID() string
	Parts() []runtime.Part
	Text() string
	Resumed() bool
	Logger() *slog.Logger

	Progress(text string) error
	Report(m runtime.MessageData) error
	Emit(a runtime.ArtifactData) error
	OpenArtifact(a runtime.ArtifactData) *ArtifactWriter
	Answer(m runtime.MessageData) error
	// End makes the error that ends the call, or keeps the message of a completed task and returns nil.
	End(state runtime.State, m runtime.MessageData) error
	// PassOn is End with the question of another agent's task.
	PassOn(state runtime.State, m runtime.MessageData, task, token string) error
	// Handle makes a handle that is good for a while from now; Suspend is End with it, to wait for an authorization.
	Handle(good time.Duration) (handle string, expires time.Time)
	Suspend(m runtime.MessageData, handle string, good time.Duration) error

	SetSaved(value []byte) error
	Saved() []byte
	ContextValue() ([]byte, error)
	SetContextValue(value []byte) error
	Conversation(ctx context.Context, n int) ([]Exchange, error)
}
