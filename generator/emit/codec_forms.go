package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// legacyPath is the package of the hooks.
const legacyPath = runtimePath + "/legacy"

// hookForm is how a hook is called.
type hookForm int

const (
	hookValue   hookForm = iota + 1 // HasX(v), AppendX(b, v) and ReadX(r) of the field's own type
	hookPair                        // HasX(v, w), AppendX(b, v, w) and ReadX(r) of two strings
	hookType                        // a whole type
	hookGroup                       // several members and one field
	hookRewrite                     // X(r) returns the member's value in the shape that the plain codec reads
	hookDerived                     // X of the state of a status
)

// hooks are the hooks that emission can call. absent: AbsentX() is what a missing member reads as. writes: a rewriting hook
// also has WriteX.
var hooks = map[string]struct {
	form           hookForm
	absent, writes bool
}{
	"Blocking":       {form: hookValue, absent: true},
	"Schemes":        {form: hookValue},
	"Timestamp":      {form: hookValue},
	"Index":          {form: hookValue, absent: true},
	"Modes":          {form: hookValue},
	"DefaultModes":   {form: hookValue, absent: true},
	"BlockingFlag":   {form: hookValue, absent: true},
	"TaskName":       {form: hookValue},
	"ConfigParent":   {form: hookValue},
	"ConfigName":     {form: hookPair},
	"WrappedPart":    {form: hookType},
	"Part":           {form: hookType},
	"TypedPart":      {form: hookType},
	"Interfaces":     {form: hookGroup},
	"SplitFlows":     {form: hookRewrite},
	"Authentication": {form: hookRewrite, writes: true},
	"Final":          {form: hookDerived},
}

// hook is a function of the hooks' package.
func hook(name string) *jen.Statement { return jen.Qual(legacyPath, name) }

// groupOf is the first member of a group in l, nil if it has none.
func groupOf(l *ir.Layout) *ir.FieldLayout {
	for _, m := range l.Fields {
		if hooks[m.Hook].form == hookGroup {
			return m
		}
	}
	return nil
}

// interfaces prints the neutral form of a card's interfaces, both ways.
func (c *codec) interfaces() jen.Code {
	to, from := members(), members()
	for _, m := range []struct{ member, meaning string }{
		{"URL", "Interface.url"}, {"Binding", "Interface.protocol_binding"}, {"Tenant", "Interface.tenant"}, {"Version", "Interface.protocol_version"},
	} {
		c.hub.from(to, m.member, "i", m.meaning)
		c.hub.into(from, m.meaning, jen.Id("i").Dot(m.member))
	}
	list := func(name string, arg, elem, literal *jen.Statement) *jen.Statement {
		return jen.Func().Id(name+c.wire.Suffix).Params(jen.Id("list").Index().Add(arg)).Index().Add(elem).Block(
			jen.Id("out").Op(":=").Make(jen.Index().Add(elem.Clone()), jen.Len(jen.Id("list"))),
			jen.For(jen.List(jen.Id("at"), jen.Id("i")).Op(":=").Range().Id("list")).Block(jen.Id("out").Index(jen.Id("at")).Op("=").Add(literal)),
			jen.Return(jen.Id("out")),
		).Line()
	}
	return list("interfacesOf", ptr(c.hub.Interface), rt("Interface"), rt("Interface").Values(to.code()...)).Line().
		Add(list("interfacesFrom", rt("Interface"), ptr(c.hub.Interface), newOf(c.hub.Interface, from)))
}

// appendBare prints the function that writes a message as its only field.
func (c *codec) appendBare(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	a := c.appender(m, m.Field.Type)
	call := a.call(jen.Id("b"), jen.Id("x").Dot(m.Field.Go))
	if a.fails {
		return c.appendFunc(l, jen.Return(call))
	}
	return c.appendFunc(l, jen.Return(call, jen.Nil()))
}

// readBare prints the function that reads a message from the value of its only field.
func (c *codec) readBare(l *ir.Layout) jen.Code {
	m := l.Fields[0]
	return c.readFunc(l, jen.Id("x").Dot(m.Field.Go).Op("=").Add(c.readMember(m)))
}

