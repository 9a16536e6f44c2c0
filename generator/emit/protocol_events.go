package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// taskStates are the runtime's constants of the task states, with what they mean.
var taskStates = []struct{ meaning, constant string }{
	{"submitted", "StateSubmitted"}, {"working", "StateWorking"}, {"completed", "StateCompleted"}, {"failed", "StateFailed"},
	{"canceled", "StateCanceled"}, {"input-required", "StateInputRequired"}, {"rejected", "StateRejected"}, {"auth-required", "StateAuthRequired"},
}

// eventsFile is events.gen.go: how the runtime sees tasks, messages and updates.
func (b *bound) eventsFile(paths Paths) *jen.File {
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	addAll(f, b.seenTypes(), b.assertions(), b.generated(),
		b.taskFields(), b.taskInfo(), b.taskApply(), b.taskRest(), b.taskView(), b.numbered(b.Task, "Task"),
		b.messageInfo(), b.messageContents(), b.statusUpdate(), b.numbered(b.StatusUpdate, "StatusUpdate"),
		b.artifactUpdate(), b.numbered(b.ArtifactUpdate, "ArtifactUpdate"), b.states(), b.statusState(), b.messageOfStatus(), b.artifactData(), b.partFrom(), b.partOf())
	return f
}

// view is an interface of the runtime with the message behind it.
type view struct {
	iface string
	t     *ir.Type
}

// views are the messages that the runtime sees.
func (b *bound) views() []view {
	return []view{{"Task", b.Task}, {"Message", b.Message}, {"StatusUpdate", b.StatusUpdate}, {"ArtifactUpdate", b.ArtifactUpdate}, {"Card", b.AgentCard}}
}

// seenTypes prints the types that implement the runtime's interfaces.
func (b *bound) seenTypes() jen.Code {
	s := jen.Add(doc("What the runtime sees of the types. It works through methods of these, so that the types themselves have none that only the runtime needs. A pointer converts from one to the other for free."))
	return s.Type().DefsFunc(func(g *jen.Group) {
		for _, v := range b.views() {
			g.Id(seen(v.t)).Id(v.t.Go)
		}
	}).Line()
}

// assertions makes the compiler say when a type does not fit the runtime's interface.
func (b *bound) assertions() jen.Code {
	return jen.Var().DefsFunc(func(g *jen.Group) {
		for _, v := range b.views() {
			g.Id("_").Add(rt(v.iface)).Op("=").Add(show(v.t, jen.Nil()))
		}
	}).Line()
}

// generated prints the way back to the types.
func (b *bound) generated() jen.Code {
	s := jen.Null()
	for _, v := range b.views() {
		s.Add(method("x", v.t, "Generated").Params().Any().Add(oneLine(jen.Return(plain(v.t, jen.Id("x")))))).Line()
	}
	return s
}

// taskInfo prints Task.EventInfo and Task.TaskInfo.
func (b *bound) taskInfo() jen.Code {
	info := members("Kind", rt("EventTask"))
	b.from(info, "TaskID", "x", "Task.id")
	b.from(info, "ContextID", "x", "Task.context_id")
	info.set("State", jen.Id("statusState").Call(b.sel("x", "Task.status")))
	b.from(info, "Generation", "x", "Task.generation")
	task := members()
	b.from(task, "ID", "x", "Task.id")
	b.from(task, "ContextID", "x", "Task.context_id")
	task.set("State", jen.Id("statusState").Call(b.sel("x", "Task.status")))
	task.set("Artifacts", jen.Len(b.sel("x", "Task.artifacts")))
	task.set("History", jen.Len(b.sel("x", "Task.history")))
	status := b.sel("x", "Task.status")
	s := jen.Add(method("x", b.Task, "EventInfo")).Params().Add(rt("EventInfo")).Block(jen.Return(rt("EventInfo").Values(info.code()...))).Line().Line()
	s.Add(method("x", b.Task, "TaskInfo")).Params().Add(rt("TaskInfo")).Block(
		jen.Id("info").Op(":=").Add(rt("TaskInfo")).Values(task.code()...),
		jen.If(jen.Add(status).Op("!=").Nil()).Block(jen.Id("info").Dot("At").Op("=").Add(status.Clone()).Dot(b.Fields["TaskStatus.timestamp"].Go)),
		jen.Return(jen.Id("info")),
	).Line()
	return s
}

