package engine

import (
	"cmp"
	"context"
	"time"

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

// Limits bound what an agent takes on: the engine, and the bindings in its name. A zero field means the default in
// brackets. How deep a request's JSON may nest is bounded too, by wire.MaxDepth.
type Limits struct {
	Body      int64         // request body in bytes [16 MiB]
	Bodies    int64         // memory for large messages until they are answered, in bytes; more are refused as busy [256 MiB]
	Work      int64         // memory for large messages at work or waiting for it, in bytes; more are refused as busy [256 MiB]
	Answers   int64         // all large answers being written, in bytes; more wait for their turn [256 MiB]
	Page      int           // content of a page of tasks in bytes; it ends early, but has at least one task [8 MiB]
	Event     int           // content of one message or artifact chunk made by a handler, in bytes [16 MiB]
	Running   int           // handlers running or waiting for their turn; more sends are refused as busy [10,000]
	Streams   int           // open event streams [20,000]
	Pushes    int           // push notification configurations of a task [16]
	Timeout   time.Duration // one call of a handler [1 h]
	Heartbeat time.Duration // silence on a stream after which a comment is sent at the latest [15 s]
	Stall     time.Duration // a client that takes nothing for so long is dropped; large answers wait as long for room [30 s]
	Header    time.Duration // reading a request's header [10 s]
	Read      time.Duration // reading a request's body, and one second more for every 16 KiB of it that came [60 s]
	Idle      time.Duration // keep-alive of an unused connection [120 s]
	Grace     time.Duration // shutdown: how long handlers may finish before they are canceled [10 s]
}

// WithDefaults returns the limits with the defaults for those that are zero.
func (l Limits) WithDefaults() Limits {
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Bodies = cmp.Or(l.Bodies, 256<<20)
	l.Work = cmp.Or(l.Work, 256<<20)
	l.Answers = cmp.Or(l.Answers, 256<<20)
	l.Page = cmp.Or(l.Page, 8<<20)
	l.Event = cmp.Or(l.Event, 16<<20)
	l.Running = cmp.Or(l.Running, 10_000)
	l.Streams = cmp.Or(l.Streams, 20_000)
	l.Pushes = cmp.Or(l.Pushes, 16)
	l.Timeout = cmp.Or(l.Timeout, time.Hour)
	l.Heartbeat = cmp.Or(l.Heartbeat, 15*time.Second)
	l.Stall = cmp.Or(l.Stall, 30*time.Second)
	l.Header = cmp.Or(l.Header, 10*time.Second)
	l.Read = cmp.Or(l.Read, time.Minute)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.Grace = cmp.Or(l.Grace, 10*time.Second)
	return l
}
