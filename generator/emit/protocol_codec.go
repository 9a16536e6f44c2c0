package emit

import (
	"cmp"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// eventCases are the members of a stream item that are events, in the order in which they are tried.
var eventCases = []string{"StreamItem.artifact_update", "StreamItem.status_update", "StreamItem.task", "StreamItem.message"}

// appendEvent prints the function that writes an event as a stream item.
func (t *versionTable) appendEvent() jen.Code {
	item := jen.Id("item").Dot(t.Fields["StreamItem.payload"].Go)
	return jen.Func().Id("encodeEvent"+t.wire.Suffix).Params(jen.Id("dst").Index().Byte(), jen.Id("e").Add(rt("Event"))).Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Var().Id("item").Id(t.StreamItem.Go),
		jen.Switch(jen.Id("e").Op(":=").Id("e").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, c := range eventCases {
				g.Case(jen.Op("*").Id(t.Cases[c].Go)).Block(jen.Add(item.Clone()).Op("=").Id("e"))
			}
			g.Default().Block(jen.Return(jen.Id("dst"), rt("Unexpected").Call(jen.Id("e"), jen.Lit("a stream item"))))
		}),
		jen.Return(jen.Id(appendFunc(t.wire, t.StreamItem)).Call(jen.Id("dst"), jen.Op("&").Id("item"))),
	).Line()
}

// readEvent prints the function that reads a stream item.
func (t *versionTable) readEvent() jen.Code {
	payload := t.Fields["StreamItem.payload"]
	return jen.Func().Id("parseEvent"+t.wire.Suffix).Params(jen.Id("src").Index().Byte()).Params(rt("Event"), jen.Error()).Block(
		jen.List(jen.Id("item"), jen.Err()).Op(":=").Id(decodeFunc(t.wire, t.StreamItem)).Call(jen.Id("src")),
		failed(),
		jen.Switch(jen.Id("e").Op(":=").Id("item").Dot(payload.Go).Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, c := range eventCases {
				g.Case(jen.Op("*").Id(t.Cases[c].Go)).Block(jen.Return(jen.Id("e"), jen.Nil()))
			}
			g.Case(jen.Op("*").Id(payload.Union.Unknown)).Block(
				jen.If(jen.Id("e").Dot("Name").Op("!=").Lit("")).Block(jen.Return(jen.Nil(), rt("ErrUnknownEvent"))),
			)
		}),
		jen.Return(jen.Nil(), jen.Op("&").Qual(wirePath, "Error").Values(jen.Dict{jen.Id("Reason"): jen.Lit("no event that is known")})),
	).Line()
}

// failed returns nil and the error, if there is one.
func failed() jen.Code {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
}

// encoder is a function that appends a value called v.
func encoder(body ...jen.Code) jen.Code {
	return jen.Func().Params(jen.Id("dst").Index().Byte(), jen.Id("v").Any()).Params(jen.Index().Byte(), jen.Error()).Block(body...)
}

// decoder is a function that reads src.
func decoder(body ...jen.Code) jen.Code {
	return jen.Func().Params(jen.Id("src").Index().Byte()).Params(jen.Any(), jen.Error()).Block(body...)
}

// appendAs appends the variable as a *typ, or says that it is none.
func (t *versionTable) appendAs(typ *ir.Type, variable string) []jen.Code {
	return []jen.Code{
		jen.If(jen.List(jen.Id("x"), jen.Id("ok")).Op(":=").Id(variable).Assert(ptr(typ)), jen.Id("ok")).Block(
			jen.Return(jen.Id(appendFunc(t.wire, typ)).Call(jen.Id("dst"), jen.Id("x"))),
		),
		jen.Return(jen.Id("dst"), rt("Unexpected").Call(jen.Id(variable), jen.Lit(typ.Name))),
	}
}

// appendEmpty appends what stands for nothing: {} (A2A 1.0 §5.5), or null as a result of older versions.
func appendEmpty(null bool) []jen.Code {
	nothing := "{}"
	if null {
		nothing = "null"
	}
	return []jen.Code{jen.Return(jen.Append(jen.Id("dst"), jen.Lit(nothing).Op("...")), jen.Nil())}
}

func (t *versionTable) appendRequest(op *ir.Operation) []jen.Code {
	if op.Request.Type == nil {
		return appendEmpty(false)
	}
	return t.appendAs(op.Request.Type, "v")
}

// appendResult prints the Append function of a row.
func (t *versionTable) appendResult(op *ir.Operation) jen.Code {
	switch {
	case op.Response.Type == nil:
		return encoder(appendEmpty(op.Null)...)
	case op.Role == ir.RoleSend:
		return encoder(t.appendSendResult()...)
	case op.Response.Type == t.StreamItem && op.Role != ir.RoleOther:
		return encoder(
			jen.If(jen.List(jen.Id("e"), jen.Id("ok")).Op(":=").Id("v").Assert(rt("Event")), jen.Id("ok")).Block(
				jen.Return(jen.Id("encodeEvent"+t.wire.Suffix).Call(jen.Id("dst"), jen.Id("e"))),
			),
			jen.Return(jen.Id("dst"), rt("Unexpected").Call(jen.Id("v"), jen.Lit("a stream item"))),
		)
	default:
		return encoder(t.appendAs(op.Response.Type, "v")...)
	}
}