// taskApply prints Task.Fits and Task.Apply.
func (b *bound) taskApply() jen.Code {
	fits := func(id, content string) jen.Code {
		own := jen.Add(b.get("u", id)).Op("==").Add(b.get("x", "Task.id"))
		return jen.If(own.Op("&&").Add(b.sel("u", content)).Op("!=").Nil()).Block(jen.Return(jen.Nil()))
	}
	s := jen.Add(method("x", b.Task, "Fits")).Params(jen.Id("e").Add(rt("Event"))).Error().Block(
		jen.Switch(jen.Id("u").Op(":=").Id("e").Assert(jen.Type())).Block(
			jen.Case(seenPtr(b.StatusUpdate)).Block(fits("StatusUpdate.task_id", "StatusUpdate.status")),
			jen.Case(seenPtr(b.ArtifactUpdate)).Block(fits("ArtifactUpdate.task_id", "ArtifactUpdate.artifact")),
		),
		jen.Return(inGen("Mismatch").Call(jen.Id("x"), jen.Id("e"))),
	).Line().Line()
	s.Add(doc("Apply implements [runtime.Task]: it changes x by a status or artifact update, which it does not write to."))
	return s.Add(method("x", b.Task, "Apply")).Params(jen.Id("e").Add(rt("Event"))).Error().Block(
		jen.If(jen.Id("err").Op(":=").Id("x").Dot("Fits").Call(jen.Id("e")), jen.Id("err").Op("!=").Nil()).Block(jen.Return(jen.Id("err"))),
		jen.Switch(jen.Id("u").Op(":=").Id("e").Assert(jen.Type())).Block(
			jen.Case(seenPtr(b.StatusUpdate)).Block(
				byFields("SetStatus", plain(b.Task, jen.Id("x")), b.sel("u", "StatusUpdate.status"))),
			jen.Case(seenPtr(b.ArtifactUpdate)).Block(
				byFields("SetArtifact", plain(b.Task, jen.Id("x")), b.sel("u", "ArtifactUpdate.artifact"), b.get("u", "ArtifactUpdate.append"))),
		),
		jen.Return(jen.Nil()),
	).Line()
}

// taskFields prints the accessors by which the runtime makes and changes tasks.
func (b *bound) taskFields() jen.Code {
	field := func(t *ir.Type, meaning string) jen.Code {
		f := b.Fields[meaning]
		return accessor(t, jen.Op("*").Add(goType(f.Type)), jen.Op("&").Add(b.sel("x", meaning)))
	}
	s := jen.Add(doc("taskFields are the accessors by which the runtime makes and changes tasks."))
	return s.Var().Id("taskFields").Op("=").Add(inGen("TaskFields")).Types(
		jen.Id(b.Task.Go), jen.Id(b.TaskStatus.Go), jen.Id(b.Message.Go), jen.Id(b.Artifact.Go), jen.Id(b.Part.Go),
	).Values(members(
		"Status", field(b.Task, "Task.status"),
		"History", field(b.Task, "Task.history"),
		"Artifacts", field(b.Task, "Task.artifacts"),
		"Message", accessor(b.TaskStatus, ptr(b.Message), b.sel("x", "TaskStatus.message")),
		"ArtifactID", accessor(b.Artifact, jen.String(), b.get("x", "Artifact.artifact_id")),
		"Parts", field(b.Artifact, "Artifact.parts"),
	).lines()...).Line()
}

