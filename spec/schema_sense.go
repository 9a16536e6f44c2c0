package spec

import (
	"slices"
	"strings"
)

// contradiction reports where a schema says two things of which no value is both: a constant or a listed value that is not of
// its type, and properties of what is no object.
func (r *schemaReader) contradiction(n *node) {
	types := typesOf(n)
	if len(types) == 0 || r.bundle {
		return
	}
	of := strings.Join(types, " or ")
	values := n.get("enum").list()
	if c := n.get("const"); c != nil {
		values = append(slices.Clone(values), c)
	}
	for _, v := range values {
		if !slices.ContainsFunc(types, v.isOfType) {
			r.problems.Errorf(v.pos, "invalid-schema", "correct the value or the type", "%s is not of type %s", short(v.compact()), of)
		}
	}
	if p := n.get("properties"); p != nil && !slices.Contains(types, "object") {
		r.problems.Errorf(p.pos, "invalid-schema", "correct the type, or remove them", "properties beside the type %s", of)
	}
}

// typesOf returns the types that a schema names itself.
func typesOf(n *node) []string {
	if name := n.get("type").str(); name != "" {
		return []string{name}
	}
	var names []string
	for _, t := range n.get("type").list() {
		names = append(names, t.str())
	}
	return names
}

// isOfType reports whether a value is of a JSON Schema type.
func (n *node) isOfType(name string) bool {
	switch n.kind {
	case '{':
		return name == "object"
	case '[':
		return name == "array"
	case '"':
		return name == "string"
	case 't', 'f':
		return name == "boolean"
	case 'n':
		return name == "null"
	}
	return name == "number" || name == "integer" && !strings.ContainsAny(n.compact(), ".eE")
}
