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

// hooks are the hooks that emission can call. absent: AbsentX() is what a missing member reads as. writes: a rewriting
// hook also has WriteX. proto: it has PutX and TakeX for protobuf.
var hooks = map[string]struct {
	form                  hookForm
	absent, writes, proto bool
}{
	"Blocking":       {form: hookValue, absent: true},
	"Schemes":        {form: hookValue, proto: true},
	"Timestamp":      {form: hookValue},
	"Index":          {form: hookValue, absent: true},
	"Modes":          {form: hookValue},
	"DefaultModes":   {form: hookValue, absent: true},
	"BlockingFlag":   {form: hookValue, absent: true, proto: true},
	"TaskName":       {form: hookValue, proto: true},
	"ConfigParent":   {form: hookValue, proto: true},
	"ConfigName":     {form: hookPair, proto: true},
	"WrappedPart":    {form: hookType, proto: true},
	"Part":           {form: hookType},
	"TypedPart":      {form: hookType},
	"Interfaces":     {form: hookGroup, proto: true},
	"SplitFlows":     {form: hookRewrite},
	"Authentication": {form: hookRewrite, writes: true},
	"Final":          {form: hookDerived, proto: true},
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
func interfaces(hub *bound, w *ir.Wire) jen.Code {
	to, from := members(), members()
	for _, m := range []struct{ member, meaning string }{
		{"URL", "Interface.url"}, {"Binding", "Interface.protocol_binding"},
		{"Tenant", "Interface.tenant"}, {"Version", "Interface.protocol_version"},
	} {
		hub.from(to, m.member, "i", m.meaning)
		hub.into(from, m.meaning, jen.Id("i").Dot(m.member))
	}
	list := func(name string, arg, elem, literal *jen.Statement) *jen.Statement {
		each := jen.List(jen.Id("at"), jen.Id("i")).Op(":=").Range().Id("list")
		return jen.Func().Id(name+w.Suffix).Params(jen.Id("list").Index().Add(arg)).Index().Add(elem).Block(
			jen.Id("out").Op(":=").Make(jen.Index().Add(elem), jen.Len(jen.Id("list"))),
			jen.For(each).Block(jen.Id("out").Index(jen.Id("at")).Op("=").Add(literal)),
			jen.Return(jen.Id("out")),
		).Line()
	}
	return list("interfacesOf", ptr(hub.Interface), rt("Interface"), rt("Interface").Values(to.code()...)).Line().
		Add(list("interfacesFrom", rt("Interface"), ptr(hub.Interface), newOf(hub.Interface, from)))
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
		write := jen.Id(c.fn("append", c.layout(m, m.Case.Type))).Call(jen.Id("b"), jen.Id("c"))
		cases = append(cases, jen.Case(ptr(m.Case.Type.Type)).Block(jen.Return(write)))
	}
	tagged := hook("Tagged").Call(jen.Id("c").Dot("Value"), jen.Lit(l.Tag), jen.Id("c").Dot("Name"))
	unknown := jen.Qual(wirePath, "AppendValue").Call(jen.Id("b"), jen.Id("c").Dot("Value"))
	cases = append(cases, jen.Case(jen.Op("*").Id(f.Union.Unknown)).Block(jen.If(tagged).Block(jen.Return(unknown))))
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
	code := jen.Var().Id(table).Op("=").Index().Add(hook("Case")).Values(choices...).Line().Line()
	args := append([]jen.Code{jen.Id("r"), jen.Id(table), jen.Lit(l.Tag)}, lits(l.TagAliases)...)
	return code.Add(c.readFunc(l,
		jen.List(jen.Id("i"), jen.Id("tag")).Op(":=").Add(hook("FindCase")).Call(args...),
		jen.Switch(jen.Id("i")).Block(cases...),
	))
}

// ifCase is what is done with a part whose content is of a Go type.
func ifCase(content *ir.Field, goType, do jen.Code) jen.Code {
	is := jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("x").Dot(content.Go).Assert(goType)
	return jen.If(is, jen.Id("ok")).Block(do)
}

// appendHooked prints the function that appends a part by its hook, but for the kinds that the hook does not know.
func (c *codec) appendHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	part := jen.Id("partOf").Call(jen.Id("x"))
	var body []jen.Code
	for _, m := range l.Fields {
		own := jen.Id(c.fn("append", c.layout(m, m.Case.Type))).Call(jen.Id("b"), jen.Id("c"))
		body = append(body, ifCase(content, ptr(m.Case.Type.Type), jen.Return(own)))
	}
	unknown := hook("AppendUnknown"+l.Hook).Call(
		jen.Id("b"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Add(part).Dot("Metadata"))
	return c.appendFunc(l, append(body,
		ifCase(content, jen.Op("*").Id(content.Union.Unknown), jen.Return(unknown)),
		jen.Return(hook("Append"+l.Hook).Call(jen.Id("b"), part)),
	)...)
}

// readHooked prints the function that takes a part from its hook. One of a kind that the hook does not know is read
// again from what the hook kept of it.
func (c *codec) readHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	var body []jen.Code
	if len(l.Fields) > 0 {
		body = append(body, jen.Id("at").Op(":=").Id("r").Dot("Offset").Call())
	}
	part := jen.List(jen.Id("part"), jen.Id("name"), jen.Id("value"))
	body = append(body, part.Op(":=").Add(hook("Read"+l.Hook)).Call(jen.Id("r")))
	for _, m := range l.Fields {
		again := reread(jen.Id("at"), jen.Id("value"), jen.Id("x").Dot(content.Go).Op("=").Add(c.readMember(m)))
		body = append(body, jen.If(jen.Id("name").Op("==").Lit(m.TagValue)).Block(again, jen.Return()))
	}
	return c.readFunc(l, append(body, setPart(c.hub)...)...)
}

// setPart prints the taking over of a part from its hook.
func setPart(hub *bound) []jen.Code {
	content := hub.Fields["Part.content"]
	return []jen.Code{
		jen.Id("setPart").Call(jen.Id("x"), jen.Op("&").Id("part")),
		jen.If(jen.Len(jen.Id("value")).Op(">").Lit(0)).Block(
			jen.Id("x").Dot(content.Go).Op("=").Add(unknownCase(content.Union, jen.Id("name"), jen.Id("value"))),
		),
	}
}

// setPair prints the reading of two fields by a hook. A member of its own counts before it.
func setPair(m *ir.FieldLayout, read jen.Code) []jen.Code {
	body := []jen.Code{jen.List(jen.Id("v"), jen.Id("w")).Op(":=").Add(read).Call(jen.Id("r"))}
	for _, f := range []struct {
		field *ir.Field
		value string
	}{{m.Field, "v"}, {m.With, "w"}} {
		x := jen.Id("x").Dot(f.field.Go)
		body = append(body, jen.If(jen.Add(x).Op("==").Lit("")).Block(jen.Add(x).Op("=").Id(f.value)))
	}
	return body
}
