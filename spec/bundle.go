package spec

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// Schemas made from a proto by protoc-gen-jsonschema come bundled in two forms. The newer has "$defs" by message name. The
// older, which 1.0.0 and 1.0.1 were published with, has "definitions" by human title ("O Auth2 Security Scheme"), while its
// references name the files that the schemas once were in ("lf.a2a.v1.OAuth2SecurityScheme.jsonschema.json").

// schemaFiles are the endings of the plugin's file names, longest first.
var schemaFiles = []string{".jsonschema.strict.bundle.json", ".jsonschema.bundle.json", ".jsonschema.strict.json", ".jsonschema.json", ".schema.strict.json", ".schema.json"}

// isBundle reports whether definitions were made from a proto: only such give fields a second name or refer to files.
func isBundle(entries []member) bool {
	return slices.ContainsFunc(entries, func(e member) bool {
		return e.value.has("patternProperties") || isSchemaFile(e.name) || firstFileRef(e.value) != ""
	})
}

func isSchemaFile(ref string) bool { return cutSchemaFile(ref) != ref }

func cutSchemaFile(ref string) string {
	for _, ending := range schemaFiles {
		if name, ok := strings.CutSuffix(ref, ending); ok {
			return name
		}
	}
	return ref
}

// firstFileRef returns the first reference to a schema file of a package that is not google's, or nothing.
func firstFileRef(n *node) string {
	if ref := n.get("$ref").str(); isSchemaFile(ref) && !strings.Contains(ref, "google.protobuf.") {
		return ref
	}
	for _, m := range n.props() {
		if ref := firstFileRef(m.value); ref != "" {
			return ref
		}
	}
	for _, e := range n.list() {
		if ref := firstFileRef(e); ref != "" {
			return ref
		}
	}
	return ""
}

// bundlePackage returns the protobuf package as file names tell it; empty when none does.
func bundlePackage(root *node, entries []member) string {
	name := cutSchemaFile(strings.TrimPrefix(firstFileRef(root), "#/$defs/"))
	for _, e := range entries {
		if name == "" && isSchemaFile(e.name) && !strings.HasPrefix(e.name, "google.protobuf.") {
			name = cutSchemaFile(e.name)
		}
	}
	var parts []string
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || part[0] >= 'A' && part[0] <= 'Z' {
			break
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ".")
}

// bundleName turns the key of a definition into the name of the message: without the file's ending and the package, and
// without the blanks of a title.
func bundleName(key, pkg string) string {
	name := strings.TrimPrefix(cutSchemaFile(key), "google.protobuf.")
	if pkg != "" {
		name = strings.TrimPrefix(name, pkg+".")
	}
	return strings.Join(strings.Fields(name), "")
}

// resolveInBundle finds the definition that a $ref names, and reports one to nowhere.
func (r *schemaReader) resolveInBundle(ref *node) *definition {
	d := r.definitionInBundle(ref.str())
	if d == nil {
		r.unknownReference(ref)
	}
	return d
}

// definitionInBundle finds a definition by its place in the document or by the name of the file that it once was in.
func (r *schemaReader) definitionInBundle(ref string) *definition {
	for _, prefix := range []string{"#/definitions/", "#/$defs/"} {
		if rest, ok := strings.CutPrefix(ref, prefix); ok {
			if unescaped, err := url.PathUnescape(rest); err == nil {
				rest = unescaped
			}
			ref = strings.NewReplacer("~1", "/", "~0", "~").Replace(rest)
			if d := r.defs[ref]; d != nil {
				return d
			}
		}
	}
	return r.resolveFile(ref)
}

// resolveFile finds the definition behind a file name, by the message's name or, of a nested message, by its last part.
func (r *schemaReader) resolveFile(ref string) *definition {
	if !isSchemaFile(ref) {
		return nil
	}
	name := bundleName(ref[strings.LastIndexByte(ref, '/')+1:], r.doc.Package)
	if d := r.defs[name]; d != nil {
		return d
	}
	return r.defs[name[strings.LastIndexByte(name, '.')+1:]]
}

// wellKnownShape tells messages of google.protobuf from those of the protocol that have the same name: the former have no
// members.
func (r *schemaReader) wellKnownShape(d *definition) (Type, bool) {
	if d.node.has("properties") {
		return Type{}, false
	}
	switch d.name {
	case "Struct":
		return Type{Kind: Struct}, true
	case "Value":
		return Type{Kind: Value}, true
	case "Timestamp":
		return Type{Kind: Timestamp}, true
	case "Duration":
		return Type{Kind: Duration}, true
	}
	return Type{}, false
}

