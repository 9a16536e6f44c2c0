package engine

import (
	"context"

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

// Router picks the skill for a message that nothing else could place. It returns a skill id, or "" when it does not
// know either.
type Router func(ctx context.Context, m runtime.Message) (skill string, err error)