// accessor is a function from a pointer x to a message to something in it.
func accessor(t *ir.Type, result, value jen.Code) jen.Code {
	return jen.Func().Params(jen.Id("x").Add(ptr(t))).Add(result).Add(oneLine(jen.Return(value)))
}

// byFields calls what the runtime does with a task by its accessors.
func byFields(method string, args ...jen.Code) *jen.Statement {
	return jen.Id("taskFields").Dot(method).Call(args...)
}

// taskRest prints Task.AddMessage, Task.StatusMessage, Task.HistoryList and Task.ArtifactList.
func (b *bound) taskRest() jen.Code {
	s := jen.Add(method("x", b.Task, "AddMessage")).Params(jen.Id("m").Add(rt("Message"))).Block(
		jen.If(jen.List(jen.Id("m"), jen.Id("ok")).Op(":=").Id("m").Assert(seenPtr(b.Message)), jen.Id("ok").Op("&&").Id("m").Op("!=").Nil()).Block(
			b.sel("x", "Task.history").Op("=").Append(b.sel("x", "Task.history"), plain(b.Message, jen.Id("m"))),
		),
	).Line().Line()
	s.Add(b.statusMessage("x", b.Task, b.sel("x", "Task.status")))
	s.Add(method("x", b.Task, "HistoryList")).Params().Index().Add(rt("Message")).
		Add(oneLine(jen.Return(inGen("Each").Call(b.sel("x", "Task.history"), jen.Id(asMessage))))).Line().Line()
	return s.Add(method("x", b.Task, "ArtifactList")).Params().Index().Add(rt("ArtifactData")).
		Add(oneLine(jen.Return(inGen("Each").Call(b.sel("x", "Task.artifacts"), jen.Id("artifactData"))))).Line()
}

// statusMessage prints the method StatusMessage of a type whose status is given.
func (b *bound) statusMessage(recv string, t *ir.Type, status *jen.Statement) jen.Code {
	return jen.Add(method(recv, t, "StatusMessage")).Params().Add(rt("Message")).Add(oneLine(jen.Return(jen.Id("statusMessage").Call(status)))).Line().Line()
}

// messageOfStatus prints the message of a status that may be nil.
func (b *bound) messageOfStatus() jen.Code {
	message := b.sel("s", "TaskStatus.message")
	return jen.Func().Id("statusMessage").Params(jen.Id("s").Add(ptr(b.TaskStatus))).Add(rt("Message")).Block(
		jen.If(isNil(jen.Id("s")).Op("||").Add(isNil(message.Clone()))).Block(jen.Return(jen.Nil())),
		jen.Return(show(b.Message, message)),
	).Line()
}

// taskView prints Task.View.
func (b *bound) taskView() jen.Code {
	s := jen.Add(doc("View implements [runtime.Task]: the copy has a status and artifacts of its own and shares messages and parts."))
	return s.Add(method("x", b.Task, "View")).Params(jen.Id("history").Op("*").Int(), jen.Id("artifacts").Bool()).Add(rt("Task")).Block(
		jen.Return(show(b.Task, byFields("Copy", plain(b.Task, jen.Id("x")), jen.Id("history"), jen.Id("artifacts")))),
	).Line()
}

// numbered prints WithGeneration of a message that has a generation.
func (b *bound) numbered(t *ir.Type, meaning string) jen.Code {
	if meaning += ".generation"; !b.has(meaning) {
		return jen.Null()
	}
	n := jen.Id("n")
	if isPointer(b.Fields[meaning]) {
		n = jen.Op("&").Id("n")
	}
	return jen.Add(method("x", t, "WithGeneration")).Params(jen.Id("n").Int64()).Add(rt("Event")).Block(
		jen.Id("copied").Op(":=").Op("*").Id("x"),
		jen.Id("copied").Dot(b.Fields[meaning].Go).Op("=").Add(n),
		jen.Return(jen.Op("&").Id("copied")),
	).Line().Line()
}
