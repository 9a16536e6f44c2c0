package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
)

// operation returns the newest version's operation of a role, or nil.
func operation(p *ir.Protocol, role ir.Role) *ir.Operation {
	for _, op := range p.Versions[0].Operations {
		if op.Role == role {
			return op
		}
	}
	return nil
}

func (b *bound) newTask() jen.Code {
	task := members()
	b.into(task, "Task.id", jen.Id("id"))
	b.into(task, "Task.context_id", jen.Id("contextID"))
	status := b.status(jen.Id(b.Values["TaskState.submitted"].Go), nil)
	return jen.Func().Id("newTask").Params(jen.List(jen.Id("id"), jen.Id("contextID")).String(), jen.Id("at").Qual("time", "Time")).Add(rt("Task")).Block(
		jen.Return(show(b.Task, byFields("New", jen.Id(b.Task.Go).Values(task.code()...), jen.Id(b.TaskStatus.Go).Values(status.code()...)))),
	).Line()
}

// together returns a new outer whose field of the given meaning is a new inner.
func (b *bound) together(outer *ir.Type, outside *literal, meaning string, inner *ir.Type, inside *literal) jen.Code {
	field := accessor(outer, jen.Op("*").Add(ptr(inner)), jen.Op("&").Add(b.sel("x", meaning)))
	return jen.Return(show(outer, inGen("Join").Call(multiline([]jen.Code{
		jen.Id(outer.Go).Values(outside.code()...), jen.Id(inner.Go).Values(inside.code()...), field,
	})...)))
}

// status fills a status with a state, a message (nil: none) and the time called at.
func (b *bound) status(state, message jen.Code) *literal {
	status := members()
	b.into(status, "TaskStatus.state", state)
	if message != nil {
		b.into(status, "TaskStatus.message", message)
	}
	b.into(status, "TaskStatus.timestamp", jen.Id("at"))
	return status
}

func (b *bound) newMessage() jen.Code {
	message := members()
	b.copyIn(message, "Message", "data")
	b.into(message, "Message.role", jen.Id(b.Values["MessageRole.agent"].Go))
	b.into(message, "Message.parts", inGen("PartsFrom").Call(jen.Id("data").Dot("Parts"), jen.Id("setPart")))
	return jen.Func().Id("newMessage").Params(jen.Id("data").Add(rt("MessageData"))).Add(rt("Message")).Block(
		jen.Id("m").Op(":=").Add(newOf(b.Message, message)),
		jen.If(jen.Id("data").Dot("User")).Block(b.set("m", "Message.role", jen.Id(b.Values["MessageRole.user"].Go))),
		jen.Return(show(b.Message, jen.Id("m"))),
	).Line()
}

func (b *bound) newStatus() jen.Code {
	update := members()
	b.into(update, "StatusUpdate.task_id", jen.Id("taskID"))
	b.into(update, "StatusUpdate.context_id", jen.Id("contextID"))
	return jen.Func().Id("newStatus").Params(
		jen.List(jen.Id("taskID"), jen.Id("contextID")).String(), jen.Id("state").Add(rt("State")), jen.Id("message").Add(rt("Message")), jen.Id("at").Qual("time", "Time"),
	).Add(rt("Event")).Block(
		jen.List(jen.Id("m"), jen.Id("_")).Op(":=").Id("message").Assert(seenPtr(b.Message)),
		b.together(b.StatusUpdate, update, "StatusUpdate.status", b.TaskStatus,
			b.status(jen.Id("states").Dot("Name").Call(jen.Id("state")), plain(b.Message, jen.Id("m")))),
	).Line()
}

func (b *bound) newArtifact() jen.Code {
	artifact := members()
	b.copyIn(artifact, "Artifact", "data")
	update := members()
	b.into(update, "ArtifactUpdate.task_id", jen.Id("taskID"))
	b.into(update, "ArtifactUpdate.context_id", jen.Id("contextID"))
	b.copyIn(update, "ArtifactUpdate", "data")
	return jen.Func().Id("newArtifact").Params(jen.List(jen.Id("taskID"), jen.Id("contextID")).String(), jen.Id("data").Add(rt("ArtifactData"))).Add(rt("Event")).Block(
		b.together(b.ArtifactUpdate, update, "ArtifactUpdate.artifact", b.Artifact, artifact),
	).Line()
}

