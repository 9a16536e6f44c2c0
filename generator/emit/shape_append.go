package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime/wire"
)

// appendMessage prints the function that writes one message member by member.
func (s *shaped) appendMessage(l *ir.Layout) jen.Code {
	body := []jen.Code{jen.Id("start").Op(":=").Len(jen.Id("b"))}
	fails := false
	for _, m := range l.Fields {
		fails = fails || s.memberFails(m)
	}
	if fails {
		body = append(body, jen.Var().Err().Error())
	}
	for _, c := range l.Consts {
		body = append(body, jen.Id("b").Op("=").Append(jen.Id("b"), raw(string(wire.AppendKey(nil, c.Name))+c.Value).(*jen.Statement).Op("...")))
	}
	done := map[*ir.Field]bool{}
	for _, m := range l.Fields {
		switch {
		case m.Case != nil && done[m.Field], m.Hook != "" && m == groupOf(l) && done[m.Field]:
		case m.Case != nil:
			done[m.Field] = true
			body = append(body, s.appendUnion(l, m.Field))
		case hooks[m.Hook].form == hookGroup:
			if !done[m.Field] {
				done[m.Field] = true
				body = append(body, jen.Id("b").Op("=").Add(hook("Append"+m.Hook)).Call(jen.Id("b"), jen.Id("interfacesOf"+s.wire.Suffix).Call(jen.Id("x").Dot(m.Field.Go)), jen.Lit(m.Arg)))
			}
		default:
			body = append(body, s.appendMember(m))
		}
	}
	return s.appendFuncOf(l, append(body, jen.Return(jen.Qual(wirePath, "EndObject").Call(jen.Id("b"), jen.Id("start")), jen.Nil()))...)
}

// memberFails reports whether writing the member goes through an error variable.
func (s *shaped) memberFails(m *ir.FieldLayout) bool {
	switch {
	case m.Nested != nil, m.Case != nil:
		return true
	case hooks[m.Hook].form == hookGroup, hooks[m.Hook].form == hookDerived, hooks[m.Hook].form == hookPair:
		return false
	case m.Hook != "", m.Filled:
		return true
	}
	return s.fails(m)
}

// appendMember prints the writing of an ordinary member.
func (s *shaped) appendMember(m *ir.FieldLayout) jen.Code {
	if m.Nested != nil {
		return s.checked(m, jen.Id(s.fnOf("append", m.Nested, "")).Call(appendKey(m), jen.Id("x")))
	}
	if hooks[m.Hook].form == hookPair {
		v, w := jen.Id("x").Dot(m.Field.Go), jen.Id("x").Dot(m.With.Go)
		return jen.If(hook("Has"+m.Hook).Call(v, w)).Block(jen.Id("b").Op("=").Add(hook("Append"+m.Hook)).Call(appendKey(m), v, w))
	}
	if m.Into == nil {
		return s.appendField(m, jen.Id("x").Dot(m.Field.Go))
	}
	o := jen.Id("o").Op(":=").Id("x").Dot(m.Into.Go)
	if !m.Required {
		return jen.If(o, jen.Id("o").Op("!=").Nil()).Block(s.appendField(m, jen.Id("o").Dot(m.Field.Go)))
	}
	return jen.Block(
		o, jen.If(isNil(jen.Id("o"))).Block(jen.Id("o").Op("=").New(jen.Id(m.Into.Type.Type.Go))),
		s.appendField(m, jen.Id("o").Dot(m.Field.Go)),
	)
}

// appendKey is b with the name of a member.
func appendKey(m *ir.FieldLayout) jen.Code {
	return jen.Append(jen.Id("b"), prefix(m.Name).(*jen.Statement).Op("..."))
}

// checked assigns to b and err, and returns an error under the member's name.
func (s *shaped) checked(m *ir.FieldLayout, call jen.Code) jen.Code {
	return jen.If(jen.List(jen.Id("b"), jen.Err()).Op("=").Add(call), jen.Err().Op("!=").Nil()).Block(
		jen.Return(jen.Id("b"), jen.Qual(wirePath, "In").Call(jen.Err(), jen.Lit(m.Name))))
}

