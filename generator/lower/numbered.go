package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// Two proto definitions need no table: what has the same name is the same, and what has another name but the same number
// was renamed. So a definition that nobody here has seen can be the hub, and 1.0 stands behind it.

// counterpart returns the field of the hub for field f of message msg of another proto definition; nil if there is
// none.
func (l *protocolLowering) counterpart(msg string, f *spec.Field, in *spec.Message) *spec.Field {
	m := l.messages[msg]
	if m == nil {
		return nil
	}
	if same := memberOf(m, f.Name); same != nil {
		return same
	}
	for _, g := range m.Fields {
		if f.Number > 0 && g.Number == f.Number && memberOf(in, g.Name) == nil {
			return g
		}
	}
	return nil
}

// counterpartValue is counterpart for value v of the enum in.
func counterpartValue(t *ir.Type, v *spec.EnumValue, in *spec.Enum) *ir.Value {
	if same := valueOf(t, v.Name); same != nil {
		return same
	}
	for _, hub := range t.Values {
		if hub.Number == v.Number && enumValue(in, hub.Name) == nil {
			return hub
		}
	}
	return nil
}

// hubName returns the hub's name of the field that 1.0 calls name; name itself if 1.0 has no such field, "" if the
// hub has none.
func (l *protocolLowering) hubName(msg, name string) string {
	if l.base == nil {
		return name
	}
	m := messageOf(l.base, msg)
	if m == nil {
		return name
	}
	f := memberOf(m, name)
	if f == nil {
		return name
	}
	if g := l.counterpart(msg, f, m); g != nil {
		return g.Name
	}
	return ""
}

// goName is the name that Go's name of member f of message m is made of: that of 1.0 if the member only was renamed since, so that
// code written for 1.0 still builds.
func (l *protocolLowering) goName(m *spec.Message, f *spec.Field) string {
	if l.base == nil {
		return f.Name
	}
	was := messageOf(l.base, m.Name)
	if was == nil || memberOf(was, f.Name) != nil {
		return f.Name
	}
	for _, g := range was.Fields {
		if g.Number > 0 && g.Number == f.Number && memberOf(m, g.Name) == nil && sameType(g.Type, f.Type) && g.Union == f.Union {
			return g.Name
		}
	}
	return f.Name
}

// goValueName is goName for a value of an enum.
func (l *protocolLowering) goValueName(e *spec.Enum, v *spec.EnumValue) string {
	if l.base == nil {
		return v.Name
	}
	was := enumOf(l.base, e.Name)
	if was == nil || enumValue(was, v.Name) != nil {
		return v.Name
	}
	for _, old := range was.Values {
		if old.Number == v.Number && enumValue(e, old.Name) == nil {
			return old.Name
		}
	}
	return v.Name
}

// numberedVersion lowers an older proto definition to a wire of the hub's types.
func (l *protocolLowering) numberedVersion(old *spec.Document) *ir.Version {
	w := newWire(old.Version, ir.JSON)
	for _, e := range old.Enums {
		if t := l.types[e.Name]; t != nil && t.Kind == ir.Enum {
			layout := &ir.Layout{Type: t, Name: t.Name}
			values := slices.Clone(e.Values)
			slices.SortStableFunc(values, func(a, b *spec.EnumValue) int { return cmp.Compare(a.Number, b.Number) })
			for _, v := range values {
				if hub := counterpartValue(t, v, e); hub != nil {
					addValue(layout, &ir.ValueLayout{Value: hub, Name: v.Name, Aliases: valueAliases[v.Name], Number: v.Number})
				}
			}
			distinctValues(layout)
			w.Layouts = append(w.Layouts, layout)
		}
	}
	for _, m := range old.Messages {
		if t := l.types[m.Name]; t != nil && t.Kind == ir.Message {
			w.Layouts = append(w.Layouts, l.numberedMessage(t, m, old))
		}
	}
	slices.SortFunc(w.Layouts, func(a, b *ir.Layout) int { return cmp.Compare(a.Name, b.Name) })
	return &ir.Version{
		Name: old.Version, Package: old.Package, Wires: []*ir.Wire{w}, Operations: l.numberedOperations(old), Descriptor: old.Descriptor,
	}
}

