package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"
)

// messageInfo prints Message.EventInfo, Message.MessageInfo and Message.Bind.
func (b *bound) messageInfo() jen.Code {
	event := members("Kind", rt("EventMessage"))
	b.from(event, "TaskID", "x", "Message.task_id")
	b.from(event, "ContextID", "x", "Message.context_id")
	info := members()
	b.copyOut(info, "x", "Message")
	info.set("User", jen.Add(b.get("x", "Message.role")).Op("==").Id(b.Values["MessageRole.user"].Go))
	s := jen.Add(method("x", b.Message, "EventInfo")).Params().Add(rt("EventInfo")).Block(jen.Return(rt("EventInfo").Values(event.code()...))).Line().Line()
	s.Add(method("x", b.Message, "MessageInfo")).Params().Add(rt("MessageInfo")).Block(jen.Return(rt("MessageInfo").Values(info.code()...))).Line().Line()
	s.Add(method("x", b.Message, "Bind")).Params(jen.List(jen.Id("contextID"), jen.Id("taskID")).String()).Block(
		b.set("x", "Message.context_id", jen.Id("contextID")),
		b.set("x", "Message.task_id", jen.Id("taskID")),
	).Line()
	return s
}

// set assigns to the field of this meaning. A zero value is "not set".
func (b *bound) set(x, meaning string, value jen.Code) jen.Code {
	if isPointer(b.Fields[meaning]) {
		value = nonZero(value)
	}
	return b.sel(x, meaning).Op("=").Add(value)
}

// messageContents prints Message.Contents.
func (b *bound) messageContents() jen.Code {
	return jen.Add(method("x", b.Message, "Contents")).Params().Index().Add(rt("Part")).
		Add(oneLine(jen.Return(inGen("Each").Call(b.sel("x", "Message.parts"), jen.Id("partOf"))))).Line()
}

// statusUpdate prints the methods of a status update.
func (b *bound) statusUpdate() jen.Code {
	info := members("Kind", rt("EventStatus"))
	b.from(info, "TaskID", "x", "StatusUpdate.task_id")
	b.from(info, "ContextID", "x", "StatusUpdate.context_id")
	info.set("State", jen.Id("statusState").Call(b.sel("x", "StatusUpdate.status")))
	b.from(info, "Generation", "x", "StatusUpdate.generation")
	s := jen.Add(method("x", b.StatusUpdate, "EventInfo")).Params().Add(rt("EventInfo")).Block(jen.Return(rt("EventInfo").Values(info.code()...))).Line().Line()
	return s.Add(b.statusMessage("x", b.StatusUpdate, b.sel("x", "StatusUpdate.status")))
}

// artifactUpdate prints the methods of an artifact update.
func (b *bound) artifactUpdate() jen.Code {
	info := members("Kind", rt("EventArtifact"))
	b.from(info, "TaskID", "x", "ArtifactUpdate.task_id")
	b.from(info, "ContextID", "x", "ArtifactUpdate.context_id")
	b.from(info, "Generation", "x", "ArtifactUpdate.generation")
	s := jen.Add(method("x", b.ArtifactUpdate, "EventInfo")).Params().Add(rt("EventInfo")).Block(jen.Return(rt("EventInfo").Values(info.code()...))).Line().Line()
	body := []jen.Code{jen.Id("data").Op(":=").Id("artifactData").Call(b.sel("x", "ArtifactUpdate.artifact"))}
	body = append(append(body, b.assignOut("data", "x", "ArtifactUpdate")...), jen.Return(jen.Id("data")))
	s.Add(method("x", b.ArtifactUpdate, "ArtifactUpdate")).Params().Add(rt("ArtifactData")).Block(body...).Line()
	return s
}

// statusState prints the state of a status that may be nil.
func (b *bound) statusState() jen.Code {
	return jen.Func().Id("statusState").Params(jen.Id("s").Add(ptr(b.TaskStatus))).Add(rt("State")).Block(
		jen.If(isNil(jen.Id("s"))).Block(jen.Return(rt("StateUnspecified"))),
		jen.Return(stateOf(b.get("s", "TaskStatus.state"))),
	).Line()
}

