package generator

import (
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
)

// openAlthough says that the agent is for everybody, although its card demands credentials.
func openAlthough(c *config.Config, agent *card.Card) diag.List {
	demand := agent.Demand()
	if demand.Line == 0 {
		return nil
	}
	return diag.List{{
		Code: "contradiction", Severity: diag.Error, Pos: c.Open,
		Message: "the agent is for everybody, but its card demands credentials", Hint: "leave one of the two out",
		Related: []diag.Related{{Pos: demand, Message: "demanded here"}},
	}}
}
