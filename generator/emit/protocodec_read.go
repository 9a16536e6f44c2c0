package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// readMessage prints the function that reads the content of a message into x, which may hold an earlier piece of it.
func (c *protoCodec) readMessage(l *ir.Layout) jen.Code {
	open, group := c.open(l), groupOf(l)
	var body, cases []jen.Code
	if open != nil {
		body = append(body, jen.Var().Id("extra").Qual(protoPath, "Extra"))
	}
	if group != nil {
		body = append(body, jen.Var().Id("group").Add(hook(group.Hook)))
	}
	for _, m := range l.Fields {
		if elem, ok := blockOf(m); ok {
			body = append(body, jen.Var().Id(blockName(m)).Index().Id(elem.Type.Go))
		}
		cases = append(cases, c.readMember(m)...)
	}
	skip := jen.Id("r").Dot("Skip").Call(jen.Id("tag"))
	if open != nil {
		skip = jen.Id("r").Dot("UnknownCase").Call(jen.Id("tag"), jen.Op("&").Id("extra"))
	}
	loop := []jen.Code{skip}
	if len(cases) > 0 {
		member := jen.Id(c.fn("member", l)).Call(jen.Id("tag"))
		loop = []jen.Code{
			jen.Switch(jen.Id("tag")).Block(append(cases, jen.Default().Block(skip))...),
			jen.If(jen.Id("r").Dot("Failed").Call()).Block(jen.Id("r").Dot("In").Call(member), jen.Return()),
		}
	}
	body = append(append(body, eachTag(loop...)), c.missing(l)...)
	if group != nil {
		list := jen.Id("group").Dot("List").Call(jen.Lit(group.Arg))
		body = append(body, jen.Id("x").Dot(group.Field.Go).Op("=").Id("interfacesFrom"+c.wire.Suffix).Call(list))
	}
	return c.readFunc(l, body...)
}

// open is the oneof of which an unknown field may be a case. Older wires have none.
func (c *protoCodec) open(l *ir.Layout) *ir.Field {
	if !c.strict() {
		return nil
	}
	return openUnion(l)
}

// readFunc prints the function that reads a layout.
func (c *protoCodec) readFunc(l *ir.Layout, body ...jen.Code) jen.Code {
	reader := jen.Id("r").Op("*").Qual(protoPath, "Reader")
	return jen.Func().Id(c.fn("read", l)).Params(reader, jen.Id("x").Add(ptr(l.Type))).Block(body...).Line()
}

// eachTag is a loop over the fields of a message.
func eachTag(body ...jen.Code) jen.Code {
	next := jen.Id("r").Dot("Tag").Call()
	tag := jen.Id("tag")
	start, again := jen.Add(tag).Op(":=").Add(next), jen.Add(tag).Op("=").Add(next)
	return jen.For(start, jen.Add(tag).Op("!=").Lit(0), again).Block(body...)
}

// blockOf is the element of a list of messages, which come from one block of memory.
func blockOf(m *ir.FieldLayout) (elem ir.TypeRef, ok bool) {
	if m.Nested != nil || m.Hook != "" || m.Case != nil || m.Field.Type.Kind != ir.KindList {
		return elem, false
	}
	elem = *m.Field.Type.Elem
	return elem, elem.Kind == ir.KindMessage
}

// blockName names that memory.
func blockName(m *ir.FieldLayout) string { return "block" + m.Field.Go }

// readMember prints the cases of the switch over tags for one member.
func (c *protoCodec) readMember(m *ir.FieldLayout) []jen.Code {
	switch {
	case m.Derived:
		return nil
	case m.Nested != nil:
		inner := protoValue{TypeRef: ir.TypeRef{Kind: ir.KindMessage}, layout: m.Nested}
		return []jen.Code{jen.Case(tagOf(m.Number, delimitedType)).Block(c.readInner(inner, m.Number, jen.Id("x")))}
	case m.Hook != "":
		return []jen.Code{c.readByHook(m)}
	}
	x := func() *jen.Statement { return jen.Id("x").Dot(m.Field.Go) }
	t, v := memberType(m), c.oneOf(m)
	one := func(body ...jen.Code) []jen.Code {
		return []jen.Code{jen.Case(tagOf(m.Number, v.wireType())).Block(body...)}
	}
	switch {
	case m.Case != nil:
		return one(c.readCase(m, x)...)
	case t.Kind == ir.KindList:
		return c.readList(m, v)
	case t.Kind == ir.KindMap:
		return []jen.Code{jen.Case(tagOf(m.Number, delimitedType)).Block(c.readEntry(m, v)...)}
	case t.Kind == ir.KindMessage:
		if create, ok := c.create(m); ok {
			return one(create, c.readInner(v, m.Number, x()))
		}
		return one(c.readInner(v, m.Number, made(m.Field)))
	case m.Implicit:
		return one(target(m).Op("=").Qual(wirePath, "NonZero").Call(c.readScalar(v, nil)))
	case isPointer(m.Field) && (v.wrapped || scalars[t.Kind].proto.merges):
		return one(
			jen.If(isNil(x())).Block(x().Op("=").New(scalars[t.Kind].goType())),
			c.assign(v, m.Number, jen.Op("*").Add(x()), jen.Op("*").Add(x())),
		)
	case isPointer(m.Field):
		return one(x().Op("=").New(c.readScalar(v, nil)))
	}
	return one(c.assign(v, m.Number, x(), x()))
}

