package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// typeOf returns the type that a schema stands for, and whether it may be null. What the schema declares in place gets the
// name at.
func (r *schemaReader) typeOf(n *node, at string, pos diag.Pos) (t Type, nullable bool) {
	switch {
	case n == nil || n.isTrue():
		return Type{Kind: Value}, false
	case n.kind != '{':
		r.problems.Errorf(n.pos, "invalid-schema", "", "this is not a schema")
		return Type{Kind: Value}, false
	case n.has("$ref"):
		return r.reference(n.get("$ref"))
	}
	if r.bundle {
		if t, ok := r.bundleType(n, pos); ok {
			return t, false
		}
	}
	r.contradiction(n)
	if c := constant(n); c != nil {
		return r.constantType(c), false
	}
	if only := onlyPart(n); only != nil {
		return r.typeOf(only, at, pos)
	}
	if isMessage(n) {
		return r.inPlace(MessageOf, n, at, pos), false
	}
	if options, null := alternatives(n); len(options) == 1 {
		t, nullable = r.typeOf(options[0], at, pos)
		return t, nullable || null
	} else if len(options) > 1 {
		return r.inPlace(ChoiceOf, n, at, pos), null
	}
	if isEnum(n) {
		return r.inPlace(EnumOf, n, at, pos), slices.ContainsFunc(n.get("enum").list(), isNull)
	}
	return r.plainType(n, at, pos)
}

// inPlace declares a message, enum or choice where it is used.
func (r *schemaReader) inPlace(kind Kind, n *node, at string, pos diag.Pos) Type {
	if t := r.placed[n]; t.Name == at && at != "" { // a reference asked for it first
		return t
	}
	name := r.unique(at)
	if _, ok := r.placed[n]; !ok {
		r.placed[n] = Type{Kind: kind, Name: name}
	}
	switch kind {
	case MessageOf:
		r.message(name, pos, n)
	case EnumOf:
		r.enum(name, pos, n)
	case ChoiceOf:
		r.choice(name, pos, n)
	}
	return Type{Kind: kind, Name: name}
}

// reference returns the type of what ref names.
func (r *schemaReader) reference(ref *node) (Type, bool) {
	d, inside, place := r.resolve(ref)
	if inside != nil {
		return r.inner(inside, place)
	}
	if d == nil {
		return Type{Kind: Value}, false
	}
	switch d.role {
	case roleMessage:
		return Type{Kind: MessageOf, Name: d.name}, false
	case roleEnum:
		return Type{Kind: EnumOf, Name: d.name}, slices.ContainsFunc(d.node.get("enum").list(), isNull)
	case roleChoice:
		_, null := alternatives(d.node)
		return Type{Kind: ChoiceOf, Name: d.name}, null
	case roleAlias:
		return r.alias(d)
	}
	r.problems.Errorf(ref.pos, "unsupported-schema", "", "%s is an envelope of JSON-RPC and cannot be a part of something else", d.name)
	return Type{Kind: Value}, false
}

// inner returns the type of a schema inside of a definition, for a reference to it.
func (r *schemaReader) inner(n *node, place string) (Type, bool) {
	if t, ok := r.placed[n]; ok {
		return t, isNullable(n)
	}
	if r.following[n] {
		r.problems.Errorf(n.pos, "invalid-schema", "", "the schema at %s is defined by itself", place)
		return Type{Kind: Value}, false
	}
	r.following[n] = true
	defer delete(r.following, n)
	return r.typeOf(n, place, n.pos)
}

// isNullable reports whether a choice or an enum may be null.
func isNullable(n *node) bool {
	_, null := alternatives(n)
	return null || slices.ContainsFunc(n.get("enum").list(), isNull)
}

// plainType returns the type of a schema with at most one "type" and nothing to declare.
func (r *schemaReader) plainType(n *node, at string, pos diag.Pos) (Type, bool) {
	name := n.get("type").str()
	if types := n.get("type").list(); len(types) > 0 { // ["string", "null"], or ["null"]
		for _, t := range types {
			if t.str() != "null" {
				name = t.str()
			}
		}
		if name == "" {
			name = "null"
		}
	}
	null := slices.ContainsFunc(n.get("type").list(), func(t *node) bool { return t.str() == "null" })
	switch name {
	case "string":
		return Type{Kind: stringKind(n)}, null
	case "integer":
		return Type{Kind: integerKind(n)}, null
	case "number":
		if n.get("format").str() == "float" {
			return Type{Kind: Float}, null
		}
		return Type{Kind: Double}, null
	case "boolean":
		return Type{Kind: Bool}, null
	case "null":
		return Type{Kind: Empty}, false
	case "array":
		return r.listType(n, at, pos), null
	case "object":
		return r.mapType(n, at, pos), null
	case "":
		return r.untyped(n, at, pos), false
	}
	r.problems.Errorf(n.get("type").pos, "unsupported-schema", "", "there is no type %s in JSON Schema", quoted(name))
	return Type{Kind: Value}, false
}

