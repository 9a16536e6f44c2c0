package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// appendMessage prints the function that writes one message.
func (c *codec) appendMessage(l *ir.Layout) jen.Code {
	body := []jen.Code{
		jen.If(jen.Id("x").Op("==").Nil()).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "NotSet").Call())),
		jen.Id("start").Op(":=").Len(jen.Id("b")),
	}
	if slices.ContainsFunc(l.Fields, c.fails) {
		body = append(body, jen.Var().Err().Error())
	}
	done := map[*ir.Field]bool{}
	for _, m := range l.Fields {
		switch {
		case m.Case == nil:
			body = append(body, c.appendMember(m))
		case !done[m.Field]:
			done[m.Field] = true
			body = append(body, c.appendUnion(l, m.Field))
		}
	}
	body = append(body, jen.Return(jen.Qual(wirePath, "EndObject").Call(jen.Id("b"), jen.Id("start")), jen.Nil()))
	return jen.Func().Id(c.fn("append", l.Type, "")).Params(jen.Id("b").Index().Byte(), jen.Id("x").Op("*").Id(l.Type.Go)).
		Params(jen.Index().Byte(), jen.Error()).Block(body...).Line()
}

// fails reports whether writing the member goes through an error variable.
func (c *codec) fails(m *ir.FieldLayout) bool {
	t := memberType(m)
	if t.Elem != nil {
		t = *t.Elem
	}
	return m.Case != nil || t.Kind == ir.KindMessage || scalars[t.Kind].fails
}

// appendMember prints the writing of an ordinary member, with the condition of its presence.
func (c *codec) appendMember(m *ir.FieldLayout) jen.Code {
	f := m.Field
	x := jen.Id("x").Dot(f.Go)
	value := x.Clone()
	if isPointer(f) {
		value = jen.Op("*").Add(x.Clone())
	}
	write := c.appendValue(f.Type, prefix(m.Name), value, jen.Lit(m.Name))
	switch {
	case m.Required:
	case f.Type.Kind == ir.KindNullValue && !isPointer(f):
		return jen.Null() // it has one value, which is zero
	default:
		return jen.If(c.present(f, x)).Block(write)
	}
	notSet := jen.Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "In").Call(jen.Qual(wirePath, "NotSet").Call(), jen.Lit(m.Name))))
	switch {
	case isPointer(f):
		return jen.If(x.Clone().Op("==").Nil()).Add(notSet).Line().Add(write)
	case f.Type.Kind == ir.KindEnum && !m.Always, f.Type.Kind == ir.KindTimestamp:
		return jen.If(jen.Op("!").Parens(c.present(f, x))).Add(notSet).Line().Add(write)
	case m.MinItems > 0:
		few := jen.Qual(wirePath, "In").Call(jen.Qual(wirePath, "TooFew").Call(jen.Lit(m.MinItems)), jen.Lit(m.Name))
		return jen.If(jen.Len(x.Clone()).Op("<").Lit(m.MinItems)).Block(jen.Return(jen.Id("b"), few)).Line().Add(write)
	}
	return write
}

// present is the condition under which a member that is not required is written.
func (c *codec) present(f *ir.Field, x *jen.Statement) jen.Code {
	x = x.Clone()
	switch {
	case isPointer(f), f.Type.Kind == ir.KindMessage, f.Presence == ir.Explicit && f.Type.Nilable():
		return x.Op("!=").Nil()
	case f.Type.Kind == ir.KindList, f.Type.Kind == ir.KindMap:
		return jen.Len(x).Op(">").Lit(0)
	case f.Type.Kind == ir.KindEnum:
		return x.Op("!=").Lit("")
	}
	switch s := scalars[f.Type.Kind]; s.zero {
	case "":
		return jen.Len(x).Op(">").Lit(0)
	case "false":
		return x
	case "IsZero":
		return x.Op("!=").Parens(jen.Qual("time", "Time").Values())
	case "Duration":
		return x.Op("!=").Parens(jen.Qual(wirePath, "Duration").Values())
	case "nil":
		return x.Op("!=").Nil()
	default:
		return x.Op("!=").Id(s.zero)
	}
}

// appendValue prints b = prefix + value, and the return of an error where there can be one, under the name that the
// expression name gives.
func (c *codec) appendValue(t ir.TypeRef, prefix jen.Code, value, name jen.Code) jen.Code {
	b := jen.Append(jen.Id("b"), jen.Add(prefix).Op("..."))
	fn, fails, args := c.appender(t)
	args = append([]jen.Code{b, value}, args...)
	if !fails {
		return jen.Id("b").Op("=").Add(fn).Call(args...)
	}
	return jen.If(
		jen.List(jen.Id("b"), jen.Err()).Op("=").Add(fn).Call(args...), jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "In").Call(jen.Err(), name)))
}

