package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// otherWires are the wires of a version that its JSON-RPC binding does not speak.
func otherWires(v *ir.Version) []*ir.Wire {
	var others []*ir.Wire
	for _, w := range v.Wires {
		if w != jsonWire(v) {
			others = append(others, w)
		}
	}
	return others
}

func wireFunc(w *ir.Wire) string { return "wire" + w.Suffix }

// wireTable prints the function that makes a wire: its codecs behind two functions that take any message.
func wireTable(w *ir.Wire) jen.Code {
	over := func(each func(t *ir.Type) jen.Code, otherwise jen.Code) jen.Code {
		return jen.Switch(jen.Id("v").Op(":=").Id("v").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, l := range w.Layouts {
				if l.Type.Kind == ir.Message && l.Variant == "" {
					g.Case(ptr(l.Type)).Block(each(l.Type))
				}
			}
			g.Default().Block(jen.Return(otherwise))
		})
	}
	unexpected := func() *jen.Statement { return rt("Unexpected").Call(jen.Id("v"), jen.Lit("a message of "+w.Name)) }
	read := []jen.Code{over(func(t *ir.Type) jen.Code {
		return jen.Return(jen.Id(decodeFunc(w, t)).Call(jen.Id("src"), jen.Id("v")))
	}, unexpected())}
	if w.Encoding != ir.Proto {
		read = []jen.Code{
			jen.Var().Id("r").Qual(wirePath, "Reader"),
			jen.Id("r").Dot("Reset").Call(jen.Id("src")),
			over(func(t *ir.Type) jen.Code { return jen.Id(readFunc(w, t)).Call(jen.Op("&").Id("r"), jen.Id("v")) }, unexpected()),
			jen.Return(jen.Id("r").Dot("Done").Call()),
		}
	}
	return jen.Func().Id(wireFunc(w)).Params().Op("*").Add(rt("Wire")).Block(jen.Return(jen.Op("&").Add(rt("Wire")).Values(jen.Dict{
		jen.Id("Encoding"): jen.Lit(string(w.Encoding)),
		jen.Id("Append"): encoder(over(func(t *ir.Type) jen.Code {
			return jen.Return(jen.Id(appendFunc(w, t)).Call(jen.Id("dst"), jen.Id("v")))
		}, jen.List(jen.Id("dst"), unexpected()))),
		jen.Id("Read"): jen.Func().Params(jen.Id("src").Index().Byte(), jen.Id("v").Any()).Error().Block(read...),
	}))).Line()
}
