package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// shapes prints how the runtime sees requests and results, for all versions.
func (b *bound) shapes(p *ir.Protocol) []jen.Code {
	seen := jen.Func().Id("seen").Params(jen.Id("result").Any()).Params(jen.Any(), jen.Error()).Block(
		jen.Switch(jen.Id("x").Op(":=").Id("result").Assert(jen.Type())).Block(
			jen.Case(ptr(b.Task)).Block(jen.Return(show(b.Task, jen.Id("x")), jen.Nil())),
			jen.Case(ptr(b.SendResult)).Block(jen.Return(jen.Id("resultOf").Call(jen.Id("x")))),
			jen.Case(ptr(b.StreamItem)).Block(jen.Return(jen.Id("eventOf").Call(jen.Id("x")))),
		),
		jen.Return(jen.Id("result"), jen.Nil()),
	).Line()
	return []jen.Code{
		jen.Add(doc("views are the neutral forms of requests, and what the runtime sees of results.")).
			Var().Id("views").Op("=").Add(inGen("Views")).Values(*members("Neutral", jen.Id("neutral"), "Seen", jen.Id("seen"))...).Line(),
		b.neutral(p), seen, b.eventOf(), b.resultOf(),
	}
}

// eventOf and resultOf print the functions that show what is in a stream item, and in the result of a send, to the runtime.
func (b *bound) eventOf() jen.Code {
	union := b.Fields["StreamItem.payload"].Union
	return b.showUnion("eventOf", rt("Event"), "StreamItem.payload", b.StreamItem, "no event that is known",
		append(b.shown(union), jen.Case(jen.Op("*").Id(union.Unknown)).Block(
			jen.If(jen.Id("v").Dot("Name").Op("!=").Lit("")).Block(jen.Return(jen.Nil(), rt("ErrUnknownEvent"))),
		))...,
	)
}

func (b *bound) resultOf() jen.Code {
	return b.showUnion("resultOf", jen.Any(), "SendResult.payload", b.SendResult, "neither a task nor a message",
		b.shown(b.Fields["SendResult.payload"].Union)...,
	)
}

// shown are the cases of a switch over a union that return what the runtime sees of v.
func (b *bound) shown(u *ir.Union) (cases []jen.Code) {
	for _, v := range b.views() {
		if slices.ContainsFunc(u.Cases, func(c *ir.Case) bool { return c.Direct && c.Go == v.t.Go }) {
			cases = append(cases, jen.Case(ptr(v.t)).Block(jen.Return(show(v.t, jen.Id("v")), jen.Nil())))
		}
	}
	return cases
}

// showUnion prints a function that returns what is in a message that is nothing but a union, by its cases.
func (b *bound) showUnion(name string, result jen.Code, payload string, outer *ir.Type, reason string, cases ...jen.Code) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("x").Add(ptr(outer))).Params(result, jen.Error()).Block(
		jen.Switch(jen.Id("v").Op(":=").Id("x").Dot(b.Fields[payload].Go).Assert(jen.Type())).Block(cases...),
		jen.Return(jen.Nil(), invalid(reason)),
	).Line()
}

// invalid is the error of a document that cannot be read, with the reason.
func invalid(reason string) *jen.Statement {
	return jen.Op("&").Qual(wirePath, "Error").Values(*members("Reason", jen.Lit(reason))...)
}

// setCodecs sets in a row what its requests and results are read and written by.
func (t *versionTable) setCodecs(row *literal, op *ir.Operation) {
	if op.Request.Type != nil {
		request := "codec" + op.Request.Type.Go + t.wire.Suffix
		if op.RequestAs != nil { // another layout than the first one of its type
			request += op.RequestAs.Variant
		}
		row.set("Request", jen.Op("&").Id(request))
	}
	switch {
	case op.Response.Type != nil:
		row.set("Result", codecOf(t.wire, op.Response.Type))
	case op.Null:
		row.set("Null", jen.True())
	}
	// Agents serve one card to all, in the JSON of the version's JSON-RPC, and the official ones so, too, where an operation answers it
	// over HTTP.
	if op.Response.Type == t.AgentCard && t.wire.Encoding == ir.ProtoJSON {
		row.set("Typed", codecOf(jsonWire(t.v), t.AgentCard))
	}
	if guard := t.guard(op); guard != nil {
		row.set("Guard", guard)
	}
}

// guard is the check of requests that the neutral form cannot express: a missing message, a filter by an unknown state.
func (t *versionTable) guard(op *ir.Operation) jen.Code {
	refuse := func(meaning, reason string, condition jen.Code) jen.Code {
		err := jen.Qual(wirePath, "In").Call(invalid(reason), jen.Lit(t.member(op.Request.Type, t.Fields[meaning])))
		return jen.Func().Params(jen.Id("request").Any()).Error().Block(
			jen.If(jen.Id("x").Op(":=").Id("request").Assert(ptr(op.Request.Type)), condition).Block(jen.Return(err)),
			jen.Return(jen.Nil()),
		)
	}
	message, status := string(op.Role)+".message", string(op.Role)+".status"
	switch {
	case t.has(message) && t.Fields[message].Presence != ir.Required:
		return refuse(message, "required", isNil(t.sel("x", message)))
	case t.has(status):
		known := stateOf(t.get("x", status)).Op("==").Add(rt("StateUnspecified"))
		return refuse(status, "not a state that is known", jen.Add(t.get("x", status)).Op("!=").Lit("").Op("&&").Add(known))
	}
	return nil
}

// member is the name of an ordinary field on the wire.
func (t *versionTable) member(typ *ir.Type, f *ir.Field) string {
	for _, l := range t.wire.Layouts {
		for _, m := range l.Fields {
			if l.Type == typ && m.Field == f {
				return m.Name
			}
		}
	}
	return f.Name
}
