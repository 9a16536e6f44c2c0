package emit

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime"
)

// Agent prints the agent package: the types of skill inputs and outputs, the Skills interface that the user implements, the server glue and
// the card. Without an agent in the model there is none.
func Agent(m *ir.Model, paths Paths) ([]output.File, error) {
	if m.Agent == nil {
		return nil, nil
	}
	a := agentPackage{agent: m.Agent, bindings: m.Protocol.Bindings, paths: paths}
	jobs := []job{one(a.card), one(a.server), one(a.skills)}
	if len(a.agent.Operations) > 0 {
		jobs = append(jobs, one(a.operations))
	}
	if a.agent.Secured {
		jobs = append(jobs, one(a.verifiers), one(a.credentials))
	}
	if len(a.agent.Remotes) > 0 {
		jobs = append(jobs, one(a.clients))
	}
	return parallel(jobs)
}

// TypesFile is the name of the file with the types of the protocol, of skills, and of extensions.
const TypesFile = "types.gen.go"

// SkillTypes prints the package of the types of skill inputs and outputs: the agent's package and its client's have them from there, so
// that a client links no server. Without types there is none.
func SkillTypes(m *ir.Model, paths Paths) ([]output.File, error) {
	if m.Agent == nil || len(m.Agent.Types) == 0 {
		return nil, nil
	}
	file, err := data(m.Agent.Types, paths.Types, pkgFile(paths.Types, TypesFile),
		packageDoc("Package "+pkgName(paths.Types)+" has the inputs and outputs of the skills. The agent's package and its client's have them under the same names.",
			"if err := in.Validate(); err != nil {", "\treturn err // a *check.Error: every violation, with its place", "}"))
	return []output.File{file}, err
}

// typeAliases make the types of the skills, and their constants, usable without importing their package.
func typeAliases(a *ir.Agent, from string) jen.Code {
	var types, values []jen.Code
	for _, t := range a.Types {
		types = append(types, jen.Id(t.Go).Op("=").Qual(from, t.Go))
		for _, v := range t.Values {
			values = append(values, jen.Id(v.Go).Op("=").Qual(from, v.Go))
		}
	}
	s := jen.Null()
	if len(types) > 0 {
		s.Add(doc("The types of the skills.")).Type().Defs(types...).Line().Line()
	}
	if len(values) > 0 {
		s.Add(doc("The constants of the skills' types.")).Const().Defs(values...).Line().Line()
	}
	return s
}

// agentPackage knows what the files of the agent package need.
type agentPackage struct {
	agent    *ir.Agent
	bindings ir.Bindings
	paths    Paths
}

func (a *agentPackage) newFile() *jen.File {
	f := newFile(a.paths.Agent, pkgName(a.paths.Agent))
	f.ImportName(a.paths.Protocol, pkgName(a.paths.Protocol))
	return f
}

// hub is a pointer to a type of the protocol package.
func (a *agentPackage) hub(t *ir.Type) *jen.Statement {
	return jen.Op("*").Qual(a.paths.Protocol, t.Go)
}

// SkillsFile is the name of the file with the interface that handlers implement.
const SkillsFile = "skills.gen.go"

// skills is the file of that name: what the user implements and works through.
func (a *agentPackage) skills() (output.File, error) {
	f := a.newFile()
	name := pkgName(a.paths.Agent)
	f.PackageComment(packageDoc("Package "+name+" is the agent as generated code: the types of its skills, the interface that the handlers implement, its server and its card.",
		"srv, err := "+name+".NewServer(handlers)", "if err != nil {", "\treturn err", "}", `http.Handle("/", srv)`))
	methods := make([]jen.Code, 0, 2*len(a.agent.Skills))
	for _, s := range a.agent.Skills {
		methods = append(methods, jen.Add(doc(skillDoc(s))).Id(s.Go).Params(
			ctxParam(), jen.Id("in").Add(a.input(s)), jen.Id("t").Op("*").Id("Task"),
		).Params(a.output(s), jen.Error()))
	}
	f.Add(doc("Skills are the handlers of the agent, one method a skill.")).Type().Id("Skills").Interface(methods...).Line()
	f.ImportName(a.paths.Types, pkgName(a.paths.Types))
	f.Add(typeAliases(a.agent, a.paths.Types))
	f.Add(a.task())
	f.Add(doc("Caller returns who sent the request that a handler works on; the zero value is nobody who is known.")).
		Func().Id("Caller").Params(ctxParam()).Add(rt("Caller")).Block(jen.Return(jen.Qual(serverPath, "CallerFrom").Call(jen.Id("ctx")))).Line()
	return render(f, pkgFile(a.paths.Agent, SkillsFile))
}

