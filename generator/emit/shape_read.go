package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// readMessage prints the table of member names and the function that reads one message.
func (s *shaped) readMessage(l *ir.Layout) jen.Code {
	names := s.fnOf("members", l, "")
	code, body := jen.Null(), []jen.Code{}
	var lits, cases []jen.Code
	for i, m := range l.Fields {
		lits = append(lits, jen.Lit(m.Name))
		if !m.Derived {
			cases = append(cases, s.readField(l, m, i))
		}
	}
	if len(cases) > 0 {
		body = append(body, jen.Var().Id("seen").Qual(wirePath, "Seen"))
	}
	required := s.required(l, names)
	if len(required) > 0 {
		code.Var().Id(names).Op("=").Index(jen.Op("...")).String().Values(lits...).Line().Line()
	}
	open := s.openUnion(l)
	if open != nil {
		body = append(body, jen.Var().Id("extra").Qual(wirePath, "Extra"))
	}
	group := groupOf(l)
	if group != nil {
		body = append(body, jen.Var().Id("group").Add(hook(group.Hook)))
	}
	unknown := jen.Id("r").Dot("Unknown").Call(jen.Id("key"))
	if open != nil {
		unknown = jen.Id("r").Dot("UnknownCase").Call(jen.Id("key"), jen.Op("&").Id("extra"))
	}
	body = append(body, jen.For(
		jen.List(jen.Id("key"), jen.Id("ok")).Op(":=").Id("r").Dot("Object").Call(), jen.Id("ok"),
		jen.List(jen.Id("key"), jen.Id("ok")).Op("=").Id("r").Dot("Next").Call(),
	).Block(jen.Switch(jen.String().Call(jen.Id("key"))).Block(append(cases, jen.Default().Block(unknown))...)))
	body = append(append(body, required...), s.absent(l)...)
	if group != nil {
		body = append(body, jen.Id("x").Dot(group.Field.Go).Op("=").Id("interfacesFrom"+s.wire.Suffix).Call(jen.Id("group").Dot("List").Call(jen.Lit(group.Arg))))
	}
	if open != nil {
		x := jen.Id("x").Dot(open.Go)
		body = append(body, jen.If(jen.List(jen.Id("name"), jen.Id("value"), jen.Id("ok")).Op(":=").Id("extra").Dot("Case").Call(), jen.Id("ok").Op("&&").Add(isNil(x.Clone()))).Block(
			x.Clone().Op("=").Add(unknownCase(open.Union, jen.Id("name"), jen.Id("value"))),
		))
	}
	return code.Add(s.readFuncOf(l, body...))
}

// required prints the check of the members that must be there.
func (s *shaped) required(l *ir.Layout, names string) []jen.Code {
	var mask *jen.Statement
	for i, m := range l.Fields {
		if !m.Required || m.Lenient || m.Derived || m.Case != nil {
			continue
		}
		if bit := jen.Lit(1).Op("<<").Lit(i); mask == nil {
			mask = bit
		} else {
			mask.Op("|").Add(bit)
		}
	}
	if mask == nil {
		return nil
	}
	return []jen.Code{jen.Id("r").Dot("Require").Call(jen.Op("&").Id("seen"), mask, jen.Id(names).Index(jen.Op(":")))}
}

// absent prints what missing members are read as.
func (s *shaped) absent(l *ir.Layout) []jen.Code {
	var code []jen.Code
	for i, m := range l.Fields {
		if m.Nested != nil {
			continue
		}
		x := jen.Id("x").Dot(m.Field.Go)
		var set []jen.Code
		switch {
		case m.Default != nil:
			set = []jen.Code{x.Clone().Op("=").Id(m.Default.Go)}
		case m.Fallback:
			if m.Into != nil {
				set = []jen.Code{s.allocate(m)}
				x = jen.Id("x").Dot(m.Into.Go).Dot(m.Field.Go)
			}
			set = append(set, x.Clone().Op("=").Add(hook("Absent"+m.Hook)).Call())
		case m.Filled:
			set = []jen.Code{
				jen.Var().Id("empty").Qual(wirePath, "Reader"),
				jen.Id("empty").Dot("Reset").Call(jen.Index().Byte().Call(jen.Lit("{}"))),
				x.Clone().Op("=").New(jen.Id(m.Field.Type.Type.Go)),
				jen.Id(s.fnOf("read", s.layout(m, m.Field.Type), "")).Call(jen.Op("&").Id("empty"), x),
			}
		default:
			continue
		}
		code = append(code, jen.If(jen.Op("!").Id("seen").Dot("Has").Call(jen.Lit(i))).Block(set...))
	}
	return code
}

