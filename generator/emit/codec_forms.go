package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// legacyPath and legacyProtoPath are the packages of the hooks, and of those for protobuf.
const (
	legacyPath      = genPath + "/legacy"
	legacyProtoPath = genPath + "/legacyproto"
)

// hookForm is how a hook is called.
type hookForm int

const (
	hookValue   hookForm = iota + 1 // a wire.Hook of the field's own type
	hookPair                        // a wire.Pair
	hookType                        // AppendX, AppendUnknownX and ReadX of a whole type
	hookGroup                       // AppendX and the type X, for several members and one field
	hookRewrite                     // a wire.Rewrite
	hookDerived                     // X of the state of a status
)

// hooks are the hooks that emission can name. absent: it says what a missing member is read as. proto: it has ProtoX for
// protobuf; one of a whole type or a group has PutX and TakeX.
var hooks = map[string]struct {
	form          hookForm
	absent, proto bool
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
	"Authentication": {form: hookRewrite},
	"Final":          {form: hookDerived, proto: true},
}

// hook is a name of the hooks' package.
func hook(name string) *jen.Statement { return jen.Qual(legacyPath, name) }

// protoHook names one for protobuf.
func protoHook(name string) *jen.Statement { return jen.Qual(legacyProtoPath, name) }

// groupOf is the first member of a group in l, nil if it has none.
func groupOf(l *ir.Layout) *ir.FieldLayout {
	for _, m := range l.Fields {
		if hooks[m.Hook].form == hookGroup {
			return m
		}
	}
	return nil
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
		own := jen.Id(c.fn("codec", c.layout(m, m.Case.Type))).Dot("Append").Call(jen.Id("b"), jen.Id("c"))
		body = append(body, ifCase(content, ptr(m.Case.Type.Type), jen.Return(own)))
	}
	unknown := hook("AppendUnknown"+l.Hook).Call(
		jen.Id("b"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Add(part).Dot("Metadata"))
	body = append(body,
		ifCase(content, jen.Op("*").Id(content.Union.Unknown), jen.Return(unknown)),
		jen.Return(hook("Append"+l.Hook).Call(jen.Id("b"), part)),
	)
	params := jen.Params(jen.Id("b").Index().Byte(), jen.Id("x").Add(ptr(l.Type)))
	return jen.Func().Id(c.fn("append", l)).Add(params).Params(jen.Index().Byte(), jen.Error()).Block(body...).Line()
}

// readHooked prints the function that takes a part from its hook. One of a kind that the hook does not know is read
// again from what the hook kept of it.
func (c *codec) readHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	reader, take := jsonReader(), hook("Read"+l.Hook)
	if c.proto() {
		reader, take = jen.Id("r").Op("*").Qual(protoPath, "Reader"), protoHook("Take"+l.Hook)
	}
	var body []jen.Code
	if len(l.Fields) > 0 && !c.proto() {
		body = append(body, jen.Id("at").Op(":=").Id("r").Dot("Offset").Call())
	}
	part := jen.List(jen.Id("part"), jen.Id("name"), jen.Id("value"))
	body = append(body, part.Op(":=").Add(take).Call(jen.Id("r")))
	for _, m := range l.Fields {
		if c.proto() {
			break // it has no kinds of its own
		}
		again := jen.Id("x").Dot(content.Go).Op("=").Id(c.fn("codec", c.layout(m, m.Case.Type))).
			Dot("Reread").Call(jen.Id("r"), jen.Id("at"), jen.Id("value"))
		body = append(body, jen.If(jen.Id("name").Op("==").Lit(m.TagValue)).Block(again, jen.Return()))
	}
	return jen.Func().Id(c.fn("read", l)).Params(reader, jen.Id("x").Add(ptr(l.Type))).Block(append(body, setPart(c.hub)...)...).Line()
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

// groupVar and derivedVar name what members of groups, and derived ones, are read and written by.
func (c *codec) groupVar() string { return "interfaces" + c.wire.Suffix }

func (c *codec) derivedVar(m *ir.FieldLayout) string {
	if c.proto() {
		return "derive" + m.Hook + "Proto"
	}
	return "derive" + m.Hook
}

