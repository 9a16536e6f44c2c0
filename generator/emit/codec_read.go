package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// perSeen is how many members one wire.Seen holds.
const perSeen = 64

// readMessage prints the table of member names and the function that reads one message.
func (c *codec) readMessage(l *ir.Layout) jen.Code {
	names := c.fn("members", l.Type, "")
	s := jen.Null()
	body := []jen.Code{}
	if len(l.Fields) > 0 {
		var lits []jen.Code
		for _, m := range l.Fields {
			lits = append(lits, jen.Lit(m.Name))
		}
		s.Var().Id(names).Op("=").Index(jen.Op("...")).String().Values(lits...).Line().Line()
		seen := jen.Var().Id("seen")
		if seens(l) > 1 {
			seen.Index(jen.Lit(seens(l)))
		}
		if l.OrBare {
			body = append(body, c.readBareToo(l))
		}
		body = append(body, seen.Qual(wirePath, "Seen"))
	}
	open := c.openUnion(l)
	if open != nil {
		body = append(body, jen.Var().Id("extra").Qual(wirePath, "Extra"))
	}
	body = append(body, jen.For(
		jen.List(jen.Id("key"), jen.Id("ok")).Op(":=").Id("r").Dot("Object").Call(),
		jen.Id("ok"),
		jen.List(jen.Id("key"), jen.Id("ok")).Op("=").Id("r").Dot("Next").Call(),
	).Block(jen.Switch(jen.String().Call(jen.Id("key"))).Block(c.readMembers(l, open)...)))
	body = append(body, c.required(l, names)...)
	for _, f := range unions(l) {
		body = append(body, c.unionSet(l, f, f == open)...)
	}
	return s.Func().Id(c.fn("read", l.Type, "")).Params(jen.Id("r").Op("*").Qual(wirePath, "Reader"), jen.Id("x").Op("*").Id(l.Type.Go)).
		Block(body...).Line()
}

// readBareToo prints the reading of a message in the form of its only member, a list. Where it is the value of a map, nothing (null) is
// an empty one: servers written in Go write it so.
func (c *codec) readBareToo(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	return jen.Switch(jen.Id("r").Dot("Kind").Call()).Block(
		jen.Case(jen.Qual(wirePath, "KindArray")).Block(append(c.readListMember(m, jen.Id("x").Dot(m.Field.Go)), jen.Return())...),
		jen.Case(jen.Qual(wirePath, "KindNull")).Block(jen.Id("r").Dot("Null").Call(), jen.Return()),
	)
}

// orBare reports whether messages of type t are read in two forms.
func (c *codec) orBare(t *ir.Type) bool {
	for _, l := range c.wire.Layouts {
		if l.Type == t {
			return l.OrBare
		}
	}
	return false
}

// openUnion is the oneof to which an unknown member may belong: the only one of its message.
func (c *codec) openUnion(l *ir.Layout) *ir.Field {
	if us := unions(l); len(us) == 1 {
		return us[0]
	}
	return nil
}

func seens(l *ir.Layout) int { return (len(l.Fields) + perSeen - 1) / perSeen }

// seen is the address of the wire.Seen that holds member i.
func seen(l *ir.Layout, i int) jen.Code {
	if seens(l) == 1 {
		return jen.Op("&").Id("seen")
	}
	return jen.Op("&").Id("seen").Index(jen.Lit(i / perSeen))
}

// fieldMethod is the reader's method that admits the member: what null means depends on the type.
func fieldMethod(m *ir.FieldLayout) string {
	switch kind := memberType(m).Kind; {
	case kind == ir.KindValue, kind == ir.KindNullValue:
		return "FieldOrNull"
	case m.Required && m.MinItems == 0 && (kind == ir.KindList || kind == ir.KindMap):
		return "FieldOrEmpty"
	default:
		return "Field"
	}
}

