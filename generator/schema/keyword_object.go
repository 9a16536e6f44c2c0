package schema

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/yamlx"
)

func readRequired(c *compiler, s *schema, k, v *yaml.Node) { s.required = c.texts(s, k, v) }

func readProperties(c *compiler, s *schema, k, v *yaml.Node) {
	if !c.isMap(s, k, v) {
		return
	}
	s.props = []*property{} // present, even if empty: a struct, not a map
	for pk, pv := range yamlx.Pairs(v) {
		if sub := c.read(s.doc, join(s.ptr, k.Value, pk.Value), pv); sub != nil {
			s.props = append(s.props, &property{name: pk.Value, key: pk, schema: sub})
		}
	}
}

// readDependent reads dependentRequired, and dependencies of draft 7 where its values are lists.
func readDependent(c *compiler, s *schema, k, v *yaml.Node) {
	if !c.isMap(s, k, v) {
		return
	}
	for dk, dv := range yamlx.Pairs(v) {
		if dv.Kind != yaml.SequenceNode && k.Value == "dependencies" {
			c.failf(s, dk, "unsupported-keyword", table["dependentSchemas"].Remedy,
				"a schema as a dependency cannot be expressed as a Go type")
			continue
		}
		dep := ir.Dependency{If: dk.Value}
		for _, n := range c.texts(s, dk, dv) {
			dep.Then = append(dep.Then, n.Value)
		}
		if len(dep.Then) > 0 {
			s.checks.DependentRequired = append(s.checks.DependentRequired, dep)
		}
	}
}

// onlyRequired reports whether every branch of a combination says nothing but which properties must be there.
func onlyRequired(branches []*schema) bool {
	return !slices.ContainsFunc(branches, func(b *schema) bool {
		bare := b.always == nil && b.ref == nil && b.types&^jsontype.Object == 0 && !b.hasEnum && !b.nullable &&
			b.props == nil && b.additional == nil && b.names == nil &&
			b.uses == jsontype.Object && len(b.allOf)+len(b.anyOf)+len(b.oneOf) == 0 && b.format == nil &&
			len(b.checks.Limits)+len(b.checks.DependentRequired)+len(b.checks.Groups) == 0
		return !bare || len(b.required) == 0
	})
}

// addGroup turns branches that only require properties into a choice of keys.
func (s *schema) addGroup(branches []*schema, one bool) {
	group := ir.KeyGroup{One: one}
	for _, b := range branches {
		var set []string
		for _, n := range b.required {
			set = append(set, n.Value)
		}
		group.Sets = append(group.Sets, set)
	}
	s.uses |= jsontype.Object
	s.checks.Groups = append(s.checks.Groups, group)
}
