package observe

import "context"

// CardChange is the card of an agent that is not what it was when the client of the agent was made.
type CardChange struct {
	Agent    string   // its name on the card
	Peer     string   // host:port of the interface that was called until then
	Changes  []string // what is different, in words, and was not told before
	Followed bool     // calls go on by the new card; if not, by the old one
}

// CardWatcher is an [Observer] that is told when a client notices that an agent's card changed, once for each change.
type CardWatcher interface {
	CardChanged(ctx context.Context, c *CardChange)
}
