package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

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

// failed returns nil and the error, if there is one.
func failed() jen.Code {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
}

// appendNothing appends what stands for nothing. In protobuf nothing does.
func (t *versionTable) appendNothing(null bool) jen.Code {
	nothing := "{}"
	switch {
	case t.wire.Encoding == ir.Proto:
		nothing = ""
	case null:
		nothing = "null"
	}
	return inGen("AppendNothing").Call(jen.Lit(nothing))
}

// appendRequest is the AppendRequest function of a row.
func (t *versionTable) appendRequest(op *ir.Operation) jen.Code {
	if op.Request.Type == nil {
		return t.appendNothing(false)
	}
	return inGen("AppendOf").Call(t.requestFunc(op, "Append"))
}

// appendResult is the Append function of a row.
func (t *versionTable) appendResult(op *ir.Operation) jen.Code {
	switch {
	case op.Response.Type == nil:
		return t.appendNothing(op.Null)
	case op.Role == ir.RoleSend:
		return inGen("AppendResult").Call(t.codecOf(t.SendResult).Dot("AppendCase"))
	case t.plainCard(op):
		return inGen("AppendOf").Call(appendFunc(jsonWire(t.v), t.AgentCard))
	case op.Response.Type == t.StreamItem && op.Role != ir.RoleOther:
		return inGen("AppendItem").Call(t.codecOf(t.StreamItem).Dot("AppendCase"))
	default:
		return inGen("AppendOf").Call(appendFunc(t.wire, op.Response.Type))
	}
}

// readResult is the Read function of a row.
func (t *versionTable) readResult(op *ir.Operation) jen.Code {
	switch {
	case op.Response.Type == nil:
		return inGen("ReadNothing")
	case op.Role == ir.RoleSend:
		return inGen("ReadResult").Call(readFunc(t.wire, t.SendResult), jen.Id("resultOf"))
	case op.Response.Type == t.StreamItem:
		return inGen("ReadItem").Call(readFunc(t.wire, t.StreamItem), jen.Id("eventOf"))
	case t.plainCard(op):
		return inGen("ReadTypedCard").Call(readFunc(t.wire, t.AgentCard), readFunc(jsonWire(t.v), t.AgentCard))
	case op.Response.Type == t.Task:
		return inGen("ReadTask").Call(readFunc(t.wire, t.Task), jen.Id(asTask))
	default:
		return inGen("ReadOf").Call(readFunc(t.wire, op.Response.Type))
	}
}

// plainCard reports whether the result is a card in the JSON of the version's JSON-RPC although the wire has another one:
// agents serve one card to all, and the official ones so, too, where an operation answers it over HTTP.
func (t *versionTable) plainCard(op *ir.Operation) bool {
	return op.Response.Type == t.AgentCard && t.wire.Encoding == ir.ProtoJSON
}

// decodeRequest is the Decode function of a row.
func (t *versionTable) decodeRequest(op *ir.Operation) jen.Code {
	name, _ := t.neutral(op)
	switch {
	case op.Request.Type == nil:
		return inGen("ReadNothing")
	case name == "":
		return t.helper("ParamsOf", "ReadOf").Call(t.requestFunc(op, "Unmarshal"))
	}
	return t.helper("RequestOf", "ProtoRequest").
		Call(append([]jen.Code{t.requestFunc(op, "Unmarshal"), jen.Id(name)}, t.guards(op)...)...)
}

// guards are the checks of requests that the neutral form cannot express: a missing message, a filter by an unknown state.
func (t *versionTable) guards(op *ir.Operation) []jen.Code {
	refuse := func(meaning, reason string, condition jen.Code) []jen.Code {
		err := jen.Qual(wirePath, "In").Call(invalid(reason), jen.Lit(t.member(op.Request.Type, t.Fields[meaning])))
		return []jen.Code{jen.Func().Params(jen.Id("x").Add(ptr(op.Request.Type))).Error().Block(
			jen.If(condition).Block(jen.Return(err)),
			jen.Return(jen.Nil()),
		)}
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
