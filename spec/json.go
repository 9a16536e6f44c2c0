package spec

import (
	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// node is one value of a JSON document with its place. Its methods take a nil node for an absent value.
type node struct {
	pos     diag.Pos
	kind    byte       // '{', '[', '"', '0', 't', 'f' or 'n', as the value begins
	text    string     // of a string: its value
	source  *yaml.Node // what it was made from
	members []member   // of an object, in order
	elems   []*node    // of an array
	// byName finds the members of a large object; nil for others.
	byName map[string]*node
}

// largeObject is from how many members on they are found by a map.
const largeObject = 16

// member is one member of an object.
type member struct {
	name  string
	pos   diag.Pos // of the name
	value *node
}

// parseJSON parses the file with the given content. Duplicate names, invalid UTF-8 and what follows the document are errors.
func parseJSON(name string, src []byte) (*node, diag.List) {
	root, problems := yamlx.Parse(name, src)
	if root == nil || problems.HasErrors() {
		return nil, problems
	}
	return newNode(name, root), problems
}

// newNode makes a node, and those in it, of what was parsed.
func newNode(file string, source *yaml.Node) *node {
	n := &node{pos: yamlx.Pos(file, source), source: source}
	switch {
	case source.Kind == yaml.MappingNode:
		n.kind = '{'
		for k, v := range yamlx.Pairs(source) {
			n.members = append(n.members, member{name: k.Value, pos: yamlx.Pos(file, k), value: newNode(file, v)})
		}
		n.index()
	case source.Kind == yaml.SequenceNode:
		n.kind = '['
		for _, item := range source.Content {
			n.elems = append(n.elems, newNode(file, item))
		}
	case yamlx.IsText(source):
		n.kind, n.text = '"', source.Value
	case yamlx.IsNull(source), source.Tag == "!!bool":
		n.kind = source.Value[0]
	default:
		n.kind = '0'
	}
	return n
}

// index prepares an object that has been read whole for get.
func (n *node) index() {
	if len(n.members) < largeObject {
		return
	}
	n.byName = make(map[string]*node, len(n.members))
	for _, m := range n.members {
		n.byName[m.name] = m.value
	}
}

// get returns the value of an object's member, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if n.byName != nil {
		return n.byName[name]
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (n *node) has(name string) bool { return n.get(name) != nil }

// str returns the value of a string; "" for anything else.
func (n *node) str() string {
	if n == nil {
		return ""
	}
	return n.text
}

func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

// list returns the elements of an array.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.elems
}

// props returns the members of an object.
func (n *node) props() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// compact returns the value as JSON without blanks; "" when it is absent.
func (n *node) compact() string {
	if n == nil {
		return ""
	}
	return string(yamlx.JSON(n.source))
}
