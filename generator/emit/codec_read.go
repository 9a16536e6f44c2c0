package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// perSeen is how many members one wire.Seen holds.
const perSeen = 64

// fieldsVar names the table of a message's members.
func (c *codec) fieldsVar(t *ir.Type) string { return c.fn("fields", t, "") }

// readMessage prints the table of members and the function that reads one message by it.
func (c *codec) readMessage(l *ir.Layout) jen.Code {
	rows := make([]jen.Code, len(l.Fields))
	for i, m := range l.Fields {
		rows[i] = jen.Values(*c.fieldRow(l, m)...)
	}
	name := c.fieldsVar(l.Type)
	typ := jen.Qual(wirePath, "Fields").Types(ptr(l.Type))
	table := typ.Clone().Values(multiline(rows)...)
	s := jen.Var().Id(name)
	if c.recurs(l.Type) { // a table cannot refer to itself where it is declared
		s.Add(typ).Line().Line().Func().Id("init").Params().Block(jen.Id(name).Op("=").Add(table)).Line().Line()
	} else {
		s.Op("=").Add(table).Line().Line()
	}
	var body []jen.Code
	if l.OrBare && len(l.Fields) > 0 {
		body = append(body, c.readBareToo(l))
	}
	open := c.openUnion(l)
	if read := jen.Id(name).Dot("Read").Call(jen.Id("r"), jen.Id("x")); open == nil {
		body = append(body, read)
	} else {
		body = append(body, jen.Id("extra").Op(":=").Id(name).Dot("ReadOpen").Call(jen.Id("r"), jen.Id("x")))
	}
	for _, f := range unions(l) {
		body = append(body, c.unionSet(l, f, f == open)...)
	}
	head := s.Func().Id(c.fn("read", l.Type, "")).Params(jen.Id("r").Op("*").Qual(wirePath, "Reader"), jen.Id("x").Op("*").Id(l.Type.Go))
	if len(body) == 1 && open == nil && !l.OrBare {
		return head.Add(oneLine(body[0])).Line()
	}
	return head.Block(body...).Line()
}

// fieldRow is a member's row of the table.
func (c *codec) fieldRow(l *ir.Layout, m *ir.FieldLayout) *literal {
	row := members("Name", jen.Lit(m.Name))
	if len(m.Aliases) > 0 {
		row.set("Aliases", stringsOf(m.Aliases))
	}
	if m.Required && m.Case == nil {
		row.set("Required", jen.True())
	}
	if null := nullMeans(m); null != "" {
		row.set("Null", jen.Qual(wirePath, null))
	}
	if m.Case != nil {
		row.set("Oneof", jen.Lit(slices.Index(unions(l), m.Field)+1))
	}
	row.set("Read", jen.Func().Params(jen.Id("r").Op("*").Qual(wirePath, "Reader"), jen.Id("x").Op("*").Id(l.Type.Go)).
		Add(oneLine(jen.Id("x").Dot(m.Field.Go).Op("=").Add(c.readMember(m)))))
	return row
}

// oneLine is a block of one statement on the line of what precedes it.
func oneLine(statement jen.Code) jen.Code {
	return jen.Custom(jen.Options{Open: "{ ", Close: " }"}, statement)
}

// recurs reports whether a message can hold another one of its type.
func (c *codec) recurs(t *ir.Type) bool {
	met := map[*ir.Type]bool{}
	var reaches func(from *ir.Type) bool
	reaches = func(from *ir.Type) bool {
		for _, l := range c.wire.Layouts {
			if l.Type != from {
				continue
			}
			for _, m := range l.Fields {
				inner := memberType(m)
				if inner.Elem != nil {
					inner = *inner.Elem
				}
				if inner.Type == t || inner.Kind == ir.KindAny && l.Type == t {
					return true
				}
				if inner.Type != nil && !met[inner.Type] {
					met[inner.Type] = true
					if reaches(inner.Type) {
						return true
					}
				}
			}
		}
		return false
	}
	return reaches(t)
}