// stateOf is the runtime's state of one of the protocol's.
func stateOf(name jen.Code) *jen.Statement { return jen.Id("states").Dot("State").Call(name) }

// states prints the table of the protocol's states.
func (b *bound) states() jen.Code {
	rows := []jen.Code{}
	for _, c := range taskStates {
		rows = append(rows, jen.Add(rt(c.constant)).Op(":").Id(b.Values["TaskState."+c.meaning].Go))
	}
	return jen.Var().Id("states").Op("=").Add(inGen("States")).Types(jen.Id(b.TaskState.Go)).Values(multiline(rows)...).Line()
}

// artifactData prints the neutral form of an artifact that may be nil.
func (b *bound) artifactData() jen.Code {
	data := members()
	b.copyOut(data, "a", "Artifact")
	return jen.Func().Id("artifactData").Params(jen.Id("a").Add(ptr(b.Artifact))).Add(rt("ArtifactData")).Block(
		jen.If(isNil(jen.Id("a"))).Block(jen.Return(rt("ArtifactData").Values())),
		jen.Return(rt("ArtifactData").Values(data.code()...)),
	).Line()
}

// partKinds are the members of a part with the runtime's kind and field for each.
var partKinds = []partKind{
	{"Part.text", "PartText", "Text"}, {"Part.raw", "PartRaw", "Raw"}, {"Part.url", "PartURL", "URL"}, {"Part.data", "PartData", "Data"},
}

type partKind struct{ meaning, kind, member string }

// partOf prints the neutral form of a part that may be nil.
func (b *bound) partOf() jen.Code {
	part := members()
	b.copyOut(part, "p", "Part")
	return jen.Func().Id("partOf").Params(jen.Id("p").Add(ptr(b.Part))).Add(rt("Part")).Block(
		jen.If(isNil(jen.Id("p"))).Block(jen.Return(rt("Part").Values())),
		jen.Id("part").Op(":=").Add(rt("Part")).Values(part.code()...),
		jen.Switch(jen.Id("c").Op(":=").Add(b.sel("p", "Part.content")).Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, k := range partKinds {
				c := b.Cases[k.meaning]
				g.Case(jen.Id(c.Go)).Block(
					jen.List(jen.Id("part").Dot("Kind"), jen.Id("part").Dot(k.member)).Op("=").List(rt(k.kind), convert(c.Type, jen.Id("c"))),
				)
			}
			if others := b.otherParts(); len(others) > 0 {
				g.Case(others...).Block(jen.Id("part").Dot("Kind").Op("=").Add(rt("PartOther")))
			}
		}),
		jen.Return(jen.Id("part")),
	).Line()
}

// otherParts are the types of content that a definition has beside those that the runtime knows.
func (b *bound) otherParts() (types []jen.Code) {
	for _, c := range b.Fields["Part.content"].Union.Cases {
		if !slices.ContainsFunc(partKinds, func(k partKind) bool { return b.Cases[k.meaning] == c }) {
			typ := jen.Id(c.Go)
			if c.Direct {
				typ = jen.Op("*").Id(c.Go)
			}
			types = append(types, typ)
		}
	}
	return types
}

// partFrom prints the way back: setPart fills a new part. A part of unknown kind has no content; writing it is an error.
func (b *bound) partFrom() jen.Code {
	part := members()
	b.copyIn(part, "Part", "from")
	s := jen.Func().Id("setPart").Params(jen.Id("p").Add(ptr(b.Part)), jen.Id("from").Op("*").Add(rt("Part"))).Block(
		jen.Op("*").Id("p").Op("=").Id(b.Part.Go).Values(part.code()...),
		jen.Switch(jen.Id("from").Dot("Kind")).BlockFunc(func(g *jen.Group) {
			for _, k := range partKinds {
				g.Case(rt(k.kind)).Block(b.sel("p", "Part.content").Op("=").Id(b.Cases[k.meaning].Go).Call(jen.Id("from").Dot(k.member)))
			}
		}),
	).Line()
	return s
}