func (b *bound) newTaskPage(t *ir.Type) jen.Code {
	page := members()
	b.into(page, "listResult.tasks", jen.Id("list"))
	b.into(page, "listResult.next_page_token", jen.Id("next"))
	b.into(page, "listResult.page_size", jen.Int32().Call(jen.Id("pageSize")))
	b.into(page, "listResult.total_size", jen.Int32().Call(jen.Id("total")))
	return jen.Func().Id("newTaskPage").Params(jen.Id("tasks").Index().Add(rt("Task")), jen.Id("next").String(), jen.List(jen.Id("pageSize"), jen.Id("total")).Int()).Any().Block(
		jen.Id("list").Op(":=").Make(jen.Index().Add(ptr(b.Task)), jen.Lit(0), jen.Len(jen.Id("tasks"))),
		jen.For(jen.List(jen.Id("_"), jen.Id("t")).Op(":=").Range().Id("tasks")).Block(
			jen.If(jen.List(jen.Id("t"), jen.Id("ok")).Op(":=").Id("t").Assert(seenPtr(b.Task)), jen.Id("ok")).Block(
				jen.Id("list").Op("=").Append(jen.Id("list"), plain(b.Task, jen.Id("t"))),
			),
		),
		jen.Return(newOf(t, page)),
	).Line()
}

// newSend makes a send request, with a configuration only if something is to be configured.
func (b *bound) newSend(t *ir.Type) jen.Code {
	req := members()
	b.copyIn(req, "send", "data")
	b.into(req, "send.message", plain(b.Message, jen.Id("m")))
	body := []jen.Code{
		jen.List(jen.Id("m"), jen.Id("_")).Op(":=").Id("data").Dot("Message").Assert(seenPtr(b.Message)),
		jen.Id("req").Op(":=").Add(newOf(t, req)),
	}
	if b.has("send.configuration") {
		config := members()
		b.copyIn(config, "SendConfig", "data")
		asked := jen.Len(jen.Id("data").Dot("AcceptedOutputModes")).Op(">").Lit(0).Op("||").Id("data").Dot("HistoryLength").Op("!=").Nil().
			Op("||").Id("data").Dot("ReturnImmediately")
		if b.pushesInline() {
			config.set(b.Fields[pushInline].Go, jen.Id("pushFrom").Call(jen.Lit(""), jen.Lit(""), jen.Id("data").Dot("Push")))
			asked.Op("||").Id("data").Dot("Push").Op("!=").Nil()
		}
		if b.has("SendConfig.if_generation_match") {
			asked.Op("||").Id("data").Dot("IfGenerationMatch").Op("!=").Nil()
		}
		body = append(body, jen.If(asked).Block(b.sel("req", "send.configuration").Op("=").Add(newOf(b.SendConfig, config))))
	}
	return jen.Func().Id("newSend").Params(jen.Id("data").Add(rt("SendRequest"))).Any().Block(append(body, jen.Return(jen.Id("req")))...).Line()
}

func (b *bound) newTaskRequest(p *ir.Protocol) jen.Code {
	return jen.Func().Id("newTaskRequest").Params(jen.Id("role").Add(rt("Role")), jen.Id("data").Add(rt("TaskRequest"))).Any().Block(
		jen.Switch(jen.Id("role")).BlockFunc(func(g *jen.Group) {
			for i, row := range runtime.Roles {
				op := operation(p, ir.Role(row.Name))
				if op == nil || !runtime.Role(i).OfTask() {
					continue
				}
				req := members()
				b.copyIn(req, row.Name, "data")
				g.Case(rt(roleConstant(op.Role))).Block(jen.Return(newOf(op.Request.Type, req)))
			}
		}),
		jen.Return(jen.Nil()),
	).Line()
}