// create prints the making of a message that is not there yet, with what absence means for its members. It is not ok
// if that is nothing.
func (c *protoCodec) create(m *ir.FieldLayout) (code jen.Code, ok bool) {
	x := jen.Id("x").Dot(m.Field.Go)
	body := []jen.Code{jen.Add(x).Op("=").New(jen.Id(m.Field.Type.Type.Go))}
	for _, inner := range c.layout(m, m.Field.Type).Fields {
		if inner.Fallback {
			body = append(body, jen.Add(x).Dot(inner.Field.Go).Op("=").Add(hook("Absent"+inner.Hook)).Call())
		}
	}
	return jen.If(isNil(x)).Block(body...), len(body) > 1
}

// assign prints the reading of a value that is no message of the definition into dst; old is the value so far.
func (c *protoCodec) assign(v protoValue, number int32, dst, old jen.Code) jen.Code {
	read := jen.Add(dst).Op("=").Add(c.readScalar(v, old))
	if v.form != ir.Group {
		return read
	}
	return jen.Id("r").Dot("Group").Call(tagOf(number, groupType), jen.Func().Params().Block(read))
}

// readInner prints the reading of a message that is inside this one.
func (c *protoCodec) readInner(t protoValue, number int32, x jen.Code) jen.Code {
	read := jen.Id(c.fn("read", t.layout))
	if t.form == ir.Group {
		return jen.Qual(protoPath, "ReadGroup").Call(jen.Id("r"), tagOf(number, groupType), x, read)
	}
	return jen.Qual(protoPath, "ReadInner").Call(jen.Id("r"), x, read)
}

// readScalar is the expression that reads a scalar or an enum; old is the value so far.
func (c *protoCodec) readScalar(t protoValue, old jen.Code) jen.Code {
	if t.Kind == ir.KindEnum {
		return jen.Id(c.fn("name", t.layout)).Call(jen.Id("r").Dot("Int32").Call())
	}
	s := t.scalar()
	switch {
	case t.wrapped:
		switch {
		case t.Kind == ir.KindBytes && old == nil: // they are set, so they are not nil
			old = jen.Index().Byte().Values()
		case t.Kind == ir.KindBytes:
			old = jen.Append(jen.Index().Byte().Values(), jen.Add(old).Op("..."))
		case old == nil:
			old = jen.Op("*").New(scalars[t.Kind].goType())
		}
		read := methodOf("Reader", s.method)
		return jen.Qual(protoPath, "ReadWrapped").Call(jen.Id("r"), tagOf(1, s.wireType), old, read)
	case !s.merges:
		return jen.Id("r").Dot(s.method).Call()
	case old != nil:
		return jen.Id("r").Dot(s.method).Call(old)
	case t.Kind == ir.KindTimestamp:
		return jen.Id("r").Dot(s.method).Call(jen.Qual("time", "Time").Values())
	case t.Kind == ir.KindDuration:
		return jen.Id("r").Dot(s.method).Call(jen.Qual(wirePath, "Duration").Values())
	}
	return jen.Id("r").Dot(s.method).Call(jen.Nil())
}

