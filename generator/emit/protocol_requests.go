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
	of := string(op.Role)
	switch role := runtime.RoleNamed(string(op.Role)); {
	case role.Sends():
		return name, b.neutralSend(name, of, op.Request.Type)
	case role.OfTask():
		req := members()
		b.copyOut(req, "x", of)
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
	b.copyOut(req, "x", of)
	req.set("Message", show(b.Message, b.sel("x", of+".message")))
	req.set("Source", jen.Id("x"))
	if !b.has(of + ".configuration") {
		return b.neutralFunc(name, "SendRequest", t, req)
	}
	set := b.assignOut("req", "c", "SendConfig")
	if b.pushesInline() {
		set = append(set, jen.Id("req").Dot("Push").Op("=").Id("pushOf").Call(b.sel("c", pushInline)))
	}
	return b.neutralFunc(name, "SendRequest", t, req,
		jen.If(jen.Id("c").Op(":=").Add(b.sel("x", of+".configuration")), jen.Id("c").Op("!=").Nil()).Block(set...))
}

func (b *bound) neutralList(name, of string, t *ir.Type) jen.Code {
	req := members()
	b.copyOut(req, "x", of)
	req.set("Source", jen.Id("x"))
	return b.neutralFunc(name, "ListRequest", t, req)
}
