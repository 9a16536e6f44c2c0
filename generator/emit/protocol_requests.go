package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
)

// neutral prints the function that turns requests into their neutral forms. Where there is none the runtime takes the generated
// request itself.
func (b *bound) neutral(p *ir.Protocol) jen.Code {
	var cases []jen.Code
	met := map[*ir.Type]bool{} // operations may share a request type, and versions and wires do
	for _, v := range p.Written() {
		for _, ops := range operationsOf(v) {
			for _, op := range ops {
				if op.Request.Type == nil || met[op.Request.Type] {
					continue
				}
				if body := b.neutralForm(op); body != nil {
					met[op.Request.Type] = true
					cases = append(cases, jen.Case(ptr(op.Request.Type)).Block(body...))
				}
			}
		}
	}
	return jen.Func().Id("neutral").Params(jen.Id("request").Any()).Any().Block(
		jen.Switch(jen.Id("x").Op(":=").Id("request").Assert(jen.Type())).Block(cases...),
		jen.Return(jen.Id("request")),
	).Line()
}

// operationsOf are the operations of a version on each of its wires.
func operationsOf(v *ir.Version) [][]*ir.Operation {
	list := [][]*ir.Operation{v.Operations}
	for _, w := range otherWires(v) {
		list = append(list, w.Operations)
	}
	return list
}

// neutralForm returns its neutral form for a request x.
func (b *bound) neutralForm(op *ir.Operation) []jen.Code {
	of := string(op.Role)
	switch role := runtime.RoleNamed(of); {
	case role.Sends():
		return b.neutralSend(of)
	case role.OfTask():
		return b.neutralOf("TaskRequest", of)
	case role == runtime.RoleList:
		return b.neutralOf("ListRequest", of)
	}
	return b.neutralPush(op)
}

// neutralOf returns a form that has what its members are copied from.
func (b *bound) neutralOf(form, of string) []jen.Code {
	req := members()
	b.copyOut(req, "x", of)
	return []jen.Code{jen.Return(ofSource(form, req))}
}

// ofSource is a neutral form with the request that it is of.
func ofSource(form string, req *literal) *jen.Statement {
	req.set("Source", jen.Id("x"))
	return jen.Op("&").Add(rt(form)).Values(req.code()...)
}

func (b *bound) neutralSend(of string) []jen.Code {
	req := members()
	b.copyOut(req, "x", of)
	req.set("Message", show(b.Message, b.sel("x", of+".message")))
	if !b.has(of + ".configuration") {
		return []jen.Code{jen.Return(ofSource("SendRequest", req))}
	}
	set := b.assignOut("req", "c", "SendConfig")
	if b.pushesInline() {
		set = append(set, jen.Id("req").Dot("Push").Op("=").Id("pushOf").Call(b.sel("c", pushInline)))
	}
	return []jen.Code{
		jen.Id("req").Op(":=").Add(ofSource("SendRequest", req)),
		jen.If(jen.Id("c").Op(":=").Add(b.sel("x", of+".configuration")), jen.Id("c").Op("!=").Nil()).Block(set...),
		jen.Return(jen.Id("req")),
	}
}