// readBareToo prints the reading of a message in the form of its only member, a list. Where it is the value of a map, nothing (null) is
// an empty one: servers written in Go write it so.
func (c *codec) readBareToo(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	return jen.Switch(jen.Id("r").Dot("Kind").Call()).Block(
		jen.Case(jen.Qual(wirePath, "KindArray")).Block(jen.Id("x").Dot(m.Field.Go).Op("=").Add(c.readListMember(m)), jen.Return()),
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

// nullMeans is what null stands for in a member's place, "" for no member.
func nullMeans(m *ir.FieldLayout) string {
	switch kind := memberType(m).Kind; {
	case kind == ir.KindValue, kind == ir.KindNullValue:
		return "NullValue"
	case m.Required && m.MinItems == 0 && (kind == ir.KindList || kind == ir.KindMap):
		return "NullEmpty"
	}
	return ""
}

// readMember is the expression that reads a member's value.
func (c *codec) readMember(m *ir.FieldLayout) jen.Code {
	if m.Case != nil {
		return c.readCase(m)
	}
	t := m.Field.Type
	switch {
	case t.Kind == ir.KindMessage:
		return c.readNew(t.Type)
	case t.Kind == ir.KindList:
		return c.readListMember(m)
	case t.Kind == ir.KindMap:
		return c.readMapMember(t)
	case isPointer(m.Field):
		return jen.New(c.readScalar(t))
	case t.Kind == ir.KindEnum && m.Required && !m.Always:
		return jen.Qual(wirePath, "ReadSpecified").Call(jen.Id("r"), jen.Id(c.fn("read", t.Type, "")))
	}
	return c.readScalar(t)
}

// readNew is the expression that reads a message.
func (c *codec) readNew(t *ir.Type) jen.Code {
	return jen.Qual(wirePath, "ReadNew").Call(jen.Id("r"), jen.Id(c.fn("read", t, "")))
}

// readScalar is the expression that reads a scalar or an enum.
func (c *codec) readScalar(t ir.TypeRef) jen.Code {
	if t.Kind == ir.KindEnum {
		return jen.Id(c.fn("read", t.Type, "")).Call(jen.Id("r"))
	}
	return jen.Id("r").Dot(scalars[t.Kind].read).Call()
}

// reader is the function that reads a scalar or an enum.
func (c *codec) reader(t ir.TypeRef) jen.Code {
	if t.Kind == ir.KindEnum {
		return jen.Id(c.fn("read", t.Type, ""))
	}
	return jen.Parens(jen.Op("*").Qual(wirePath, "Reader")).Dot(scalars[t.Kind].read)
}

// readCase is the expression that reads a oneof's case.
func (c *codec) readCase(m *ir.FieldLayout) jen.Code {
	switch t := m.Case.Type; {
	case t.Kind == ir.KindMessage && m.Case.Direct:
		return c.readNew(t.Type)
	case t.Kind == ir.KindMessage:
		return jen.Id(m.Case.Go).Values(c.readNew(t.Type))
	case t.Kind == ir.KindAny:
		return jen.Id(m.Case.Go).Values(c.readScalar(t))
	default:
		return jen.Id(m.Case.Go).Call(c.readScalar(t))
	}
}

// readListMember is the expression that reads a list, with the check of its length.
func (c *codec) readListMember(m *ir.FieldLayout) jen.Code {
	elem := *m.Field.Type.Elem
	var list *jen.Statement
	switch {
	case elem.Kind == ir.KindMessage && m.MinItems > 0:
		return jen.Qual(wirePath, "ReadSome").Call(jen.Id("r"), jen.Lit(m.MinItems), jen.Id(c.fn("read", elem.Type, "")))
	case elem.Kind == ir.KindMessage:
		list = jen.Qual(wirePath, "ReadList").Call(jen.Id("r"), jen.Id(c.fn("read", elem.Type, "")))
	case elem.Kind == ir.KindString:
		list = jen.Id("r").Dot("Strings").Call()
	default:
		list = jen.Qual(wirePath, "ReadPlainList").Call(jen.Id("r"), c.reader(elem))
	}
	if m.MinItems == 0 {
		return list
	}
	return jen.Qual(wirePath, "ReadAtLeast").Call(jen.Id("r"), jen.Lit(m.MinItems),
		jen.Func().Params(jen.Id("r").Op("*").Qual(wirePath, "Reader")).Index().Add(goType(elem)).Add(oneLine(jen.Return(list))))
}

// readMapMember is the expression that reads a map; a name met twice is refused by the reader.
func (c *codec) readMapMember(t ir.TypeRef) jen.Code {
	elem := *t.Elem
	keyed, types := "", []jen.Code{}
	if t.Key != nil {
		keyed, types = "Keyed", []jen.Code{keyType(t)}
	}
	nulls := jen.Lit(elem.Kind == ir.KindValue || elem.Kind == ir.KindNullValue || elem.Type != nil && c.orBare(elem.Type))
	fn, read := jen.Qual(wirePath, "ReadPlain"+keyed+"Map"), jen.Code(nil)
	if elem.Kind == ir.KindMessage {
		fn, read = jen.Qual(wirePath, "Read"+keyed+"Map"), jen.Id(c.fn("read", elem.Type, ""))
	} else {
		read = c.reader(elem)
	}
	if len(types) > 0 {
		fn = fn.Types(types...)
	}
	return fn.Call(jen.Id("r"), nulls, read)
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
