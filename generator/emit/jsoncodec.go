package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// methods prints what makes a message encode itself as this wire. The comment of the package describes it.
func (c *codec) methods(l *ir.Layout) jen.Code {
	if c.proto() {
		return c.protoMethods(l)
	}
	t, x, table := l.Type.Go, jen.Id("x"), jen.Id(c.fn("codec", l))
	bytes := jen.Index().Byte()
	s := jen.Null()
	s.Func().Params(x.Clone().Op("*").Id(t)).Id("AppendJSON").Params(jen.Id("b").Add(bytes)).Params(bytes, jen.Error()).
		Add(oneLine(jen.Return(table.Clone().Dot("Append").Call(jen.Id("b"), x)))).Line()
	s.Func().Params(x.Clone().Id(t)).Id("MarshalJSON").Params().Params(bytes, jen.Error()).
		Add(oneLine(jen.Return(x.Clone().Dot("AppendJSON").Call(jen.Nil())))).Line()
	return s.Func().Params(x.Clone().Op("*").Id(t)).Id("UnmarshalJSON").Params(jen.Id("src").Add(bytes)).Error().
		Add(oneLine(jen.Return(table.Clone().Dot("Unmarshal").Call(jen.Id("src"), x)))).Line()
}

// shape says what a JSON wire makes of a message besides an object of its members.
func (c *codec) shape(table *literal, l *ir.Layout) {
	var consts string
	for _, constant := range l.Consts {
		consts += string(wire.AppendKey(nil, constant.Name)) + constant.Value
	}
	if consts != "" {
		table.set("Consts", raw(consts))
	}
	if l.Bare {
		table.set("Bare", jen.True())
	}
	if l.OrBare {
		table.set("OrBare", jen.True())
	}
	if l.Tag != "" {
		table.set("Tagged", c.tagged(l))
	}
}

// tagged prints how the cases of a union are told apart.
func (c *codec) tagged(l *ir.Layout) jen.Code {
	var cases []jen.Code
	for _, m := range l.Fields {
		if m.Absent {
			continue
		}
		one := members()
		if m.TagValue != "" {
			one.set("Tag", jen.Lit(m.TagValue))
		}
		if len(m.Shape) > 0 {
			one.set("Shape", stringsOf(m.Shape))
		}
		cases = append(cases, jen.Values(*one...))
	}
	tagged := members("Tag", jen.Lit(l.Tag))
	if len(l.TagAliases) > 0 {
		tagged.set("Aliases", stringsOf(l.TagAliases))
	}
	tagged.set("Cases", jen.Index().Qual(wirePath, "Tag").Values(cases...))
	return addressOf(jen.Qual(wirePath, "Tagged"), tagged)
}

// jsonFlags says when JSON has a member, and what null is there.
func (c *codec) jsonFlags(row *literal, l *ir.Layout, m *ir.FieldLayout) {
	var flags []string
	add := func(when bool, flag string) {
		if when {
			flags = append(flags, flag)
		}
	}
	form := hooks[m.Hook].form
	read := m.Required && !m.Lenient && m.Case == nil && !m.Derived
	write := m.Case == nil && (m.Nested != nil || m.Written || (form == hookDerived && !m.Implicit) || (form != hookDerived && form != hookPair && m.Required))
	add(read && write, "Required")
	add(read && !write, "MustRead")
	add(write && !read, "MustWrite")
	add(m.Derived, "WriteOnly")
	if m.Nested == nil && m.Case == nil {
		f := m.Field
		add(m.Hook == "" && c.refuses(m), "MustSet")
		add(m.Hook == "" && f.Presence == ir.Explicit && f.Type.Nilable(), "Nilable")
		add(m.Implicit && !m.Derived, "Implicit")
		add(m.Filled, "Filled")
		add(m.Written, "Created")
		add(m.Fallback && m.Default == nil, "Fallback")
		add(m.Hook == "" && f.Type.Kind == ir.KindMessage && slices.ContainsFunc(l.Fields, func(o *ir.FieldLayout) bool {
			return o.Into != nil && o.Into == f
		}), "Shared")
	}
	add(c.nullMeans(m) != "", c.nullMeans(m))
	row.flags("Flags", wirePath, flags)
}

// refuses reports whether a member is refused when it is not set.
func (c *codec) refuses(m *ir.FieldLayout) bool {
	t := m.Field.Type.Kind
	return m.Required && m.MinItems == 0 && c.strict() && (isPointer(m.Field) || t == ir.KindEnum && !m.Always || t == ir.KindTimestamp)
}

// nullMeans is what null stands for in a member's place, "" for no member.
func (c *codec) nullMeans(m *ir.FieldLayout) string {
	if m.Nested != nil || m.Hook != "" {
		return ""
	}
	switch kind := memberType(m).Kind; {
	case kind == ir.KindValue, kind == ir.KindNullValue:
		return "NullValue"
	case c.strict() && m.Required && m.MinItems == 0 && (kind == ir.KindList || kind == ir.KindMap):
		return "NullEmpty"
	}
	return ""
}

// jsonReader is the parameter of a function that reads JSON.
func jsonReader() jen.Code { return jen.Id("r").Op("*").Qual(wirePath, "Reader") }
