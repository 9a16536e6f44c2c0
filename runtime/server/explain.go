package server

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// EnvExplain is the environment variable that, if it is not empty, has an agent write to standard error why each message
// that begins a task went to its skill: a line that begins with [ChoiceLine], and then JSON. Answers stay as they are.
// "a2agen dev" sets it.
const EnvExplain = "A2A_EXPLAIN"

// ChoiceLine begins a line of [EnvExplain].
const ChoiceLine = "a2agen: chosen "

// tellChoices returns what writes choices; nil if nobody asks.
func tellChoices(asked string, to io.Writer) func(*engine.Choice) {
	if asked == "" {
		return nil
	}
	return func(c *engine.Choice) {
		line, err := json.Marshal(c)
		if err == nil {
			_, _ = to.Write(slices.Concat([]byte(ChoiceLine), line, []byte("\n"))) // who reads it may be gone
		}
	}
}
