package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// writeMessage prints the function that writes the content of a message.
func (c *protoCodec) writeMessage(l *ir.Layout) jen.Code {
	var body []jen.Code
	fields, oneofs := ordered(l)
	for _, m := range fields {
		body = append(body, c.writeMember(m))
	}
	for _, f := range oneofs {
		body = append(body, c.writeOneof(l, f))
	}
	return c.writeFunc(l, append(body, jen.Return(jen.Nil()))...)
}

// writeFunc prints the function that writes a layout.
func (c *protoCodec) writeFunc(l *ir.Layout, body ...jen.Code) jen.Code {
	none := jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.Qual(wirePath, "NotSet").Call()))
	writer := jen.Id("w").Op("*").Qual(protoPath, "Writer")
	return jen.Func().Id(c.fn("write", l)).Params(writer, jen.Id("x").Add(ptr(l.Type))).Error().
		Block(append([]jen.Code{none}, body...)...).Line()
}

// writeMember prints the writing of an ordinary field, with the condition of its presence.
func (c *protoCodec) writeMember(m *ir.FieldLayout) jen.Code {
	fail := func(err jen.Code) jen.Code { return returnIn(err, jen.Lit(m.Name)) }
	switch {
	case m.Nested != nil:
		return c.writeInner(tagOf(m.Number, delimitedType), m.Nested, jen.Id("x"), fail)
	case m.Hook != "":
		return c.writeByHook(m)
	case m.Implicit:
		return c.writeImplicit(m)
	}
	f, t, v := m.Field, m.Field.Type, c.oneOf(m)
	x := jen.Id("x").Dot(f.Go)
	write := func(x jen.Code) jen.Code { return c.writeValue(v, tagOf(m.Number, v.wireType()), x, fail) }
	notSet := jen.Block(fail(jen.Qual(wirePath, "NotSet").Call()))
	switch {
	case t.Kind == ir.KindList:
		return jen.Add(c.tooFew(m)).Add(c.writeList(m))
	case t.Kind == ir.KindMap:
		return c.writeMap(m)
	case isPointer(f) && m.Required:
		return jen.If(isNil(x)).Add(notSet).Line().If(notNil(x)).Block(write(jen.Op("*").Add(x)))
	case isPointer(f):
		return jen.If(notNil(x)).Block(write(jen.Op("*").Add(x)))
	case t.Kind == ir.KindNullValue && !m.Required:
		return jen.Null() // it has one value, which is zero
	case t.Kind == ir.KindEnum && !m.Always:
		return c.writeEnumMember(m, notSet, fail)
	case t.Kind == ir.KindTimestamp && m.Required:
		return jen.If(jen.Add(x).Op("==").Parens(jen.Qual("time", "Time").Values())).Add(notSet).Line().Add(write(x))
	case m.Filled, m.Written:
		return write(jen.Qual(wirePath, "OrNew").Call(x))
	case m.Required && t.Kind == ir.KindMessage:
		return write(x)
	case m.Always, m.Required && (m.Wrapped || scalars[t.Kind].proto.merges || t.Kind == ir.KindEmpty):
		return jen.Block(write(x))
	case f.Presence == ir.Explicit && t.Nilable():
		return jen.If(notNil(x)).Block(write(x))
	}
	// A required scalar that is zero is not written either: protobuf reads its absence as zero.
	return jen.If(c.present(t, x)).Block(write(x))
}

// writeImplicit prints the writing of a pointer whose value is written unless it is zero.
func (c *protoCodec) writeImplicit(m *ir.FieldLayout) jen.Code {
	scalar, outer := scalars[m.Field.Type.Kind].proto, jen.Id("x")
	if m.Into != nil {
		outer = jen.Id("o")
	}
	v := jen.Id("v").Op(":=").Add(outer).Dot(m.Field.Go)
	set := jen.If(v, notNil(jen.Id("v")).Op("&&").Add(notZero(m.Field.Type.Kind, jen.Op("*").Id("v")))).Block(
		jen.Id("w").Dot(scalar.method).Call(tagOf(m.Number, scalar.wireType), jen.Op("*").Id("v")))
	if m.Into == nil {
		return set
	}
	return jen.If(jen.Id("o").Op(":=").Id("x").Dot(m.Into.Go), notNil(jen.Id("o"))).Block(set)
}

