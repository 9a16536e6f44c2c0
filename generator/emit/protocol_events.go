package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// stateConsts are the runtime's constants of the task states, in the order of the runtime.
var stateConsts = []struct{ meaning, constant string }{
	{"submitted", "StateSubmitted"}, {"working", "StateWorking"}, {"completed", "StateCompleted"}, {"failed", "StateFailed"},
	{"canceled", "StateCanceled"}, {"input-required", "StateInputRequired"}, {"rejected", "StateRejected"}, {"auth-required", "StateAuthRequired"},
}

// eventsFile is events.gen.go: how the runtime sees tasks, messages and updates.
func (b *bound) eventsFile(paths Paths) *jen.File {
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	addAll(f, b.seenTypes(), b.assertions(), b.generated(),
		b.taskInfo(), b.taskApply(), b.taskApplyStatus(), b.taskApplyArtifact(), b.taskRest(), b.taskView(),
		b.messageInfo(), b.messageContents(), b.statusUpdate(), b.artifactUpdate(),
		b.statusState(), b.stateOf(), b.stateFrom(), b.artifactData(), b.partFrom(), b.partOf(), b.partsOf())
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
	task := members()
	b.from(task, "ID", "x", "Task.id")
	b.from(task, "ContextID", "x", "Task.context_id")
	task.set("State", jen.Id("statusState").Call(b.sel("x", "Task.status")))
	task.set("Artifacts", jen.Len(b.sel("x", "Task.artifacts")))
	task.set("History", jen.Len(b.sel("x", "Task.history")))
	status := b.sel("x", "Task.status")
	s := jen.Add(doc("EventInfo implements [runtime.Event]."))
	s.Add(method("x", b.Task, "EventInfo")).Params().Add(rt("EventInfo")).Block(jen.Return(rt("EventInfo").Values(info.code()...))).Line().Line()
	s.Add(doc("TaskInfo implements [runtime.Task]."))
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
	s := jen.Add(doc("Fits implements [runtime.Task]."))
	s.Add(method("x", b.Task, "Fits")).Params(jen.Id("e").Add(rt("Event"))).Error().Block(
		jen.Switch(jen.Id("u").Op(":=").Id("e").Assert(jen.Type())).Block(
			jen.Case(seenPtr(b.StatusUpdate)).Block(fits("StatusUpdate.task_id", "StatusUpdate.status")),
			jen.Case(seenPtr(b.ArtifactUpdate)).Block(fits("ArtifactUpdate.task_id", "ArtifactUpdate.artifact")),
		),
		jen.Return(rt("Mismatch").Call(jen.Id("x"), jen.Id("e"))),
	).Line().Line()
	s.Add(doc("Apply implements [runtime.Task]: it changes x by a status or artifact update, which it does not write to."))
	return s.Add(method("x", b.Task, "Apply")).Params(jen.Id("e").Add(rt("Event"))).Error().Block(
		jen.If(jen.Id("err").Op(":=").Id("x").Dot("Fits").Call(jen.Id("e")), jen.Id("err").Op("!=").Nil()).Block(jen.Return(jen.Id("err"))),
		jen.Switch(jen.Id("u").Op(":=").Id("e").Assert(jen.Type())).Block(
			jen.Case(seenPtr(b.StatusUpdate)).Block(jen.Id("x").Dot("applyStatus").Call(jen.Id("u"))),
			jen.Case(seenPtr(b.ArtifactUpdate)).Block(jen.Id("x").Dot("applyArtifact").Call(jen.Id("u"))),
		),
		jen.Return(jen.Nil()),
	).Line()
}

// taskApplyStatus prints the part of Apply for status updates.
func (b *bound) taskApplyStatus() jen.Code {
	status, message := b.sel("x", "Task.status"), b.Fields["TaskStatus.message"].Go
	s := jen.Add(doc("applyStatus replaces the status. The message of the old one moves to the history."))
	return s.Add(method("x", b.Task, "applyStatus")).Params(jen.Id("u").Add(seenPtr(b.StatusUpdate))).Block(
		jen.If(jen.Id("old").Op(":=").Add(status), jen.Id("old").Op("!=").Nil().Op("&&").Id("old").Dot(message).Op("!=").Nil()).Block(
			b.sel("x", "Task.history").Op("=").Append(b.sel("x", "Task.history"), jen.Id("old").Dot(message)),
		),
		jen.Add(status.Clone()).Op("=").Add(b.sel("u", "StatusUpdate.status")),
	).Line()
}

// taskApplyArtifact prints the part of Apply for artifact updates.
func (b *bound) taskApplyArtifact() jen.Code {
	list, parts := b.sel("x", "Task.artifacts"), b.Fields["Artifact.parts"].Go
	s := jen.Add(doc("applyArtifact appends to the artifact of the same id, replaces it, or adds a new one.\n\nWhat goes into the task is a copy with a list of parts that cannot grow in place, so that u stays as it is."))
	return s.Add(method("x", b.Task, "applyArtifact")).Params(jen.Id("u").Add(seenPtr(b.ArtifactUpdate))).Block(
		jen.Id("from").Op(":=").Add(b.sel("u", "ArtifactUpdate.artifact")),
		jen.Id("at").Op(":=").Len(list).Op("-").Lit(1),
		jen.For(jen.Id("at").Op(">=").Lit(0).Op("&&").Add(list.Clone()).Index(jen.Id("at")).Dot(b.Fields["Artifact.artifact_id"].Go).Op("!=").Add(b.sel("from", "Artifact.artifact_id"))).Block(jen.Id("at").Op("--")),
		jen.If(jen.Id("at").Op(">=").Lit(0).Op("&&").Add(b.get("u", "ArtifactUpdate.append"))).Block(
			jen.Id("to").Op(":=").Add(list.Clone()).Index(jen.Id("at")),
			jen.Id("to").Dot(parts).Op("=").Append(jen.Id("to").Dot(parts), jen.Id("from").Dot(parts).Op("...")),
			jen.Return(),
		),
		jen.Id("own").Op(":=").Op("*").Id("from"),
		jen.Id("own").Dot(parts).Op("=").Qual("slices", "Clip").Call(jen.Id("own").Dot(parts)),
		jen.If(jen.Id("at").Op(">=").Lit(0)).Block(
			jen.Add(list.Clone()).Index(jen.Id("at")).Op("=").Op("&").Id("own"),
		).Else().Block(
			jen.Add(list.Clone()).Op("=").Append(list.Clone(), jen.Op("&").Id("own")),
		),
	).Line()
}

