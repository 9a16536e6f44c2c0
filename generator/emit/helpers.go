package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
)

// Helpers prints helpers.gen.go: the errors of the protocol and what is handy when writing against the types by hand.
func Helpers(p *ir.Protocol, paths Paths) (output.File, error) {
	b := &bound{Bindings: &p.Bindings}
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	addAll(f, b.errorVars(), b.newMessageHelper(), b.textHelper(), b.dataHelper(),
		b.textMethod("x", b.Message, "Message.parts", "message"), b.textMethod("x", b.Artifact, "Artifact.parts", "artifact"), b.partsText())
	return render(f, pkgFile(paths.Protocol, "helpers.gen.go"))
}

// errorVars exports the runtime's errors under the same names.
func (b *bound) errorVars() jen.Code {
	known := names.Sentinels
	if b.has("SendConfig.if_generation_match") {
		known = slices.Concat(known, names.GenerationSentinels)
	}
	s := jen.Add(doc("The errors of the protocol, to be matched by [errors.Is]."))
	return s.Var().DefsFunc(func(g *jen.Group) {
		for _, name := range known {
			g.Id(name).Op("=").Add(rt(name))
		}
	}).Line()
}

func (b *bound) newMessageHelper() jen.Code {
	message := members()
	b.into(message, "Message.message_id", jen.Qual("crypto/rand", "Text").Call())
	b.into(message, "Message.role", jen.Id("role"))
	b.into(message, "Message.parts", jen.Id("parts"))
	s := jen.Add(doc("NewMessage makes a message with a random id."))
	return s.Func().Id("NewMessage").Params(jen.Id("role").Id(b.MessageRole.Go), jen.Id("parts").Op("...").Add(ptr(b.Part))).Add(ptr(b.Message)).Block(
		jen.Return(newOf(b.Message, message)),
	).Line()
}

func (b *bound) textHelper() jen.Code {
	part := members(b.Fields["Part.content"].Go, jen.Id(b.Cases["Part.text"].Go).Call(jen.Id("s")))
	s := jen.Add(doc("Text makes a text part."))
	return s.Func().Id("Text").Params(jen.Id("s").String()).Add(ptr(b.Part)).Block(jen.Return(newOf(b.Part, part))).Line()
}

func (b *bound) dataHelper() jen.Code {
	part := members(b.Fields["Part.content"].Go, jen.Id(b.Cases["Part.data"].Go).Call(jen.Id("value")))
	b.into(part, "Part.media_type", rt("MediaJSON"))
	s := jen.Add(doc("Data makes a data part of a value, encoded as encoding/json does. Raw JSON is checked and taken as it is."))
	return s.Func().Id("Data").Params(jen.Id("v").Any()).Params(ptr(b.Part), jen.Error()).Block(
		jen.List(jen.Id("value"), jen.Err()).Op(":=").Qual(wirePath, "ValueOf").Call(jen.Id("v")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(newOf(b.Part, part), jen.Nil()),
	).Line()
}

// textMethod prints the method Text of a type with parts.
func (b *bound) textMethod(recv string, t *ir.Type, parts, what string) jen.Code {
	s := jen.Add(doc("Text returns the text parts of the " + what + ", joined by line breaks; \"\" of none."))
	return s.Add(jen.Func().Params(jen.Id(recv).Add(ptr(t))).Id("Text")).Params().String().Block(
		jen.If(jen.Id(recv).Op("==").Nil()).Block(jen.Return(jen.Lit(""))),
		jen.Return(jen.Id("partsText").Call(b.sel(recv, parts))),
	).Line()
}

func (b *bound) partsText() jen.Code {
	return jen.Func().Id("partsText").Params(jen.Id("parts").Index().Add(ptr(b.Part))).String().Block(
		jen.Var().Id("texts").Index().String(),
		jen.For(jen.List(jen.Id("_"), jen.Id("p")).Op(":=").Range().Id("parts")).Block(
			jen.If(jen.Id("p").Op("==").Nil()).Block(jen.Continue()),
			jen.If(jen.List(jen.Id("text"), jen.Id("ok")).Op(":=").Add(b.sel("p", "Part.content")).Assert(jen.Id(b.Cases["Part.text"].Go)), jen.Id("ok")).Block(
				jen.Id("texts").Op("=").Append(jen.Id("texts"), jen.String().Call(jen.Id("text"))),
			),
		),
		jen.Return(jen.Qual("strings", "Join").Call(jen.Id("texts"), jen.Lit("\n"))),
	).Line()
}