// present is the condition under which a field that has no presence of its own is written.
func (c *protoCodec) present(t ir.TypeRef, x jen.Code) jen.Code {
	switch t.Kind {
	case ir.KindMessage:
		return notNil(x)
	case ir.KindFloat, ir.KindDouble: // negative zero is not the zero value of protobuf
		return jen.Qual("math", "Float64bits").Call(jen.Float64().Call(x)).Op("!=").Lit(0)
	}
	return notZero(t.Kind, x)
}

// writeEnumMember prints the writing of an enum field without presence: number zero is left out.
func (c *protoCodec) writeEnumMember(m *ir.FieldLayout, notSet *jen.Statement, fail func(jen.Code) jen.Code) jen.Code {
	t, x := m.Field.Type, jen.Id("x").Dot(m.Field.Go)
	write := jen.Id("w").Dot("Int32").Call(tagOf(m.Number, varintType), jen.Id("n"))
	number := jen.If(
		jen.List(jen.Id("n"), jen.Err()).Op(":=").Id(c.fn("number", c.layout(m, t))).Call(x), jen.Err().Op("!=").Nil(),
	).Block(fail(jen.Err()))
	switch {
	case m.Required && c.namedZero(t) == nil:
		return number.Else().If(jen.Id("n").Op("==").Lit(0)).Add(notSet).Else().Block(write)
	case m.Required:
		number.Else().If(jen.Id("n").Op("!=").Lit(0)).Block(write)
		return jen.If(x.Clone().Op("==").Lit("")).Add(notSet).Line().Add(number)
	}
	return jen.If(x.Clone().Op("!=").Lit("")).Block(number.Else().If(jen.Id("n").Op("!=").Lit(0)).Block(write))
}

// returnIn prints the return of an error under the names of where it is, innermost first.
func returnIn(err jen.Code, names ...jen.Code) jen.Code {
	for _, name := range names {
		err = jen.Qual(wirePath, "In").Call(err, name)
	}
	return jen.Return(err)
}

// writeValue prints the writing of one value with the given tag; fail prints the return of an error.
func (c *protoCodec) writeValue(t protoValue, tag, x jen.Code, fail func(jen.Code) jen.Code) jen.Code {
	if t.wrapped {
		s := t.scalar()
		return jen.Qual(protoPath, "WriteWrapped").Call(
			jen.Id("w"), tag, tagOf(1, s.wireType), c.present(t.TypeRef, jen.Parens(x)), x, methodOf("Writer", s.method))
	}
	switch t.Kind {
	case ir.KindMessage:
		return c.writeInner(tag, t.layout, x, fail)
	case ir.KindEnum:
		return jen.List(jen.Id("n"), jen.Err()).Op(":=").Id(c.fn("number", t.layout)).Call(x).Line().
			If(jen.Err().Op("!=").Nil()).Block(fail(jen.Err())).Line().
			Id("w").Dot("Int32").Call(tag, jen.Id("n"))
	}
	s := t.scalar()
	call := jen.Id("w").Dot(s.method).Call(tag, x)
	if t.Kind == ir.KindAny {
		call = jen.Id("writeAny").Call(jen.Id("w"), tag, x)
	}
	if !s.fails {
		return call
	}
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(fail(jen.Err()))
}

// writeInner prints the writing of a message inside this one.
func (c *protoCodec) writeInner(tag jen.Code, l *ir.Layout, x jen.Code, fail func(jen.Code) jen.Code) jen.Code {
	write := jen.Qual(protoPath, "WriteInner").Call(jen.Id("w"), tag, x, jen.Id(c.fn("write", l)))
	return jen.If(jen.Err().Op(":=").Add(write), jen.Err().Op("!=").Nil()).Block(fail(jen.Err()))
}