func (r *schemaReader) listType(n *node, at string, pos diag.Pos) Type {
	elem, _ := r.typeOf(n.get("items"), at, pos)
	return Type{Kind: List, Elem: &elem}
}

// mapType returns the type of an object without listed members.
func (r *schemaReader) mapType(n *node, at string, pos diag.Pos) Type {
	extra := n.get("additionalProperties")
	if extra == nil || extra.kind != '{' || len(extra.members) == 0 {
		return Type{Kind: Struct}
	}
	elem, _ := r.typeOf(extra, at, pos)
	return Type{Kind: Map, Elem: &elem}
}

// untyped returns the type of a schema that does not name one: what its keywords are about, else any value.
func (r *schemaReader) untyped(n *node, at string, pos diag.Pos) Type {
	switch {
	case n.has("items"):
		return r.listType(n, at, pos)
	case n.has("additionalProperties"):
		return r.mapType(n, at, pos)
	}
	if all := n.get("allOf"); all != nil {
		r.problems.Warnf(all.pos, "unsupported-schema", "", "%q is not understood here: any value is taken", "allOf")
	}
	return Type{Kind: Value}
}

func stringKind(n *node) Kind {
	switch {
	case n.get("format").str() == "date-time":
		return Timestamp
	case n.get("contentEncoding").str() == "base64" || n.get("format").str() == "byte" || strings.HasPrefix(n.get("pattern").str(), "^[A-Za-z0-9+/"):
		return Bytes
	default:
		return String
	}
}

// integerKind returns the kind of an integer; of one without a format the widest, for a schema bounds nothing by itself.
func integerKind(n *node) Kind {
	switch n.get("format").str() {
	case "int32":
		return Int32
	case "uint32":
		return Uint32
	case "uint64":
		return Uint64
	default:
		return Int64
	}
}

// constant returns the only value that a schema allows, or nil.
func constant(n *node) *node {
	if c := n.get("const"); c != nil {
		return c
	}
	if values := n.get("enum").list(); len(values) == 1 {
		return values[0]
	}
	return nil
}

func (r *schemaReader) constantType(c *node) Type {
	switch c.kind {
	case '"':
		return Type{Kind: String}
	case 't', 'f':
		return Type{Kind: Bool}
	case 'n':
		return Type{Kind: Empty}
	case '0':
		if _, err := strconv.ParseInt(c.compact(), 10, 64); err == nil {
			return Type{Kind: Int64}
		}
		return Type{Kind: Double}
	}
	return Type{Kind: Value}
}

// onlyPart returns the schema that n is a reference to in the form of draft-07, where nothing may stand beside a $ref: an
// allOf of one.
func onlyPart(n *node) *node {
	if parts := n.get("allOf").list(); len(parts) == 1 && !n.has("properties") {
		return parts[0]
	}
	return nil
}

// isMessage reports whether a schema is of an object whose members are listed.
func isMessage(n *node) bool {
	if n == nil {
		return false
	}
	if n.has("properties") {
		return true
	}
	if parts := n.get("allOf").list(); len(parts) > 0 {
		return !slices.ContainsFunc(parts, func(p *node) bool {
			return !p.has("properties") && !p.has("$ref") && !p.has("allOf") && !p.has("required")
		})
	}
	extra := n.get("additionalProperties")
	return n.get("type").str() == "object" && extra != nil && extra.kind == 'f'
}

// isEnum reports whether a schema lists several strings.
func isEnum(n *node) bool {
	values := n.get("enum").list()
	strings := 0
	for _, v := range values {
		if v.kind == '"' {
			strings++
		} else if v.kind != 'n' {
			return false
		}
	}
	return strings > 0
}

func isNull(n *node) bool {
	return n.kind == 'n' || n.kind == '{' && n.get("type").str() == "null"
}

// alternatives returns the schemas of anyOf, oneOf or a list of types, null left out, and whether null was among them.
// A schema with one type has none.
func alternatives(n *node) (options []*node, null bool) {
	list := append(append([]*node{}, n.get("anyOf").list()...), n.get("oneOf").list()...)
	if len(list) == 0 && len(n.get("type").list()) > 2 || len(list) == 0 && len(n.get("type").list()) == 2 && !hasNull(n.get("type")) {
		for _, t := range n.get("type").list() {
			list = append(list, &node{pos: t.pos, kind: '{', members: []member{{name: "type", pos: t.pos, value: t}}})
		}
	}
	for _, o := range list {
		if isNull(o) {
			null = true
		} else {
			options = append(options, o)
		}
	}
	return options, null
}

func hasNull(types *node) bool {
	return slices.ContainsFunc(types.list(), func(t *node) bool { return t.str() == "null" })
}

// quoted renders text of a definition for a message: quoted and of bounded length.
func quoted(text string) string { return fmt.Sprintf("%q", short(text)) }

// short cuts text of a definition to what fits into a message.
func short(text string) string {
	if rs := []rune(text); len(rs) > 80 {
		return string(rs[:80]) + "…"
	}
	return text
}
