package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// shapedProto prints a protobuf wire whose layouts differ from the types in structure, with functions of the same form as those
// of [ProtoCodec]. It takes what the proto of 0.3 needs: nested and lifted members, variants, and hooks that have a protobuf side.
type shapedProto struct {
	*protoCodec
	json *codec
}

// shapedProtoCodec adds the functions of c's wire to f.
func shapedProtoCodec(c *protoCodec, b *bound, f *jen.File) {
	s := &shapedProto{c, &codec{layouts: layoutsOf(c.wire), hub: b}}
	for _, l := range c.wire.Layouts {
		switch {
		case l.Type.Kind == ir.Enum:
			addAll(f, c.enumNumber(l), c.enumName(l))
			continue
		case l.Hook != "":
			addAll(f, c.document(l), s.writeHooked(l), s.readHookedProto(l))
			continue
		}
		addAll(f, c.document(l), s.writeShaped(l), s.readShaped(l))
		if groupOf(l) != nil {
			f.Add(s.json.interfaces())
		}
		if len(l.Fields) > 0 {
			f.Add(c.memberNames(l))
		}
	}
}

func (s *shapedProto) writeFunc(l *ir.Layout, body ...jen.Code) jen.Code {
	return jen.Func().Id(s.of("write", l)).Params(jen.Id("w").Op("*").Qual(wirePath, "ProtoWriter"), jen.Id("x").Add(ptr(l.Type))).Error().Block(
		append([]jen.Code{jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.Qual(wirePath, "NotSet").Call()))}, body...)...).Line()
}

func (s *shapedProto) readFunc(l *ir.Layout, body ...jen.Code) jen.Code {
	return jen.Func().Id(s.of("read", l)).Params(jen.Id("r").Op("*").Qual(wirePath, "ProtoReader"), jen.Id("x").Add(ptr(l.Type))).Block(body...).Line()
}

// writeHooked prints the function that hands a part to its hook.
func (s *shapedProto) writeHooked(l *ir.Layout) jen.Code {
	content := s.json.hub.Fields["Part.content"]
	return s.writeFunc(l,
		jen.If(jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("x").Dot(content.Go).Assert(jen.Op("*").Id(content.Union.Unknown)), jen.Id("ok")).Block(
			jen.Return(hook("PutUnknown"+l.Hook).Call(jen.Id("w"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Id("partOf").Call(jen.Id("x")).Dot("Metadata"))),
		),
		jen.Return(hook("Put"+l.Hook).Call(jen.Id("w"), jen.Id("partOf").Call(jen.Id("x")))),
	)
}

// readHookedProto prints the function that takes a part from its hook.
func (s *shapedProto) readHookedProto(l *ir.Layout) jen.Code {
	content := s.json.hub.Fields["Part.content"]
	return s.readFunc(l,
		jen.List(jen.Id("part"), jen.Id("name"), jen.Id("value")).Op(":=").Add(hook("Take"+l.Hook)).Call(jen.Id("r")),
		jen.Id("setPart").Call(jen.Id("x"), jen.Op("&").Id("part")),
		jen.If(jen.Len(jen.Id("value")).Op(">").Lit(0)).Block(
			jen.Id("x").Dot(content.Go).Op("=").Add(unknownCase(content.Union, jen.Id("name"), jen.Id("value"))),
		),
	)
}

// writeShaped prints the function that writes the content of a message.
func (s *shapedProto) writeShaped(l *ir.Layout) jen.Code {
	var body []jen.Code
	fields, oneofs := ordered(l)
	for _, m := range fields {
		body = append(body, s.writeField(m))
	}
	for _, f := range oneofs { // a case that the wire has not is left out
		var cases []jen.Code
		for _, m := range l.Fields {
			if m.Case != nil && m.Field == f {
				cases = append(cases, jen.Case(ptr(m.Case.Type.Type)).Block(s.begun(m, jen.Id(s.fn("write", m.Case.Type.Type)), jen.Id("c"))...))
			}
		}
		body = append(body, jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...))
	}
	return s.writeFunc(l, append(body, jen.Return(jen.Nil()))...)
}

// begun prints the writing of a message inside this one.
func (s *shapedProto) begun(m *ir.FieldLayout, write, value jen.Code) []jen.Code {
	return []jen.Code{
		jen.Id("m").Op(":=").Id("w").Dot("Begin").Call(tagOf(m.Number, delimitedType)),
		jen.If(jen.Err().Op(":=").Add(write).Call(jen.Id("w"), value), jen.Err().Op("!=").Nil()).Block(returnIn(jen.Err(), jen.Lit(m.Name))),
		jen.Id("w").Dot("End").Call(jen.Id("m")),
	}
}