// readField prints the case of the switch for one member.
func (s *shaped) readField(l *ir.Layout, m *ir.FieldLayout, i int) jen.Code {
	var body []jen.Code
	field := "Field"
	switch {
	case m.Nested != nil:
		body = []jen.Code{jen.Id(s.fnOf("read", m.Nested, "")).Call(jen.Id("r"), jen.Id("x"))}
	case hooks[m.Hook].form == hookPair:
		body = []jen.Code{jen.List(jen.Id("v"), jen.Id("w")).Op(":=").Add(hook("Read" + m.Hook)).Call(jen.Id("r"))}
		for i, f := range []*ir.Field{m.Field, m.With} { // what a member of its own says counts before
			x := jen.Id("x").Dot(f.Go)
			body = append(body, jen.If(x.Clone().Op("==").Lit("")).Block(x.Clone().Op("=").Id([]string{"v", "w"}[i])))
		}
	case hooks[m.Hook].form == hookGroup:
		body = []jen.Code{jen.Id("group").Dot("Read").Call(jen.Id("r"), jen.Lit(m.Name))}
	case m.Case != nil:
		body = []jen.Code{
			jen.Id("v").Op(":=").New(jen.Id(m.Case.Type.Type.Go)),
			jen.Id(s.fnOf("read", s.layout(m, m.Case.Type), "")).Call(jen.Id("r"), jen.Id("v")),
			jen.Id("x").Dot(m.Field.Go).Op("=").Id("v"),
		}
	case m.Into != nil:
		body = append([]jen.Code{s.allocate(m)}, s.readInto(l, m, jen.Id("x").Dot(m.Into.Go).Dot(m.Field.Go))...)
	default:
		body = s.readInto(l, m, jen.Id("x").Dot(m.Field.Go))
	}
	if m.Field != nil && m.Hook == "" && memberType(m).Kind == ir.KindValue {
		field = "FieldOrNull"
	}
	cond := jen.Id("r").Dot(field).Call(jen.Op("&").Id("seen"), jen.Lit(i))
	if m.Case != nil {
		cond.Op("&&").Id("r").Dot("Only").Call(isNil(jen.Id("x").Dot(m.Field.Go)))
	}
	names := []jen.Code{jen.Lit(m.Name)}
	for _, alias := range m.Aliases {
		names = append(names, jen.Lit(alias))
	}
	return jen.Case(names...).Block(jen.If(cond).Block(body...))
}

// allocate prints the making of the message that a member's field is in, if there is none yet.
func (s *shaped) allocate(m *ir.FieldLayout) jen.Code {
	return jen.If(isNil(jen.Id("x").Dot(m.Into.Go))).Block(jen.Id("x").Dot(m.Into.Go).Op("=").New(jen.Id(m.Into.Type.Type.Go)))
}

// readInto prints the reading of a member's value into the field x.
func (s *shaped) readInto(l *ir.Layout, m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	switch hooks[m.Hook].form {
	case hookValue:
		return []jen.Code{x.Clone().Op("=").Add(hook("Read" + m.Hook)).Call(jen.Id("r"))}
	case hookRewrite:
		return []jen.Code{
			jen.Id("at").Op(":=").Id("r").Dot("Offset").Call(),
			jen.Var().Id("in").Qual(wirePath, "Reader"),
			jen.Id("in").Dot("Reset").Call(hook("Read" + m.Hook).Call(jen.Id("r"))),
			jen.Func().Params(jen.Id("r").Op("*").Qual(wirePath, "Reader")).Block(s.readValue(l, m, x)...).Call(jen.Op("&").Id("in")),
			jen.If(jen.Err().Op(":=").Id("in").Dot("Done").Call(), jen.Err().Op("!=").Nil()).Block(jen.Id("r").Dot("FailAt").Call(jen.Id("at"), jen.Err().Dot("Error").Call())),
		}
	}
	return s.readValue(l, m, x)
}

