package conform

import (
	"slices"
	"strings"
)

// Level is how much the specification demands something.
type Level string

// The levels.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// Scope is what a check is run on.
type Scope string

// The scopes.
const (
	OnCard      Scope = "card"      // once, on the card
	OnInterface Scope = "interface" // on each interface that the card lists
	OnAnswers   Scope = "answers"   // on every answer that comes over an interface while the others run
	OnAgent     Scope = "agent"     // once, on all interfaces together
)

// Check is one thing that an agent is held to.
type Check struct {
	ID           string   `json:"id"`
	Requirements []string `json:"requirements"` // numbers of docs/internals/requirements.md
	Section      string   `json:"section"`      // of the specification: "1.0 §3.2.2; 0.3 §6.1"
	Level        Level    `json:"level"`
	Sentence     string   `json:"sentence"` // what is asked for
	Scope        Scope    `json:"scope"`
	Versions     []string `json:"versions,omitempty"` // for which; empty: all
	Bindings     []string `json:"bindings,omitempty"` // over which; empty: all
	// Needs is what the agent has to do for it beyond answering a text; empty: nothing.
	Needs string `json:"needs,omitempty"`
	// Differ says how official releases differ among themselves; empty: they do not, as far as is known.
	Differ string `json:"officialReleases,omitempty"`

	reach stages // before it runs
	run   func(*trial)
}

// Checks returns all checks, in the order in which they run.
func Checks() []Check {
	all := make([]Check, 0, len(checks()))
	for _, c := range checks() {
		all = append(all, *c)
	}
	return all
}

// checks are the tables of all files, those of the card first.
func checks() []*Check {
	return slices.Concat(cardChecks, sendChecks, taskChecks, listChecks, streamChecks, negotiationChecks, inputChecks,
		jsonrpcChecks, restChecks, pushChecks, authChecks, answerChecks, agentChecks)
}

func (c *Check) applies(version, binding string) bool {
	return (len(c.Versions) == 0 || slices.Contains(c.Versions, version)) && (len(c.Bindings) == 0 || slices.Contains(c.Bindings, binding))
}

// chosen reports whether a check is among those to run: see [Config.Only].
func (c *Check) chosen(only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(word string) bool {
		return c.ID == word || strings.HasPrefix(c.ID, strings.TrimSuffix(word, ".")+".") || slices.Contains(c.Requirements, word)
	})
}
