package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// ClientFile is the name of the file with the methods of a client, of the protocol or of an agent.
const ClientFile = "client.gen.go"

// Client prints the client package of the user's own agent: client.gen.go, whose types are those of the agent.
func Client(m *ir.Model, paths Paths) ([]output.File, error) {
	if m.Agent == nil {
		return nil, nil
	}
	f := newFile(paths.Client, pkgName(paths.Client))
	f.ImportName(paths.Protocol, pkgName(paths.Protocol))
	f.ImportName(protocolClientPath(paths), clientFolder)
	f.ImportName(paths.Types, pkgName(paths.Types))
	f.PackageComment(clientDoc(pkgName(paths.Client), "is the typed client of the agent: one method a skill, in one go and as a stream.", m.Agent))
	c := skillClient{agent: m.Agent, protocol: m.Protocol, paths: paths, types: paths.Client}
	if card := m.Protocol.Bindings.AgentCard; card != nil {
		c.card = card.Go
	}
	f.Add(c.declaration())
	f.Add(c.skills())
	f.Add(typeAliases(m.Agent, paths.Types))
	f.Add(c.tools())
	folder := pkgFolder(paths.Client)
	jobs := []job{
		one(func() (output.File, error) { return render(f, folder+"/"+ClientFile) }),
		func() ([]output.File, error) { return clientExtensions(m.Agent, paths, folder) },
	}
	return parallel(jobs)
}

// RemoteClient prints the client package of somebody else's agent, self-contained but for the protocol package: the methods, and
// the types of the skills whose schemas its card publishes. paths.Client is the package's import path, dir its folder,
// slash-separated and relative to the project.
func RemoteClient(p *ir.Protocol, a *ir.Agent, paths Paths, dir string) ([]output.File, error) {
	name := pkgName(paths.Client)
	f := newFile(paths.Client, name)
	f.ImportName(paths.Protocol, pkgName(paths.Protocol))
	f.ImportName(protocolClientPath(paths), clientFolder)
	f.PackageComment(clientDoc(name, "is a typed client of a remote agent, made from its card."+reached(a), a))
	c := skillClient{agent: a, protocol: p, paths: paths, types: paths.Client, card: "AgentCard", pinned: true}
	f.Anon("embed")
	f.Add(c.declaration())
	f.Add(c.skills())
	f.Add(c.tools())
	jobs := []job{
		one(func() (output.File, error) { return render(f, dir+"/"+ClientFile) }),
		func() ([]output.File, error) { return clientExtensions(a, paths, dir) },
	}
	if len(a.Types) > 0 {
		jobs = append(jobs, one(func() (output.File, error) { return Data(a.Types, paths.Client, dir+"/types.gen.go") }))
	}
	return parallel(jobs)
}

// reached is the sentence in the comment of a client's package about how it calls the agent.
func reached(a *ir.Agent) string {
	if a.Calls.Reach == "" {
		return ""
	}
	return " It calls the agent " + a.Calls.Reach + "."
}

// clientDoc is the comment of a client's package, with a call of the first skill.
func clientDoc(pkg, text string, a *ir.Agent) string {
	var example []string
	if len(a.Skills) > 0 {
		example = []string{
			"c, err := " + pkg + ".New(ctx, url)", "if err != nil {", "\treturn err", "}",
			"defer c.Close()", "out, err := c." + a.Skills[0].Client.Call + "(ctx, in)",
		}
	}
	return packageDoc("Package "+pkg+" "+text, example...)
}

// skillClient knows what a client of an agent's skills needs.
type skillClient struct {
	agent    *ir.Agent
	protocol *ir.Protocol
	paths    Paths
	types    string // import path of the package with the names of the skills' types
	card     string // the protocol package's type of a card; "" without
	pinned   bool   // the card from which the client was made is in its package
}