// appendField prints the writing of the field x, with the condition of its presence.
func (s *shaped) appendField(m *ir.FieldLayout, x *jen.Statement) jen.Code {
	switch h := hooks[m.Hook]; {
	case h.form == hookDerived && m.Implicit:
		return jen.If(hook(m.Hook).Call(jen.Id("statusState").Call(x))).Block(jen.Id("b").Op("=").Qual(wirePath, "AppendBool").Call(appendKey(m), jen.True()))
	case h.form == hookDerived:
		return jen.Id("b").Op("=").Qual(wirePath, "AppendBool").Call(appendKey(m), hook(m.Hook).Call(jen.Id("statusState").Call(x)))
	case h.form == hookValue:
		write := s.checked(m, hook("Append"+m.Hook).Call(appendKey(m), x.Clone()))
		if m.Required {
			return write
		}
		return jen.If(hook("Has" + m.Hook).Call(x)).Block(write)
	case h.writes:
		return jen.If(s.present(m.Field, x)).Block(
			jen.Id("at").Op(":=").Len(jen.Id("b")),
			s.appendMemberValue(m, x.Clone()),
			jen.Id("b").Op("=").Add(hook("Write"+m.Hook)).Call(jen.Id("b"), jen.Id("at"), jen.Len(prefix(m.Name))),
		)
	case m.Filled:
		return s.appendFilled(m, x)
	}
	value := x.Clone()
	switch {
	case isPointer(m.Field) && m.Required:
		s.value = true
		value = jen.Id("value").Call(x.Clone())
	case isPointer(m.Field):
		value = jen.Op("*").Add(x.Clone())
	}
	write := s.appendMemberValue(m, value)
	switch {
	case m.Implicit:
		return jen.If(x.Clone().Op("!=").Nil().Op("&&").Add(notZero(m, jen.Op("*").Add(x)))).Block(write)
	case !m.Required:
		return jen.If(s.present(m.Field, x)).Block(write)
	case m.MinItems > 0:
		few := jen.Qual(wirePath, "In").Call(jen.Qual(wirePath, "TooFew").Call(jen.Lit(m.MinItems)), jen.Lit(m.Name))
		return jen.If(jen.Len(x.Clone()).Op("<").Lit(m.MinItems)).Block(jen.Return(jen.Id("b"), few)).Line().Add(write)
	}
	return write
}

// notZero is the condition that the value x of an implicit member is written.
func notZero(m *ir.FieldLayout, x *jen.Statement) *jen.Statement {
	if m.Field.Type.Kind == ir.KindBool {
		return x
	}
	return x.Op("!=").Id(scalars[m.Field.Type.Kind].zero)
}

// appendFilled prints the writing of a message that is left out when it is written as {}.
func (s *shaped) appendFilled(m *ir.FieldLayout, x *jen.Statement) jen.Code {
	return jen.Block(
		jen.List(jen.Id("at"), jen.Id("v")).Op(":=").List(jen.Len(jen.Id("b")), x),
		jen.If(isNil(jen.Id("v"))).Block(jen.Id("v").Op("=").New(jen.Id(m.Field.Type.Type.Go))),
		s.appendMemberValue(m, jen.Id("v")),
		jen.Id("b").Op("=").Add(hook("OmitEmpty")).Call(jen.Id("b"), jen.Id("at"), jen.Len(prefix(m.Name))),
	)
}

// appendMemberValue prints the writing of a value behind the member's name.
func (s *shaped) appendMemberValue(m *ir.FieldLayout, value jen.Code) jen.Code {
	t := memberType(m)
	if t.Kind == ir.KindMap && t.Elem.Kind == ir.KindMessage {
		if l := s.layout(m, *t.Elem); l.Tag != "" {
			value = hook("Only").Call(value, jen.Id(s.fnOf("writable", l, "")))
		}
	}
	fn, fails, args := s.appenderOf(m, t)
	args = append([]jen.Code{appendKey(m), value}, args...)
	if fails {
		return s.checked(m, jen.Add(fn).Call(args...))
	}
	return jen.Id("b").Op("=").Add(fn).Call(args...)
}

// appenderOf is [codec.appender] by layout.
func (s *shaped) appenderOf(m *ir.FieldLayout, t ir.TypeRef) (fn jen.Code, fails bool, args []jen.Code) {
	switch t.Kind {
	case ir.KindMessage:
		return jen.Id(s.fnOf("append", s.layout(m, t), "")), true, nil
	case ir.KindEnum:
		return jen.Id(s.fnOf("append", s.layout(m, t), "")), false, nil
	case ir.KindList, ir.KindMap:
		kind := map[ir.Kind]string{ir.KindList: "List", ir.KindMap: "Map"}[t.Kind]
		each, fails, _ := s.appenderOf(m, *t.Elem)
		if fails {
			return jen.Qual(wirePath, "Append"+kind), true, []jen.Code{each}
		}
		return jen.Qual(wirePath, "AppendPlain"+kind), false, []jen.Code{each}
	}
	if t.Kind == ir.KindInt64 && s.wire.Encoding == ir.JSON { // schemas have numbers, not ProtoJSON's strings
		return jen.Qual(wirePath, "AppendInteger"), false, nil
	}
	return jen.Qual(wirePath, scalars[t.Kind].append), scalars[t.Kind].fails, nil
}

// appendUnion prints the writing of a union whose cases are members. A case that the wire has not is left out.
func (s *shaped) appendUnion(l *ir.Layout, f *ir.Field) jen.Code {
	var cases []jen.Code
	for _, m := range l.Fields {
		if m.Case != nil && m.Field == f {
			cases = append(cases, jen.Case(ptr(m.Case.Type.Type)).Block(s.appendMemberValue(m, jen.Id("c"))))
		}
	}
	return jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...)
}

