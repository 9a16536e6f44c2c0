package schema

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/suggest"
)

// flat is the conjunction of schemas that hold for one value, merged keyword by keyword.
type flat struct {
	c     *compiler
	at    *schema // for positions
	atoms []*schema
	bad   bool // an error was reported

	flatTypes
	flatEnum
	flatMembers
	items  []*schema
	prefix []*schema
	checks ir.Checks
	format *yaml.Node
	base64 bool
	union  *schema // the atom with anyOf or oneOf
}

// flatTypes are the types of a value.
type flatTypes struct {
	types jsontype.Set // without null
	typed bool         // some schema names its types, or enumerates its values
	null  bool
	uses  jsontype.Set
}

// flatEnum are the only values.
type flatEnum struct {
	enum      []enumValue
	hasEnum   bool
	suggested bool // they are suggestions
	rawEnum   bool // some value is an object or a list: the whole value stays raw JSON
}

// flatMembers are the properties of an object.
type flatMembers struct {
	props    []*flatProperty
	isStruct bool // some schema has properties, or forbids others
	required []*yaml.Node
	extra    []*schema // additionalProperties that are schemas
	closed   bool      // additionalProperties: false
	open     bool      // additionalProperties: true, said explicitly
	names    []*schema
}

// flatProperty is one property with all schemas that hold for it.
type flatProperty struct {
	name  string
	doc   *document
	key   *yaml.Node
	parts []*schema
}

// flatten merges the schemas of parts with what they refer to and with their allOf.
func (c *compiler) flatten(parts []*schema) *flat {
	f := &flat{c: c, at: parts[0], flatTypes: flatTypes{types: jsontype.All}}
	open, seen := map[*schema]bool{}, map[*schema]bool{}
	for _, s := range parts {
		f.expand(s, open, seen)
	}
	for _, a := range f.atoms {
		f.merge(a)
	}
	f.mergeProperties()
	if f.prefix != nil {
		f.checkPrefix()
	}
	if f.bad {
		return f // no mistakes that only follow from others
	}
	f.settleTypes()
	f.settleEnum()
	f.checkRequired()
	f.checkBounds()
	return f
}

// expand appends the atoms of s: referenced schemas and allOf first, s itself last.
func (f *flat) expand(s *schema, open, seen map[*schema]bool) {
	if open[s] {
		f.errorf(s, s.node, "endless-reference",
			"a schema can refer to itself only through a property, an item or a case",
			"the schema refers to itself without end")
		return
	}
	if f.c.work++; f.c.work > maxWork {
		f.c.limit(s, "merged schemas", maxWork)
	}
	if f.bad = f.bad || f.c.full; seen[s] || f.c.full {
		return
	}
	seen[s], open[s] = true, true
	defer delete(open, s)
	if s.ref != nil {
		if s.ref.target == nil {
			f.bad = true // reported by lookup
			return
		}
		f.expand(s.ref.target, open, seen)
	}
	for _, sub := range s.allOf {
		f.expand(sub, open, seen)
	}
	f.atoms = append(f.atoms, s.alone())
}

func (f *flat) errorf(s *schema, n *yaml.Node, code, hint, format string, args ...any) {
	f.bad = true
	if n == nil {
		n = s.node
	}
	f.c.errorf(s.doc, n, code, hint, format, args...)
}