// declaration is the struct and its constructors.
func (c *skillClient) declaration() jen.Code {
	s := jen.Add(doc(fmt.Sprintf("Client calls the skills of the agent %q; the embedded client calls the protocol's operations. It is safe for concurrent use.", c.agent.Name)))
	s.Type().Id("Client").Struct(jen.Op("*").Qual(protocolClientPath(c.paths), "Client")).Line().Line()
	if c.pinned {
		s.Add(c.pinnedCard(), c.trusted())
		s.Add(doc("New fetches the card of the agent at the URL and returns a client of it. An empty URL takes [Card], without any request."))
	} else {
		s.Add(doc("New fetches the card of the agent at the URL and returns a client of it."))
	}
	s.Add(c.constructor("New", []jen.Code{ctxParam(), jen.Id("url").String()}, []jen.Code{jen.Id("ctx"), jen.Id("url")}))
	if c.card != "" {
		s.Add(doc("FromCard returns a client of the agent that the card describes. It makes no request."))
		s.Add(c.constructor("FromCard", []jen.Code{jen.Id("card").Op("*").Qual(c.paths.Protocol, c.card)}, []jen.Code{jen.Id("card")}))
	}
	if len(c.options()) > 0 {
		s.Add(doc("withOptions puts the options of this package before those of the caller."))
		s.Func().Id("withOptions").Params(optionsParam()).Index().Qual(clientPath, "Option").Block(
			jen.Return(jen.Append(jen.Index().Qual(clientPath, "Option").Values(c.options()...), jen.Id("opts").Op("..."))),
		).Line().Line()
	}
	s.Add(c.credentialFuncs())
	return s
}

// options are those that a2agen.yaml asks for: what is linked by choice, and the preferred bindings.
func (c *skillClient) options() (list []jen.Code) {
	if c.agent.Calls.Verify != nil {
		list = append(list, jen.Qual(clientPath, "VerifyCard").Call(jen.Id("trusted")))
	}
	for _, pkg := range c.agent.Calls.Links {
		list = append(list, jen.Qual(clientPath, "Use").Call(jen.Qual(modulePath+pkg, "Binding").Call()))
	}
	if c.agent.Calls.Telemetry {
		list = append(list, jen.Qual(clientPath, "WithObserver").Call(observer(c.agent)))
	}
	for _, x := range c.agent.Extensions {
		if x.Required {
			list = append(list, jen.Qual(clientPath, "DefaultExtensions").Call(jen.Qual(c.paths.Extensions+"/"+x.Package, "URI")))
		}
		if len(x.Methods) > 0 {
			list = append(list, jen.Qual(clientPath, "MethodsOf").Call(jen.Qual(c.paths.Extensions+"/"+x.Package, "Contract")))
		}
	}
	if len(c.agent.Calls.Credentials) > 0 {
		tokens := jen.Nil()
		for _, given := range c.agent.Calls.Credentials {
			if o := optionOf(given); o != nil && o.oauth() {
				tokens = jen.Qual(oauthPath, "FromEnv")
			}
		}
		list = append(list, jen.Qual(clientPath, "FromEnvironment").Call(jen.Lit(c.agent.Calls.Environment), tokens))
	}
	if p := c.agent.Calls.Prefer; len(p) > 0 {
		list = append(list, jen.Qual(clientPath, "Prefer").Call(lits(p)...))
	}
	return list
}

// constructor is the function that wraps the protocol client's constructor of the same name.
func (c *skillClient) constructor(name string, params, args []jen.Code) jen.Code {
	opts := jen.Id("opts")
	if len(c.options()) > 0 {
		opts = jen.Id("withOptions").Call(jen.Id("opts").Op("..."))
	}
	body := []jen.Code{}
	if c.pinned && name == "New" {
		body = append(body, jen.If(jen.Id("url").Op("==").Lit("")).Block(
			jen.List(jen.Id("card"), jen.Err()).Op(":=").Id("Card").Call(),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
			jen.Return(jen.Id("FromCard").Call(jen.Id("card"), jen.Id("opts").Op("..."))),
		))
	}
	return jen.Func().Id(name).Params(append(params, optionsParam())...).Params(jen.Op("*").Id("Client"), jen.Error()).Block(append(body,
		jen.List(jen.Id("c"), jen.Err()).Op(":=").Qual(protocolClientPath(c.paths), name).Call(append(args, opts.Op("..."))...),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Op("&").Id("Client").Values(jen.Id("Client").Op(":").Id("c")), jen.Nil()),
	)...).Line().Line()
}