// appendTagged prints the function that writes a union as its case is written.
func (c *codec) appendTagged(l *ir.Layout) jen.Code {
	f := l.Fields[0].Field
	var cases, names, can []jen.Code
	for _, m := range l.Fields {
		if m.Absent {
			continue
		}
		names = append(names, jen.Lit(m.Name))
		can = append(can, ptr(m.Case.Type.Type))
		cases = append(cases, jen.Case(ptr(m.Case.Type.Type)).Block(jen.Return(jen.Id(c.fn("append", c.layout(m, m.Case.Type))).Call(jen.Id("b"), jen.Id("c")))))
	}
	tagged := hook("Tagged").Call(jen.Id("c").Dot("Value"), jen.Lit(l.Tag), jen.Id("c").Dot("Name"))
	cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(
		jen.If(tagged.Clone()).Block(jen.Return(jen.Qual(wirePath, "AppendValue").Call(jen.Id("b"), jen.Id("c").Dot("Value")))),
	))
	code := jen.Add(c.appendFunc(l,
		jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(cases...),
		jen.Return(jen.Id("b"), jen.Qual(wirePath, "NoCase").Call(names...)),
	))
	if !c.inMap(l) {
		return code
	}
	return code.Line().Func().Id(c.fn("writable", l)).Params(jen.Id("x").Add(ptr(l.Type))).Bool().Block(
		jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.False())),
		jen.Switch(jen.Id("c").Op(":=").Id("x").Dot(f.Go).Assert(jen.Type())).Block(
			jen.Case(can...).Block(jen.Return(jen.True())),
			jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(jen.Return(tagged)),
		),
		jen.Return(jen.False()),
	).Line()
}

// inMap reports whether a map has values of this layout.
func (c *codec) inMap(l *ir.Layout) bool {
	for _, outer := range c.wire.Layouts {
		for _, m := range outer.Fields {
			if m.Field == nil {
				continue
			}
			if t := memberType(m); t.Kind == ir.KindMap && t.Elem.Kind == ir.KindMessage && c.layout(m, *t.Elem) == l {
				return true
			}
		}
	}
	return false
}

// readTagged prints the function that reads a union by its tag, or by its shape where there is none (T38).
func (c *codec) readTagged(l *ir.Layout) jen.Code {
	f, table := l.Fields[0].Field, c.fn("choices", l)
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
		cases = append(cases, jen.Case(jen.Lit(len(choices))).Block(jen.Id("x").Dot(f.Go).Op("=").Add(c.readMember(m))))
		choices = append(choices, jen.Values(*choice...))
	}
	cases = append(cases, jen.Default().Block(
		jen.Id("x").Dot(f.Go).Op("=").Add(unknownCase(f.Union, jen.Id("tag"), jen.Id("r").Dot("Value").Call())),
	))
	code := jen.Var().Id(table).Op("=").Index().Add(hook("Choice")).Values(choices...).Line().Line()
	return code.Add(c.readFunc(l,
		jen.List(jen.Id("i"), jen.Id("tag")).Op(":=").Add(hook("Choose")).Call(append([]jen.Code{jen.Id("r"), jen.Id(table), jen.Lit(l.Tag)}, lits(l.TagAliases)...)...),
		jen.Switch(jen.Id("i")).Block(cases...),
	))
}

// appendHooked prints the function that hands a part to its hook, but for the kinds that the hook does not know.
func (c *codec) appendHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	var own []jen.Code
	for _, m := range l.Fields {
		own = append(own, jen.If(jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("x").Dot(content.Go).Assert(ptr(m.Case.Type.Type)), jen.Id("ok")).Block(
			jen.Return(jen.Id(c.fn("append", c.layout(m, m.Case.Type))).Call(jen.Id("b"), jen.Id("c"))),
		))
	}
	return c.appendFunc(l, append(own,
		jen.If(jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("x").Dot(content.Go).Assert(jen.Op("*").Id(content.Union.Unknown)), jen.Id("ok")).Block(
			jen.Return(hook("AppendUnknown"+l.Hook).Call(jen.Id("b"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Id("partOf").Call(jen.Id("x")).Dot("Metadata"))),
		),
		jen.Return(hook("Append"+l.Hook).Call(jen.Id("b"), jen.Id("partOf").Call(jen.Id("x")))),
	)...)
}

// readHooked prints the function that takes a part from its hook. One of a kind that the hook does not know is read again from
// what the hook kept of it.
func (c *codec) readHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	var body []jen.Code
	if len(l.Fields) > 0 {
		body = append(body, jen.Id("at").Op(":=").Id("r").Dot("Offset").Call())
	}
	body = append(body, jen.List(jen.Id("part"), jen.Id("name"), jen.Id("value")).Op(":=").Add(hook("Read"+l.Hook)).Call(jen.Id("r")))
	for _, m := range l.Fields {
		set := jen.Id("x").Dot(content.Go).Op("=").Add(c.readMember(m))
		body = append(body, jen.If(jen.Id("name").Op("==").Lit(m.TagValue)).Block(reread(jen.Id("at"), jen.Id("value"), set), jen.Return()))
	}
	return c.readFunc(l, append(body,
		jen.Id("setPart").Call(jen.Id("x"), jen.Op("&").Id("part")),
		jen.If(jen.Len(jen.Id("value")).Op(">").Lit(0)).Block(
			jen.Id("x").Dot(content.Go).Op("=").Add(unknownCase(content.Union, jen.Id("name"), jen.Id("value"))),
		),
	)...)
}