// skillDoc is the comment of a handler's method.
func skillDoc(s *ir.Skill) string {
	text := fmt.Sprintf("%s handles the skill %q", s.Go, s.ID)
	if s.Description == "" {
		return text + "."
	}
	return text + ".\n\n" + s.Description
}

// input is the type of a handler's input: the skill's own, or the message.
func (a *agentPackage) input(s *ir.Skill) jen.Code {
	if s.Input == nil {
		return a.hub(a.bindings.Message)
	}
	return jen.Op("*").Id(s.Input.Name)
}

// output is the type of a handler's output: the skill's own, or text.
func (a *agentPackage) output(s *ir.Skill) jen.Code {
	if s.Output == nil {
		return jen.String()
	}
	return jen.Op("*").Id(s.Output.Name)
}

// task is the handlers' Task with typed access to the protocol's values.
func (a *agentPackage) task() jen.Code {
	s := jen.Add(doc("Task is one call of a handler: progress, artifacts, questions and answers go through it. A handler that only answers can ignore it."))
	s.Type().Id("Task").Struct(jen.Op("*").Qual(serverPath, "Task")).Line().Line()
	for _, m := range []struct {
		name, text string
		typ        *ir.Type
		value      *jen.Statement // of the call
	}{
		{"Message", "Message returns the message being handled. The task owns it.", a.bindings.Message, jen.Dot("Request").Call().Dot("Message")},
		{"Snapshot", "Snapshot returns a copy of the task as it stands, nil as long as there is none.", a.bindings.Task, jen.Dot("Snapshot").Call()},
	} {
		s.Add(doc(m.text))
		s.Func().Params(jen.Id("t").Op("*").Id("Task")).Id(m.name).Params().Add(a.hub(m.typ)).Block(
			jen.List(jen.Id("v"), jen.Id("_")).Op(":=").Add(rt("Generated")).Call(jen.Id("t").Dot("Call").Call().Add(m.value)).Assert(a.hub(m.typ)),
			jen.Return(jen.Id("v")),
		).Line().Line()
	}
	return s
}

// CardFile is the file with the card that is published.
const CardFile = "card.gen.go"

// card is card.gen.go: the published card, as data. The schemas that are in it stand by themselves, because the server's skills
// have them too.
func (a *agentPackage) card() (output.File, error) {
	f := a.newFile()
	f.Add(doc("CardJSON is the agent's card with the schemas of its skills. The server puts the right URLs in when it publishes it.")).Const().Id("CardJSON").Op("=").Add(a.cardText(a.agent.Card)).Line()
	if a.agent.Extended != nil {
		f.Add(doc("ExtendedCardJSON is the card for callers who say who they are.")).Const().Id("ExtendedCardJSON").Op("=").Add(a.cardText(a.agent.Extended)).Line()
	}
	for _, s := range a.agent.Skills {
		for _, c := range contracts(s) {
			f.Add(doc(schemaName(c.ref) + " is the JSON Schema of [" + c.ref.Name + "].")).Const().Id(schemaName(c.ref)).Op("=").Add(stringLiteral(c.schema)).Line()
		}
	}
	f.Add(doc("Card returns the agent's card.")).Func().Id("Card").Params().Params(a.hub(a.bindings.AgentCard), jen.Error()).Block(
		jen.Id("card").Op(":=").New(jen.Qual(a.paths.Protocol, a.bindings.AgentCard.Go)),
		jen.If(jen.Err().Op(":=").Id("card").Dot("UnmarshalJSON").Call(jen.Index().Byte().Parens(jen.Id("CardJSON"))), jen.Err().Op("!=").Nil()).Block(
			jen.Return(jen.Nil(), jen.Err()),
		),
		jen.Return(jen.Id("card"), jen.Nil()),
	)
	return render(f, pkgFile(a.paths.Agent, CardFile))
}

