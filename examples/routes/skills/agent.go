// Package skills is the route planner's own code: one handler a skill.
package skills

import "time"

// Agent answers the skills of the card. Its world is a small fixed map, so that it needs no network.
type Agent struct {
	// Pace is how long comparing one candidate route takes.
	Pace time.Duration
}

// New makes the agent.
func New() *Agent { return &Agent{Pace: 5 * time.Millisecond} }