// taskRest prints Task.AddMessage, Task.StatusMessage, Task.HistoryList and Task.ArtifactList.
func (b *bound) taskRest() jen.Code {
	s := jen.Add(doc("AddMessage implements [runtime.Task]."))
	s.Add(method("x", b.Task, "AddMessage")).Params(jen.Id("m").Add(rt("Message"))).Block(
		jen.If(jen.List(jen.Id("m"), jen.Id("ok")).Op(":=").Id("m").Assert(seenPtr(b.Message)), jen.Id("ok").Op("&&").Id("m").Op("!=").Nil()).Block(
			b.sel("x", "Task.history").Op("=").Append(b.sel("x", "Task.history"), plain(b.Message, jen.Id("m"))),
		),
	).Line().Line()
	s.Add(b.statusMessage("x", b.Task, b.sel("x", "Task.status")))
	s.Add(doc("HistoryList implements [runtime.Task]."))
	s.Add(method("x", b.Task, "HistoryList")).Params().Index().Add(rt("Message")).Block(
		jen.Id("list").Op(":=").Make(jen.Index().Add(rt("Message")), jen.Lit(0), jen.Len(b.sel("x", "Task.history"))),
		jen.For(jen.List(jen.Id("_"), jen.Id("m")).Op(":=").Range().Add(b.sel("x", "Task.history"))).Block(
			jen.Id("list").Op("=").Append(jen.Id("list"), show(b.Message, jen.Id("m"))),
		),
		jen.Return(jen.Id("list")),
	).Line().Line()
	s.Add(doc("ArtifactList implements [runtime.Task]."))
	s.Add(method("x", b.Task, "ArtifactList")).Params().Index().Add(rt("ArtifactData")).Block(
		jen.Id("list").Op(":=").Make(jen.Index().Add(rt("ArtifactData")), jen.Lit(0), jen.Len(b.sel("x", "Task.artifacts"))),
		jen.For(jen.List(jen.Id("_"), jen.Id("a")).Op(":=").Range().Add(b.sel("x", "Task.artifacts"))).Block(
			jen.Id("list").Op("=").Append(jen.Id("list"), jen.Id("artifactData").Call(jen.Id("a"))),
		),
		jen.Return(jen.Id("list")),
	).Line()
	return s
}

// statusMessage prints the method StatusMessage of a type whose status is given.
func (b *bound) statusMessage(recv string, t *ir.Type, status *jen.Statement) jen.Code {
	message := jen.Add(status.Clone()).Dot(b.Fields["TaskStatus.message"].Go)
	s := jen.Add(doc("StatusMessage returns the message of the status, or nil."))
	return s.Add(method(recv, t, "StatusMessage")).Params().Add(rt("Message")).Block(
		jen.If(isNil(status.Clone()).Op("||").Add(isNil(message.Clone()))).Block(jen.Return(jen.Nil())),
		jen.Return(show(b.Message, message)),
	).Line().Line()
}

// taskView prints Task.View.
func (b *bound) taskView() jen.Code {
	status, artifacts, parts := b.Fields["Task.status"].Go, b.Fields["Task.artifacts"].Go, b.Fields["Artifact.parts"].Go
	s := jen.Add(doc("View implements [runtime.Task]: the copy has a status and artifacts of its own and shares messages and parts."))
	return s.Add(method("x", b.Task, "View")).Params(jen.Id("history").Op("*").Int(), jen.Id("artifacts").Bool()).Add(rt("Task")).Block(
		jen.Id("v").Op(":=").Op("&").Struct(jen.Id("task").Id(seen(b.Task)), jen.Id("status").Id(b.TaskStatus.Go)).Values(members("task", jen.Op("*").Id("x")).code()...),
		jen.If(b.sel("x", "Task.status").Op("!=").Nil()).Block(
			jen.Id("v").Dot("status").Op("=").Op("*").Add(b.sel("x", "Task.status")),
			jen.Id("v").Dot("task").Dot(status).Op("=").Op("&").Id("v").Dot("status"),
		),
		jen.Id("v").Dot("task").Dot(b.Fields["Task.history"].Go).Op("=").Add(rt("Tail")).Call(b.sel("x", "Task.history"), jen.Id("history")),
		jen.Id("v").Dot("task").Dot(artifacts).Op("=").Nil(),
		jen.If(jen.Id("artifacts")).Block(
			jen.Id("v").Dot("task").Dot(artifacts).Op("=").Add(rt("Copies")).Call(b.sel("x", "Task.artifacts")),
			jen.For(jen.List(jen.Id("_"), jen.Id("a")).Op(":=").Range().Id("v").Dot("task").Dot(artifacts)).Block(
				jen.Id("a").Dot(parts).Op("=").Qual("slices", "Clip").Call(jen.Id("a").Dot(parts)),
			),
		),
		jen.Return(jen.Op("&").Id("v").Dot("task")),
	).Line()
}