// readMembers prints the cases of the switch over member names.
func (c *codec) readMembers(l *ir.Layout, open *ir.Field) []jen.Code {
	var cases []jen.Code
	for i, m := range l.Fields {
		var names []jen.Code
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			names = append(names, jen.Lit(name))
		}
		cond := jen.Id("r").Dot(fieldMethod(m)).Call(seen(l, i), jen.Lit(i%perSeen))
		if m.Case != nil {
			cond.Op("&&").Id("r").Dot("Only").Call(jen.Id("x").Dot(m.Field.Go).Op("==").Nil())
		}
		cases = append(cases, jen.Case(names...).Block(jen.If(cond).Block(c.readMember(m)...)))
	}
	if open != nil {
		return append(cases, jen.Default().Block(jen.Id("r").Dot("UnknownCase").Call(jen.Id("key"), jen.Op("&").Id("extra"))))
	}
	return append(cases, jen.Default().Block(jen.Id("r").Dot("Unknown").Call(jen.Id("key"))))
}

// readMember prints the reading of a member's value into its field.
func (c *codec) readMember(m *ir.FieldLayout) []jen.Code {
	x := jen.Id("x").Dot(m.Field.Go)
	if m.Case != nil {
		return c.readCase(m, x)
	}
	t := m.Field.Type
	switch {
	case t.Kind == ir.KindMessage:
		return []jen.Code{
			x.Clone().Op("=").New(jen.Id(t.Type.Go)),
			jen.Id(c.fn("read", t.Type, "")).Call(jen.Id("r"), x),
		}
	case t.Kind == ir.KindList:
		return c.readListMember(m, x)
	case t.Kind == ir.KindMap:
		return c.readMapMember(t, x)
	case isPointer(m.Field):
		return []jen.Code{jen.Id("v").Op(":=").Add(c.readScalar(t)), x.Op("=").Op("&").Id("v")}
	case t.Kind == ir.KindEnum && m.Required && !m.Always:
		// An unspecified value in a required place is no value at all (A2A 1.0 §5.7).
		return []jen.Code{
			jen.Id("at").Op(":=").Id("r").Dot("Offset").Call(),
			jen.If(x.Clone().Op("=").Add(c.readScalar(t)), x.Clone().Op("==").Lit("")).Block(
				jen.Id("r").Dot("FailAt").Call(jen.Id("at"), jen.Lit("required, but unspecified")),
			),
		}
	}
	return []jen.Code{x.Op("=").Add(c.readScalar(t))}
}

// readScalar is the expression that reads a scalar or an enum.
func (c *codec) readScalar(t ir.TypeRef) jen.Code {
	if t.Kind == ir.KindEnum {
		return jen.Id(c.fn("read", t.Type, "")).Call(jen.Id("r"))
	}
	return jen.Id("r").Dot(scalars[t.Kind].read).Call()
}

// readCase prints the reading of a oneof's case.
func (c *codec) readCase(m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	t := m.Case.Type
	switch {
	case t.Kind == ir.KindAny:
		return []jen.Code{x.Op("=").Id(m.Case.Go).Values(c.readScalar(t))}
	case t.Kind != ir.KindMessage:
		return []jen.Code{x.Op("=").Id(m.Case.Go).Call(c.readScalar(t))}
	}
	value := jen.Id("v")
	if !m.Case.Direct {
		value = jen.Id(m.Case.Go).Values(jen.Id("v"))
	}
	return []jen.Code{
		jen.Id("v").Op(":=").New(jen.Id(t.Type.Go)),
		jen.Id(c.fn("read", t.Type, "")).Call(jen.Id("r"), jen.Id("v")),
		x.Op("=").Add(value),
	}
}