// writeField prints the writing of an ordinary member.
func (s *shapedProto) writeField(m *ir.FieldLayout) jen.Code {
	if m.Nested != nil {
		return jen.Block(s.begun(m, jen.Id(s.of("write", m.Nested)), jen.Id("x"))...)
	}
	x, form := jen.Id("x").Dot(m.Field.Go), hooks[m.Hook].form
	put := func(args ...jen.Code) jen.Code {
		return hook("Put" + m.Hook).Call(append([]jen.Code{jen.Id("w"), tagOf(m.Number, delimitedType)}, args...)...)
	}
	switch {
	case form == hookGroup:
		return put(jen.Id("interfacesOf"+s.wire.Suffix).Call(x), jen.Lit(m.Arg), jen.Lit(m.Name))
	case form == hookPair:
		return put(x, jen.Id("x").Dot(m.With.Go))
	case form == hookDerived:
		return jen.If(hook(m.Hook).Call(jen.Id("statusState").Call(x))).Block(jen.Id("w").Dot("Bool").Call(tagOf(m.Number, varintType), jen.True()))
	case form == hookValue && m.Field.Type.Kind == ir.KindBool:
		return hook("Put"+m.Hook).Call(jen.Id("w"), tagOf(m.Number, varintType), x)
	case form == hookValue:
		return put(x)
	case m.Implicit:
		return s.writeImplicit(m)
	case m.Field.Type.Kind == ir.KindMessage:
		write := jen.Id(s.of("write", s.json.layout(m, m.Field.Type)))
		switch {
		case m.Filled:
			return jen.Block(append([]jen.Code{
				jen.Id("v").Op(":=").Add(x),
				jen.If(isNil(jen.Id("v"))).Block(jen.Id("v").Op("=").New(jen.Id(m.Field.Type.Type.Go))),
			}, s.begun(m, write, jen.Id("v"))...)...)
		case m.Required:
			return jen.Block(s.begun(m, write, x)...)
		}
		return jen.If(x.Clone().Op("!=").Nil()).Block(s.begun(m, write, x)...)
	}
	return s.writeMember(m)
}

// writeImplicit prints the writing of a pointer whose value is written unless it is zero.
func (s *shapedProto) writeImplicit(m *ir.FieldLayout) jen.Code {
	scalar := protoScalars[m.Field.Type.Kind]
	write := func(x *jen.Statement) jen.Code {
		return jen.If(jen.Id("v").Op(":=").Add(x), jen.Id("v").Op("!=").Nil().Op("&&").Add(notZero(m, jen.Op("*").Id("v")))).Block(
			jen.Id("w").Dot(scalar.method).Call(tagOf(m.Number, scalar.wireType), jen.Op("*").Id("v")))
	}
	if m.Into == nil {
		return write(jen.Id("x").Dot(m.Field.Go))
	}
	return jen.If(jen.Id("o").Op(":=").Id("x").Dot(m.Into.Go), jen.Id("o").Op("!=").Nil()).Block(write(jen.Id("o").Dot(m.Field.Go)))
}

// readShaped prints the function that reads the content of a message into x, which may hold an earlier piece of it.
func (s *shapedProto) readShaped(l *ir.Layout) jen.Code {
	var body, cases, end []jen.Code
	group := groupOf(l)
	if group != nil {
		body = append(body, jen.Var().Id("group").Add(hook(group.Hook)))
		end = append(end, jen.Id("x").Dot(group.Field.Go).Op("=").Id("interfacesFrom"+s.wire.Suffix).Call(jen.Id("group").Dot("List").Call(jen.Lit(group.Arg))))
	}
	for _, m := range l.Fields {
		if m.Nested == nil && m.Hook == "" && m.Case == nil && m.Field.Type.Kind == ir.KindList && m.Field.Type.Elem.Kind == ir.KindMessage {
			body = append(body, jen.Var().Id(blockOf(m)).Index().Id(m.Field.Type.Elem.Type.Go))
		}
		cases = append(cases, s.readFieldProto(m)...)
		if m.Nested == nil && m.Hook == "" && m.Case == nil {
			end = append(end, s.lacks(m)...)
		}
	}
	skip := jen.Id("r").Dot("Skip").Call(jen.Id("tag"))
	loop := []jen.Code{skip}
	if len(cases) > 0 {
		loop = []jen.Code{
			jen.Switch(jen.Id("tag")).Block(append(cases, jen.Default().Block(skip))...),
			jen.If(jen.Id("r").Dot("Failed").Call()).Block(jen.Id("r").Dot("In").Call(jen.Id(s.of("member", l)).Call(jen.Id("tag"))), jen.Return()),
		}
	}
	body = append(body, jen.For(
		jen.Id("tag").Op(":=").Id("r").Dot("Tag").Call(), jen.Id("tag").Op("!=").Lit(0), jen.Id("tag").Op("=").Id("r").Dot("Tag").Call(),
	).Block(loop...))
	return s.readFunc(l, append(body, end...)...)
}

