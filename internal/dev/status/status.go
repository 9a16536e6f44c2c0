// Package status has the values by which the loop of development tells what its agents do: to the terminal and, as
// JSON, to the page.
package status

import (
	"fmt"
	"strings"
	"time"
)

// Phase is what the loop does for an agent, or what came of it.
type Phase string

// The phases of a round, in their order, and those between two rounds.
const (
	Generating Phase = "generating"
	Building   Phase = "building"
	Starting   Phase = "starting"
	Switching  Phase = "switching"

	Ready Phase = "ready" // the agent answers, and is made from the files as they are
	Stale Phase = "stale" // the files could not be made into an agent: that of Since answers
	Down  Phase = "down"  // no agent answers
)

// Agent is an agent as the loop has it.
type Agent struct {
	Number int       `json:"number"` // from 0, in the order of the command line
	Name   string    `json:"name"`   // of its card, or its folder or address if that is not known
	Folder string    `json:"folder,omitempty"`
	URL    string    `json:"url"`          // where its callers find it
	To     string    `json:"to,omitempty"` // of an agent that somebody else runs: where
	Phase  Phase     `json:"phase"`
	Since  time.Time `json:"since,omitzero"` // when the process that answers took over
	Pid    int       `json:"pid,omitempty"`  // its number
	Rounds int       `json:"rounds"`         // how many were begun
	TookMS int64     `json:"tookMs"`         // the last round that ended well, in milliseconds
	Paused bool      `json:"paused"`         // files are not watched
	Store  Store     `json:"store,omitempty"`
	// Step, Problems and Notes are of the last round. Step is the phase that failed; "" if none did.
	Step     Phase     `json:"step,omitempty"`
	Problems []Problem `json:"problems"`
	Notes    []string  `json:"notes"`
}

// Clone returns a copy whose lists are its own.
func (a Agent) Clone() Agent {
	a.Problems = append([]Problem{}, a.Problems...)
	a.Notes = append([]string{}, a.Notes...)
	return a
}

// Store is where an agent keeps its tasks during development.
type Store string

// The stores.
const (
	InFile   Store = "file"   // they stay over restarts
	InMemory Store = "memory" // they end with each process
	Own      Store = "own"    // where the environment or the agent's own configuration says
)

// Problem is why a step failed.
type Problem struct {
	File string `json:"file,omitempty"` // relative to the agent's folder, with slashes; "" if it is about none
	Line int    `json:"line,omitempty"` // from 1; 0: not known
	Col  int    `json:"col,omitempty"`  // from 1; 0: not known
	Text string `json:"text"`
}

// String returns the problem as compilers print it: "main.go:7:2: undefined: x".
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		for _, n := range []int{p.Line, p.Col} {
			if n > 0 {
				fmt.Fprintf(&b, ":%d", n)
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Failure is the error of a step.
type Failure struct {
	Step     Phase
	Problems []Problem
}

// Error implements error.
func (f *Failure) Error() string {
	lines := make([]string, len(f.Problems))
	for i, p := range f.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Failed returns the failure of a step with one problem, which is about no file.
func Failed(step Phase, format string, args ...any) *Failure {
	return &Failure{step, []Problem{{Text: fmt.Sprintf(format, args...)}}}
}