// readValue prints the plain reading of a value.
func (s *shaped) readValue(l *ir.Layout, m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	t := m.Field.Type
	switch {
	case t.Kind == ir.KindMessage:
		fresh := x.Clone().Op("=").New(jen.Id(t.Type.Go))
		for _, other := range l.Fields {
			if other.Into != nil && other.Into == m.Field {
				fresh = jen.If(isNil(x.Clone())).Block(fresh)
				break
			}
		}
		return []jen.Code{fresh, jen.Id(s.fnOf("read", s.layout(m, t), "")).Call(jen.Id("r"), x)}
	case t.Kind == ir.KindList:
		return s.readListInto(m, x)
	case t.Kind == ir.KindMap:
		return s.readMapInto(m, x)
	case m.Implicit:
		set := jen.If(jen.Id("v").Op(":=").Add(s.readOne(m, t)), notZero(m, jen.Id("v"))).Block(x.Clone().Op("=").Op("&").Id("v"))
		return []jen.Code{set}
	case isPointer(m.Field):
		return []jen.Code{jen.Id("v").Op(":=").Add(s.readOne(m, t)), x.Clone().Op("=").Op("&").Id("v")}
	}
	return []jen.Code{x.Clone().Op("=").Add(s.readOne(m, t))}
}

// readOne is the expression that reads a scalar or an enum.
func (s *shaped) readOne(m *ir.FieldLayout, t ir.TypeRef) jen.Code {
	if t.Kind == ir.KindEnum {
		return jen.Id(s.fnOf("read", s.layout(m, t), "")).Call(jen.Id("r"))
	}
	return s.readScalar(t)
}

func (s *shaped) readListInto(m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	elem := *m.Field.Type.Elem
	if elem.Kind != ir.KindMessage {
		return []jen.Code{x.Clone().Op("=").Add(s.readListMember(m))}
	}
	read := jen.Id(s.fnOf("read", s.layout(m, elem), ""))
	if m.MinItems > 0 {
		return []jen.Code{x.Clone().Op("=").Qual(wirePath, "ReadSome").Call(jen.Id("r"), jen.Lit(m.MinItems), read)}
	}
	return []jen.Code{x.Clone().Op("=").Qual(wirePath, "ReadList").Call(jen.Id("r"), read)}
}

func (s *shaped) readMapInto(m *ir.FieldLayout, x *jen.Statement) []jen.Code {
	elem := *m.Field.Type.Elem
	if elem.Kind != ir.KindMessage {
		return []jen.Code{x.Clone().Op("=").Add(s.readMapMember(m.Field.Type))}
	}
	read := jen.Id(s.fnOf("read", s.layout(m, elem), ""))
	return []jen.Code{x.Clone().Op("=").Qual(wirePath, "ReadMap").Call(jen.Id("r"), jen.False(), read)}
}

// readBare prints the function that reads a message from the value of its only field.
func (s *shaped) readBare(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	return s.readFuncOf(l, s.readValue(l, m, jen.Id("x").Dot(m.Field.Go))...)
}

