package schema

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/names"
)

// object lowers objects: to a struct when properties are declared, else to a map.
func (l *lowerer) object(f *flat, parts []*schema, h hint, self *named) ir.DataRef {
	if !f.isStruct {
		return l.collection(parts, h, func(h hint) ir.DataRef { return l.mapOf(f, h) })
	}
	n, isNew := l.declareOnce(parts, ir.DataStruct, h, self)
	if !isNew {
		return l.use(n)
	}
	l.fields(n, f)
	checks := l.keyChecks(f)
	checks.PropertyNames = l.nameChecks(f)
	known := f.propertyNames()
	for _, n := range f.required {
		if !known[n.Value] {
			checks.Required = append(checks.Required, n.Value)
		}
	}
	n.t.Checks = checksOrNil(checks)
	switch {
	case f.closed:
	case len(f.extra) > 0:
		n.t.Extra = keep(l.lower(f.extra, hint{owner: n, suffix: "Value"}))
	case f.open:
		n.t.Extra = keep(ir.DataRef{Kind: ir.DataAny})
	}
	return l.use(n)
}

// keyChecks are the constraints on which keys an object has. What structs require is on their fields.
func (l *lowerer) keyChecks(f *flat) ir.Checks {
	return ir.Checks{
		Limits: f.limitsOn(jsontype.Object), DependentRequired: f.checks.DependentRequired, Groups: f.checks.Groups,
	}
}

func (l *lowerer) mapOf(f *flat, h hint) ir.DataRef {
	checks := l.keyChecks(f)
	checks.PropertyNames = l.nameChecks(f)
	for _, n := range f.required {
		checks.Required = append(checks.Required, n.Value)
	}
	ref := ir.DataRef{Kind: ir.DataMap, Checks: checksOrNil(checks)}
	elem := ir.DataRef{Kind: ir.DataAny}
	if len(f.extra) > 0 {
		elem = l.lower(f.extra, h.plus("Value"))
	}
	ref.Elem = keep(elem)
	return ref
}

// nameChecks lowers propertyNames to checks of the keys as strings.
func (l *lowerer) nameChecks(f *flat) *ir.Checks {
	if len(f.names) == 0 {
		return nil
	}
	nf := l.flatten(append(slices.Clone(f.names), l.typeSchema(f.at, jsontype.String)))
	if nf.bad {
		f.bad = true
		return nil
	}
	if nf.union != nil || nf.types != jsontype.String {
		f.errorf(f.names[0], nil, "unsupported-keyword", "describe the names by pattern, enum or length",
			"propertyNames must describe strings")
		return nil
	}
	checks := ir.Checks{Limits: nf.limitsOn(jsontype.String)}
	if nf.format != nil && formats[nf.format.Value].kind != "" {
		checks.Limits = append(checks.Limits, table["format"].with(nf.format.Value))
	}
	for _, v := range nf.enum {
		checks.Values = append(checks.Values, json.RawMessage(v.json))
	}
	return checksOrNil(checks)
}

// fields lowers the properties of a struct.
func (l *lowerer) fields(n *named, f *flat) {
	required := map[string]bool{}
	for _, n := range f.required {
		required[n.Value] = true
	}
	for _, p := range f.props {
		l.later(f.names, func(problem verdict) {
			if text := problem(quote(p.name)); text != "" {
				l.list.Errorf(p.doc.pos(p.key), "conflict", "rename the property or loosen propertyNames",
					"property name %q is not valid by propertyNames: %s", short(p.name), text)
			}
		})
		field := l.field(n, p, required[p.name])
		n.t.Fields = append(n.t.Fields, field)
	}
	l.checkTriggers(f, n)
	n.t.Closed = f.closed
}

// field lowers one property.
func (l *lowerer) field(n *named, p *flatProperty, required bool) *ir.DataField {
	field := &ir.DataField{Name: p.name, Required: required, Doc: docOf(p.parts)}
	field.Deprecated = slices.ContainsFunc(p.parts, func(s *schema) bool { return s.deprecated })
	if c := l.constant(p, required); c != nil {
		field.Const = c
		return field
	}
	field.Type = l.lower(p.parts, hint{owner: n, suffix: names.Go(p.name)})
	def, doc := defaultOf(p.parts)
	if def == nil || def.Tag == "!!null" && field.Type.Kind != ir.DataAny { // null as a default says: there is none
		l.presence(field, false)
		return field
	}
	if required {
		l.list.Warnf(doc.pos(def), "default-of-required", "remove it from required, or remove the default",
			"the default of %q is never used: the property is required", short(p.name))
		l.presence(field, false)
		return field
	}
	l.askDefault(field, p, def, doc)
	return field
}

// presence decides how the Go field tells that the property is absent: zero says that Go's zero value can stand for
// that, being the default or no valid value.
func (l *lowerer) presence(field *ir.DataField, zero bool) {
	t := &field.Type
	field.OmitZero, field.Pointer = false, false
	if field.Required || t.Null || hasNil(t) {
		return
	}
	switch {
	case t.Kind == ir.DataTime || t.Kind == ir.DataDate:
		field.OmitZero = true
	case zero:
		field.OmitZero = true
	default:
		field.Pointer = true
	}
}

// hasNil reports whether the Go type of a reference has a nil of its own.
func hasNil(t *ir.DataRef) bool {
	switch t.Kind {
	case ir.DataAny, ir.DataBytes, ir.DataList, ir.DataMap:
		return true
	case ir.DataNamed:
		return t.Type.Kind == ir.DataUnion
	}
	return false
}

// constant returns the only valid value of a property that needs no Go field, or nil: a required constant is always
// written, and an optional null never.
func (l *lowerer) constant(p *flatProperty, required bool) json.RawMessage {
	f := l.flatten(p.parts)
	switch {
	case f.bad || f.union != nil:
		return nil
	case f.null && f.types == 0:
		return json.RawMessage("null")
	case !required || f.null || f.rawEnum || len(f.enum) != 1:
		return nil
	}
	return json.RawMessage(f.enum[0].json)
}

// defaultOf returns the default of the first part that has one, following pure references.
func defaultOf(parts []*schema) (*yaml.Node, *document) {
	for _, p := range parts {
		seen := map[*schema]bool{}
		for s := p; s != nil && !seen[s]; s = s.ref.target {
			seen[s] = true
			if s.def != nil {
				return s.def, s.doc
			}
			if s.ref == nil {
				break
			}
		}
	}
	return nil, nil
}

// checkTriggers refuses a default on a property that demands others: being always there, it would always demand them.
func (l *lowerer) checkTriggers(f *flat, n *named) {
	for _, dep := range f.checks.DependentRequired {
		i := slices.IndexFunc(n.t.Fields, func(field *ir.DataField) bool { return field.Name == dep.If })
		if i >= 0 && n.t.Fields[i].Default != nil {
			f.errorf(f.at, nil, "conflict", "remove the default, or require the others always",
				"property %q has a default, so that what depends on it would always be demanded", short(dep.If))
		}
	}
}
