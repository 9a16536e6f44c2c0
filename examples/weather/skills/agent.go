// Package skills is the WeatherBot's own code: one handler a skill.
package skills

import "time"

// Agent answers the skills of the card. Its weather is made up from the place and the day, so that it needs no network and every
// answer can be checked.
type Agent struct {
	now func() time.Time
}

// New makes the agent.
func New() *Agent { return &Agent{now: time.Now} }
