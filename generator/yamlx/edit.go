package yamlx

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// NewText returns a string that stands where at stands.
func NewText(at *yaml.Node, s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: at.Line, Column: at.Column}
}

// NewBool returns a boolean that stands where at stands.
func NewBool(at *yaml.Node, v bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false", Line: at.Line, Column: at.Column}
	if v {
		n.Value = "true"
	}
	return n
}

// rawTag marks a scalar whose value is JSON text.
const rawTag = "!!json"

// NewRaw returns a node that [AppendJSON] renders as the JSON text given. Nothing else understands it.
func NewRaw(at *yaml.Node, text []byte) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: rawTag, Value: string(text), Line: at.Line, Column: at.Column}
}

// NewMap returns an empty map that stands where at stands.
func NewMap(at *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: at.Line, Column: at.Column}
}

// NewList returns a list that stands where at stands.
func NewList(at *yaml.Node, items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: at.Line, Column: at.Column, Content: items}
}

// NewTexts returns a list of strings that stands where at stands.
func NewTexts(at *yaml.Node, ss []string) *yaml.Node {
	n := NewList(at)
	for _, s := range ss {
		n.Content = append(n.Content, NewText(at, s))
	}
	return n
}

// Set gives a key of a map a value: in place if the key is there, else at the end.
func Set(n *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = v
			return
		}
	}
	n.Content = append(n.Content, NewText(v, key), v)
}

// Take removes a key from a map and returns what it was, or nils. The rest keeps its order.
func Take(n *yaml.Node, key string) (k, v *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			k, v = n.Content[i], n.Content[i+1]
			n.Content = slices.Delete(slices.Clone(n.Content), i, i+2)
			return k, v
		}
	}
	return nil, nil
}

// Copy returns a copy of n that shares nothing with it.
func Copy(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = Copy(child)
	}
	return &c
}
