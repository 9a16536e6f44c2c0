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
		jen.Return(jen.Qual(protoPath, "AppendAny").Call(jen.Id("b"), jen.Id("x"), jen.Id("messageNamed")))).Line().Line()
	s.Var().Id("anyHook").Op("=").Qual(wirePath, "Hook").Types(anyType()).Values(*members(
		"Append", jen.Id("appendAny"), "Read", jen.Qual(protoPath, "ReadAny"))...).Line()
	if newest(p, ir.Proto) == nil {
		return s
	}
	write := jen.Func().Params(protoWriter(), jen.Id("tag").Uint32(), x.Clone()).Error().Block(
		jen.Return(jen.Id("w").Dot("Any").Call(jen.Id("tag"), jen.Id("x"), jen.Id("messageNamed"))))
	return s.Line().Var().Id("anyField").Op("=").Qual(protoPath, "Hook").Types(anyType()).Values(members(
		"Write", write, "Read", jen.Parens(jen.Op("*").Qual(protoPath, "Reader")).Dot("Any")).lines()...).Line()
}

// fullName is the full name of a message: one of another package has it already.
func fullName(pkg, name string) string {
	if pkg == "" || strings.Contains(name, ".") && strings.ToLower(name[:1]) == name[:1] {
		return name
	}
	return pkg + "." + name
}

// wireFunc is the function that makes a wire: complete, or as most servers need it.
func wireFunc(w *ir.Wire) string { return "newWire" + w.Suffix }

// wireFunc prints the function that makes a wire: its table, and its codecs behind two functions that take any message.
func (t *versionTable) wireFunc() jen.Code {
	wire := members("Encoding", rt(encodingNames[t.wire.Encoding]))
	if len(t.ops) > 0 {
		wire.set("Table", t.table())
	}
	messages, what := jen.Id("messages"+t.wire.Suffix), jen.Lit("a message of "+t.wire.Name)
	wire.set("Append", inGen("AppendAny").Call(t.boxed(), messages, what))
	wire.set("Read", inGen("ReadAny").Call(t.boxed(), messages, what))
	if len(t.wire.Descriptor) > 0 {
		wire.set("Descriptor", jen.Id(descriptorConst(t.wire)))
	}
	params := jen.Params(allOrServed())
	if len(t.ops) == 0 {
		params = jen.Params(jen.Bool())
	}
	return jen.Func().Id(wireFunc(t.wire)).Add(params).Op("*").Add(rt("Wire")).Block(
		jen.Return(jen.Op("&").Add(rt("Wire")).Values(wire.lines()...))).Line().Line().Add(t.messages())
}

// messages prints the codecs of all messages of the wire.
func (t *versionTable) messages() jen.Code {
	var codecs []string
	for _, l := range t.wire.Layouts {
		if l.Type.Kind == ir.Message && l.Variant == "" {
			codecs = append(codecs, "&codec"+l.Type.Go+t.wire.Suffix)
		}
	}
	return jen.Var().Id("messages" + t.wire.Suffix).Op("=").Index().Any().Values(wrappedList(codecs)...).Line()
}

// encodingNames are the runtime's constants for the encodings beside JSON.
var encodingNames = map[ir.Encoding]string{ir.Proto: "EncodingProto", ir.ProtoJSON: "EncodingProtoJSON"}
