package emit

import (
	"strings"

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

// anyFuncs prints what reads and writes a google.protobuf.Any: the messages of the definition by their full names.
func anyFuncs(p *ir.Protocol) jen.Code {
	x := jen.Id("x").Op("*").Qual(wirePath, "Any")
	s := jen.Add(doc("messageNamed makes a message of the definition, for what is inside of an Any."))
	s.Func().Id("messageNamed").Params(jen.Id("name").String()).Any().Block(
		jen.Switch(jen.Id("name")).BlockFunc(func(g *jen.Group) {
			for _, t := range p.Types {
				if t.Kind == ir.Message {
					g.Case(jen.Lit(fullName(p.Versions[0].Package, t.Name))).Block(jen.Return(jen.New(jen.Id(t.Go))))
				}
			}
		}),
		jen.Return(jen.Nil()),
	).Line().Line()
	s.Func().Id("appendAny").Params(jen.Id("b").Index().Byte(), x).Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Return(jen.Qual(wirePath, "AppendAny").Call(jen.Id("b"), jen.Id("x"), jen.Id("messageNamed")))).Line()
	if newestProto(p) == nil {
		return s
	}
	return s.Line().Func().Id("writeAny").Params(jen.Id("w").Op("*").Qual(wirePath, "ProtoWriter"), jen.Id("tag").Uint32(), x.Clone()).Error().Block(
		jen.Return(jen.Id("w").Dot("Any").Call(jen.Id("tag"), jen.Id("x"), jen.Id("messageNamed")))).Line()
}

// fullName is the full name of a message: one of another package has it already.
func fullName(pkg, name string) string {
	if pkg == "" || strings.Contains(name, ".") && strings.ToLower(name[:1]) == name[:1] {
		return name
	}
	return pkg + "." + name
}

func wireFunc(w *ir.Wire) string { return "wire" + w.Suffix }

// wireTable prints the function that makes a wire: its codecs behind two functions that take any message.
func wireTable(w *ir.Wire) jen.Code {
	over := func(v jen.Code, each func(t *ir.Type) jen.Code, otherwise jen.Code) jen.Code {
		return jen.Switch(jen.Id("v").Op(":=").Add(v).Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, l := range w.Layouts {
				if l.Type.Kind == ir.Message && l.Variant == "" {
					g.Case(ptr(l.Type)).Block(each(l.Type))
				}
			}
			g.Default().Block(jen.Return(otherwise))
		})
	}
	unexpected := func() *jen.Statement { return rt("Unexpected").Call(jen.Id("v"), jen.Lit("a message of "+w.Name)) }
	read := []jen.Code{over(jen.Id("v"), func(t *ir.Type) jen.Code {
		return jen.Return(jen.Id(decodeFunc(w, t)).Call(jen.Id("src"), jen.Id("v")))
	}, unexpected())}
	if w.Encoding != ir.Proto {
		read = []jen.Code{
			jen.Var().Id("r").Qual(wirePath, "Reader"),
			jen.Id("r").Dot("Reset").Call(jen.Id("src")),
			over(jen.Id("v"), func(t *ir.Type) jen.Code { return jen.Id(readFunc(w, t)).Call(jen.Op("&").Id("r"), jen.Id("v")) }, unexpected()),
			jen.Return(jen.Id("r").Dot("Done").Call()),
		}
	}
	return jen.Func().Id(wireFunc(w)).Params().Op("*").Add(rt("Wire")).Block(jen.Return(jen.Op("&").Add(rt("Wire")).Values(members(
		"Encoding", jen.Lit(string(w.Encoding)),
		"Append", encoder(over(rt("Generated").Call(jen.Id("v")), func(t *ir.Type) jen.Code {
			return jen.Return(jen.Id(appendFunc(w, t)).Call(jen.Id("dst"), jen.Id("v")))
		}, jen.List(jen.Id("dst"), unexpected()))),
		"Read", jen.Func().Params(jen.Id("src").Index().Byte(), jen.Id("v").Any()).Error().Block(read...),
	).lines()...))).Line()
}
