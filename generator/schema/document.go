package schema

import (
	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Document is a tree of schemas that was read: the form of each keyword is checked, and each reference leads somewhere.
type Document struct {
	targets map[*yaml.Node]*schema // by the value of a $ref
}

// Read reads the schema at root with all that it holds, for readers that make something else of it than [Compile] does.
// The list tells all problems; what Go types of skills cannot express (codes "unsupported-keyword", "unknown-keyword")
// is among them. References lead to places in the document, and to no other file.
func Read(file string, root *yaml.Node) (*Document, diag.List) {
	c := &compiler{files: map[string]*document{}}
	doc := newDocument(file, root, false)
	c.read(doc, "", root)
	d := &Document{targets: map[*yaml.Node]*schema{}}
	for _, s := range doc.schemas {
		if s.ref != nil && s.ref.target != nil {
			d.targets[yamlx.Get(s.node, "$ref")] = s.ref.target
		}
	}
	c.list.Sort()
	return d, c.list
}

// Target returns what ref, the value of a $ref, leads to, with its JSON pointer; nil for a reference to nowhere.
func (d *Document) Target(ref *yaml.Node) (target *yaml.Node, pointer string) {
	s := d.targets[ref]
	if s == nil {
		return nil, ""
	}
	return s.node, s.ptr
}
