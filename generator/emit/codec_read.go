package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// readMessage prints the table of members and the function that reads one message by it. It is no method value of the
// table, which a variable would hold: that is made when the program starts, and linked whether it is called or not.
// Members of a group share a variable, so that their table is made in the function.
func (c *codec) readMessage(l *ir.Layout) jen.Code {
	name, group := c.fn("fields", l), groupOf(l)
	if group != nil {
		name = "fields"
	}
	typ := jen.Qual(wirePath, "Fields").Types(ptr(l.Type))
	table := typ.Clone().Values(multiline(c.rows(l))...)
	var s *jen.Statement
	var body []jen.Code
	switch {
	case group != nil:
		s = jen.Null()
		body = append(body, jen.Var().Id("group").Add(hook(group.Hook)), jen.Id(name).Op(":=").Add(table))
	case c.recurs(l): // a table cannot refer to itself where it is declared
		s = jen.Var().Id(name).Add(typ).Line().Line()
		s.Func().Id("init").Params().Block(jen.Id(name).Op("=").Add(table)).Line().Line()
	default:
		s = jen.Var().Id(name).Op("=").Add(table).Line().Line()
	}
	if l.OrBare && len(l.Fields) > 0 {
		body = append(body, c.readBareToo(l))
	}
	open := openUnion(l)
	if read := jen.Id(name).Dot("Read").Call(jen.Id("r"), jen.Id("x")); open == nil {
		body = append(body, read)
	} else {
		body = append(body, jen.Id("extra").Op(":=").Id(name).Dot("ReadOpen").Call(jen.Id("r"), jen.Id("x")))
	}
	for _, f := range unions(l) {
		var none jen.Code
		if c.strict() && f.Presence != ir.Explicit {
			none = jen.Id("r").Dot("NoCase").Call(caseNames(l, f)...)
		}
		body = append(body, unionSet(f, f == open, none)...)
	}
	if group != nil {
		list := jen.Id("group").Dot("List").Call(jen.Lit(group.Arg))
		body = append(body, jen.Id("x").Dot(group.Field.Go).Op("=").Id("interfacesFrom"+c.wire.Suffix).Call(list))
	}
	return s.Add(c.readFunc(l, body...))
}

// readFunc prints the function that reads a layout, on one line where it is a call.
func (c *codec) readFunc(l *ir.Layout, body ...jen.Code) jen.Code {
	head := jen.Func().Id(c.fn("read", l)).Params(jsonReader(), jen.Id("x").Add(ptr(l.Type)))
	return head.Add(function(body)).Line()
}

// jsonReader is the parameter of a function that reads JSON.
func jsonReader() jen.Code { return jen.Id("r").Op("*").Qual(wirePath, "Reader") }

// function is a function's body: on one line if it is one call or assignment.
func function(body []jen.Code) jen.Code {
	if len(body) == 1 {
		return oneLine(body[0])
	}
	return jen.Block(body...)
}

// rows are the members in the table. One that is only written is like one that is not known.
func (c *codec) rows(l *ir.Layout) []jen.Code {
	var rows []jen.Code
	for _, m := range l.Fields {
		if !m.Derived {
			rows = append(rows, jen.Values(*c.row(l, m)...))
		}
	}
	return rows
}

// row is a member's row of the table.
func (c *codec) row(l *ir.Layout, m *ir.FieldLayout) *literal {
	into := func(body []jen.Code) jen.Code {
		return jen.Func().Params(jsonReader(), jen.Id("x").Add(ptr(l.Type))).Add(function(body))
	}
	row := members("Name", jen.Lit(m.Name))
	if len(m.Aliases) > 0 {
		row.set("Aliases", stringsOf(m.Aliases))
	}
	if m.Required && !m.Lenient && m.Case == nil {
		row.set("Required", jen.True())
	}
	if null := c.nullMeans(m); null != "" {
		row.set("Null", jen.Qual(wirePath, null))
	}
	if m.Case != nil {
		row.set("Oneof", jen.Lit(slices.Index(unions(l), m.Field)+1))
	}
	row.set("Read", into(c.readInto(l, m)))
	if absent := c.absent(m); absent != nil {
		row.set("Absent", jen.Func().Params(jen.Id("x").Add(ptr(l.Type))).Add(oneLine(absent)))
	}
	return row
}

// target is the field of a member.
func target(m *ir.FieldLayout) *jen.Statement {
	if m.Into != nil {
		return made(m.Into).Dot(m.Field.Go)
	}
	return jen.Id("x").Dot(m.Field.Go)
}

// made is the message in a field, a new one if there is none yet.
func made(f *ir.Field) *jen.Statement {
	return jen.Qual(wirePath, "Made").Call(jen.Op("&").Id("x").Dot(f.Go))
}