// numberedMessage lays out the fields of m that the hub still has, in m's order, with the cases of a union together.
func (l *protocolLowering) numberedMessage(t *ir.Type, m *spec.Message, old *spec.Document) *ir.Layout {
	layout := &ir.Layout{Type: t, Name: t.Name}
	done := map[string]bool{}
	for _, f := range m.Fields {
		if f.Union == "" {
			l.numberedField(layout, t, m, f, old)
			continue
		}
		if done[f.Union] {
			continue
		}
		done[f.Union] = true
		for _, g := range m.Fields {
			if g.Union == f.Union {
				l.numberedField(layout, t, m, g, old)
			}
		}
	}
	layout.OrBare = orBare(layout)
	return layout
}

func (l *protocolLowering) numberedField(layout *ir.Layout, t *ir.Type, m *spec.Message, f *spec.Field, old *spec.Document) {
	src := l.counterpart(m.Name, f, m)
	if src == nil {
		return // the hub has it no more: ignored on reading, not written
	}
	if !sameType(src.Type, f.Type) || (src.Union == "") != (f.Union == "") {
		l.problems.Errorf(src.Pos, "changed-type", "do not generate version "+old.Version+" from this definition",
			"field %s of message %s has another type in version %s, which stands behind this definition", src.Name, m.Name, old.Version)
		return
	}
	var member *ir.FieldLayout
	for _, field := range t.Fields {
		switch {
		case field.Union == nil && field.Name == src.Name:
			member = memberLayout(field, nil, f)
			member.Required = f.Required
			member.MinItems = minItems[m.Name+"."+f.Name]
		case field.Union != nil && field.Name == src.Union:
			member = memberLayout(field, caseOf(field.Union, src.Name), f)
		}
	}
	if member != nil {
		layout.Fields = append(layout.Fields, member)
	}
}

func sameType(a, b spec.Type) bool {
	if a.Kind != b.Kind || a.Name != b.Name || (a.Elem == nil) != (b.Elem == nil) || keyKind(a) != keyKind(b) {
		return false
	}
	return a.Elem == nil || sameType(*a.Elem, *b.Elem)
}

// keyKind returns the kind of the keys of a map.
func keyKind(t spec.Type) spec.Kind {
	if t.Key == nil {
		return spec.String
	}
	return t.Key.Kind
}

// numberedOperations lowers the operations of an older proto definition. The hub must have those with a role, too.
func (l *protocolLowering) numberedOperations(old *spec.Document) []*ir.Operation {
	var ops []*ir.Operation
	scope := names.NewScope()
	for _, o := range old.Operations {
		for _, ref := range []spec.Type{o.Request, o.Response} {
			if ref.Name != "" && l.types[ref.Name] == nil {
				l.problems.Errorf(diag.Pos{File: l.doc.Path}, "removed-type", "do not generate version "+old.Version+" from this definition",
					"operation %s of version %s needs message %s, which this definition does not have", o.Name, old.Version, ref.Name)
				return nil
			}
		}
		op := &ir.Operation{
			Role: ir.RoleOther, Go: scope.Take(names.Go(o.Name)), RPC: o.Name, GRPC: o.GRPC, Stream: o.Stream, Unserved: unserved(o),
			Request: l.typeRef(o.Request, o.Pos), Response: l.typeRef(o.Response, o.Pos),
		}
		for _, hub := range l.doc.Operations {
			if strings.EqualFold(hub.Name, o.Name) {
				op.Role = roleOf(o.Name)
			}
		}
		for _, r := range o.HTTP {
			op.HTTP = append(op.HTTP, ir.Route(r))
		}
		ops = append(ops, op)
	}
	return ops
}
