package lower

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/schema"
)

// Agent lowers a card that was read without errors: it chooses the names of methods, types and files, and makes the
// card to publish. spoken are the protocol versions that the generated server speaks, newest first; they do not
// matter for an imported card, which stays as it is. If the list has an error, the agent is nil.
func Agent(c *card.Card, spoken []Spoken) (*ir.Agent, diag.List) {
	p := publisher{card: c, spoken: spoken}
	agent := &ir.Agent{Name: c.Name, Card: p.publish(c.Public())}
	agent.Bindings, agent.Pushes = p.offered, p.pushes
	if c.Hides {
		again := publisher{card: c, spoken: spoken} // its problems are the same
		agent.Extended, agent.ExtendedScopes = again.publish(c.Private()), c.ExtendedScopes
	}
	p.problems.Sort()
	if p.problems.HasErrors() {
		return nil, p.problems
	}
	for _, s := range c.Skills {
		skill := agentSkill(s)
		skill.Convention = Convention(c, s)
		agent.Skills = append(agent.Skills, skill)
	}
	names.Skills(agent.Skills)
	var contracts []names.Contract
	for i, s := range c.Skills {
		for _, side := range []struct {
			suffix string
			root   *schema.Root
		}{{"Input", s.Input}, {"Output", s.Output}} {
			if side.root != nil {
				contracts = append(contracts, names.Contract{
					Go: agent.Skills[i].Go + side.suffix, Root: side.root.Ref, Types: side.root.Types,
				})
			}
		}
	}
	agent.Types = names.Contracts(names.OfSkills(), contracts)
	return agent, p.problems
}

// Convention is how a client calls a skill of somebody else's agent. An agent that takes no JSON gets its input as text.
func Convention(c *card.Card, s *card.Skill) ir.Convention {
	if s.Convention.Func == "" && c.Origin != "" && !c.Extended && s.Input != nil && !slices.ContainsFunc(s.InputModes, takesJSON) {
		return ir.Convention{Func: "ByJSONText"}
	}
	return s.Convention
}

func agentSkill(s *card.Skill) *ir.Skill {
	out := &ir.Skill{
		ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples,
		InputModes:  withJSON(s.InputModes, s.Input),
		OutputModes: withJSON(s.OutputModes, s.Output),
		Timeout:     s.Timeout, MaxConcurrent: s.MaxConcurrent, Retry: s.Retry, Default: s.Default, Hidden: s.Hidden,
	}
	if s.Input != nil {
		out.Input, out.InputSchema, out.TextField = s.Input.Ref, s.Input.Bundle, s.Input.TextField
	}
	if s.Output != nil {
		out.Output, out.OutputSchema = s.Output.Ref, s.Output.Bundle
	}
	return out
}

const jsonMode = "application/json"

// withJSON adds application/json to the modes of a side that has a schema: its data is sent as JSON.
func withJSON(modes []string, contract *schema.Root) []string {
	if contract == nil || slices.ContainsFunc(modes, takesJSON) {
		return modes
	}
	return append(slices.Clone(modes), jsonMode)
}

func takesJSON(mode string) bool {
	mode, _, _ = strings.Cut(mode, ";")
	switch strings.ToLower(strings.TrimSpace(mode)) {
	case jsonMode, "application/*", "*/*":
		return true
	}
	return false
}
