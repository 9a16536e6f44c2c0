package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// appendEvent prints the function that writes an event as a stream item.
func (t *versionTable) appendEvent() jen.Code {
	return t.appendUnion("encodeEvent", rt("Event"), "StreamItem.payload", t.StreamItem, "a stream item")
}

// appendSendResult prints the function that writes a task or a message as the result of a send.
func (t *versionTable) appendSendResult() jen.Code {
	return t.appendUnion("encodeResult", jen.Any(), "SendResult.payload", t.SendResult, "the result of a send")
}

// appendUnion prints the function that wraps the value behind v in a message that is nothing but a union, and appends that.
func (t *versionTable) appendUnion(name string, param jen.Code, payload string, outer *ir.Type, what string) jen.Code {
	f := t.Fields[payload]
	write := appendFunc(t.wire, outer).Call(jen.Id("dst"), newOf(outer, members(f.Go, jen.Id("payload"))))
	if t.wire.Encoding != ir.Proto {
		write = jen.Qual(wirePath, "AppendCase").Call(
			jen.Id("dst"), jen.Op("&").Id("codec"+outer.Go+t.wire.Suffix), jen.Op("&").Id(unionVar(f.Union)), jen.Id("payload"))
	}
	return jen.Func().Id(name+t.wire.Suffix).Params(jen.Id("dst").Index().Byte(), jen.Id("v").Add(param)).Params(jen.Index().Byte(), jen.Error()).Block(
		jen.If(jen.List(jen.Id("payload"), jen.Id("ok")).Op(":=").Add(rt("Generated").Call(jen.Id("v"))).Assert(jen.Id(f.Union.Go)), jen.Id("ok")).Block(
			jen.Return(write),
		),
		jen.Return(jen.Id("dst"), rt("Unexpected").Call(jen.Id("v"), jen.Lit(what))),
	).Line()
}

// readEvent prints the function that reads a stream item.
func (t *versionTable) readEvent() jen.Code {
	return t.readUnion("parseEvent", rt("Event"), "StreamItem.payload", t.StreamItem, "no event that is known",
		append(t.shown(t.Fields["StreamItem.payload"].Union), jen.Case(jen.Op("*").Id(t.Fields["StreamItem.payload"].Union.Unknown)).Block(
			jen.If(jen.Id("v").Dot("Name").Op("!=").Lit("")).Block(jen.Return(jen.Nil(), rt("ErrUnknownEvent"))),
		))...,
	)
}

// readSendResult prints the function that reads the result of a send.
func (t *versionTable) readSendResult() jen.Code {
	return t.readUnion("parseResult", jen.Any(), "SendResult.payload", t.SendResult, "neither a task nor a message",
		t.shown(t.Fields["SendResult.payload"].Union)...,
	)
}

// shown are the cases of a switch over a union that return what the runtime sees of v.
func (t *versionTable) shown(u *ir.Union) (cases []jen.Code) {
	for _, v := range t.views() {
		if slices.ContainsFunc(u.Cases, func(c *ir.Case) bool { return c.Direct && c.Go == v.t.Go }) {
			cases = append(cases, jen.Case(ptr(v.t)).Block(jen.Return(show(v.t, jen.Id("v")), jen.Nil())))
		}
	}
	return cases
}

// readUnion prints the function that reads a message that is nothing but a union, and returns what is in it by its cases.
func (t *versionTable) readUnion(name string, result jen.Code, payload string, outer *ir.Type, reason string, cases ...jen.Code) jen.Code {
	return jen.Func().Id(name+t.wire.Suffix).Params(jen.Id("src").Index().Byte()).Params(result, jen.Error()).Block(
		t.decode(outer),
		failed(),
		jen.Switch(jen.Id("v").Op(":=").Id("x").Dot(t.Fields[payload].Go).Assert(jen.Type())).Block(cases...),
		jen.Return(jen.Nil(), invalid(reason)),
	).Line()
}

// decode prints the reading of src as x.
func (t *versionTable) decode(typ *ir.Type) jen.Code {
	decode := jen.Qual(wirePath, "Decode")
	if t.wire.Encoding == ir.Proto {
		decode = inGen("DecodeProto")
	}
	return jen.List(jen.Id("x"), jen.Err()).Op(":=").Add(decode).Call(jen.Id("src"), readFunc(t.wire, typ))
}

// invalid is the error of a document that cannot be read, with the reason.
func invalid(reason string) *jen.Statement {
	return jen.Op("&").Qual(wirePath, "Error").Values(*members("Reason", jen.Lit(reason))...)
}

// failed returns nil and the error, if there is one.
func failed() jen.Code {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
}

// encoder is a function that appends a value called v.
func encoder(body ...jen.Code) jen.Code {
	return jen.Func().Params(jen.Id("dst").Index().Byte(), jen.Id("v").Any()).Params(jen.Index().Byte(), jen.Error()).Block(body...)
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
		return jen.Id("encodeResult" + t.wire.Suffix)
	case t.plainCard(op):
		return inGen("AppendOf").Call(appendFunc(jsonWire(t.v), t.AgentCard))
	case op.Response.Type == t.StreamItem && op.Role != ir.RoleOther:
		return inGen("AppendItem").Call(jen.Id("encodeEvent" + t.wire.Suffix))
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
		return jen.Id("parseResult" + t.wire.Suffix)
	case op.Response.Type == t.StreamItem:
		return inGen("ReadItem").Call(jen.Id("parseEvent" + t.wire.Suffix))
	case t.plainCard(op):
		return inGen("ReadTypedCard").Call(readFunc(t.wire, t.AgentCard), readFunc(jsonWire(t.v), t.AgentCard))
	case op.Response.Type == t.Task:
		return t.helper("ReadTask", "ProtoTask").Call(readFunc(t.wire, t.Task), jen.Id(asTask))
	default:
		return t.helper("ReadOf", "ProtoOf").Call(readFunc(t.wire, op.Response.Type))
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
		return t.helper("ParamsOf", "ProtoOf").Call(t.requestFunc(op, readMethod(t.wire)))
	}
	return t.helper("RequestOf", "ProtoRequest").
		Call(append([]jen.Code{t.requestFunc(op, readMethod(t.wire)), jen.Id(name)}, t.guards(op)...)...)
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
