package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// cardInfo prints AgentCard.CardInfo.
func (b *bound) cardInfo() jen.Code {
	info := members()
	b.from(info, "Name", "x", "AgentCard.name")
	b.from(info, "Version", "x", "AgentCard.version")
	b.from(info, "DefaultInput", "x", "AgentCard.default_input_modes")
	b.from(info, "DefaultOutput", "x", "AgentCard.default_output_modes")
	capabilities := []jen.Code{}
	for _, m := range []struct{ member, meaning string }{
		{"Streaming", "Capabilities.streaming"}, {"Push", "Capabilities.push_notifications"}, {"Extended", "Capabilities.extended_agent_card"},
	} {
		if b.has(m.meaning) {
			capabilities = append(capabilities, jen.Id("info").Dot(m.member).Op("=").Add(b.get("has", m.meaning)))
		}
	}
	extension := members()
	b.copyOut(extension, "e", "Extension")
	capabilities = append(capabilities, jen.For(jen.List(jen.Id("_"), jen.Id("e")).Op(":=").Range().Add(b.sel("has", "Capabilities.extensions"))).Block(
		jen.Id("info").Dot("Extensions").Op("=").Append(jen.Id("info").Dot("Extensions"), rt("Extension").Values(extension.code()...)),
	))
	return jen.Add(method("x", b.AgentCard, "CardInfo")).Params().Add(rt("CardInfo")).Block(
		jen.Id("info").Op(":=").Add(rt("CardInfo")).Values(info.code()...),
		jen.If(jen.Id("has").Op(":=").Add(b.sel("x", "AgentCard.capabilities")), jen.Id("has").Op("!=").Nil()).Block(capabilities...),
		jen.For(jen.List(jen.Id("_"), jen.Id("i")).Op(":=").Range().Add(b.sel("x", "AgentCard.supported_interfaces"))).Block(
			jen.Id("info").Dot("Interfaces").Op("=").Append(jen.Id("info").Dot("Interfaces"), jen.Id(interfaceOf).Call(jen.Id("i"))),
		),
		jen.Return(jen.Id("info")),
	).Line()
}

// interfaceOf and interfaceFrom are the functions that make the neutral form of a card's interface, and an interface of it.
const (
	interfaceOf   = "interfaceOf"
	interfaceFrom = "interfaceFrom"
)

// interfaces prints them. The second one is for versions that have interfaces in another form.
func (b *bound) interfaces(p *ir.Protocol) jen.Code {
	to, from := members(), members()
	b.copyOut(to, "i", "Interface")
	s := jen.Func().Id(interfaceOf).Params(jen.Id("i").Add(ptr(b.Interface))).Add(rt("Interface")).Block(
		jen.Return(rt("Interface").Values(to.code()...))).Line()
	if !slices.ContainsFunc(p.Written(), func(v *ir.Version) bool { return slices.ContainsFunc(v.Wires, hasGroup) }) {
		return s
	}
	b.copyIn(from, "Interface", "i")
	return s.Line().Func().Id(interfaceFrom).Params(jen.Id("i").Add(rt("Interface"))).Add(ptr(b.Interface)).Block(
		jen.Return(newOf(b.Interface, from))).Line()
}

// hasGroup reports whether members of a message share a field on the wire.
func hasGroup(w *ir.Wire) bool {
	return slices.ContainsFunc(w.Layouts, func(l *ir.Layout) bool { return groupOf(l) != nil })
}

// cardAt prints AgentCard.At.
func (b *bound) cardAt() jen.Code {
	interfaces := b.Fields["AgentCard.supported_interfaces"].Go
	return jen.Add(method("x", b.AgentCard, "At")).Params(jen.Id("place").Func().Params(rt("Interface")).String()).Add(rt("Card")).Block(
		jen.Id("at").Op(":=").Op("*").Id("x"),
		jen.Id("at").Dot(interfaces).Op("=").Add(inGen("Copies")).Call(jen.Id("x").Dot(interfaces)),
		jen.For(jen.List(jen.Id("_"), jen.Id("i")).Op(":=").Range().Id("at").Dot(interfaces)).Block(
			b.set("i", "Interface.url", jen.Id("place").Call(jen.Id(interfaceOf).Call(jen.Id("i")))),
		),
		jen.Return(jen.Op("&").Id("at")),
	).Line()
}
