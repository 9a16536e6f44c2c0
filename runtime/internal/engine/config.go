package engine

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Config is what generated code hands over.
type Config struct {
	Protocol *runtime.Protocol
	Card     runtime.Card
	// Extended is the card for identified callers; nil: the agent has none. ExtendedScopes are those that a caller needs to
	// have part in it, all of them.
	Extended       runtime.Card
	ExtendedScopes []string
	Skills         []Skill // in the card's order; ids are unique
	// Operations carry out operations that the runtime does not know ([runtime.RoleOther]), by JSON-RPC method name.
	// One that is not there answers UnsupportedOperation.
	Operations map[string]Operation
	// Repeats say how messages are known that come again.
	Repeats Repeats
	// OpenStore opens the file in which the agent keeps its tasks, unless its host says otherwise: StorePath, unless
	// its host says another. Nil for an agent that keeps them in memory.
	OpenStore func(path string, p *runtime.Protocol) (store.Store, error)
	StorePath string
}

// Skill is one skill of the agent with its handler.
type Skill struct {
	ID, Name, Description string
	Tags, Examples        []string
	InputModes            []string // media types; empty: any
	OutputModes           []string // media types; empty: any
	// InputSchema and OutputSchema are self-contained JSON Schemas; "" for a skill that takes messages or answers text.
	InputSchema, OutputSchema string
	// TextField is the input property that plain text fills; "" when there is none.
	TextField string
	// Timeout bounds one call of the handler; 0 means [Limits.Timeout]. With one of its own a skill runs beside the
	// request's goroutine, so that a waiting client is answered in time by a handler that ignores its context, too.
	Timeout time.Duration
	// MaxConcurrent bounds the handlers running at once; further calls wait. 0 means no bound but [Limits.Running].
	MaxConcurrent int
	// Hidden: who may not see the extended card neither sees the skill nor can call it.
	Hidden bool
	// Default: the skill takes plain text that fits none and that the router does not place. At most one skill does.
	Default bool
	// OnCrash is what becomes of a call that a crash or a shutdown interrupts, where tasks outlive the process.
	OnCrash OnCrash
	// Decode reads and validates an input. An error is a *check.Error or *wire.Error. Nil without an input schema.
	Decode func(input []byte) (any, error)
	// Run calls [Task.Begin] if the skill has an output schema, then the handler, and encodes the output: JSON with an
	// output schema, else text, empty when the handler answered through its call. in is what Decode made of the input;
	// without Decode it is the input's JSON as []byte, nil for a skill without an input schema.
	Run func(ctx context.Context, t *Task, in any) (output []byte, err error)
}

// OnCrash says what becomes of a call that was interrupted.
type OnCrash uint8

const (
	CrashFail  OnCrash = iota // its task fails
	CrashRetry                // the handler is called again, a few times at most: see [Task.Attempt]
)

// Router picks the skill for a message that nothing else could place. It returns a skill id, or "" when it does not
// know either.
type Router func(ctx context.Context, m runtime.Message) (skill string, err error)