// merge adds what one atom says, properties excepted.
func (f *flat) merge(a *schema) {
	if a.always != nil && !*a.always {
		f.errorf(f.at, f.at.node, "never-valid",
			"remove it, or use additionalProperties: false to forbid what is not listed", "no value is valid here")
		return
	}
	f.bad = f.bad || a.bad
	f.uses |= a.uses
	if a.types != 0 {
		types := a.types
		if a.nullable {
			types |= jsontype.Null
		}
		f.typed = true
		if f.types &= types; f.types == 0 {
			f.errorf(a, a.node, "conflict", "", "no value has all the types that hold here")
		}
	}
	if a.hasEnum {
		f.mergeEnum(a)
	}
	f.required = append(f.required, a.required...)
	f.base64 = f.base64 || a.base64
	if a.prefix != nil {
		if f.prefix != nil {
			f.errorf(a, a.node, "unsupported-keyword", "keep one of them",
				"two prefixItems that hold for one value cannot be combined")
		}
		f.prefix = a.prefix
	}
	if a.items != nil {
		f.items = append(f.items, a.items)
	}
	if a.names != nil {
		f.names = append(f.names, a.names)
	}
	if len(a.anyOf)+len(a.oneOf) > 0 {
		if f.union != nil {
			f.errorf(a, a.node, "two-unions", "write the combinations out as one oneOf",
				"two anyOf or oneOf that hold for one value cannot be combined")
		}
		f.union = a
	}
	f.mergeFormat(a)
	f.checks.Limits = tighten(f.checks.Limits, a.checks.Limits)
	f.checks.DependentRequired = append(f.checks.DependentRequired, a.checks.DependentRequired...)
	f.checks.Groups = append(f.checks.Groups, a.checks.Groups...)
}

// checkPrefix refuses items of another schema than that with prefixItems: they hold for the first elements too.
func (f *flat) checkPrefix() {
	for _, a := range f.atoms {
		if a.items != nil && a.prefix == nil {
			f.errorf(a, a.node, "unsupported-keyword", "write items beside prefixItems",
				"items of one schema and prefixItems of another cannot be combined")
		}
	}
}

func (f *flat) mergeFormat(a *schema) {
	if a.format == nil {
		return
	}
	if f.format != nil && f.format.Value != a.format.Value &&
		(formats[f.format.Value].kind != "" || formats[a.format.Value].kind != "") {
		f.errorf(a, a.format, "conflict", "keep one of them", "format %s conflicts with format %s", a.format.Value,
			f.format.Value)
		return
	}
	if f.format == nil || formats[a.format.Value].kind != "" {
		f.format = a.format
	}
}

func (f *flat) mergeEnum(a *schema) {
	if !f.hasEnum {
		f.hasEnum, f.enum = true, slices.Clone(a.enum)
		return
	}
	other := map[string]bool{}
	for _, v := range a.enum {
		other[v.json] = true
	}
	f.enum = slices.DeleteFunc(f.enum, func(v enumValue) bool { return !other[v.json] })
	if len(f.enum) == 0 {
		f.errorf(a, a.node, "conflict", "", "no value is in all the enumerations that hold here")
	}
}

// mergeProperties collects the properties of all atoms; a property that another atom does not list is subject to that
// atom's additionalProperties.
func (f *flat) mergeProperties() {
	byName := map[string]*flatProperty{}
	for _, a := range f.atoms {
		f.isStruct = f.isStruct || a.props != nil
		for _, p := range a.props {
			fp := byName[p.name]
			if fp == nil {
				fp = &flatProperty{name: p.name, doc: a.doc, key: p.key}
				byName[p.name] = fp
				f.props = append(f.props, fp)
			}
			if !slices.Contains(fp.parts, p.schema) {
				fp.parts = append(fp.parts, p.schema)
			}
		}
	}
	for _, a := range f.atoms {
		if a.additional != nil {
			f.mergeAdditional(a)
		}
	}
}

func (f *flat) mergeAdditional(a *schema) {
	never := a.additional.always != nil && !*a.additional.always
	switch {
	case never:
		f.closed, f.isStruct = true, true
	case a.additional.always != nil:
		f.open = true
	default:
		f.extra = append(f.extra, a.additional)
	}
	own := map[string]bool{}
	for _, p := range a.props {
		own[p.name] = true
	}
	for _, p := range f.props {
		if own[p.name] {
			continue
		}
		switch {
		case never:
			f.c.list.Errorf(p.doc.pos(p.key), "conflict",
				"list every property beside additionalProperties: false, or remove that",
				"property %q is forbidden by additionalProperties: false at %s", short(p.name), a.doc.pos(a.node))
			f.bad = true
		case a.additional.always == nil:
			p.parts = append(p.parts, a.additional)
		}
	}
}