// cardText is a card as a constant, in which constants stand for the schemas.
func (a *agentPackage) cardText(card []byte) jen.Code {
	text, rest := jen.Empty(), string(card)
	for _, s := range a.agent.Skills {
		for _, c := range contracts(s) {
			if before, after, found := strings.Cut(rest, c.schema); found {
				text.Add(stringLiteral(before)).Op("+").Id(schemaName(c.ref)).Op("+")
				rest = after
			}
		}
	}
	return text.Add(stringLiteral(rest))
}

// contract is the input or output of a skill with its schema.
type contract struct {
	ref    *ir.DataRef
	schema string
}

// contracts are those that a skill has, as the card lists them.
func contracts(s *ir.Skill) []contract {
	all := []contract{{s.Input, string(s.InputSchema)}, {s.Output, string(s.OutputSchema)}}
	return slices.DeleteFunc(all, func(c contract) bool { return c.ref == nil })
}

// schemaName is the constant that holds the schema of a contract.
func schemaName(ref *ir.DataRef) string { return "schema" + ref.Name }

// stringLiteral is a Go string literal, of several parts on lines of their own where it is long.
func stringLiteral(s string) jen.Code {
	const room = 100
	code := jen.Null()
	for first := true; first || s != ""; first = false {
		n := cut(s, room)
		if !first {
			code.Op("+").Line()
		}
		code.Add(shortLiteral(s[:n]))
		s = s[n:]
	}
	return code
}

// cut is how many bytes of a text are a line of about so many, up to the end of a word or of an item of a list if one is near.
func cut(text string, room int) int {
	if len(text) <= room {
		return len(text)
	}
	if i := strings.LastIndexAny(text[:room], " ,"); i > room/2 {
		return i + 1
	}
	for room > 1 && !utf8.RuneStart(text[room]) {
		room--
	}
	return room
}

