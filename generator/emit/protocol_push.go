package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// pushInline is the configuration that comes along with a message.
const pushInline = "SendConfig.task_push_notification_config"

// pushes reports whether the protocol has push configurations of which the runtime can make something.
func (b *bound) pushes() bool { return b.has("PushConfig.task_id") && b.has("PushConfig.url") }

func (b *bound) pushesInline() bool {
	return b.pushes() && b.has(pushInline) && b.Fields[pushInline].Type.Type == b.PushConfig
}

// neutralPush returns the neutral form of the request of an operation on push configurations; none if the operation is another, or of
// another shape than the runtime knows.
func (b *bound) neutralPush(op *ir.Operation) []jen.Code {
	of := string(op.Role) + "."
	if op.Role == ir.RolePushCreate {
		of = "PushConfig."
	}
	if !b.pushes() || !b.has(of+"task_id") {
		return nil
	}
	req := members()
	b.from(req, "Tenant", "x", of+"tenant")
	b.from(req, "TaskID", "x", of+"task_id")
	switch {
	case op.Role == ir.RolePushCreate && op.Request.Type == b.PushConfig && op.Response.Type == b.PushConfig:
		req.set("Config", jen.Op("*").Id("pushOf").Call(jen.Id("x")))
	case op.Role == ir.RolePushGet && op.Response.Type == b.PushConfig, op.Role == ir.RolePushDelete:
		config := members()
		b.from(config, "ID", "x", of+"id")
		req.set("Config", rt("PushConfig").Values(*config...))
	case op.Role == ir.RolePushList && b.has("pushListResult.configs"):
		b.countFrom(req, "PageSize", "x", of+"page_size")
		b.from(req, "PageToken", "x", of+"page_token")
	default:
		return nil
	}
	return []jen.Code{jen.Return(ofSource("PushRequest", req))}
}

// pushConstructors are the constructors of results of the operations on push configurations.
func (b *bound) pushConstructors(p *ir.Protocol) (names []string) {
	if b.pushes() {
		names = append(names, "NewPushConfig")
	}
	if b.pushPage(p) != nil {
		names = append(names, "NewPushPage")
	}
	return names
}

// pushPage is the type of a list of push configurations; nil if there is none that the runtime can make.
func (b *bound) pushPage(p *ir.Protocol) *ir.Type {
	if op := operation(p, ir.RolePushList); op != nil && b.pushes() && b.has("pushListResult.configs") {
		return op.Response.Type
	}
	return nil
}

// pushFuncs prints the translation of push configurations to their neutral form and back, and the constructors.
func (b *bound) pushFuncs(p *ir.Protocol) (list []jen.Code) {
	if !b.pushes() {
		return nil
	}
	list = append(list, b.pushOf(), b.pushFrom(), b.newPushConfig())
	if page := b.pushPage(p); page != nil {
		list = append(list, b.newPushPage(page))
	}
	return list
}

// pushOf prints the neutral form of a configuration.
func (b *bound) pushOf() jen.Code {
	config := members()
	b.from(config, "ID", "x", "PushConfig.id")
	b.from(config, "URL", "x", "PushConfig.url")
	b.from(config, "Token", "x", "PushConfig.token")
	b.from(config, "Tenant", "x", "PushConfig.tenant")
	b.from(config, "TaskID", "x", "PushConfig.task_id")
	body := []jen.Code{
		jen.If(isNil(jen.Id("x"))).Block(jen.Return(jen.Nil())),
		jen.Id("config").Op(":=").Op("&").Add(rt("PushConfig")).Values(config.code()...),
	}
	if b.has("PushConfig.authentication") {
		var set []jen.Code
		assign := func(member, meaning string) {
			if b.has(meaning) {
				set = append(set, jen.Id("config").Dot(member).Op("=").Add(b.get("a", meaning)))
			}
		}
		assign("Scheme", "PushAuth.scheme")
		assign("Credentials", "PushAuth.credentials")
		body = append(body, jen.If(
			jen.Id("a").Op(":=").Add(b.sel("x", "PushConfig.authentication")), jen.Id("a").Op("!=").Nil(),
		).Block(set...))
	}
	return jen.Add(doc("pushOf is the neutral form of a configuration that may be nil.")).
		Func().Id("pushOf").Params(jen.Id("x").Add(ptr(b.PushConfig))).Op("*").Add(rt("PushConfig")).
		Block(append(body, jen.Return(jen.Id("config")))...).Line()
}

// pushFrom prints the way back.
func (b *bound) pushFrom() jen.Code {
	from := func(member string) *jen.Statement { return jen.Id("from").Dot(member) }
	config := members()
	b.into(config, "PushConfig.tenant", jen.Id("tenant"))
	b.into(config, "PushConfig.id", from("ID"))
	b.into(config, "PushConfig.task_id", jen.Id("taskID"))
	b.into(config, "PushConfig.url", from("URL"))
	b.into(config, "PushConfig.token", from("Token"))
	body := []jen.Code{
		jen.If(isNil(jen.Id("from"))).Block(jen.Return(jen.Nil())),
		jen.Id("x").Op(":=").Add(newOf(b.PushConfig, config)),
	}
	if b.has("PushConfig.authentication") {
		auth := members()
		b.into(auth, "PushAuth.scheme", from("Scheme"))
		b.into(auth, "PushAuth.credentials", from("Credentials"))
		set := jen.Add(from("Scheme")).Op("!=").Lit("").Op("||").Add(from("Credentials")).Op("!=").Lit("")
		body = append(body, jen.If(set).Block(b.sel("x", "PushConfig.authentication").Op("=").Add(newOf(b.PushAuth, auth))))
	}
	return jen.Func().Id("pushFrom").
		Params(ofTask(), jen.Id("from").Op("*").Add(rt("PushConfig"))).Add(ptr(b.PushConfig)).
		Block(append(body, jen.Return(jen.Id("x")))...).Line()
}

func (b *bound) newPushConfig() jen.Code {
	return jen.Func().Id("newPushConfig").
		Params(ofTask(), jen.Id("config").Add(rt("PushConfig"))).Any().Block(
		jen.Return(jen.Id("pushFrom").Call(jen.Id("tenant"), jen.Id("taskID"), jen.Op("&").Id("config"))),
	).Line()
}

func (b *bound) newPushPage(t *ir.Type) jen.Code {
	page := members()
	b.into(page, "pushListResult.configs", jen.Id("list"))
	b.into(page, "pushListResult.next_page_token", jen.Id("next"))
	from := jen.Id("pushFrom").Call(jen.Id("tenant"), jen.Id("taskID"), jen.Op("&").Id("configs").Index(jen.Id("i")))
	return jen.Func().Id("newPushPage").Params(
		ofTask(), jen.Id("configs").Index().Add(rt("PushConfig")), jen.Id("next").String(),
	).Any().Block(
		jen.Id("list").Op(":=").Make(jen.Index().Add(ptr(b.PushConfig)), jen.Len(jen.Id("configs"))),
		jen.For(jen.Id("i").Op(":=").Range().Id("configs")).Block(jen.Id("list").Index(jen.Id("i")).Op("=").Add(from)),
		jen.Return(newOf(t, page)),
	).Line()
}

// ofTask are the parameters that name a task.
func ofTask() jen.Code { return jen.List(jen.Id("tenant"), jen.Id("taskID")).String() }
