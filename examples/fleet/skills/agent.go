// Package skills holds what the agent does: one handler a file.
package skills

import (
	"cmp"
	"os"

	"example.com/fleet/agent"
)

// Agent is the receiver of the handlers. It keeps nothing of a task: that is in the store, for all replicas.
type Agent struct {
	replica string // the name of this process
}

// New returns an agent that is ready to be called.
func New() *Agent {
	host, _ := os.Hostname() // that of the container or pod
	return &Agent{replica: cmp.Or(os.Getenv("REPLICA"), host, "nameless")}
}

// A skill without a handler is a compile error here, which names the missing method; a2agen generate writes its stub.
var _ agent.Skills = (*Agent)(nil)