// derives reports whether an earlier wire prints what a derived member is written by: it is the same for all of JSON, and for all of
// protobuf.
func (c *codec) derives(earlier []*ir.Wire, hook string) bool {
	return slices.ContainsFunc(earlier, func(w *ir.Wire) bool {
		return (w.Encoding == ir.Proto) == c.proto() && slices.ContainsFunc(w.Layouts, func(l *ir.Layout) bool {
			return slices.ContainsFunc(l.Fields, func(m *ir.FieldLayout) bool { return m.Hook == hook })
		})
	})
}

// hookVars prints them. earlier are the wires that are printed before.
func (c *codec) hookVars(earlier []*ir.Wire) (code []jen.Code) {
	derived := map[string]bool{}
	for _, l := range c.wire.Layouts {
		for _, m := range l.Fields {
			switch form := hooks[m.Hook].form; {
			case form == hookGroup && len(code) == 0:
				code = append(code, c.groupOf(m))
			case form == hookDerived && !derived[m.Hook] && !c.derives(earlier, m.Hook):
				derived[m.Hook] = true
				defer func() { code = append(code, c.derive(m)) }()
			}
		}
	}
	return code
}

// groupOf prints how the members of a card that say where it is called are one field.
func (c *codec) groupOf(m *ir.FieldLayout) jen.Code {
	list, group := jen.Index().Add(goType(*m.Field.Type.Elem)), hook(m.Hook)
	interfaces := inGen("Each").Call(jen.Id("list"), jen.Id(interfaceOf))
	read := inGen("Each").Call(jen.Id("g").Dot("List").Call(jen.Lit(m.Arg)), jen.Id(interfaceFrom))
	var write, take jen.Code
	if c.proto() {
		put := protoHook("Put"+m.Hook).Call(jen.Id("w"), jen.Id("tag"), interfaces, jen.Lit(m.Arg), jen.Id("field"))
		write = jen.Func().Params(protoWriter(), jen.Id("tag").Uint32(), jen.Id("list").Add(list), jen.Id("field").String()).Block(put)
		take = protoHook("Take" + m.Hook)
	} else {
		put := hook("Append"+m.Hook).Call(jen.Id("b"), interfaces, jen.Lit(m.Arg))
		write = jen.Func().Params(jen.Id("b").Index().Byte(), jen.Id("list").Add(list)).Index().Byte().Block(jen.Return(put))
		take = jen.Parens(jen.Op("*").Add(group)).Dot("Read")
	}
	return jen.Var().Id(c.groupVar()).Op("=").Qual(c.path, "Group").Types(list, group).Values(members(
		c.writes(), write, "Read", take,
		"Make", jen.Func().Params(jen.Id("g").Op("*").Add(group)).Add(list).Add(oneLine(jen.Return(read))),
	).lines()...).Line()
}

// writes is what the function that writes is called.
func (c *codec) writes() string {
	if c.proto() {
		return "Write"
	}
	return "Append"
}

// derive prints how a member follows from a status.
func (c *codec) derive(m *ir.FieldLayout) jen.Code {
	x := jen.Id("x").Add(goType(m.Field.Type))
	value := hook(m.Hook).Call(jen.Id("statusState").Call(jen.Id("x")))
	derived := members()
	if c.proto() {
		derived.set("Write", jen.Func().Params(protoWriter(), jen.Id("tag").Uint32(), x).Error().Block(
			jen.If(value).Block(jen.Id("w").Dot("Bool").Call(jen.Id("tag"), jen.True())), jen.Return(jen.Nil())))
	} else {
		write := jen.Qual(wirePath, "AppendBool").Call(jen.Id("b"), value)
		derived.set("Has", jen.Func().Params(x).Bool().Add(oneLine(jen.Return(value))))
		derived.set("Append", jen.Func().Params(jen.Id("b").Index().Byte(), x).Params(jen.Index().Byte(), jen.Error()).Add(oneLine(jen.Return(write, jen.Nil()))))
	}
	return jen.Var().Id(c.derivedVar(m)).Op("=").Qual(c.path, "Hook").Types(goType(m.Field.Type)).Values(derived.lines()...).Line()
}