// readCase prints the reading of a oneof's case: the last one counts, and pieces of the same message are merged.
func (c *protoCodec) readCase(m *ir.FieldLayout, x func() *jen.Statement) []jen.Code {
	t := c.oneOf(m)
	if t.Kind == ir.KindAny {
		return []jen.Code{
			jen.List(jen.Id("v"), jen.Id("_")).Op(":=").Add(x()).Assert(jen.Id(m.Case.Go)),
			c.assign(t, m.Number, jen.Id("v").Dot("Value"), jen.Id("v").Dot("Value")),
			x().Op("=").Id("v"),
		}
	}
	if t.Kind != ir.KindMessage {
		if !t.wrapped && !scalars[t.Kind].proto.merges && t.form != ir.Group {
			return []jen.Code{x().Op("=").Id(m.Case.Go).Call(c.readScalar(t, nil))}
		}
		return []jen.Code{
			jen.List(jen.Id("old"), jen.Id("_")).Op(":=").Add(x()).Assert(jen.Id(m.Case.Go)),
			jen.Id("v").Op(":=").Add(convert(t.TypeRef, jen.Id("old"))),
			c.assign(t, m.Number, jen.Id("v"), jen.Id("v")),
			x().Op("=").Id(m.Case.Go).Call(jen.Id("v")),
		}
	}
	goType, value, create := jen.Op("*").Id(m.Case.Go), jen.Id("v"), jen.Id("v").Op("=").New(jen.Id(t.Type.Go))
	if !m.Case.Direct {
		goType, value = jen.Id(m.Case.Go), jen.Id("v").Dot("Value")
		create = jen.Id("v").Dot("Value").Op("=").New(jen.Id(t.Type.Go))
	}
	code := []jen.Code{
		jen.List(jen.Id("v"), jen.Id("_")).Op(":=").Add(x()).Assert(goType),
		jen.If(value.Clone().Op("==").Nil()).Block(create),
		x().Op("=").Id("v"),
	}
	return append(code, c.readInner(t, m.Number, value))
}

// readList prints the reading of an element, or of a packed list, which is read element by element too.
func (c *protoCodec) readList(m *ir.FieldLayout, elem protoValue) []jen.Code {
	if elem.Kind == ir.KindMessage {
		return []jen.Code{jen.Case(tagOf(m.Number, elem.wireType())).Block(c.readElem(m, elem))}
	}
	x := jen.Id("x").Dot(m.Field.Go)
	index := jen.Id("r").Dot("Elem").Call(jen.Len(x).Op("-").Lit(1))
	add := jen.Code(jen.Add(x).Op("=").Append(x, c.readScalar(elem, nil)))
	if elem.form == ir.Group {
		add = jen.Id("r").Dot("Group").Call(tagOf(m.Number, groupType), jen.Func().Params().Block(add))
	}
	code := []jen.Code{jen.Case(tagOf(m.Number, elem.wireType())).Block(add, index)}
	if elem.packable() {
		code = append(code, jen.Case(tagOf(m.Number, delimitedType)).Block(
			jen.Id("m").Op(":=").Id("r").Dot("Enter").Call(jen.Lit(0)),
			jen.For(jen.Id("r").Dot("More").Call()).Block(add, index),
			jen.Id("r").Dot("Leave").Call(jen.Id("m")),
		))
	}
	return code
}

// readElem prints the reading of an element that is a message.
func (c *protoCodec) readElem(m *ir.FieldLayout, elem protoValue) jen.Code {
	x := jen.Id("x").Dot(m.Field.Go)
	fn, args := "ReadElem", []jen.Code{jen.Id("r")}
	if elem.form == ir.Group {
		fn, args = "ReadGroupElem", append(args, tagOf(m.Number, groupType))
	}
	args = append(args, x, jen.Op("&").Id(blockName(m)), jen.Id(c.fn("read", elem.layout)))
	return jen.Add(x).Op("=").Qual(protoPath, fn).Call(args...)
}

// readEntry prints the reading of a map's entry. What is missing in it is the zero value; a later entry replaces an
// earlier one.
func (c *protoCodec) readEntry(m *ir.FieldLayout, elem protoValue) []jen.Code {
	x, key, keyGo, name := jen.Id("x").Dot(m.Field.Go), keyOf(m), keyType(m.Field.Type), jen.Id("name")
	if m.Field.Type.Key != nil {
		name = jen.Qual(wirePath, "KeyName").Call(jen.Id("name"))
	}
	typ := goType(elem.TypeRef)
	start, read, after := c.entryValue(elem, typ)
	return slices.Concat(
		[]jen.Code{jen.Var().Id("name").Add(keyGo)},
		start,
		[]jen.Code{
			jen.Id("entry").Op(":=").Id("r").Dot("Enter").Call(jen.Lit(1)),
			eachTag(jen.Switch(jen.Id("tag")).Block(
				jen.Case(tagOf(1, key.wireType())).Block(jen.Id("name").Op("=").Id("r").Dot(key.scalar().method).Call()),
				jen.Case(tagOf(2, elem.wireType())).Block(read...),
				jen.Default().Block(jen.Id("r").Dot("Skip").Call(jen.Id("tag"))),
			)),
			jen.Id("r").Dot("Leave").Call(jen.Id("entry")),
			jen.Id("r").Dot("In").Call(name),
		},
		after,
		[]jen.Code{
			jen.If(isNil(x)).Block(jen.Add(x).Op("=").Map(keyGo).Add(typ).Values()),
			jen.Add(x).Index(jen.Id("name")).Op("=").Id("value"),
		},
	)
}