// lacks prints what is done about a member that was not there.
func (s *shapedProto) lacks(m *ir.FieldLayout) []jen.Code {
	x := jen.Id("x").Dot(m.Field.Go)
	incomplete := jen.Id("r").Dot("Incomplete").Call()
	switch {
	case m.MinItems > 0:
		return []jen.Code{jen.If(jen.Len(x).Op("<").Lit(m.MinItems)).Block(incomplete)}
	case m.Filled:
		return []jen.Code{s.create(m, x)}
	case m.Required && m.Field.Type.Kind == ir.KindMessage:
		return []jen.Code{jen.If(isNil(x)).Block(incomplete)}
	}
	return nil
}

// create prints the making of a message that is not there yet, with what absence means for its members.
func (s *shapedProto) create(m *ir.FieldLayout, x *jen.Statement) jen.Code {
	body := []jen.Code{x.Clone().Op("=").New(jen.Id(m.Field.Type.Type.Go))}
	for _, inner := range s.json.layout(m, m.Field.Type).Fields {
		if inner.Fallback {
			body = append(body, x.Clone().Dot(inner.Field.Go).Op("=").Add(hook("Absent"+inner.Hook)).Call())
		}
	}
	return jen.If(isNil(x.Clone())).Block(body...)
}

// readFieldProto prints the cases of the switch over tags for one member.
func (s *shapedProto) readFieldProto(m *ir.FieldLayout) []jen.Code {
	one := func(wireType int, body ...jen.Code) []jen.Code {
		return []jen.Code{jen.Case(tagOf(m.Number, wireType)).Block(body...)}
	}
	entered := func(l *ir.Layout, x jen.Code) []jen.Code {
		return []jen.Code{
			jen.Id("m").Op(":=").Id("r").Dot("Enter").Call(jen.Lit(1)), jen.Id(s.of("read", l)).Call(jen.Id("r"), x), jen.Id("r").Dot("Leave").Call(jen.Id("m")),
		}
	}
	if m.Nested != nil {
		return one(delimitedType, entered(m.Nested, jen.Id("x"))...)
	}
	x, take := jen.Id("x").Dot(m.Field.Go), hook("Take"+m.Hook)
	switch form := hooks[m.Hook].form; {
	case form == hookDerived:
		return nil
	case form == hookGroup:
		return one(delimitedType, jen.Id("group").Dot("Take").Call(jen.Id("r"), jen.Lit(m.Name)))
	case form == hookPair:
		body := []jen.Code{jen.List(jen.Id("v"), jen.Id("w")).Op(":=").Add(take).Call(jen.Id("r"))}
		for i, f := range []*ir.Field{m.Field, m.With} {
			y := jen.Id("x").Dot(f.Go)
			body = append(body, jen.If(y.Clone().Op("==").Lit("")).Block(y.Clone().Op("=").Id([]string{"v", "w"}[i])))
		}
		return one(delimitedType, body...)
	case form == hookValue && m.Field.Type.Kind == ir.KindBool:
		return one(varintType, x.Clone().Op("=").Add(take).Call(jen.Id("r")))
	case form == hookValue:
		return one(delimitedType, x.Clone().Op("=").Add(take).Call(jen.Id("r"), x.Clone()))
	case m.Implicit:
		var body []jen.Code
		if m.Into != nil {
			body, x = append(body, jen.If(isNil(jen.Id("x").Dot(m.Into.Go))).Block(jen.Id("x").Dot(m.Into.Go).Op("=").New(jen.Id(m.Into.Type.Type.Go)))), jen.Id("x").Dot(m.Into.Go).Dot(m.Field.Go)
		}
		set := jen.If(jen.Id("v").Op(":=").Add(s.readScalar(oneOf(m), nil)), notZero(m, jen.Id("v"))).Block(x.Clone().Op("=").Op("&").Id("v")).
			Else().Block(x.Clone().Op("=").Nil())
		return one(protoScalars[m.Field.Type.Kind].wireType, append(body, set)...)
	case m.Case == nil && m.Field.Type.Kind == ir.KindMessage:
		return one(delimitedType, append([]jen.Code{s.create(m, x)}, entered(s.json.layout(m, m.Field.Type), x.Clone())...)...)
	}
	return s.readMember(m)
}
