// Package skills is the trip planner's own code: what it asks the other agents, and what it makes of that.
package skills

import (
	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/planner/agent"
)

// Agent answers the skill of the card. It calls the agents behind the clients.
type Agent struct {
	agent.Clients // a.Weather, a.Routes
}

// New makes the agent. NewServer makes its clients. A call is tried for a minute and a half: so long the other
// agents may be down.
func New() *Agent {
	return &Agent{Clients: agent.Clients{Options: []rpc.Option{rpc.Policy(rpc.CallPolicy{Attempts: 30})}}}
}

var _ agent.Skills = (*Agent)(nil)