// shortLiteral is a Go string literal: raw where that shows the text as it is, which a raw string can do unless it holds a
// backquote, a line break, or characters that an editor hides.
func shortLiteral(s string) jen.Code {
	hidden := func(r rune) bool {
		return r == '`' || r == '\uFFFD' || r == '\uFEFF' || r != '\t' && r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 ||
			r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if strings.ContainsFunc(s, hidden) {
		return jen.Lit(s)
	}
	return jen.Op("`" + s + "`")
}

// stringList is a []string literal, nil for none.
func stringList(list []string) jen.Code {
	values := make([]jen.Code, len(list))
	for i, s := range list {
		values[i] = jen.Lit(s)
	}
	return jen.Index().String().Values(values...)
}

// server is server.gen.go: how the skills become a server.
func (a *agentPackage) server() (output.File, error) {
	f := a.newFile()
	f.Comment("// A runtime that this code does not fit does not declare the constant.")
	f.Const().Id("_").Op("=").Qual(runtimePath, "SupportsGen1").Line()
	skills := make([]jen.Code, len(a.agent.Skills))
	for i, s := range a.agent.Skills {
		skills[i] = jen.Id(glueName(s)).Call(jen.Id("s"))
	}
	config := members(
		"Protocol", jen.Id("protocol"),
		"Card", jen.Id("card"),
		"Skills", jen.Index().Qual(serverPath, "Skill").Values(multiline(skills)...),
	)
	if len(a.agent.Operations) > 0 {
		config.set("Operations", jen.Id("operations").Call(jen.Id("s")))
	}
	if len(a.agent.Extensions) > 0 {
		f.ImportName(extensionPath, "extension")
		for _, x := range a.agent.Extensions {
			f.ImportName(a.paths.Extensions+"/"+x.Package, x.Package)
		}
		config.set("Extensions", extensionContracts(a.agent.Extensions, a.paths))
	}
	if r := a.agent.Repeats; r != nil {
		var fields []jen.Code
		if r.ByMessage {
			fields = append(fields, jen.Id("ByMessage").Op(":").True())
		}
		if r.Window > 0 {
			fields = append(fields, jen.Id("Window").Op(":").Add(duration(r.Window)))
		}
		config.set("Repeats", jen.Qual(serverPath, "Repeats").Values(fields...))
	}
	if a.agent.Store != "" {
		config.set("StorePath", jen.Lit(a.agent.Store))
	}
	if pkg := a.agent.OpenStore; pkg != "" {
		config.set("OpenStore", jen.Qual(modulePath+pkg, "OpenStore"))
	}
	protocol := serverProtocol
	if a.agent.Pushes {
		protocol = "Protocol"
	}
	body := []jen.Code{jen.Id("protocol").Op(":=").Qual(a.paths.Protocol, protocol).Call()}
	body = append(body, decodeCard("card", "CardJSON")...)
	if a.agent.Extended != nil {
		body = append(body, decodeCard("extended", "ExtendedCardJSON")...)
		config.set("Extended", jen.Id("extended"))
		if scopes := a.agent.ExtendedScopes; len(scopes) > 0 {
			config.set("ExtendedScopes", stringList(scopes))
		}
	}
	if len(a.agent.Remotes) > 0 {
		body = append(body, withClients())
	}
	if options := a.serverOptions(); len(options) > 0 {
		list := jen.Index().Qual(serverPath, "Option").Values(options...)
		body = append(body, jen.Id("opts").Op("=").Append(list, jen.Id("opts").Op("...")))
	}
	constructor := "New"
	if !slices.Contains(a.agent.Bindings, runtime.BindingHTTP) {
		constructor = "NewWithoutREST"
	}
	body = append(body, jen.Return(jen.Qual(serverPath, constructor).Call(jen.Qual(serverPath, "Config").Values(config.lines()...), jen.Id("opts").Op("..."))))
	f.Add(doc("NewServer makes the agent's server. Host it with server.Main, or mount it: it is an http.Handler.")).Func().Id("NewServer").Params(jen.Id("s").Id("Skills"), jen.Id("opts").Op("...").Qual(serverPath, "Option")).Params(jen.Op("*").Qual(serverPath, "Server"), jen.Error()).Block(body...).Line()
	for _, s := range a.agent.Skills {
		f.Add(a.glue(s))
	}
	return render(f, pkgFile(a.paths.Agent, "server.gen.go"))
}

// serverOptions are those that the server has before its host's.
func (a *agentPackage) serverOptions() (list []jen.Code) {
	for _, b := range runtime.Bindings {
		if b.Server != "" && slices.Contains(a.agent.Bindings, b.Name) {
			list = append(list, jen.Qual(modulePath+b.Server, "Serve").Call())
		}
	}
	if a.agent.MCP {
		list = append(list, jen.Qual(mcpserverPath, "Serve").Call(jen.Qual(a.paths.Protocol, clientProtocol).Call()))
	}
	if a.agent.Telemetry {
		list = append(list, jen.Qual(serverPath, "WithObserver").Call(observer(a.agent)))
	}
	if a.agent.Pushes {
		list = append(list, jen.Qual(webhooksPath, "Send").Call())
	}
	if a.agent.Secured {
		list = append(list, jen.Qual(serverPath, "WithAuth").Call(jen.Id("verifiers").Call()))
	}
	if a.agent.RequirementLists {
		list = append(list, jen.Qual(serverPath, "WithCompat").Call(jen.Qual(serverPath, "Compat").Values(jen.Dict{jen.Id("RequirementLists"): jen.True()})))
	}
	if a.agent.SignCards {
		list = append(list, jen.Qual(serverPath, "SignCards").Call(jen.Qual(signedPath, "ReadKey")))
	}
	if a.agent.Open {
		list = append(list, jen.Qual(serverPath, "WithoutAuth").Call())
	}
	return list
}

// observer is the observer that reports an agent, or the calls to it, to OpenTelemetry.
func observer(a *ir.Agent) jen.Code {
	return jen.Qual(otelPath, "Observer").Call(jen.Qual(otelPath, "Agent").Call(jen.Lit(a.Name)))
}

// decodeCard reads a constant that is a card.
func decodeCard(name, constant string) []jen.Code {
	return []jen.Code{
		jen.List(jen.Id(name), jen.Err()).Op(":=").Id("protocol").Dot("DecodeCard").Call(jen.Index().Byte().Parens(jen.Id(constant))),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
	}
}

// duration is a duration in its largest whole unit.
func duration(d time.Duration) jen.Code {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}} {
		if d%u.size == 0 {
			return jen.Lit(int(d/u.size)).Op("*").Qual("time", u.name)
		}
	}
	return jen.Lit(int(d)).Op("*").Qual("time", "Nanosecond")
}

