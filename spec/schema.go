package spec

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schema"
)

// readSchema reads a JSON Schema of the protocol: draft-07 with "definitions" or "$defs" as published for 0.1 to 0.3, or a
// draft 2020-12 bundle made from a proto. name is where it is for the user.
func readSchema(name string, content []byte) (*Document, diag.List) {
	root, problems := parseJSON(name, content)
	if problems.HasErrors() {
		return nil, problems
	}
	r := &schemaReader{
		doc:  &Document{Syntax: Schema, Path: name, Files: []string{name}},
		defs: map[string]*definition{}, nodes: map[*node]*definition{}, taken: map[string]bool{}, messages: map[string]*Message{},
		bySource: map[*yaml.Node]*node{}, placed: map[*node]Type{}, following: map[*node]bool{},
	}
	if root.isTrue() || root.kind != '{' {
		r.problems.Errorf(root.pos, "invalid-schema", "", "a JSON Schema is an object")
		return nil, r.problems
	}
	r.read(root)
	r.problems.Sort()
	if r.problems.HasErrors() {
		return nil, r.problems
	}
	return r.doc, r.problems
}

// schemaReader turns the definitions of a schema into a document.
type schemaReader struct {
	doc      *Document
	problems diag.List
	order    []*definition
	defs     map[string]*definition // by key and by name
	nodes    map[*node]*definition
	taken    map[string]bool // names of types in the document
	messages map[string]*Message
	bundle   bool

	refs      *schema.Document // where references lead; nil for a bundle
	bySource  map[*yaml.Node]*node
	placed    map[*node]Type // types declared in place, by their schemas
	following map[*node]bool // schemas inside of others whose type is being found, for a reference to them
}

// role is what a definition is for.
type role int

const (
	roleAlias    role = iota // another name for a type that has none
	roleMessage              // an object
	roleEnum                 // one of several strings
	roleChoice               // one of several types
	roleRequest              // the JSON-RPC envelope of an operation's request
	roleResponse             // the JSON-RPC envelope of a result
	roleEnvelope             // any other part of JSON-RPC: becomes nothing
	roleError                // an error with its code
)

// definition is one entry of "definitions" or "$defs".
type definition struct {
	name     string
	pos      diag.Pos
	node     *node
	role     role
	typ      Type // of an alias, once resolved
	nullable bool
	state    int // of an alias: 0 new, 1 being resolved, 2 done
}

func (r *schemaReader) read(root *node) {
	entries := append(append([]member{}, root.get("definitions").props()...), root.get("$defs").props()...)
	if len(entries) == 0 {
		r.problems.Errorf(root.pos, "invalid-schema", `a schema of the protocol has its types under "definitions" or "$defs"`, "the schema defines nothing")
		return
	}
	r.bundle = isBundle(entries)
	if r.bundle {
		r.doc.Syntax = Bundle
		r.doc.Package = bundlePackage(root, entries)
		r.problems.Warnf(root.pos, "no-operations", "what 1.0 says of them holds; for more give the .proto file", "a schema made from a proto does not say which operations, required fields and unions there are")
	}
	for _, e := range entries {
		r.define(e)
	}
	if !r.bundle && !r.check(root) {
		return
	}
	r.classify()
	for _, d := range r.order {
		r.taken[d.name] = d.role != roleAlias // what an alias declares in place may have its name
	}
	for _, d := range r.order {
		r.declare(d)
	}
	r.operations()
	r.envelopes()
	for _, c := range r.doc.Choices {
		c.Tag = r.tag(c)
	}
}

// define takes up one definition under its name in the document.
func (r *schemaReader) define(e member) {
	d := &definition{name: e.name, pos: e.pos, node: e.value}
	if r.bundle {
		d.name = bundleName(e.name, r.doc.Package)
	}
	if d.name == "" {
		r.problems.Errorf(e.pos, "invalid-schema", "", "the definition %s has no name", quoted(e.name))
		return
	}
	if e.value.kind != '{' && e.value.kind != 't' {
		r.problems.Errorf(e.value.pos, "invalid-schema", "", "definition %s is not a schema", d.name)
		return
	}
	if first, ok := r.defs[d.name]; ok {
		r.problems.Add(diag.Diagnostic{
			Code: "duplicate-definition", Severity: diag.Error, Pos: e.pos, Message: "there are two definitions of " + d.name,
			Related: []diag.Related{{Pos: first.pos, Message: "the first"}},
		})
		return
	}
	r.order = append(r.order, d)
	r.nodes[d.node] = d
	r.defs[d.name] = d
	if _, ok := r.defs[e.name]; !ok {
		r.defs[e.name] = d
	}
}

// declare adds what a definition stands for to the document.
func (r *schemaReader) declare(d *definition) {
	if d.role != roleAlias { // typeOf looks at those
		r.contradiction(d.node)
	}
	switch d.role {
	case roleMessage:
		r.message(d.name, d.pos, d.node)
	case roleEnum:
		r.enum(d.name, d.pos, d.node)
	case roleChoice:
		r.choice(d.name, d.pos, d.node)
	case roleAlias:
		r.alias(d)
	case roleError:
		r.errorCode(d)
	}
}

// alias resolves a definition that is another name for a type. A circle of such names is an error.
func (r *schemaReader) alias(d *definition) (Type, bool) {
	switch d.state {
	case 0:
		d.state = 1
		d.typ, d.nullable = r.typeOf(d.node, d.name, d.pos)
		d.state = 2
	case 1:
		r.problems.Errorf(d.pos, "invalid-schema", "", "definition %s is defined by itself", d.name)
		return Type{Kind: Value}, false
	}
	return d.typ, d.nullable
}

// unique returns name, with a number behind it when it is taken.
func (r *schemaReader) unique(name string) string {
	free := name
	for i := 2; r.taken[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	r.taken[free] = true
	return free
}
