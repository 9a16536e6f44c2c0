package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// writeHooked prints the function that writes a part by its hook.
func (c *protoCodec) writeHooked(l *ir.Layout) jen.Code {
	content := c.hub.Fields["Part.content"]
	part := jen.Id("partOf").Call(jen.Id("x"))
	unknown := hook("PutUnknown"+l.Hook).Call(
		jen.Id("w"), jen.Id("c").Dot("Name"), jen.Id("c").Dot("Value"), jen.Add(part).Dot("Metadata"))
	return c.writeFunc(l,
		ifCase(content, jen.Op("*").Id(content.Union.Unknown), jen.Return(unknown)),
		jen.Return(hook("Put"+l.Hook).Call(jen.Id("w"), part)),
	)
}

// readHooked prints the function that reads a part by its hook.
func (c *protoCodec) readHooked(l *ir.Layout) jen.Code {
	read := jen.List(jen.Id("part"), jen.Id("name"), jen.Id("value")).Op(":=").Add(hook("Take" + l.Hook)).Call(jen.Id("r"))
	return c.readFunc(l, append([]jen.Code{read}, setPart(c.hub)...)...)
}

// writeByHook prints the writing of a member by its hook.
func (c *protoCodec) writeByHook(m *ir.FieldLayout) jen.Code {
	x, wireType := jen.Id("x").Dot(m.Field.Go), delimitedType
	if m.Field.Type.Kind == ir.KindBool {
		wireType = varintType
	}
	put := func(args ...jen.Code) jen.Code {
		return hook("Put" + m.Hook).Call(append([]jen.Code{jen.Id("w"), tagOf(m.Number, wireType)}, args...)...)
	}
	switch hooks[m.Hook].form {
	case hookGroup:
		return put(jen.Id("interfacesOf"+c.wire.Suffix).Call(x), jen.Lit(m.Arg), jen.Lit(m.Name))
	case hookPair:
		return put(x, jen.Id("x").Dot(m.With.Go))
	case hookDerived:
		return jen.If(derived(m, x)).Block(jen.Id("w").Dot("Bool").Call(tagOf(m.Number, varintType), jen.True()))
	}
	return put(x)
}

// readByHook prints the case of the switch over tags for a member that its hook takes.
func (c *protoCodec) readByHook(m *ir.FieldLayout) jen.Code {
	take, x := hook("Take"+m.Hook), jen.Id("x").Dot(m.Field.Go)
	of := func(wireType int, body ...jen.Code) jen.Code {
		return jen.Case(tagOf(m.Number, wireType)).Block(body...)
	}
	switch form := hooks[m.Hook].form; {
	case form == hookGroup:
		return of(delimitedType, jen.Id("group").Dot("Take").Call(jen.Id("r"), jen.Lit(m.Name)))
	case form == hookPair:
		return of(delimitedType, setPair(m, take)...)
	case m.Field.Type.Kind == ir.KindBool:
		return of(varintType, jen.Add(x).Op("=").Add(take).Call(jen.Id("r")))
	}
	return of(delimitedType, jen.Add(x).Op("=").Add(take).Call(jen.Id("r"), x))
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
