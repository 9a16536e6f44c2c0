package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// derived is the value of a member that follows from a status.
func derived(m *ir.FieldLayout, x jen.Code) jen.Code {
	return hook(m.Hook).Call(jen.Id("statusState").Call(x))
}

// keyed is b with a member's key, or other constant text.
func keyed(key jen.Code) jen.Code { return jen.Append(jen.Id("b"), jen.Add(key).Op("...")) }

// caseValue is the Go type of a oneof's case, and the value of one that is called c.
func caseValue(c *ir.Case) (goType, value jen.Code) {
	switch x := jen.Id("c"); {
	case c.Direct:
		return jen.Op("*").Id(c.Go), x
	case c.Type.Kind == ir.KindEnum:
		return jen.Id(c.Go), jen.Id(c.Type.Type.Go).Call(x)
	case boxed(c): // a struct around the pointer
		return jen.Id(c.Go), x.Dot("Value")
	default:
		return jen.Id(c.Go), convert(c.Type, x)
	}
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
	plain := scalars[t.Kind].goType()
	if t.Kind == ir.KindBytes {
		return jen.Parens(plain).Call(x)
	}
	return plain.Call(x)
}

// target is the field of a member.
func target(m *ir.FieldLayout) *jen.Statement {
	if m.Into != nil {
		return made(m.Into).Dot(m.Field.Go)
	}
	return jen.Id("x").Dot(m.Field.Go)
}

// made is the message in a field, a new one if there is none yet.
func made(f *ir.Field) *jen.Statement {
	return jen.Qual(wirePath, "Made").Call(jen.Op("&").Id("x").Dot(f.Go))
}

// unionSet prints what happens at the end of a message whose oneof met no known case: an unknown member may be one of
// an open oneof; none, if given, is what there is to say without a case.
func unionSet(f *ir.Field, open bool, none jen.Code) []jen.Code {
	x := jen.Id("x").Dot(f.Go)
	switch {
	case !open && none == nil:
		return nil
	case !open:
		return []jen.Code{jen.If(isNil(x)).Block(none)}
	}
	found := jen.List(jen.Id("name"), jen.Id("value"), jen.Id("ok")).Op(":=").Id("extra").Dot("Case").Call()
	keep := jen.If(found, jen.Id("ok")).Block(
		jen.Add(x).Op("=").Add(unknownCase(f.Union, jen.Id("name"), jen.Id("value"))),
	)
	if none != nil {
		keep.Else().Block(none)
	}
	return []jen.Code{jen.If(isNil(x)).Block(keep)}
}

// enum prints the table and the functions of an enum.
func (c *protoCodec) enum(l *ir.Layout) jen.Code {
	table, enum := c.fn("values", l), jen.Id(l.Type.Go)
	s := enumTable(table, l, false).Line()
	s.Func().Id(c.fn("number", l)).Params(jen.Id("x").Add(enum)).Params(jen.Int32(), jen.Error()).
		Add(oneLine(jen.Return(jen.Id(table).Dot("NumberOf").Call(jen.String().Call(jen.Id("x")))))).Line().Line()
	return s.Func().Id(c.fn("name", l)).Params(jen.Id("number").Int32()).Add(enum).
		Add(oneLine(jen.Return(enum.Clone().Call(jen.Id(table).Dot("Numbered").Call(jen.Id("number")))))).Line()
}