// readTagged prints the function that reads a union by its tag, or by its shape where there is none (T38).
func (s *shaped) readTagged(l *ir.Layout) jen.Code {
	f, table := l.Fields[0].Field, s.fnOf("choices", l, "")
	var choices, cases []jen.Code
	for _, m := range l.Fields {
		if m.Absent {
			continue
		}
		choice := members()
		if m.TagValue != "" {
			choice.set("Tag", jen.Lit(m.TagValue))
		}
		if len(m.Shape) > 0 {
			choice.set("Shape", stringsOf(m.Shape))
		}
		cases = append(cases, jen.Case(jen.Lit(len(choices))).Block(
			jen.Id("v").Op(":=").New(jen.Id(m.Case.Type.Type.Go)),
			jen.Id(s.fnOf("read", s.layout(m, m.Case.Type), "")).Call(jen.Id("r"), jen.Id("v")),
			jen.Id("x").Dot(f.Go).Op("=").Id("v"),
		))
		choices = append(choices, jen.Values(*choice...))
	}
	cases = append(cases, jen.Default().Block(
		jen.Id("x").Dot(f.Go).Op("=").Add(unknownCase(f.Union, jen.Id("tag"), jen.Id("r").Dot("Value").Call())),
	))
	code := jen.Var().Id(table).Op("=").Index().Add(hook("Choice")).Values(choices...).Line().Line()
	return code.Add(s.readFuncOf(l,
		jen.List(jen.Id("i"), jen.Id("tag")).Op(":=").Add(hook("Choose")).Call(append([]jen.Code{jen.Id("r"), jen.Id(table), jen.Lit(l.Tag)}, lits(l.TagAliases)...)...),
		jen.Switch(jen.Id("i")).Block(cases...),
	))
}

func stringsOf(list []string) jen.Code { return jen.Index().String().Values(lits(list)...) }

func lits(list []string) []jen.Code {
	var out []jen.Code
	for _, x := range list {
		out = append(out, jen.Lit(x))
	}
	return out
}

// readHooked prints the function that takes a part from its hook. One of a kind that the hook does not know is read again from
// what the hook kept of it.
func (s *shaped) readHooked(l *ir.Layout) jen.Code {
	content := s.Fields["Part.content"]
	var body []jen.Code
	if len(l.Fields) > 0 {
		body = append(body, jen.Id("at").Op(":=").Id("r").Dot("Offset").Call())
	}
	body = append(body, jen.List(jen.Id("part"), jen.Id("name"), jen.Id("value")).Op(":=").Add(hook("Read"+l.Hook)).Call(jen.Id("r")))
	for _, m := range l.Fields {
		body = append(body, jen.If(jen.Id("name").Op("==").Lit(m.TagValue)).Block(
			jen.Var().Id("in").Qual(wirePath, "Reader"),
			jen.Id("in").Dot("Reset").Call(jen.Id("value")),
			jen.Id("v").Op(":=").New(jen.Id(m.Case.Type.Type.Go)),
			jen.Id(s.fnOf("read", s.layout(m, m.Case.Type), "")).Call(jen.Op("&").Id("in"), jen.Id("v")),
			jen.If(jen.Err().Op(":=").Id("in").Dot("Done").Call(), jen.Err().Op("!=").Nil()).Block(jen.Id("r").Dot("FailAt").Call(jen.Id("at"), jen.Err().Dot("Error").Call())),
			jen.Id("x").Dot(content.Go).Op("=").Id("v"),
			jen.Return(),
		))
	}
	return s.readFuncOf(l, append(body,
		jen.Id("setPart").Call(jen.Id("x"), jen.Op("&").Id("part")),
		jen.If(jen.Len(jen.Id("value")).Op(">").Lit(0)).Block(
			jen.Id("x").Dot(content.Go).Op("=").Add(unknownCase(content.Union, jen.Id("name"), jen.Id("value"))),
		),
	)...)
}

// readEnum prints the function that reads an enum by name. A name that is in no table is kept.
func (s *shaped) readEnum(l *ir.Layout) jen.Code {
	var cases []jen.Code
	for _, v := range l.Values {
		if !v.WriteOnly {
			cases = append(cases, jen.Case(lits(append([]string{v.Name}, v.Aliases...))...).Block(jen.Return(jen.Id(v.Value.Go))))
		}
	}
	return jen.Func().Id(s.fnOf("read", l, "")).Params(jen.Id("r").Op("*").Qual(wirePath, "Reader")).Id(l.Type.Go).Block(
		jen.Id("name").Op(":=").Id("r").Dot("String").Call(),
		jen.Switch(jen.Id("name")).Block(cases...),
		jen.Return(jen.Id(l.Type.Go).Call(jen.Id("name"))),
	).Line()
}
