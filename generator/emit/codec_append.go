package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// appendMessage prints the function that writes one message, a member a line. Where something can fail, the error goes through all
// of them and is returned at the end.
func (c *codec) appendMessage(l *ir.Layout) jen.Code {
	body := []jen.Code{
		jen.If(jen.Id("x").Op("==").Nil()).Block(jen.Return(jen.Id("b"), jen.Qual(wirePath, "NotSet").Call())),
		jen.Id("start").Op(":=").Len(jen.Id("b")),
	}
	result := jen.Nil()
	if slices.ContainsFunc(l.Fields, func(m *ir.FieldLayout) bool { return c.fails(m) || c.refuses(m) }) {
		body = append(body, jen.Var().Err().Error())
		result = jen.Err()
	}
	done := map[*ir.Field]bool{}
	for _, m := range l.Fields {
		switch {
		case m.Case == nil:
			body = append(body, c.appendMember(m)...)
		case !done[m.Field]:
			done[m.Field] = true
			body = append(body, c.appendUnion(l, m.Field))
		}
	}
	body = append(body, jen.Return(jen.Qual(wirePath, "EndObject").Call(jen.Id("b"), jen.Id("start")), result))
	return c.appendHead(l.Type).Params(jen.Index().Byte(), jen.Error()).Block(body...).Line()
}

// fails reports whether writing the member goes through an error variable.
func (c *codec) fails(m *ir.FieldLayout) bool {
	t := memberType(m)
	if t.Elem != nil {
		t = *t.Elem
	}
	return m.Case != nil || t.Kind == ir.KindMessage || scalars[t.Kind].fails
}

// refuses reports whether a member of which every value can be written is refused when it is not set.
func (c *codec) refuses(m *ir.FieldLayout) bool {
	t := m.Field.Type.Kind
	return m.Case == nil && m.Required && (isPointer(m.Field) || t == ir.KindEnum && !m.Always || t == ir.KindTimestamp || m.MinItems > 0)
}

// appendMember prints the writing of an ordinary member, with the condition of its presence.
func (c *codec) appendMember(m *ir.FieldLayout) []jen.Code {
	f := m.Field
	x := jen.Id("x").Dot(f.Go)
	switch {
	case f.Type.Kind == ir.KindNullValue && !isPointer(f) && !m.Required:
		return nil // it has one value, which is zero
	case m.Required && m.MinItems > 0:
		return []jen.Code{
			jen.Err().Op("=").Qual(wirePath, "NeedItems").Call(jen.Err(), jen.Len(x.Clone()), jen.Lit(m.MinItems), jen.Lit(m.Name)),
			c.appendField(m, x),
		}
	case c.refuses(m):
		return []jen.Code{
			jen.Err().Op("=").Qual(wirePath, "Need").Call(jen.Err(), c.present(f, x), jen.Lit(m.Name)),
			c.appendField(m, x),
		}
	}
	return []jen.Code{c.appendField(m, x)}
}

// appendField prints the writing of a field: by one call where the runtime has one for its kind.
func (c *codec) appendField(m *ir.FieldLayout, x *jen.Statement) jen.Code {
	t, key := m.Field.Type, prefix(m.Name)
	fn, fails, args := c.appender(t)
	elem := t.Kind == ir.KindList && fails
	switch {
	case isPointer(m.Field) && fails:
		return withError("AppendMemberSet", key, x, fn)
	case isPointer(m.Field):
		return plainly("AppendSet", key, x, fn)
	case elem && m.Required:
		return withError("AppendMemberList", key, jen.True(), x, args[0])
	case elem:
		return withError("AppendMemberList", key, c.present(m.Field, x), x, args[0])
	case t.Kind == ir.KindMap && fails:
		return c.appendMap(m, x, jen.Add(fn).Call(append([]jen.Code{keyed(key), x.Clone()}, args...)...))
	case fails && m.Required:
		return withError("AppendRequired", key, x, fn)
	case fails:
		return withError("AppendMember", key, c.present(m.Field, x), x.Clone(), fn)
	case m.Required:
		return jen.Id("b").Op("=").Add(fn).Call(append([]jen.Code{keyed(key), x}, args...)...)
	case t.Kind == ir.KindString:
		return jen.Id("b").Op("=").Qual(wirePath, "AppendText").Call(jen.Id("b"), key, x)
	case c.comparable(m.Field):
		return plainly("AppendPlain", key, x, fn)
	}
	return jen.If(c.present(m.Field, x)).Block(jen.Id("b").Op("=").Add(fn).Call(append([]jen.Code{keyed(key), x.Clone()}, args...)...))
}

// comparable reports whether the zero value of a field's Go type is what is left out.
func (c *codec) comparable(f *ir.Field) bool {
	switch s := scalars[f.Type.Kind]; {
	case f.Type.Kind == ir.KindEnum:
		return true
	case f.Presence == ir.Explicit && f.Type.Nilable(), f.Type.Elem != nil:
		return false
	default:
		return s.zero == `""` || s.zero == "false" || s.zero == "0"
	}
}

// keyed is b with a member's key.
func keyed(key jen.Code) jen.Code { return jen.Append(jen.Id("b"), jen.Add(key).Op("...")) }

// plainly is b = wire.fn(b, args).
func plainly(fn string, args ...jen.Code) jen.Code {
	return jen.Id("b").Op("=").Qual(wirePath, fn).Call(append([]jen.Code{jen.Id("b")}, args...)...)
}

// withError is b, err = wire.fn(b, err, args).
func withError(fn string, args ...jen.Code) jen.Code {
	return jen.List(jen.Id("b"), jen.Err()).Op("=").Qual(wirePath, fn).Call(append([]jen.Code{jen.Id("b"), jen.Err()}, args...)...)
}

// appendMap prints the writing of a map of values that can fail.
func (c *codec) appendMap(m *ir.FieldLayout, x *jen.Statement, write jen.Code) jen.Code {
	cond := jen.Err().Op("==").Nil()
	if !m.Required {
		cond.Op("&&").Add(c.present(m.Field, x))
	}
	return jen.If(cond).Block(
		jen.If(jen.List(jen.Id("b"), jen.Err()).Op("=").Add(write), jen.Err().Op("!=").Nil()).Block(
			jen.Err().Op("=").Qual(wirePath, "In").Call(jen.Err(), jen.Lit(m.Name)),
		),
	)
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

// appender is the function that appends a value of type t, whether it returns an error, and what else it takes.
func (c *codec) appender(t ir.TypeRef) (fn jen.Code, fails bool, args []jen.Code) {
	switch t.Kind {
	case ir.KindMessage:
		return c.appendFn(t.Type), true, nil
	case ir.KindEnum:
		return jen.Id(c.fn("append", t.Type, "")), false, nil
	case ir.KindList:
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
		cases = append(cases, jen.Case(goType).Block(c.appendCase(m, value)))
	}
	cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(
		withError("AppendUnknown", jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value")),
	))
	if f.Presence != ir.Explicit {
		none := jen.Qual(wirePath, "NeedCase").Call(append([]jen.Code{jen.Err()}, caseNames(l, f)...)...)
		cases = append(cases, jen.Default().Block(jen.Err().Op("=").Add(none)))
	}
	return jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...)
}

// appendCase prints the writing of the value of a case.
func (c *codec) appendCase(m *ir.FieldLayout, value jen.Code) jen.Code {
	fn, fails, _ := c.appender(m.Case.Type)
	if fails {
		return withError("AppendRequired", prefix(m.Name), value, fn)
	}
	return jen.Id("b").Op("=").Add(fn).Call(keyed(prefix(m.Name)), value)
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
