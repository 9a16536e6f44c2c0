package engine

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// Config is what generated code hands over.
type Config struct {
	Protocol *runtime.Protocol
	Card     runtime.Card
	// Extended is the card for identified callers; nil: the agent has none. A caller needs all ExtendedScopes to see
	// it.
	Extended       runtime.Card
	ExtendedScopes []string
	Skills         []Skill // in the card's order; ids are unique
	// Operations carry out operations that the runtime does not know ([runtime.RoleOther]), by JSON-RPC method name.
	// One that is not there answers UnsupportedOperation.
	Operations map[string]Operation
	// Extensions are those that the card declares and whose values are typed; nil: there are none.
	Extensions Extensions
	// Repeats say how messages that are sent again are recognized.
	Repeats Repeats
	// OpenStore opens the store in which the agent of that name keeps its tasks, at StorePath unless the host names another
	// address or store. Nil for an agent that keeps them in memory.
	OpenStore func(address, agent string, p *runtime.Protocol) (store.Store, error)
	StorePath string // a file, or "" where the store has an address of its own
}

// Router picks the skill for a message for which nothing else decides. It returns a skill's id, or "" if it does not
// know either.
type Router func(ctx context.Context, m runtime.Message) (skill string, err error)

// Choice is why a message went to its skill.
type Choice = route.Choice

// OtherCall is a call of another agent that a handler makes.
type OtherCall = run.OtherCall