// tooFew prints the check of a list's length.
func (c *protoCodec) tooFew(m *ir.FieldLayout) jen.Code {
	if m.MinItems == 0 {
		return jen.Null()
	}
	return jen.If(jen.Len(jen.Id("x").Dot(m.Field.Go)).Op("<").Lit(m.MinItems)).Block(
		returnIn(jen.Qual(wirePath, "TooFew").Call(jen.Lit(m.MinItems)), jen.Lit(m.Name)),
	).Line()
}

// writeList prints the writing of a list: a field an element, or one field with all of them.
func (c *protoCodec) writeList(m *ir.FieldLayout) jen.Code {
	t, x := c.oneOf(m), jen.Id("x").Dot(m.Field.Go)
	fail := func(err jen.Code) jen.Code {
		return returnIn(jen.Qual(wirePath, "At").Call(err, jen.Id("i")), jen.Lit(m.Name))
	}
	index := jen.Id("i")
	if !c.fails(t) {
		index = jen.Id("_")
	}
	loop := jen.For(jen.List(index, jen.Id("e")).Op(":=").Range().Add(x))
	if !t.packable() || m.Expanded {
		return loop.Block(c.writeValue(t, tagOf(m.Number, t.wireType()), jen.Id("e"), fail))
	}
	return jen.If(jen.Len(x.Clone()).Op(">").Lit(0)).Block(
		jen.Id("list").Op(":=").Id("w").Dot("Begin").Call(tagOf(m.Number, delimitedType)),
		loop.Block(c.writeValue(t, jen.Lit(0), jen.Id("e"), fail)),
		jen.Id("w").Dot("End").Call(jen.Id("list")),
	)
}

func (c *protoCodec) fails(t protoValue) bool {
	return t.Kind == ir.KindMessage || t.Kind == ir.KindEnum || scalars[t.Kind].proto.fails
}

// writeMap prints the writing of a map: an entry each, sorted by name, with key and value always there.
func (c *protoCodec) writeMap(m *ir.FieldLayout) jen.Code {
	t, key, x := c.oneOf(m), keyOf(m), jen.Id("x").Dot(m.Field.Go)
	sorted, name := jen.Qual(protoPath, "SortedNames"), jen.Id("name")
	if m.Field.Type.Key != nil {
		sorted, name = jen.Qual(wirePath, "SortedKeys"), jen.Qual(wirePath, "KeyName").Call(jen.Id("name"))
	}
	fail := func(err jen.Code) jen.Code { return returnIn(err, name, jen.Lit(m.Name)) }
	return jen.If(jen.Len(x).Op(">").Lit(0)).Block(
		jen.For(jen.List(jen.Id("_"), jen.Id("name")).Op(":=").Range().Add(sorted).Call(x.Clone())).Block(
			jen.Id("entry").Op(":=").Id("w").Dot("Begin").Call(tagOf(m.Number, delimitedType)),
			jen.Id("w").Dot(key.scalar().method).Call(tagOf(1, key.wireType()), jen.Id("name")),
			c.writeValue(t, tagOf(2, t.wireType()), x.Clone().Index(jen.Id("name")), fail),
			jen.Id("w").Dot("End").Call(jen.Id("entry")),
		),
	)
}

// writeOneof prints the writing of a oneof: the case that is set, whatever its value. A case that an older wire does
// not have is left out.
func (c *protoCodec) writeOneof(l *ir.Layout, f *ir.Field) jen.Code {
	var cases []jen.Code
	for _, m := range l.Fields {
		if m.Case == nil || m.Field != f {
			continue
		}
		goType, value := caseValue(m.Case)
		fail := func(err jen.Code) jen.Code { return returnIn(err, jen.Lit(m.Name)) }
		v := c.oneOf(m)
		cases = append(cases, jen.Case(goType).Block(c.writeValue(v, tagOf(m.Number, v.wireType()), value, fail)))
	}
	if c.strict() {
		unknown := jen.Id("w").Dot("Unknown").Call(jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"))
		cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(
			jen.If(jen.Err().Op(":=").Add(unknown), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		))
	}
	if c.strict() && f.Presence != ir.Explicit {
		cases = append(cases, jen.Default().Block(jen.Return(jen.Qual(wirePath, "NoCase").Call(caseNames(l, f)...))))
	}
	return jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...)
}