// appender is the function that appends a value of type t, whether it returns an error, and what else it takes.
func (c *codec) appender(t ir.TypeRef) (fn jen.Code, fails bool, args []jen.Code) {
	switch t.Kind {
	case ir.KindMessage:
		return jen.Id(c.fn("append", t.Type, "")), true, nil
	case ir.KindEnum:
		return jen.Id(c.fn("append", t.Type, "")), false, nil
	case ir.KindList:
		if t.Elem.Kind == ir.KindMessage {
			return jen.Id(c.fn("append", t.Elem.Type, "List")), true, nil
		}
		return c.container("List", *t.Elem)
	case ir.KindMap:
		if t.Key != nil {
			return c.container("KeyedMap", *t.Elem)
		}
		return c.container("Map", *t.Elem)
	case ir.KindAny:
		return jen.Id("appendAny"), true, nil
	}
	s := scalars[t.Kind]
	return jen.Qual(wirePath, s.append), s.fails, nil
}

// container is the runtime function that appends a list or map, given the one that appends an element.
func (c *codec) container(kind string, elem ir.TypeRef) (fn jen.Code, fails bool, args []jen.Code) {
	each, fails, _ := c.appender(elem)
	if fails {
		return jen.Qual(wirePath, "Append"+kind), true, []jen.Code{each}
	}
	return jen.Qual(wirePath, "AppendPlain"+kind), false, []jen.Code{each}
}

// appendUnion prints the writing of a oneof: the member of the case that is set, whatever its value (T53).
func (c *codec) appendUnion(l *ir.Layout, f *ir.Field) jen.Code {
	var cases []jen.Code
	for _, m := range l.Fields {
		if m.Case == nil || m.Field != f {
			continue
		}
		goType := jen.Id(m.Case.Go)
		value := jen.Code(jen.Id("c"))
		switch {
		case m.Case.Direct:
			goType = jen.Op("*").Id(m.Case.Go)
		case m.Case.Type.Kind == ir.KindEnum:
			value = jen.Id(m.Case.Type.Type.Go).Call(jen.Id("c"))
		case boxed(m.Case):
			value = jen.Id("c").Dot("Value") // a struct around the pointer
		default:
			value = convert(m.Case.Type, jen.Id("c"))
		}
		cases = append(cases, jen.Case(goType).Block(c.appendValue(m.Case.Type, prefix(m.Name), value, jen.Lit(m.Name))))
	}
	unknown := jen.If(
		jen.List(jen.Id("b"), jen.Err()).Op("=").Qual(wirePath, "AppendValue").Call(
			jen.Qual(wirePath, "AppendKey").Call(jen.Id("b"), jen.Id("c").Dot("Name")), jen.Id("c").Dot("Value")),
		jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "In").Call(jen.Err(), jen.Id("c").Dot("Name"))))
	cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(unknown))
	if f.Presence != ir.Explicit {
		cases = append(cases, jen.Default().Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "NoCase").Call(caseNames(l, f)...))))
	}
	return jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...)
}

// caseNames are the member names of a oneof.
func caseNames(l *ir.Layout, f *ir.Field) []jen.Code {
	var names []jen.Code
	for _, m := range l.Fields {
		if m.Case != nil && m.Field == f {
			names = append(names, jen.Lit(m.Name))
		}
	}
	return names
}

// convert prints the value of a case's defined type as its plain type.
func convert(t ir.TypeRef, x jen.Code) jen.Code {
	plain := scalars[t.Kind].convert()
	if t.Kind == ir.KindBytes {
		return jen.Parens(plain).Call(x)
	}
	return plain.Call(x)
}

// appendList prints the function that writes a list of messages.
func (c *codec) appendList(t *ir.Type) jen.Code {
	return jen.Func().Id(c.fn("append", t, "List")).Params(jen.Id("b").Index().Byte(), jen.Id("x").Index().Op("*").Id(t.Go)).
		Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Id("start").Op(":=").Len(jen.Id("b")),
		jen.Var().Err().Error(),
		jen.For(jen.List(jen.Id("i"), jen.Id("e")).Op(":=").Range().Id("x")).Block(
			jen.If(
				jen.List(jen.Id("b"), jen.Err()).Op("=").Id(c.fn("append", t, "")).Call(jen.Append(jen.Id("b"), jen.LitRune(',')), jen.Id("e")),
				jen.Err().Op("!=").Nil(),
			).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "At").Call(jen.Err(), jen.Id("i")))),
		),
		jen.Return(jen.Qual(wirePath, "EndArray").Call(jen.Id("b"), jen.Id("start")), jen.Nil()),
	).Line()
}

// appendEnum prints the function that writes an enum by name. A value that is in no table is written as it was read.
func (c *codec) appendEnum(l *ir.Layout) jen.Code {
	var cases []jen.Code
	for _, v := range l.Values {
		cases = append(cases, jen.Case(jen.Id(v.Value.Go)).Block(
			jen.Return(jen.Append(jen.Id("b"), jen.Add(raw(string(wire.AppendString(nil, v.Name)))).Op("..."))),
		))
	}
	return jen.Func().Id(c.fn("append", l.Type, "")).Params(jen.Id("b").Index().Byte(), jen.Id("x").Id(l.Type.Go)).Index().Byte().Block(
		jen.Switch(jen.Id("x")).Block(cases...),
		jen.Return(jen.Qual(wirePath, "AppendEnum").Call(jen.Id("b"), jen.String().Call(jen.Id("x")))),
	).Line()
}
