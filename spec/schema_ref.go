package spec

import (
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schema"
)

// check reads the document as the schemas of skills are read: each keyword must have the form that JSON Schema gives it, and each
// reference must lead somewhere. What skills cannot have is only worth a warning here.
func (r *schemaReader) check(root *node) bool {
	r.index(root)
	var problems diag.List
	r.refs, problems = schema.Read(r.doc.Path, root.source)
	for _, p := range problems {
		switch p.Code {
		case "unsupported-keyword":
			p.Severity, p.Hint = diag.Warning, ""
			p.Message = strings.Replace(p.Message, "cannot be expressed as a Go type", "is not understood: it changes nothing about the types", 1)
		case "unknown-keyword":
			p.Severity = diag.Warning
		}
		r.problems.Add(p)
	}
	return !r.problems.HasErrors()
}

// index notes which node was made from which source, to find those that references lead to.
func (r *schemaReader) index(n *node) {
	r.bySource[n.source] = n
	for _, m := range n.members {
		r.index(m.value)
	}
	for _, e := range n.elems {
		r.index(e)
	}
}

// resolve finds what a $ref names: a definition, or else a schema inside of one with the name of its place. It reports a
// reference to nowhere, and returns nothing then.
func (r *schemaReader) resolve(ref *node) (d *definition, inside *node, place string) {
	if r.bundle {
		return r.resolveInBundle(ref), nil, ""
	}
	source, pointer := r.refs.Target(ref.source)
	target := r.bySource[source]
	if target == nil {
		r.unknownReference(ref)
		return nil, nil, ""
	}
	if d := r.nodes[target]; d != nil {
		return d, nil, ""
	}
	return nil, target, placeName(pointer)
}

func (r *schemaReader) unknownReference(ref *node) {
	r.problems.Errorf(ref.pos, "unknown-reference", "refer to a definition of the same file", "there is no definition %s", quoted(ref.str()))
}

// definition finds the definition that a $ref names, or nil.
func (r *schemaReader) definition(ref *node) *definition {
	if ref == nil {
		return nil
	}
	if r.bundle {
		return r.definitionInBundle(ref.str())
	}
	source, _ := r.refs.Target(ref.source)
	return r.nodes[r.bySource[source]]
}

// placeName names the schema at a JSON pointer as [schemaReader.typeOf] names what is declared there: that at
// "/definitions/Message/properties/role" is "Message.role".
func placeName(pointer string) string {
	var name []string
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := 0; i < len(tokens); i++ {
		switch token := tokens[i]; token {
		case "definitions", "$defs", "properties":
			if i++; i < len(tokens) {
				name = append(name, strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i]))
			}
		case "anyOf", "oneOf":
			if i++; i < len(tokens) {
				n, _ := strconv.Atoi(tokens[i]) // the reader found something there
				name = append(name, strconv.Itoa(n+1))
			}
		}
	}
	return strings.Join(name, ".")
}
