package server

import (
	"encoding/json"
	"io"
	"slices"
)

// EnvExplain is the environment variable that, if it is not empty, has an agent write to standard error what else only
// its own code knows: why each message that begins a task went to its skill, and which messages its handlers send to
// other agents. Each is a line of [ChoiceLine] or [CallLine], and then JSON. Answers stay as they are. "a2agen dev" sets
// it.
const EnvExplain = "A2A_EXPLAIN"

// These begin the lines of [EnvExplain].
const (
	ChoiceLine = "a2agen: chosen "
	CallLine   = "a2agen: calls "
)

// teller returns what writes values of a type as lines.
func teller[T any](begin string, to io.Writer) func(T) {
	return func(what T) {
		if line, err := json.Marshal(what); err == nil {
			_, _ = to.Write(slices.Concat([]byte(begin), line, []byte("\n"))) // who reads it may be gone
		}
	}
}