// bundleType returns the type of a schema in a form that only bundles have: integers and floats that may be strings, enums
// that may be numbers, and well-known messages.
func (r *schemaReader) bundleType(n *node, pos diag.Pos) (Type, bool) {
	if d := r.nodes[n]; d != nil {
		return r.wellKnownShape(d)
	}
	options := n.get("anyOf").list()
	var texts []*node
	var number *node
	for _, o := range options {
		switch o.get("type").str() {
		case "integer", "number":
			number = o
		case "string":
			texts = append(texts, o)
		default:
			return Type{}, false
		}
	}
	switch {
	case slices.ContainsFunc(texts, isEnumNames):
		return r.bundleEnum(n, texts, pos), true
	case number != nil:
		return Type{Kind: numberKind(number)}, true
	case len(options) == 0 && (n.get("type").str() == "integer" || n.get("type").str() == "number"):
		return Type{Kind: numberKind(n)}, true
	}
	return Type{}, false
}

// isEnumNames reports whether a schema lists the names of an enum, or has its zero value as a pattern, and not the floats
// that JSON has no numbers for.
func isEnumNames(n *node) bool {
	_, zero := exactPattern(n.get("pattern").str())
	values := n.get("enum").list()
	return zero || len(values) > 0 && !slices.ContainsFunc(values, func(v *node) bool { return v.text == "NaN" || v.text == "Infinity" })
}

// numberKind tells the width of a number by its bounds.
func numberKind(n *node) Kind {
	minimum, maximum := n.get("minimum").compact(), n.get("maximum").compact()
	integer := n.get("type").str() == "integer"
	switch {
	case integer && maximum == "2147483647":
		return Int32
	case integer && maximum == "4294967295":
		return Uint32
	case integer && minimum == "0":
		return Uint64
	case integer:
		return Int64
	case strings.Contains(maximum, "e+38") || strings.HasPrefix(maximum, "34028"):
		return Float
	}
	return Double
}

// bundleEnum declares an enum, which a bundle repeats wherever it is used, once by its title.
func (r *schemaReader) bundleEnum(n *node, texts []*node, pos diag.Pos) Type {
	name := strings.Join(strings.Fields(n.get("title").str()), "")
	if name == "" {
		r.problems.Errorf(n.pos, "unsupported-schema", "give the enum a title", "the enum has no name")
		return Type{Kind: Value}
	}
	t := Type{Kind: EnumOf, Name: name}
	if slices.ContainsFunc(r.doc.Enums, func(e *Enum) bool { return e.Name == name }) {
		return t
	}
	e := &Enum{Name: name, Pos: pos} // what is described here is the field
	for _, text := range texts {
		if zero, ok := exactPattern(text.get("pattern").str()); ok {
			e.Values = append(e.Values, &EnumValue{Name: zero, Pos: text.pos})
		}
		for _, v := range text.get("enum").list() {
			e.Values = append(e.Values, &EnumValue{Name: v.str(), Number: int32(len(e.Values)), Pos: v.pos}) // in the order of numbers
		}
	}
	r.doc.Enums = append(r.doc.Enums, e)
	return t
}

// exactPattern returns the only text that a pattern such as ^(media_type)$ matches.
func exactPattern(pattern string) (string, bool) {
	text, ok1 := strings.CutPrefix(pattern, "^")
	text, ok2 := strings.CutSuffix(text, "$")
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	return text, ok1 && ok2 && text != "" && !strings.ContainsAny(text, `\[](){}*+?.|`)
}

// protoNames returns the proto names of an object's fields by JSON name. A bundle has those that differ as patterns.
func protoNames(n *node) map[string]string {
	names := map[string]string{}
	for _, p := range n.get("patternProperties").props() {
		pattern := strings.TrimSuffix(strings.TrimPrefix(p.name, "^("), ")$")
		for name := range strings.SplitSeq(pattern, "|") {
			names[lowerCamel(name)] = name
		}
	}
	return names
}

// lowerCamel turns the proto name of a field into its JSON name.
func lowerCamel(name string) string {
	var b strings.Builder
	upper := false
	for _, c := range name {
		if c == '_' {
			upper = true
			continue
		}
		if upper && c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		b.WriteRune(c)
		upper = false
	}
	return b.String()
}
