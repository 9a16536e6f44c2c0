package emit

import "github.com/dave/jennifer/jen"

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
	iface := b.interfaceOf("i")
	s := jen.Add(doc("CardInfo implements [runtime.Card]."))
	return s.Add(method("x", b.AgentCard, "CardInfo")).Params().Add(rt("CardInfo")).Block(
		jen.Id("info").Op(":=").Add(rt("CardInfo")).Values(info.code()...),
		jen.If(jen.Id("has").Op(":=").Add(b.sel("x", "AgentCard.capabilities")), jen.Id("has").Op("!=").Nil()).Block(capabilities...),
		jen.For(jen.List(jen.Id("_"), jen.Id("i")).Op(":=").Range().Add(b.sel("x", "AgentCard.supported_interfaces"))).Block(
			jen.Id("info").Dot("Interfaces").Op("=").Append(jen.Id("info").Dot("Interfaces"), rt("Interface").Values(iface.code()...)),
		),
		jen.Return(jen.Id("info")),
	).Line()
}

// interfaceOf is what the runtime knows of an interface.
func (b *bound) interfaceOf(i string) literal {
	iface := members()
	b.copyOut(iface, i, "Interface")
	return *iface
}

// cardAt prints AgentCard.At.
func (b *bound) cardAt() jen.Code {
	interfaces := b.Fields["AgentCard.supported_interfaces"].Go
	iface := b.interfaceOf("i")
	s := jen.Add(doc("At implements [runtime.Card]."))
	return s.Add(method("x", b.AgentCard, "At")).Params(jen.Id("place").Func().Params(rt("Interface")).String()).Add(rt("Card")).Block(
		jen.Id("at").Op(":=").Op("*").Id("x"),
		jen.Id("at").Dot(interfaces).Op("=").Add(inGen("Copies")).Call(jen.Id("x").Dot(interfaces)),
		jen.For(jen.List(jen.Id("_"), jen.Id("i")).Op(":=").Range().Id("at").Dot(interfaces)).Block(
			b.set("i", "Interface.url", jen.Id("place").Call(rt("Interface").Values(iface.code()...))),
		),
		jen.Return(jen.Op("&").Id("at")),
	).Line()
}