// trusted is what verifies the agent's card, where a2agen.yaml asks for it.
func (c *skillClient) trusted() jen.Code {
	v := c.agent.Calls.Verify
	if v == nil {
		return jen.Null()
	}
	s, config := jen.Null(), settings{pairs: members()}
	if v.File != "" {
		s.Comment("//go:embed " + v.File).Line().Var().Id("keysJSON").Index().Byte().Line().Line()
		config.pairs.set("Keys", jen.Id("keysJSON"))
	}
	config.texts("URLs", v.URLs)
	if v.Strict {
		config.pairs.set("Strict", jen.True())
	}
	s.Add(doc("trusted verifies the agent's card before anything is called. A card that it does not verify is a *rpc.CardError."))
	return s.Var().Id("trusted").Op("=").Qual(signedPath, "Trust").Call(jen.Qual(signedPath, "Config").Values(config.code()...)).Line().Line()
}

// pinnedCard is the card from which the client was made, and the function that returns it.
func (c *skillClient) pinnedCard() jen.Code {
	hub := jen.Op("*").Qual(c.paths.Protocol, c.card)
	s := jen.Comment("//go:embed " + c.paths.Card).Line().Var().Id("cardJSON").Index().Byte().Line().Line()
	s.Add(doc("Card returns the agent's card as it was when the client was made."))
	return s.Func().Id("Card").Params().Params(hub, jen.Error()).Block(
		jen.List(jen.Id("read"), jen.Err()).Op(":=").Qual(clientPath, "ParseCard").Call(jen.Qual(c.paths.Protocol, clientProtocol).Call(), jen.Id("cardJSON")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.List(jen.Id("card"), jen.Id("_")).Op(":=").Id("read").Dot("Generated").Call().Assert(hub.Clone()),
		jen.Return(jen.Id("card"), jen.Nil()),
	).Line().Line()
}

// skills is what there is for each skill, its description for the runtime and its methods, and the interface of all methods.
func (c *skillClient) skills() jen.Code {
	all := jen.Null()
	for _, s := range c.agent.Skills {
		k := skillCode{skillClient: c, skill: s, SkillMethods: s.Client}
		list := []any{
			"ID", jen.Lit(k.skill.ID),
			"In", k.codec("DataInput", "TextInput", k.skill.Input),
			"Out", k.codec("DataOutput", "PlainOutput", k.skill.Output),
		}
		if k.skill.Convention.Func != "" {
			list = append(list, "By", k.convention())
		}
		all.Add(jen.Var().Id(k.name()).Op("=").Qual(clientPath, "Skill").Types(k.in(), k.out()).Values(members(list...).lines()...).Line().Line())
		for _, m := range k.methods() {
			all.Add(k.code(m))
		}
	}
	return all.Add(c.api())
}

// skillCode prints one skill.
type skillCode struct {
	*skillClient
	ir.SkillMethods
	skill *ir.Skill
}

// convention is how the skill is called: a function of the runtime, or a call of one.
func (k *skillCode) convention() jen.Code {
	f := jen.Qual(clientPath, k.skill.Convention.Func)
	if args := k.skill.Convention.Args; len(args) > 0 {
		f = f.Call(lits(args)...)
	}
	return f
}

func (k *skillCode) name() string { return "skill" + k.Call }

// codec is the runtime's function for a generated type, or for none.
func (k *skillCode) codec(typed, plain string, ref *ir.DataRef) jen.Code {
	if ref == nil {
		return jen.Qual(clientPath, plain)
	}
	return jen.Qual(clientPath, typed).Types(jen.Qual(k.types, ref.Name))
}

// input is the name of the parameter.
func (k *skillCode) input() string {
	if k.skill.Input == nil {
		return "text"
	}
	return "in"
}

// in is the Go type of the input.
func (k *skillCode) in() jen.Code {
	if k.skill.Input == nil {
		return jen.String()
	}
	return jen.Op("*").Qual(k.types, k.skill.Input.Name)
}

// out is the Go type of the output.
func (k *skillCode) out() jen.Code {
	if k.skill.Output == nil {
		return jen.Op("*").Qual(clientPath, "Result")
	}
	return jen.Op("*").Qual(k.types, k.skill.Output.Name)
}

// skillMethod is one of the client's methods for a skill.
type skillMethod struct {
	name, doc string
	params    []jen.Code
	result    []jen.Code
	through   string // the method of the runtime's skill that it calls
	args      []jen.Code
}

// methods are those of the client for the skill.
func (k *skillCode) methods() []skillMethod {
	call := []jen.Code{ctxParam(), jen.Id(k.input()).Add(k.in()), callOptionsParam()}
	callArgs := []jen.Code{jen.Id(k.input()), jen.Id("opts").Op("...")}
	answerArgs := []jen.Code{jen.Id("ask"), jen.Id("parts").Op("...")}
	one := []jen.Code{k.out(), jen.Error()}
	steps := []jen.Code{jen.Qual("iter", "Seq2").Types(jen.Qual(clientPath, "Event").Types(k.out()), jen.Error())}
	id := k.skill.ID
	return []skillMethod{
		{k.Call, fmt.Sprintf("%s calls the skill %q and waits for its output.\n\n%s", k.Call, id, k.skill.Description), call, one, "Call", callArgs},
		{k.Stream, fmt.Sprintf("%s calls the skill %q and yields its steps; the last one has the output.", k.Stream, id), call, steps, "Stream", callArgs},
		{
			k.Answer, fmt.Sprintf("%s answers what the skill %q asked in the middle of a task, and waits for its output. Get the question with errors.As; options of the call go with it: ask.With(…).", k.Answer, id),
			answerParams(), one, "Answer", answerArgs,
		},
		{
			k.AnswerStream, fmt.Sprintf("%s is [Client.%s] as a stream: it yields the steps that follow; the last one has the output.", k.AnswerStream, k.Answer),
			answerParams(), steps, "AnswerStream", answerArgs,
		},
	}
}

// code is the method of the client.
func (k *skillCode) code(m skillMethod) jen.Code {
	s := jen.Add(doc(m.doc))
	return s.Func().Params(receiver()).Id(m.name).Params(m.params...).Add(m.results()).Block(
		jen.Return(jen.Id(k.name()).Dot(m.through).Call(append([]jen.Code{jen.Id("ctx"), jen.Id("c").Dot("Client").Dot("RPC").Call()}, m.args...)...)),
	).Line().Line()
}

// results are the types that a method returns, in parentheses if there are two.
func (m skillMethod) results() jen.Code {
	if len(m.result) == 1 {
		return m.result[0]
	}
	return jen.Params(m.result...)
}

// api is the interface that the client implements: its methods for all skills.
func (c *skillClient) api() jen.Code {
	if len(c.agent.Skills) == 0 {
		return jen.Null()
	}
	var list []jen.Code
	for _, s := range c.agent.Skills {
		k := skillCode{skillClient: c, skill: s, SkillMethods: s.Client}
		for _, m := range k.methods() {
			list = append(list, jen.Id(m.name).Params(m.params...).Add(m.results()))
		}
	}
	s := jen.Add(doc("Skills are the methods of a [Client] that call the agent's skills. Code that takes this interface can be given something else in their place."))
	s.Type().Id("Skills").Interface(list...).Line().Line()
	return s.Var().Id("_").Id("Skills").Op("=").Parens(jen.Op("*").Id("Client")).Parens(jen.Nil()).Line().Line()
}

func answerParams() []jen.Code {
	return []jen.Code{ctxParam(), jen.Id("ask").Op("*").Qual(clientPath, "InputRequiredError"), jen.Id("parts").Op("...").Qual(runtimePath, "Part")}
}

func callOptionsParam() jen.Code { return jen.Id("opts").Op("...").Qual(clientPath, "CallOption") }