// appendSendResult wraps a task or a message.
func (t *versionTable) appendSendResult() []jen.Code {
	payload := jen.Id("result").Dot(t.Fields["SendResult.payload"].Go)
	return []jen.Code{
		jen.Var().Id("result").Id(t.SendResult.Go),
		jen.Switch(jen.Id("v").Op(":=").Id("v").Assert(jen.Type())).Block(
			jen.Case(ptr(t.Task)).Block(jen.Add(payload.Clone()).Op("=").Id("v")),
			jen.Case(ptr(t.Message)).Block(jen.Add(payload.Clone()).Op("=").Id("v")),
			jen.Default().Block(jen.Return(jen.Id("dst"), rt("Unexpected").Call(jen.Id("v"), jen.Lit("the result of a send")))),
		),
		jen.Return(jen.Id(appendFunc(t.wire, t.SendResult)).Call(jen.Id("dst"), jen.Op("&").Id("result"))),
	}
}

// readResult prints the Read function of a row.
func (t *versionTable) readResult(op *ir.Operation) jen.Code {
	switch {
	case op.Response.Type == nil: // whatever it is: peers answer {}, null or nothing (T61)
		return jen.Func().Params(jen.Index().Byte()).Params(jen.Any(), jen.Error()).Block(jen.Return(jen.Nil(), jen.Nil()))
	case op.Role == ir.RoleSend:
		return decoder(
			jen.List(jen.Id("result"), jen.Err()).Op(":=").Id(decodeFunc(t.wire, t.SendResult)).Call(jen.Id("src")),
			failed(),
			jen.Switch(jen.Id("v").Op(":=").Id("result").Dot(t.Fields["SendResult.payload"].Go).Assert(jen.Type())).Block(
				jen.Case(ptr(t.Task)).Block(jen.Return(jen.Id("v"), jen.Nil())),
				jen.Case(ptr(t.Message)).Block(jen.Return(jen.Id("v"), jen.Nil())),
			),
			jen.Return(jen.Nil(), jen.Op("&").Qual(wirePath, "Error").Values(jen.Dict{jen.Id("Reason"): jen.Lit("neither a task nor a message")})),
		)
	case op.Response.Type == t.StreamItem:
		return decoder(jen.Return(jen.Id("parseEvent" + t.wire.Suffix).Call(jen.Id("src"))))
	default:
		return decoder(jen.Return(jen.Id(decodeFunc(t.wire, op.Response.Type)).Call(jen.Id("src"))))
	}
}

// decodeRequest prints the Decode function of a row.
func (t *versionTable) decodeRequest(op *ir.Operation) jen.Code {
	name, _ := t.neutral(op)
	switch {
	case op.Request.Type == nil:
		return jen.Func().Params(jen.Index().Byte()).Params(jen.Any(), jen.Error()).Block(jen.Return(jen.Nil(), jen.Nil()))
	case name == "":
		return decoder(jen.Return(jen.Id(decodeFunc(t.wire, op.Request.Type)).Call(jen.Id("src"))))
	}
	body := []jen.Code{jen.List(jen.Id("x"), jen.Err()).Op(":=").Id(decodeFunc(t.wire, op.Request.Type)).Call(jen.Id("src")), failed()}
	return decoder(append(append(body, t.guards(op)...), jen.Return(jen.Id(name).Call(jen.Id("x")), jen.Nil()))...)
}

// guards refuse requests that the neutral form cannot express: a message that is not there, a filter by a state that is not known.
func (t *versionTable) guards(op *ir.Operation) []jen.Code {
	refuse := func(meaning, reason string, condition jen.Code) []jen.Code {
		err := jen.Qual(wirePath, "In").Call(jen.Op("&").Qual(wirePath, "Error").Values(jen.Dict{jen.Id("Reason"): jen.Lit(reason)}), jen.Lit(t.member(op.Request.Type, t.Fields[meaning])))
		return []jen.Code{jen.If(condition).Block(jen.Return(jen.Nil(), err))}
	}
	message, status := string(op.Role)+".message", string(op.Role)+".status"
	switch {
	case t.has(message) && t.Fields[message].Presence != ir.Required:
		return refuse(message, "required", isNil(t.sel("x", message)))
	case t.has(status):
		known := jen.Id("stateOf").Call(t.get("x", status)).Op("==").Add(rt("StateUnspecified"))
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

// decoded returns the types that are read whole, sorted, and those among them that are requests.
func (t *versionTable) decoded() (requests, all []*ir.Type) {
	all = []*ir.Type{t.AgentCard, t.StreamItem, t.SendResult}
	for _, op := range t.v.Operations {
		requests = append(requests, op.Request.Type)
		all = append(all, op.Request.Type, op.Response.Type)
	}
	all = slices.DeleteFunc(all, func(t *ir.Type) bool { return t == nil })
	slices.SortFunc(all, func(a, b *ir.Type) int { return cmp.Compare(a.Go, b.Go) })
	return requests, slices.Compact(all)
}

// decode prints the function that reads one whole value. Parameters may be absent: those of GetExtendedAgentCard are.
func (t *versionTable) decode(typ *ir.Type, request bool) jen.Code {
	src := jen.Id("src")
	if request {
		src = rt("Params").Call(jen.Id("src"))
	}
	return jen.Func().Id(decodeFunc(t.wire, typ)).Params(jen.Id("src").Index().Byte()).Params(ptr(typ), jen.Error()).Block(
		jen.Var().Id("r").Qual(wirePath, "Reader"),
		jen.Id("r").Dot("Reset").Call(src),
		jen.Id("x").Op(":=").New(jen.Id(typ.Go)),
		jen.Id(readFunc(t.wire, typ)).Call(jen.Op("&").Id("r"), jen.Id("x")),
		jen.If(jen.Err().Op(":=").Id("r").Dot("Done").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("x"), jen.Nil()),
	).Line()
}
