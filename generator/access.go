package generator

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// openAlthough says that the agent is for everybody, although its card demands credentials of the callers of all or of some
// skills.
func openAlthough(c *config.Config, agent *card.Card) diag.List {
	demanding := append([]*yaml.Node{agent.Root}, yamlx.Items(yamlx.Get(agent.Root, "skills"))...)
	i := slices.IndexFunc(demanding, func(n *yaml.Node) bool {
		return len(yamlx.Items(yamlx.Get(n, "securityRequirements"))) > 0
	})
	if i < 0 {
		return nil
	}
	key, _ := yamlx.Pair(demanding[i], "securityRequirements")
	return diag.List{{
		Code: "contradiction", Severity: diag.Error, Pos: c.Open,
		Message: "the agent is for everybody, but its card demands credentials", Hint: "leave one of the two out",
		Related: []diag.Related{{Pos: yamlx.Pos(agent.File, key), Message: "demanded here"}},
	}}
}