// readInto prints what a row reads.
func (c *codec) readInto(l *ir.Layout, m *ir.FieldLayout) []jen.Code {
	if m.Nested != nil {
		return []jen.Code{jen.Id(c.fn("read", m.Nested)).Call(jen.Id("r"), jen.Id("x"))}
	}
	read := hook("Read" + m.Hook)
	switch hooks[m.Hook].form {
	case hookGroup:
		return []jen.Code{jen.Id("group").Dot("Read").Call(jen.Id("r"), jen.Lit(m.Name))}
	case hookPair:
		return setPair(m, read)
	case hookValue:
		return []jen.Code{target(m).Op("=").Add(read).Call(jen.Id("r"))}
	case hookRewrite:
		set := target(m).Op("=").Add(c.readMember(m))
		return []jen.Code{reread(jen.Id("r").Dot("Offset").Call(), read.Call(jen.Id("r")), set)}
	}
	shared := slices.ContainsFunc(l.Fields, func(o *ir.FieldLayout) bool { return o.Into != nil && o.Into == m.Field })
	if shared && m.Field.Type.Kind == ir.KindMessage {
		return []jen.Code{jen.Id(c.fn("read", c.layout(m, m.Field.Type))).Call(jen.Id("r"), made(m.Field))}
	}
	return []jen.Code{target(m).Op("=").Add(c.readMember(m))}
}

// reread reads src, which is what the value at offset stands for.
func reread(offset, src, set jen.Code) jen.Code {
	return jen.Id("r").Dot("Reread").Call(offset, src, jen.Func().Params(jsonReader()).Add(oneLine(set)))
}

// absent prints what a missing member is read as; nil: nothing.
func (c *codec) absent(m *ir.FieldLayout) jen.Code {
	switch {
	case m.Nested != nil:
		return nil
	case m.Default != nil:
		return jen.Id("x").Dot(m.Field.Go).Op("=").Id(m.Default.Go)
	case m.Fallback:
		return target(m).Op("=").Add(hook("Absent" + m.Hook)).Call()
	case m.Filled:
		read := jen.Id(c.fn("read", c.layout(m, m.Field.Type)))
		return jen.Id("x").Dot(m.Field.Go).Op("=").Qual(wirePath, "ReadEmpty").Call(read)
	}
	return nil
}

// oneLine is a block of one statement on the line of what precedes it.
func oneLine(statement jen.Code) jen.Code {
	return jen.Custom(jen.Options{Open: "{ ", Close: " }"}, statement)
}

// recurs reports whether a message can hold another one of its layout.
func (c *codec) recurs(l *ir.Layout) bool {
	met := map[*ir.Layout]bool{}
	var reaches func(from *ir.Layout) bool
	reaches = func(from *ir.Layout) bool {
		for _, m := range from.Fields {
			inner := m.Nested
			if inner == nil {
				inner = c.layout(m, elemOf(memberType(m)))
			}
			if inner == l {
				return true
			}
			if inner != nil && !met[inner] {
				met[inner] = true
				if reaches(inner) {
					return true
				}
			}
		}
		return false
	}
	return reaches(l)
}