// readListMember prints the reading of a list, with the check of its length.
func (c *codec) readListMember(m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	elem := *m.Field.Type.Elem
	var code []jen.Code
	if m.MinItems > 0 {
		code = append(code, jen.Id("at").Op(":=").Id("r").Dot("Offset").Call())
	}
	switch elem.Kind {
	case ir.KindMessage:
		code = append(code, x.Clone().Op("=").Id(c.fn("read", elem.Type, "List")).Call(jen.Id("r")))
	case ir.KindString:
		code = append(code, x.Clone().Op("=").Id("r").Dot("Strings").Call())
	default:
		code = append(code, jen.For(
			jen.Id("ok").Op(":=").Id("r").Dot("Array").Call(), jen.Id("ok"), jen.Id("ok").Op("=").Id("r").Dot("Elem").Call(),
		).Block(x.Clone().Op("=").Append(x.Clone(), c.readScalar(elem))))
	}
	if m.MinItems > 0 {
		code = append(code, jen.Id("r").Dot("MinItems").Call(jen.Id("at"), jen.Len(x.Clone()), jen.Lit(m.MinItems)))
	}
	return code
}

// readMapMember prints the reading of a map; a name met twice is refused by the reader.
func (c *codec) readMapMember(t ir.TypeRef, x *jen.Statement) []jen.Code {
	elem := *t.Elem
	key := jen.Id("r").Dot("Keep").Call(jen.Id("name"))
	if t.Key != nil {
		key = jen.Qual(wirePath, "ReadKey").Types(keyType(t)).Call(jen.Id("r"), jen.Id("name"))
	}
	entry := x.Clone().Index(key)
	read := []jen.Code{jen.If(x.Clone().Op("==").Nil()).Block(x.Clone().Op("=").Map(keyType(t)).Add(c.goElem(elem)).Values())}
	if elem.Kind == ir.KindMessage {
		read = append(read,
			jen.Id("v").Op(":=").New(jen.Id(elem.Type.Go)),
			entry.Op("=").Id("v"),
			jen.Id(c.fn("read", elem.Type, "")).Call(jen.Id("r"), jen.Id("v")),
		)
	} else {
		read = append(read, entry.Op("=").Add(c.readScalar(elem)))
	}
	check := "Entry"
	if elem.Kind == ir.KindValue || elem.Kind == ir.KindNullValue || elem.Type != nil && c.orBare(elem.Type) {
		check = "EntryOrNull"
	}
	return []jen.Code{jen.For(
		jen.List(jen.Id("name"), jen.Id("ok")).Op(":=").Id("r").Dot("Object").Call(), jen.Id("ok"),
		jen.List(jen.Id("name"), jen.Id("ok")).Op("=").Id("r").Dot("Next").Call(),
	).Block(jen.If(jen.Id("r").Dot(check).Call(jen.Id("name"))).Block(read...))}
}

// goElem is the Go type of a map's values.
func (c *codec) goElem(t ir.TypeRef) jen.Code {
	switch t.Kind {
	case ir.KindMessage:
		return jen.Op("*").Id(t.Type.Go)
	case ir.KindEnum:
		return jen.Id(t.Type.Go)
	}
	return scalars[t.Kind].convert()
}

// required prints the check that every required member was there.
func (c *codec) required(l *ir.Layout, names string) []jen.Code {
	masks := make([][]jen.Code, seens(l))
	for i, m := range l.Fields {
		if m.Required && m.Case == nil {
			masks[i/perSeen] = append(masks[i/perSeen], jen.Lit(1).Op("<<").Lit(i%perSeen))
		}
	}
	var code []jen.Code
	for i, bits := range masks {
		if len(bits) == 0 {
			continue
		}
		mask := jen.Add(bits[0])
		for _, bit := range bits[1:] {
			mask.Op("|").Add(bit)
		}
		tail := jen.Id(names).Index(jen.Op(":"))
		if i > 0 {
			tail = jen.Id(names).Index(jen.Lit(i * perSeen).Op(":"))
		}
		code = append(code, jen.Id("r").Dot("Require").Call(seen(l, i*perSeen), mask, tail))
	}
	return code
}

