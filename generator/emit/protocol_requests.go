package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
)

// neutral prints the function that turns the request of an operation into its neutral form, and its name; none if
// the runtime takes the generated request itself.
func (b *bound) neutral(op *ir.Operation) (name string, code jen.Code) {
	if op.Request.Type == nil {
		return "", nil
	}
	name = "neutral" + op.Request.Type.Go
	of := string(op.Role) + "."
	switch role := runtime.RoleNamed(string(op.Role)); {
	case role.Sends():
		return name, b.neutralSend(name, of, op.Request.Type)
	case role.OfTask():
		req := members()
		b.from(req, "Tenant", "x", of+"tenant")
		b.from(req, "ID", "x", of+"id")
		b.countFrom(req, "HistoryLength", "x", of+"history_length")
		b.from(req, "Metadata", "x", of+"metadata")
		req.set("Source", jen.Id("x"))
		return name, b.neutralFunc(name, "TaskRequest", op.Request.Type, req)
	case role == runtime.RoleList:
		return name, b.neutralList(name, of, op.Request.Type)
	default:
		return b.neutralPush(name, op)
	}
}

// neutralFunc prints func name(x *T) *runtime.form, with more statements before the return of req.
func (b *bound) neutralFunc(name, form string, t *ir.Type, req *literal, more ...jen.Code) jen.Code {
	body := append([]jen.Code{jen.Id("req").Op(":=").Op("&").Add(rt(form)).Values(req.code()...)}, more...)
	if len(more) == 0 {
		return jen.Func().Id(name).Params(jen.Id("x").Add(ptr(t))).Op("*").Add(rt(form)).Block(jen.Return(jen.Op("&").Add(rt(form)).Values(req.code()...))).Line()
	}
	return jen.Func().Id(name).Params(jen.Id("x").Add(ptr(t))).Op("*").Add(rt(form)).Block(append(body, jen.Return(jen.Id("req")))...).Line()
}

func (b *bound) neutralSend(name, of string, t *ir.Type) jen.Code {
	req := members()
	b.from(req, "Tenant", "x", of+"tenant")
	req.set("Message", show(b.Message, b.sel("x", of+"message")))
	b.from(req, "Metadata", "x", of+"metadata")
	req.set("Source", jen.Id("x"))
	if !b.has(of + "configuration") {
		return b.neutralFunc(name, "SendRequest", t, req)
	}
	var set []jen.Code
	assign := func(member string, value jen.Code) { set = append(set, jen.Id("req").Dot(member).Op("=").Add(value)) }
	if b.has("SendConfig.accepted_output_modes") {
		assign("AcceptedOutputModes", b.get("c", "SendConfig.accepted_output_modes"))
	}
	if value := b.count("c", "SendConfig.history_length"); value != nil {
		assign("HistoryLength", value)
	}
	if b.has("SendConfig.return_immediately") {
		assign("ReturnImmediately", b.get("c", "SendConfig.return_immediately"))
	}
	if b.pushesInline() {
		assign("Push", jen.Id("pushOf").Call(b.sel("c", pushInline)))
	}
	return b.neutralFunc(name, "SendRequest", t, req,
		jen.If(jen.Id("c").Op(":=").Add(b.sel("x", of+"configuration")), jen.Id("c").Op("!=").Nil()).Block(set...))
}

func (b *bound) neutralList(name, of string, t *ir.Type) jen.Code {
	req := members()
	b.from(req, "Tenant", "x", of+"tenant")
	b.from(req, "ContextID", "x", of+"context_id")
	if b.has(of + "status") {
		req.set("State", stateOf(b.get("x", of+"status")))
	}
	b.countFrom(req, "PageSize", "x", of+"page_size")
	b.from(req, "PageToken", "x", of+"page_token")
	b.countFrom(req, "HistoryLength", "x", of+"history_length")
	b.from(req, "After", "x", of+"status_timestamp_after")
	b.from(req, "IncludeArtifacts", "x", of+"include_artifacts")
	req.set("Source", jen.Id("x"))
	return b.neutralFunc(name, "ListRequest", t, req)
}
