package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// operations is operations.gen.go: an optional interface for each operation that the runtime does not know.
func (a *agentPackage) operations() (output.File, error) {
	f := a.newFile()
	var checks []jen.Code
	for _, op := range a.agent.Operations {
		text := fmt.Sprintf("%s is what the handlers implement, beside Skills, to carry out the operation %s. Without it the operation answers UnsupportedOperation.", op.Interface, op.RPC)
		params, results := []jen.Code{ctxParam()}, []jen.Code{jen.Error()}
		if op.Request.Type != nil {
			params = append(params, jen.Id("req").Add(a.hub(op.Request.Type)))
		}
		if op.Response.Type != nil {
			results = []jen.Code{a.hub(op.Response.Type), jen.Error()}
		}
		if op.Stream {
			results = []jen.Code{a.items(op)}
		}
		f.Add(doc(text)).Type().Id(op.Interface).Interface(jen.Add(doc(op.Doc)).Id(op.Handler).Params(params...).Params(results...)).Line()
		checks = append(checks, jen.If(jen.List(jen.Id("x"), jen.Id("ok")).Op(":=").Id("s").Assert(jen.Id(op.Interface)), jen.Id("ok")).Block(
			jen.Id("ops").Index(jen.Lit(op.RPC)).Op("=").Qual(serverPath, constructorOf(op)).Call(a.typedOperation(op)),
		))
	}
	body := append([]jen.Code{jen.Id("ops").Op(":=").Map(jen.String()).Qual(serverPath, "Operation").Values()}, checks...)
	f.Comment("// operations finds what the handlers implement of it.")
	f.Func().Id("operations").Params(jen.Id("s").Id("Skills")).Map(jen.String()).Qual(serverPath, "Operation").Block(append(body, jen.Return(jen.Id("ops")))...)
	return render(f, pkgFile(a.paths.Agent, "operations.gen.go"))
}

// items is the result of an operation that is a stream.
func (a *agentPackage) items(op *ir.OwnOperation) jen.Code {
	return jen.Qual("iter", "Seq2").Types(a.hub(op.Response.Type), jen.Error())
}

// constructorOf is the runtime's function that makes an operation of a typed one.
func constructorOf(op *ir.OwnOperation) string {
	if op.Stream {
		return "NewStreamOperation"
	}
	return "NewOperation"
}

// typedOperation is the method of x as a function of a request and a response, where nothing is an empty struct.
func (a *agentPackage) typedOperation(op *ir.OwnOperation) jen.Code {
	method := jen.Id("x").Dot(op.Handler)
	if op.Request.Type != nil && op.Response.Type != nil {
		return method
	}
	param, args := jen.Id("_").Op("*").Struct(), []jen.Code{jen.Id("ctx")}
	if op.Request.Type != nil {
		param, args = jen.Id("req").Add(a.hub(op.Request.Type)), append(args, jen.Id("req"))
	}
	if op.Stream {
		return jen.Func().Params(ctxParam(), param).Add(a.items(op)).Block(jen.Return(method.Call(args...)))
	}
	if op.Response.Type != nil {
		return jen.Func().Params(ctxParam(), param).Params(a.hub(op.Response.Type), jen.Error()).Block(jen.Return(method.Call(args...)))
	}
	return jen.Func().Params(ctxParam(), param).Params(jen.Op("*").Struct(), jen.Error()).Block(
		jen.Return(jen.New(jen.Struct()), method.Call(args...)))
}