// entryValue prints what declares the value of a map's entry, what reads it, and what is done about one that is
// missing.
func (c *protoCodec) entryValue(elem protoValue, goType jen.Code) (start, read, after []jen.Code) {
	value := jen.Id("value")
	switch elem.Kind {
	case ir.KindMessage:
		start = []jen.Code{jen.Id("value").Op(":=").New(jen.Id(elem.Type.Go))}
		read = []jen.Code{c.readInner(elem, 2, value)}
		if len(c.missing(elem.layout)) > 0 { // without a value nothing has looked at what an empty message lacks
			start = append(start, jen.Id("given").Op(":=").False())
			read = append([]jen.Code{jen.Id("given").Op("=").True()}, read...)
			after = []jen.Code{jen.If(jen.Op("!").Id("given")).Block(jen.Id("r").Dot("Incomplete").Call())}
		}
		return start, read, after
	case ir.KindEnum:
		start = []jen.Code{jen.Id("value").Op(":=").Id(c.fn("name", elem.layout)).Call(jen.Lit(0))}
	default:
		start = []jen.Code{jen.Var().Id("value").Add(goType)}
	}
	read = []jen.Code{jen.Id("value").Op("=").Add(c.readScalar(elem, value))}
	if missing, zero := entryZero(elem.Kind, goType); missing != nil {
		after = []jen.Code{jen.If(missing).Block(jen.Id("value").Op("=").Add(zero))}
	}
	return start, read, after
}

// entryZero is the condition that an entry has no value, and what it then has; nil if that is what Go has.
func entryZero(kind ir.Kind, goType jen.Code) (missing, zero jen.Code) {
	value := jen.Id("value")
	switch kind {
	case ir.KindStruct, ir.KindEmpty:
		return jen.Len(value).Op("==").Lit(0), jen.Add(goType).Call(jen.Lit("{}"))
	case ir.KindValue:
		return jen.Len(value).Op("==").Lit(0), jen.Add(goType).Call(jen.Lit("null"))
	case ir.KindListValue:
		return jen.Len(value).Op("==").Lit(0), jen.Add(goType).Call(jen.Lit("[]"))
	case ir.KindBytes, ir.KindFieldMask:
		return isNil(value), jen.Add(goType).Values()
	case ir.KindAny:
		return isNil(value), jen.Op("&").Qual(protoPath, "Any").Values()
	case ir.KindTimestamp: // an empty Timestamp is the first moment of 1970, the zero time is not
		epoch := jen.Qual("time", "Unix").Call(jen.Lit(0), jen.Lit(0)).Dot("UTC").Call()
		return value.Op("==").Parens(jen.Qual("time", "Time").Values()), epoch
	}
	return nil, nil
}

// missing prints what happens at the end of a message that lacks something.
func (c *protoCodec) missing(l *ir.Layout) []jen.Code {
	var code []jen.Code
	for _, m := range l.Fields {
		if m.Case == nil && m.Nested == nil && m.Hook == "" {
			code = append(code, c.lacks(m)...)
		}
	}
	for _, f := range unions(l) {
		var none jen.Code
		if c.strict() && f.Presence != ir.Explicit {
			none = jen.Id("r").Dot("Incomplete").Call()
		}
		code = append(code, unionSet(f, f == c.open(l), none)...)
	}
	return code
}

// lacks prints the reaction to a missing member.
func (c *protoCodec) lacks(m *ir.FieldLayout) []jen.Code {
	t, x := m.Field.Type, jen.Id("x").Dot(m.Field.Go)
	if m.Filled {
		create, _ := c.create(m)
		return []jen.Code{create}
	}
	if zero := c.namedZero(t); zero != nil && !isPointer(m.Field) {
		return []jen.Code{jen.If(jen.Add(x).Op("==").Lit("")).Block(jen.Add(x).Op("=").Id(zero.Go))}
	}
	var condition jen.Code
	switch {
	case m.MinItems > 0:
		condition = jen.Len(x).Op("<").Lit(m.MinItems)
	case !m.Required || t.Elem != nil:
		return nil
	case t.Kind == ir.KindMessage:
		condition = isNil(x)
	case !c.strict():
		return nil
	case isPointer(m.Field), t.Kind == ir.KindAny:
		condition = isNil(x)
	case t.Kind == ir.KindEnum && !m.Always:
		condition = x.Op("==").Lit("")
	case t.Kind == ir.KindTimestamp:
		condition = x.Op("==").Parens(jen.Qual("time", "Time").Values())
	default:
		return nil
	}
	return []jen.Code{jen.If(condition).Block(jen.Id("r").Dot("Incomplete").Call())}
}