// readBareToo prints the reading of a message in the form of its only member, a list. Where it is the value of a map,
// nothing (null) is an empty one: servers written in Go write it so.
func (c *codec) readBareToo(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	return jen.Switch(jen.Id("r").Dot("Kind").Call()).Block(
		jen.Case(jen.Qual(wirePath, "KindArray")).Block(jen.Id("x").Dot(m.Field.Go).Op("=").Add(c.readList(m)), jen.Return()),
		jen.Case(jen.Qual(wirePath, "KindNull")).Block(jen.Id("r").Dot("Null").Call(), jen.Return()),
	)
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

// readMember is the expression that reads a member's value.
func (c *codec) readMember(m *ir.FieldLayout) jen.Code {
	if m.Case != nil {
		return c.readCase(m)
	}
	t := m.Field.Type
	switch {
	case t.Kind == ir.KindMessage:
		return c.readNew(m, t)
	case t.Kind == ir.KindList:
		return c.readList(m)
	case t.Kind == ir.KindMap:
		return c.readMap(m)
	case m.Implicit:
		return jen.Qual(wirePath, "NonZero").Call(c.readScalar(m, t))
	case isPointer(m.Field):
		return jen.New(c.readScalar(m, t))
	case t.Kind == ir.KindEnum && m.Required && !m.Always && c.strict():
		return jen.Qual(wirePath, "ReadSpecified").Call(jen.Id("r"), c.reader(m, t))
	}
	return c.readScalar(m, t)
}

// readNew is the expression that reads a message.
func (c *codec) readNew(m *ir.FieldLayout, t ir.TypeRef) jen.Code {
	return jen.Qual(wirePath, "ReadNew").Call(jen.Id("r"), c.reader(m, t))
}

// readScalar is the expression that reads a scalar or an enum.
func (c *codec) readScalar(m *ir.FieldLayout, t ir.TypeRef) jen.Code {
	if t.Kind == ir.KindEnum {
		return jen.Add(c.reader(m, t)).Call(jen.Id("r"))
	}
	if t.Kind == ir.KindAny {
		return jen.Qual(protoPath, "ReadAny").Call(jen.Id("r"))
	}
	return jen.Id("r").Dot(scalars[t.Kind].json).Call()
}

// reader is the function that reads a message, a scalar or an enum.
func (c *codec) reader(m *ir.FieldLayout, t ir.TypeRef) jen.Code {
	if t.Type != nil {
		return jen.Id(c.fn("read", c.layout(m, t)))
	}
	if t.Kind == ir.KindAny {
		return jen.Qual(protoPath, "ReadAny")
	}
	return jen.Parens(jen.Op("*").Qual(wirePath, "Reader")).Dot(scalars[t.Kind].json)
}

// readCase is the expression that reads a oneof's case.
func (c *codec) readCase(m *ir.FieldLayout) jen.Code {
	switch t := m.Case.Type; {
	case t.Kind == ir.KindMessage && m.Case.Direct:
		return c.readNew(m, t)
	case t.Kind == ir.KindMessage:
		return jen.Id(m.Case.Go).Values(c.readNew(m, t))
	case t.Kind == ir.KindAny:
		return jen.Id(m.Case.Go).Values(c.readScalar(m, t))
	default:
		return jen.Id(m.Case.Go).Call(c.readScalar(m, t))
	}
}

// readList is the expression that reads a list, with the check of its length.
func (c *codec) readList(m *ir.FieldLayout) jen.Code {
	elem := *m.Field.Type.Elem
	read := c.reader(m, elem)
	var list *jen.Statement
	switch {
	case elem.Kind == ir.KindMessage && m.MinItems > 0:
		return jen.Qual(wirePath, "ReadSome").Call(jen.Id("r"), jen.Lit(m.MinItems), read)
	case elem.Kind == ir.KindMessage:
		list = jen.Qual(wirePath, "ReadList").Call(jen.Id("r"), read)
	case elem.Kind == ir.KindString:
		list = jen.Id("r").Dot("Strings").Call()
	default:
		list = jen.Qual(wirePath, "ReadPlainList").Call(jen.Id("r"), read)
	}
	if m.MinItems == 0 {
		return list
	}
	all := jen.Func().Params(jsonReader()).Index().Add(goType(elem)).Add(oneLine(jen.Return(list)))
	return jen.Qual(wirePath, "ReadAtLeast").Call(jen.Id("r"), jen.Lit(m.MinItems), all)
}

// readMap is the expression that reads a map; a name met twice is refused by the reader.
func (c *codec) readMap(m *ir.FieldLayout) jen.Code {
	t, elem, name := m.Field.Type, *m.Field.Type.Elem, "Read"
	nulls := elem.Kind == ir.KindValue || elem.Kind == ir.KindNullValue
	if elem.Kind == ir.KindMessage {
		nulls = c.layout(m, elem).OrBare
	} else {
		name += "Plain"
	}
	var types []jen.Code
	if t.Key != nil {
		name, types = name+"Keyed", []jen.Code{keyType(t)}
	}
	fn := jen.Qual(wirePath, name+"Map")
	if len(types) > 0 {
		fn = fn.Types(types...)
	}
	return fn.Call(jen.Id("r"), jen.Lit(nulls), c.reader(m, elem))
}

// unionSet prints what happens at the end of a message whose oneof met no known case: an unknown member may be one of
// an open oneof; none, if given, is what there is to say without a case.
func unionSet(f *ir.Field, open bool, none jen.Code) []jen.Code {
	x := jen.Id("x").Dot(f.Go)
	switch {
	case !open && none == nil:
		return nil
	case !open:
		return []jen.Code{jen.If(isNil(x)).Block(none)}
	}
	found := jen.List(jen.Id("name"), jen.Id("value"), jen.Id("ok")).Op(":=").Id("extra").Dot("Case").Call()
	keep := jen.If(found, jen.Id("ok")).Block(
		jen.Add(x).Op("=").Add(unknownCase(f.Union, jen.Id("name"), jen.Id("value"))),
	)
	if none != nil {
		keep.Else().Block(none)
	}
	return []jen.Code{jen.If(isNil(x)).Block(keep)}
}