// unionSet prints what happens at the end of a message whose oneof met no known case.
func (c *codec) unionSet(l *ir.Layout, f *ir.Field, open bool) []jen.Code {
	x := jen.Id("x").Dot(f.Go)
	none := jen.Id("r").Dot("NoCase").Call(caseNames(l, f)...)
	if !open {
		if f.Presence == ir.Explicit {
			return nil
		}
		return []jen.Code{jen.If(x.Clone().Op("==").Nil()).Block(none)}
	}
	keep := jen.If(jen.List(jen.Id("name"), jen.Id("value"), jen.Id("ok")).Op(":=").Id("extra").Dot("Case").Call(), jen.Id("ok")).Block(
		x.Clone().Op("=").Add(unknownCase(f.Union, jen.Id("name"), jen.Id("value"))),
	)
	if f.Presence != ir.Explicit {
		keep.Else().Block(none)
	}
	return []jen.Code{jen.If(x.Clone().Op("==").Nil()).Block(keep)}
}

// readList prints the function that reads a list of messages. The messages are allocated in growing blocks.
func (c *codec) readList(t *ir.Type) jen.Code {
	return jen.Func().Id(c.fn("read", t, "List")).Params(jen.Id("r").Op("*").Qual(wirePath, "Reader")).Index().Op("*").Id(t.Go).Block(
		jen.Var().Id("list").Index().Op("*").Id(t.Go),
		jen.Var().Id("block").Index().Id(t.Go),
		jen.For(
			jen.Id("ok").Op(":=").Id("r").Dot("Array").Call(), jen.Id("ok"), jen.Id("ok").Op("=").Id("r").Dot("Elem").Call(),
		).Block(
			jen.If(jen.Len(jen.Id("block")).Op("==").Lit(0)).Block(
				jen.Id("block").Op("=").Make(jen.Index().Id(t.Go), jen.Qual(wirePath, "BlockSize").Call(jen.Len(jen.Id("list")))),
			),
			jen.If(jen.Id("list").Op("==").Nil()).Block(
				jen.Id("list").Op("=").Make(jen.Index().Op("*").Id(t.Go), jen.Lit(0), jen.Qual(wirePath, "ListSize")),
			),
			jen.Id("list").Op("=").Append(jen.Id("list"), jen.Op("&").Id("block").Index(jen.Lit(0))),
			jen.Id(c.fn("read", t, "")).Call(jen.Id("r"), jen.Op("&").Id("block").Index(jen.Lit(0))),
			jen.Id("block").Op("=").Id("block").Index(jen.Lit(1).Op(":")),
		),
		jen.Return(jen.Id("list")),
	).Line()
}

// readEnum prints the function that reads an enum by name, alias or number. A name or number that is in no table is kept.
func (c *codec) readEnum(l *ir.Layout) jen.Code {
	var names, numbers []jen.Code
	for _, v := range l.Values {
		var lits []jen.Code
		for _, name := range append([]string{v.Name}, v.Aliases...) {
			lits = append(lits, jen.Lit(name))
		}
		names = append(names, jen.Case(lits...).Block(jen.Return(jen.Id(v.Value.Go))))
		numbers = append(numbers, jen.Case(jen.Lit(int(v.Number))).Block(jen.Return(jen.Id(v.Value.Go))))
	}
	return jen.Func().Id(c.fn("read", l.Type, "")).Params(jen.Id("r").Op("*").Qual(wirePath, "Reader")).Id(l.Type.Go).Block(
		jen.List(jen.Id("name"), jen.Id("number"), jen.Id("byName")).Op(":=").Id("r").Dot("Enum").Call(),
		jen.If(jen.Id("byName")).Block(
			jen.Switch(jen.String().Call(jen.Id("name"))).Block(names...),
			jen.Return(jen.Id(l.Type.Go).Call(jen.Id("r").Dot("Keep").Call(jen.Id("name")))),
		),
		jen.Switch(jen.Id("number")).Block(numbers...),
		jen.Return(jen.Id(l.Type.Go).Call(jen.Qual("strconv", "Itoa").Call(jen.Int().Call(jen.Id("number"))))),
	).Line()
}