// settleTypes infers the type where no schema names one, and splits off null.
func (f *flat) settleTypes() {
	if !f.typed && f.uses != 0 {
		f.types = f.uses
		if families(f.uses) > 1 {
			f.errorf(f.at, f.at.node, "no-type", "add type", "without type the keywords speak of %s: which is it?",
				f.uses)
		}
	}
	f.null = f.types&jsontype.Null != 0
	f.types &^= jsontype.Null
}

// families counts the Go-distinguishable types of a set: integers and fractions are one.
func families(t jsontype.Set) int {
	n := 0
	for _, set := range []jsontype.Set{jsontype.Bool, jsontype.Object, jsontype.Array, jsontype.String, jsontype.Number} {
		if t&set != 0 {
			n++
		}
	}
	return n
}

// settleEnum drops enumerated values that other keywords exclude, and narrows the types to those of the values.
func (f *flat) settleEnum() {
	if !f.hasEnum {
		return
	}
	f.rawEnum = slices.ContainsFunc(f.enum, func(v enumValue) bool { return jsonType(v.json)&(jsontype.Object|jsontype.Array) != 0 })
	var left []enumValue
	var types jsontype.Set
	null := false
	for _, v := range f.enum {
		t := jsonType(v.json)
		switch {
		case t == jsontype.Null && (f.null || !f.typed):
			null = true
		case t&f.types != 0:
			left = append(left, v)
			types |= t
		case v.from.types != 0 && t&v.from.types == 0:
			f.errorf(v.from, v.node, "bad-value", "", "value %s is not of type %s", short(v.json), v.from.types)
		}
	}
	f.enum, f.null = left, null
	if len(left) == 0 {
		f.types = 0
		return
	}
	if f.rawEnum && f.uses != 0 {
		f.errorf(f.at, f.at.node, "unsupported-value",
			"list only values that the other keywords allow, and remove those",
			"an enumeration of objects or lists cannot have other keywords beside it")
	}
	f.types &= types
	if types&jsontype.Fraction != 0 {
		f.types |= jsontype.Number
	}
}

// jsonType is the type of a scalar's canonical JSON text.
func jsonType(text string) jsontype.Set {
	switch {
	case text == "null":
		return jsontype.Null
	case text == "true", text == "false":
		return jsontype.Bool
	case text[0] == '"':
		return jsontype.String
	case text[0] == '{':
		return jsontype.Object
	case text[0] == '[':
		return jsontype.Array
	case strings.ContainsAny(text, ".eE"):
		return jsontype.Fraction
	}
	return jsontype.Integer
}

// checkRequired reports required names that no property has, which most often are misspelt.
func (f *flat) checkRequired() {
	if !f.isStruct || f.open || len(f.extra) > 0 || f.union != nil {
		return
	}
	known := f.propertyNames()
	for _, a := range f.atoms {
		for _, n := range a.required {
			f.checkName(a, n, n.Value, known)
		}
		for _, dep := range a.checks.DependentRequired {
			for _, name := range append([]string{dep.If}, dep.Then...) {
				f.checkName(a, nil, name, known)
			}
		}
		for _, set := range a.checks.Groups {
			for _, name := range slices.Concat(set.Sets...) {
				f.checkName(a, nil, name, known)
			}
		}
	}
}

// propertyNames are the properties that some schema lists.
func (f *flat) propertyNames() map[string]bool {
	names := map[string]bool{}
	for _, p := range f.props {
		names[p.name] = true
	}
	return names
}

func (f *flat) checkName(a *schema, n *yaml.Node, name string, known map[string]bool) {
	if known[name] {
		return
	}
	hint := suggest.Nearest(name, slices.Sorted(maps.Keys(known)))
	if hint != "" {
		hint = "did you mean \"" + hint + "\"?"
	} else {
		hint = "add it to properties; an empty schema ({}) takes any value"
	}
	f.errorf(a, n, "unknown-property", hint, "%q is demanded but not in properties", short(name))
}
