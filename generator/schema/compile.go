// Package schema compiles the JSON Schemas of a skill's input and output into Go types.
//
// The stages follow one another: read (every schema that can be reached, with positions), lower (to the types of
// package ir, which have hints for their names) and bundle (each schema as one self-contained document).
package schema

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
)

// Request is one schema to compile.
type Request struct {
	// File is the name of the file that Node comes from, slash-separated and relative to the project, for positions
	// and relative references: "agent.yaml".
	File string
	// Node is the schema, as yamlx.Parse gives it: a mapping, a boolean, or a string that names a file
	// ("schemas/in.json#/$defs/In").
	Node *yaml.Node
	// JSON is the schema's text, used when Node is nil: positions then count from its start.
	JSON []byte
	// Foreign says that somebody else wrote the schema: a keyword that reads like a misspelt one is a warning.
	Foreign bool
}

// Root is what became of one request.
type Root struct {
	// Ref is the root type; nil if the schema has errors.
	Ref *ir.DataRef
	// Types are the root type and those that it uses, an owner before what it owns. They have no Go names yet.
	Types []*ir.DataType
	// Bundle is the schema as one self-contained 2020-12 document, compact JSON: it compiles to the same types.
	Bundle json.RawMessage
	// TextField is the property that plain text fills: the only required one, a string. "" when there is none.
	TextField string
}

// Opener reads a file of the project. The path is slash-separated, relative to the project and never leaves it.
type Opener func(path string) ([]byte, error)

// Limits on what one run compiles: far above any real contract, and low enough that hostile schemas end soon.
const (
	maxSchemas = 20_000
	maxTypes   = 2_000
	maxWork    = 200_000 // schemas merged into others, which definitions that use others twice multiply
)

// Compile reads the schemas and everything they refer to, and reports all problems at once. There is
// one root a request, in order; with an error in the list they hold no types.
func Compile(reqs []Request, open Opener) ([]Root, diag.List) {
	c := &compiler{open: open, files: map[string]*document{}}
	roots := make([]Root, len(reqs))
	var lowered []*lowerer
	for _, req := range reqs {
		if root := c.readRequest(req); root != nil && !c.full {
			l := &lowerer{
				compiler: c, root: root, byKey: map[string]*named{},
				busy: map[string]*busy{}, defs: map[string]string{}, defTaken: map[string]bool{},
				looked: map[string]bool{}, exampled: map[string]bool{},
			}
			l.run()
			lowered = append(lowered, l)
		}
	}
	if !c.list.HasErrors() {
		for _, l := range lowered {
			l.bundle = bundle(l)
			l.answer()
		}
	}
	if c.list.HasErrors() {
		c.list.Sort()
		return roots, c.list
	}
	for i, l := range lowered {
		types := make([]*ir.DataType, len(l.types))
		for i, n := range l.types {
			n.t.Wants = ir.Wants{Base: n.hint.base, Suffix: n.hint.suffix}
			if n.hint.owner != nil {
				n.t.Wants.Owner = n.hint.owner.t
			}
			types[i] = n.t
		}
		roots[i] = Root{Ref: l.rootRef, Types: types, Bundle: l.bundle, TextField: textField(l.rootRef.Type)}
	}
	c.list.Sort()
	return roots, c.list
}

// textField returns the only required property of a struct when it is a string that any text fills.
func textField(t *ir.DataType) string {
	name := ""
	for _, f := range t.Fields {
		if !f.Required {
			continue
		}
		if name != "" || f.Type.Kind != ir.DataString || f.Type.Null || f.Const != nil {
			return ""
		}
		if c := f.Type.Checks; c != nil &&
			(len(c.Values) > 0 || slices.ContainsFunc(c.Limits,
				func(r ir.Limit) bool { return r.Form != ir.ArgNumber })) {
			return ""
		}
		name = f.Name
	}
	return name
}

// compiler is the state of one Compile: what was read, and what was found wrong.
type compiler struct {
	list    diag.List
	open    Opener
	files   map[string]*document
	schemas int
	work    int
	full    bool // a limit was reported
}

// errorf reports a problem at n of the document d.
func (c *compiler) errorf(d *document, n *yaml.Node, code, hint, format string, args ...any) {
	c.list.Errorf(d.pos(n), code, hint, format, args...)
}

// failf reports a problem in the schema s itself. What else is wrong with s is not looked for, only what is wrong in
// it.
func (c *compiler) failf(s *schema, n *yaml.Node, code, hint, format string, args ...any) {
	s.bad = true
	c.errorf(s.doc, n, code, hint, format, args...)
}

// limit reports that a limit was passed, once.
func (c *compiler) limit(s *schema, what string, most int) {
	if !c.full {
		c.errorf(s.doc, s.node, "too-large", "", "the schemas hold more than %d %s", most, what)
	}
	c.full = true
}