// appendTagged prints the function that writes a union as its case is written.
func (s *shaped) appendTagged(l *ir.Layout) jen.Code {
	f := l.Fields[0].Field
	var cases, names, can []jen.Code
	for _, m := range l.Fields {
		if m.Absent {
			continue
		}
		names = append(names, jen.Lit(m.Name))
		can = append(can, ptr(m.Case.Type.Type))
		cases = append(cases, jen.Case(ptr(m.Case.Type.Type)).Block(jen.Return(jen.Id(s.fnOf("append", s.layout(m, m.Case.Type), "")).Call(jen.Id("b"), jen.Id("c")))))
	}
	tagged := hook("Tagged").Call(jen.Id("c").Dot("Value"), jen.Lit(l.Tag), jen.Id("c").Dot("Name"))
	cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(
		jen.If(tagged.Clone()).Block(jen.Return(jen.Qual(wirePath, "AppendValue").Call(jen.Id("b"), jen.Id("c").Dot("Value")))),
	))
	code := jen.Add(s.appendFuncOf(l,
		jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...),
		jen.Return(jen.Id("b"), jen.Qual(wirePath, "NoCase").Call(names...)),
	))
	if !s.inMap(l) {
		return code
	}
	return code.Line().Func().Id(s.fnOf("writable", l, "")).Params(jen.Id("x").Add(ptr(l.Type))).Bool().Block(
		jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.False())),
		jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(
			jen.Case(can...).Block(jen.Return(jen.True())),
			jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(jen.Return(tagged)),
		),
		jen.Return(jen.False()),
	).Line()
}

// inMap reports whether a map has values of this layout.
func (s *shaped) inMap(l *ir.Layout) bool {
	for _, outer := range s.wire.Layouts {
		for _, m := range outer.Fields {
			if m.Field == nil {
				continue
			}
			if t := memberType(m); t.Kind == ir.KindMap && t.Elem.Kind == ir.KindMessage && s.layout(m, *t.Elem) == l {
				return true
			}
		}
	}
	return false
}

// appendBare prints the function that writes a message as its only field.
func (s *shaped) appendBare(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	fn, fails, args := s.appenderOf(m, m.Field.Type)
	call := jen.Add(fn).Call(append([]jen.Code{jen.Id("b"), jen.Id("x").Dot(m.Field.Go)}, args...)...)
	if fails {
		return s.appendFuncOf(l, jen.Return(call))
	}
	return s.appendFuncOf(l, jen.Return(call, jen.Nil()))
}

// appendHooked prints the function that hands a part to its hook, but for the kinds that the hook does not know.
func (s *shaped) appendHooked(l *ir.Layout) jen.Code {
	content := s.Fields["Part.content"]
	var own []jen.Code
	for _, m := range l.Fields {
		own = append(own, jen.If(jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("x").Dot(content.Go).Assert(ptr(m.Case.Type.Type)), jen.Id("ok")).Block(
			jen.Return(jen.Id(s.fnOf("append", s.layout(m, m.Case.Type), "")).Call(jen.Id("b"), jen.Id("c"))),
		))
	}
	return s.appendFuncOf(l, append(own,
		jen.If(jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("x").Dot(content.Go).Assert(jen.Op("*").Id(content.Union.Unknown)), jen.Id("ok")).Block(
			jen.Return(hook("AppendUnknown"+l.Hook).Call(jen.Id("b"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Id("partOf").Call(jen.Id("x")).Dot("Metadata"))),
		),
		jen.Return(hook("Append"+l.Hook).Call(jen.Id("b"), jen.Id("partOf").Call(jen.Id("x")))),
	)...)
}

// appendEnum prints the function that writes an enum.
func (s *shaped) appendEnum(l *ir.Layout) jen.Code {
	var cases []jen.Code
	for _, v := range l.Values {
		cases = append(cases, jen.Case(jen.Id(v.Value.Go)).Block(jen.Return(appendConstant(v.Name))))
	}
	last := jen.Return(jen.Qual(wirePath, "AppendEnum").Call(jen.Id("b"), jen.String().Call(jen.Id("x"))))
	if l.Otherwise != "" {
		last = jen.Return(appendConstant(l.Otherwise))
	}
	return jen.Func().Id(s.fnOf("append", l, "")).Params(jen.Id("b").Index().Byte(), jen.Id("x").Id(l.Type.Go)).Index().Byte().Block(
		jen.Switch(jen.Id("x")).Block(cases...), last,
	).Line()
}

// appendConstant appends a string constant.
func appendConstant(text string) jen.Code {
	return jen.Append(jen.Id("b"), jen.Add(raw(string(wire.AppendString(nil, text)))).Op("..."))
}
