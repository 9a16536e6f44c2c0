package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// enumTable prints the table of an enum's values. withNumbers: the wire knows their numbers.
func enumTable(name string, l *ir.Layout, withNumbers bool) *jen.Statement {
	var rows []jen.Code
	for _, v := range l.Values {
		row := members("Value", jen.Id(v.Value.Go), "Name", jen.Lit(v.Name))
		if len(v.Aliases) > 0 {
			row.set("Aliases", stringsOf(v.Aliases))
		}
		switch {
		case withNumbers:
			row.set("Number", jen.Lit(int(v.Number)))
		case v.WriteOnly:
			row.set("WriteOnly", jen.True())
		}
		rows = append(rows, jen.Values(*row...))
	}
	typ := jen.Qual(wirePath, "Enum").Types(jen.Id(l.Type.Go))
	return jen.Var().Id(name).Op("=").Add(typ).Values(multiline(rows)...).Line().Line()
}

// enum prints the table and the functions of an enum. The JSON of older versions knows names only, and may have one for
// whatever it has no name for.
func (c *codec) enum(l *ir.Layout) jen.Code {
	table, numbers := c.fn("values", l), c.strict() || c.wire.Encoding == ir.ProtoJSON
	read := jen.Id(table).Dot("Read").Call(jen.Id("r"))
	write := jen.Id(table).Dot("Append").Call(jen.Id("b"), jen.Id("x"))
	if !numbers {
		read = jen.Id(table).Dot("ReadName").Call(jen.Id("r"))
	}
	if !numbers && l.Otherwise != "" {
		write = jen.Id(table).Dot("AppendOr").Call(jen.Id("b"), jen.Id("x"), jen.Lit(l.Otherwise))
	}
	s := enumTable(table, l, numbers)
	s.Func().Id(c.fn("append", l)).Params(jen.Id("b").Index().Byte(), jen.Id("x").Id(l.Type.Go)).Index().Byte().
		Add(oneLine(jen.Return(write))).Line().Line()
	return s.Func().Id(c.fn("read", l)).Params(jsonReader()).Id(l.Type.Go).Add(oneLine(jen.Return(read))).Line()
}

// enum prints the table and the functions of an enum.
func (c *protoCodec) enum(l *ir.Layout) jen.Code {
	table, enum := c.fn("values", l), jen.Id(l.Type.Go)
	s := enumTable(table, l, true)
	s.Func().Id(c.fn("number", l)).Params(jen.Id("x").Add(enum)).Params(jen.Int32(), jen.Error()).
		Add(oneLine(jen.Return(jen.Id(table).Dot("NumberOf").Call(jen.Id("x"))))).Line().Line()
	return s.Func().Id(c.fn("name", l)).Params(jen.Id("number").Int32()).Add(enum).
		Add(oneLine(jen.Return(jen.Id(table).Dot("Numbered").Call(jen.Id("number"))))).Line()
}
