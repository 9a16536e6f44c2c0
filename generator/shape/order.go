package shape

import (
	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// Ordered returns a copy of n, which fits o, with its keys in the order that o declares them, and so on inside. Keys that o
// does not know are left out. Maps with names of the user's own keep their order.
func Ordered(n *yaml.Node, o *Object) *yaml.Node {
	return ordered(n, &Type{Kind: Struct, Object: o})
}

func ordered(n *yaml.Node, t *Type) *yaml.Node {
	c := *n
	c.Content = nil
	if t.Or != nil && n.Kind == yaml.MappingNode {
		t = t.Or
	}
	switch {
	case t.Kind == Struct && n.Kind == yaml.MappingNode:
		for _, f := range t.Object.Fields {
			if k, v := yamlx.Pair(n, f.Key); k != nil {
				c.Content = append(c.Content, k, ordered(v, f.Type))
			}
		}
	case t.Kind == Map && n.Kind == yaml.MappingNode:
		for k, v := range yamlx.Pairs(n) {
			c.Content = append(c.Content, k, ordered(v, t.Elem))
		}
	case t.Kind == List && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			c.Content = append(c.Content, ordered(item, t.Elem))
		}
	default:
		c.Content = n.Content
	}
	return &c
}