// glueName is the function that describes a skill to the runtime. Emitted types are exported, so it collides with nothing.
func glueName(s *ir.Skill) string { return "skill" + s.Go }

// glue is the description of one skill.
func (a *agentPackage) glue(s *ir.Skill) jen.Code {
	d := members("ID", jen.Lit(s.ID), "Name", jen.Lit(s.Name))
	for _, field := range []struct{ name, text string }{{"Description", s.Description}, {"TextField", s.TextField}} {
		if field.text != "" {
			d.set(field.name, jen.Lit(field.text))
		}
	}
	for _, field := range []struct {
		name string
		list []string
	}{{"Tags", s.Tags}, {"Examples", s.Examples}, {"InputModes", s.InputModes}, {"OutputModes", s.OutputModes}} {
		if len(field.list) > 0 {
			d.set(field.name, stringList(field.list))
		}
	}
	if s.Input != nil {
		d.set("InputSchema", jen.Id(schemaName(s.Input)))
		d.set("Decode", jen.Qual(handlerPath, "Decode").Types(jen.Id(s.Input.Name)))
	}
	if s.Output != nil {
		d.set("OutputSchema", jen.Id(schemaName(s.Output)))
	}
	if s.Timeout > 0 {
		d.set("Timeout", duration(s.Timeout))
	}
	if s.MaxConcurrent > 0 {
		d.set("MaxConcurrent", jen.Lit(s.MaxConcurrent))
	}
	if s.Retry {
		d.set("OnCrash", jen.Qual(serverPath, "CrashRetry"))
	}
	if s.Default {
		d.set("Default", jen.True())
	}
	if s.Hidden {
		d.set("Hidden", jen.True())
	}
	d.set("Run", a.run(s))
	return jen.Func().Id(glueName(s)).Params(jen.Id("s").Id("Skills")).Qual(serverPath, "Skill").Block(
		jen.Return(jen.Qual(serverPath, "Skill").Values(d.lines()...)),
	).Line().Line()
}

// run is the skill's Run: it calls the handler with the input, or with the message where the skill has none.
func (a *agentPackage) run(s *ir.Skill) jen.Code {
	handler := jen.Id("s").Dot(s.Go)
	in, typ := jen.Id("in"), jen.Op("*").Struct()
	body := []jen.Code{jen.Return(handler.Clone().Call(jen.Id("ctx"), jen.Id("in"), jen.Op("&").Id("Task").Values(jen.Id("t"))))}
	if s.Input != nil {
		typ = jen.Op("*").Id(s.Input.Name)
	} else {
		in = jen.Id("_")
		body = []jen.Code{
			jen.Id("task").Op(":=").Op("&").Id("Task").Values(jen.Id("t")),
			jen.Return(handler.Call(jen.Id("ctx"), jen.Id("task").Dot("Message").Call(), jen.Id("task"))),
		}
	}
	output := "JSON"
	if s.Output == nil {
		output = "Text"
	}
	return jen.Qual(handlerPath, output).Call(
		jen.Func().Params(ctxParam(), jen.Id("t").Op("*").Qual(serverPath, "Task"), in.Add(typ)).Params(a.output(s), jen.Error()).Block(body...))
}
