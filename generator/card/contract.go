package card

import (
	"encoding/json"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// compile compiles the schemas of all skills together: shared references are read once, and limits hold for all.
// foreign is true for somebody else's card.
func (card *Card) compile(c *shape.Checker, open func(string) ([]byte, error), foreign bool) {
	var reqs []schema.Request
	var slots []**schema.Root
	for _, s := range card.Skills {
		for _, side := range []struct {
			key  string
			slot **schema.Root
		}{{"input", &s.Input}, {"output", &s.Output}} {
			n := yamlx.Get(s.node, side.key)
			if !isSchema(n) {
				continue
			}
			reqs = append(reqs, schema.Request{File: card.File, Node: n, Foreign: foreign})
			slots = append(slots, side.slot)
		}
	}
	if len(reqs) == 0 {
		return
	}
	roots, problems := schema.Compile(reqs, open)
	c.List.Add(problems...)
	for i, slot := range slots {
		*slot = &roots[i]
	}
}

// isSchema reports whether n may be compiled. A wrong type was reported before.
func isSchema(n *yaml.Node) bool {
	return n != nil && (n.Kind == yaml.MappingNode || n.Tag == "!!bool" || yamlx.Text(n) != "")
}

// importContracts compiles the schemas of somebody else's card, one skill at a time: a schema that cannot be compiled
// leaves its skill without types, and the card usable. It returns the skills of which that is so.
func (card *Card) importContracts(c *shape.Checker) (dropped map[*Skill]bool) {
	dropped = map[*Skill]bool{}
	for _, s := range card.Skills {
		s.Published = Contract{schemaText(s.node, "input"), schemaText(s.node, "output")}
		probe := &Card{File: card.File, Skills: []*Skill{s}}
		alone := &shape.Checker{File: c.File}
		probe.compile(alone, noFiles, true)
		if !alone.List.HasErrors() {
			continue
		}
		for _, d := range alone.List {
			if d.Severity == diag.Error {
				d.Severity, d.Hint = diag.Warning, ""
				d.Message = "the schemas of skill " + quote(s.ID) + " are left out: " + d.Message
				c.List.Add(d)
			}
		}
		s.Input, s.Output, dropped[s] = nil, nil, true
		drop(s.node, "input", "output")
	}
	card.compile(c, noFiles, true)
	return dropped
}

// Stated is what the user of somebody else's agent says of one of its skills: the schemas that the card does not publish, as in
// agent.yaml.
type Stated struct {
	ID            string
	Input, Output *yaml.Node
	File          string // in which it stands
	Pos           diag.Pos
}

// State adds what the user says to an imported card. It is a mistake where the card has no such skill, or publishes another schema.
func (card *Card) State(contracts []Stated, open func(string) ([]byte, error)) (list diag.List) {
	skills, ids := map[string]*Skill{}, []string{}
	for _, s := range card.Skills {
		skills[s.ID], ids = s, append(ids, s.ID)
	}
	var reqs []schema.Request
	var slots []slot
	for _, c := range contracts {
		s := skills[c.ID]
		if s == nil {
			list.Errorf(c.Pos, "no-skill", suggest.Key(c.ID, ids), "the card of %q has no skill %s", card.Name, quote(c.ID))
			continue
		}
		for _, x := range []slot{{c.ID, "input", &s.Input}, {c.ID, "output", &s.Output}} {
			if n := map[string]*yaml.Node{"input": c.Input, "output": c.Output}[x.side]; isSchema(n) {
				reqs, slots = append(reqs, schema.Request{File: c.File, Node: n}), append(slots, x)
			}
		}
	}
	if len(reqs) == 0 {
		return list
	}
	roots, problems := schema.Compile(reqs, open)
	if list.Add(problems...); problems.HasErrors() {
		return list
	}
	for i, x := range slots {
		if published := *x.root; published != nil && !sameJSON(published.Bundle, roots[i].Bundle) {
			list.Errorf(yamlx.Pos(reqs[i].File, reqs[i].Node), "contradicts", "take it out here, and the client follows the card",
				"the card publishes another schema for the %s of skill %s", x.side, quote(x.skill))
			continue
		}
		*x.root = &roots[i]
	}
	return list
}

// slot is a schema of a skill.
type slot struct {
	skill, side string
	root        **schema.Root
}

// sameJSON reports whether two documents have the same value.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// schemaText is a schema of a skill as JSON; nil if there is none.
func schemaText(skill *yaml.Node, key string) json.RawMessage {
	if n := yamlx.Get(skill, key); n != nil && isSchema(n) {
		return yamlx.JSON(n)
	}
	return nil
}
