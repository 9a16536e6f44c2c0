package card

import (
	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/shape"
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
// leaves its skill without types, and the card usable.
func (card *Card) importContracts(c *shape.Checker) {
	for _, s := range card.Skills {
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
		s.Input, s.Output = nil, nil
		drop(s.node, "input", "output")
	}
	card.compile(c, noFiles, true)
}
