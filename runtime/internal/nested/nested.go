// Package nested is how a client and the task of a handler know of each other, when the handler calls another agent by
// that client: through the handler's context. The runner of tasks is the [Handler], clients ask for it.
package nested

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Handler is a handler at work. Its methods are safe for concurrent use.
type Handler interface {
	// Call names a call of another agent, before its message is sent, and returns what the handler's task knows of it:
	// an earlier attempt of the handler may have made it, or an earlier message of the task. Where the handler may be
	// called again after a crash, the task has stored that the call is made when Call returns.
	Call(c Call) (Known, error)
	// Began notes the task that the other agent made for a call, and Replied its answer without a task. After an error
	// the handler's task goes on elsewhere, or not at all.
	Began(id, task string) error
	Replied(id string, message []byte) error
	// Answered notes that the other agent has the answer to its question.
	Answered(id string)
	// Ended notes that the task of the other agent has ended, so that there is nothing left to cancel.
	Ended(id string)
	// Left notes that the client no longer follows the call. If the handler's task was canceled, or its time is up, the
	// other agent's task is canceled in the background.
	Left(id string)
}

// Call is a call of another agent's skill that is about to be made.
type Call struct {
	Agent   string   // the same in every process
	Skill   string   // its id
	Content [32]byte // digest of what the message says
	Parts   []runtime.Part
	Keys    bool // the agent promises to know the message by its key when it comes again
	// Cancel cancels the other agent's task.
	Cancel func(ctx context.Context, task string) error
}

// Known is what a handler's task knows of a call.
type Known struct {
	ID    string    // of the call in its task
	Key   string    // idempotency key and id of the message: the same in each attempt
	Sent  time.Time // the message may have been sent before, and not before then; zero: it was not
	Task  string    // that the other agent made for it; "": that is not known
	Reply []byte    // by which it was answered without a task, as Replied got it; nil: it was not
	// Answer is of a call that asked a question which the handler passed on to its own client; nil: the call is none.
	Answer *Answer
}

// Answer is what the handler's client says to a question of another agent.
type Answer struct {
	Question string // token of the question
	Key      string // as [Known.Key], of the message with the answer
	Parts    []runtime.Part
}

// Key is the key of the [Handler] in the values of a handler's context.
type Key struct{}

// From returns the handler that a context belongs to, nil without one.
func From(ctx context.Context) Handler {
	h, _ := ctx.Value(Key{}).(Handler)
	return h
}
