package lower

import (
	"cmp"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// jsonWire lays the types out as ProtoJSON does: camel case names; the definition's own names are read, too (A2A 1.0
// §5.5, §5.7).
func (l *protocolLowering) jsonWire(types []*ir.Type) *ir.Wire {
	w := newWire(l.doc.Version, ir.JSON)
	for _, t := range types {
		w.Layouts = append(w.Layouts, l.layout(t))
	}
	return w
}

// newWire returns a wire of a version. [nameWires] chooses the names of its functions.
func newWire(version string, e ir.Encoding) *ir.Wire {
	return &ir.Wire{
		Name: version + "/" + string(e), File: names.FileBase("codec_v" + version + "_" + string(e)), Encoding: e,
	}
}

// nameWires decides what the names of each wire's functions end in: the version, unless there is but one wire, and the
// encoding. Versions whose names give one Go name, as 1.11 and 11.1 do, are told apart.
func nameWires(p *ir.Protocol) {
	encodings := map[ir.Encoding]string{ir.JSON: "JSON", ir.ProtoJSON: "ProtoJSON", ir.Proto: "Proto"}
	only := len(p.Versions) == 1 && len(p.Versions[0].Wires) == 1
	scope := names.NewScope()
	for _, v := range p.Written() {
		version := scope.Take(names.Go("v" + v.Name))
		if only {
			version = ""
		}
		for _, w := range v.Wires {
			w.Suffix = version + encodings[w.Encoding]
		}
	}
}

func (l *protocolLowering) layout(t *ir.Type) *ir.Layout {
	layout := &ir.Layout{Type: t, Name: t.Name}
	for _, v := range t.Values {
		addValue(layout, &ir.ValueLayout{Value: v, Name: v.Name, Aliases: valueAliases[v.Name], Number: v.Number})
	}
	distinctValues(layout)
	if t.Kind != ir.Message {
		return layout
	}
	m := l.messages[t.Name]
	for _, f := range t.Fields {
		if f.Union == nil {
			layout.Fields = append(layout.Fields, l.fieldLayout(t, f))
			continue
		}
		for _, c := range f.Union.Cases {
			layout.Fields = append(layout.Fields, memberLayout(f, c, memberOf(m, c.Name)))
		}
	}
	owner := map[string]*spec.Field{}
	for _, f := range m.Fields {
		for _, name := range []string{f.JSON, f.Name} {
			if first := owner[name]; first != nil && first != f {
				l.problems.Errorf(f.Pos, "repeated-member", "rename one of them", "fields %s and %s of %s are both read as %q", first.Name, f.Name, m.Name, name)
			}
			owner[name] = f
		}
	}
	layout.OrBare = orBare(layout)
	return layout
}

// addValue adds a value of an enum to a layout. Another name for a value is read as that value.
func addValue(layout *ir.Layout, v *ir.ValueLayout) {
	v.Value = cmp.Or(v.Value.Alias, v.Value)
	at := slices.IndexFunc(layout.Values, func(has *ir.ValueLayout) bool { return has.Value == v.Value })
	switch {
	case at < 0:
		layout.Values = append(layout.Values, v)
	case v.WriteOnly:
	case layout.Values[at].WriteOnly:
		layout.Values[at] = v
	default:
		layout.Values[at].Aliases = slices.Concat(layout.Values[at].Aliases, []string{v.Name}, v.Aliases)
	}
}

// distinctValues drops other names of values that are values themselves.
func distinctValues(layout *ir.Layout) {
	taken := map[string]bool{}
	for _, v := range layout.Values {
		if !v.WriteOnly {
			taken[v.Name] = true
		}
	}
	for _, v := range layout.Values {
		v.Aliases = slices.DeleteFunc(slices.Clone(v.Aliases), func(name string) bool {
			again := taken[name]
			taken[name] = true
			return again
		})
	}
}

func (l *protocolLowering) fieldLayout(t *ir.Type, f *ir.Field) *ir.FieldLayout {
	layout := memberLayout(f, nil, l.fields[f])
	layout.Required = f.Presence == ir.Required
	layout.MinItems = minItems[t.Name+"."+f.Name]
	return layout
}

// memberLayout lays out an ordinary field, or a case of a union.
func memberLayout(f *ir.Field, c *ir.Case, src *spec.Field) *ir.FieldLayout {
	layout := &ir.FieldLayout{Field: f, Case: c, Name: src.JSON, Number: src.Number, Expanded: src.Expanded, Always: src.Always}
	one := src.Type
	if one.Elem != nil {
		one = *one.Elem
	}
	layout.Form, layout.Wrapped = ir.Form(one.Form), one.Wrapped
	if src.Type.Key != nil {
		layout.KeyForm = ir.Form(src.Type.Key.Form)
	}
	if src.Name != src.JSON {
		layout.Aliases = []string{src.Name}
	}
	return layout
}

func memberOf(m *spec.Message, name string) *spec.Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}
