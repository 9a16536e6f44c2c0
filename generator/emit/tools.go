package emit

import (
	"cmp"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/tool"
)

// tools prints a client's function with the skills of the agent as tools for language models. Nothing else refers to it, so that a
// program without a model links none of it.
func (c *skillClient) tools() jen.Code {
	if len(c.agent.Skills) == 0 {
		return jen.Null()
	}
	ids := make([]string, len(c.agent.Skills))
	for i, s := range c.agent.Skills {
		ids[i] = s.ID
	}
	var list []jen.Code
	for i, name := range tool.Names(ids...) {
		k := skillCode{skillClient: c, skill: c.agent.Skills[i], SkillMethods: c.agent.Skills[i].Client}
		list = append(list, k.tool(name))
	}
	s := jen.Add(doc("Tools returns the skills of the agent as tools for a language model, in the order of its card. They call the skills by c, with the options opts: " +
		"with the context of a handler, each call is one of the handler's task."))
	return s.Func().Id("Tools").Params(jen.Id("c").Op("*").Id("Client"), callOptionsParam()).Index().Qual(toolPath, "Tool").Block(
		jen.Return(jen.Index().Qual(toolPath, "Tool").Values(multiline(list)...)),
	).Line()
}

// tool makes the tool of the skill.
func (k *skillCode) tool(name string) jen.Code {
	schema, in := jen.Code(jen.Qual(skilltoolPath, "TextInput")), jen.Qual(skilltoolPath, "Words")
	if k.skill.Input != nil {
		object, wrapped := tool.Object(k.skill.InputSchema)
		reader := "Data"
		if wrapped {
			reader = "Value"
		}
		schema, in = stringLiteral(string(object)), jen.Qual(skilltoolPath, reader).Types(jen.Qual(k.types, k.skill.Input.Name))
	}
	result, out := jen.Code(jen.Qual(skilltoolPath, "TextOutput")), jen.Qual(skilltoolPath, "Result")
	if k.skill.Output != nil {
		result, out = stringLiteral(string(k.skill.OutputSchema)), jen.Qual(skilltoolPath, "JSON").Types(jen.Qual(k.types, k.skill.Output.Name))
	}
	described := members(
		"Name", jen.Lit(name), "Description", jen.Lit(cmp.Or(k.skill.Description, k.skill.Name)),
		"Input", rawMessage(schema), "Output", rawMessage(result),
	)
	return jen.Qual(skilltoolPath, "Of").Call(jen.Qual(toolPath, "Tool").Values(described.lines()...), in, out, jen.Id("c").Dot(k.Call), jen.Id("opts"))
}

// OwnTools prints the package with the agent's own skills as tools. It is apart from the agent's, which imports no
// client. Without skills, or a binding over HTTP, there is none.
func OwnTools(m *ir.Model, paths Paths) ([]output.File, error) {
	if m.Agent == nil || len(m.Agent.Skills) == 0 || len(inProcessBindings(m.Agent)) == 0 {
		return nil, nil
	}
	a := agentPackage{agent: m.Agent, bindings: m.Protocol.Bindings, paths: paths}
	file, err := a.ownTools()
	return []output.File{file}, err
}

func (a *agentPackage) ownTools() (output.File, error) {
	f := newFile(a.paths.Tools, pkgName(a.paths.Tools))
	f.ImportName(a.paths.Client, pkgName(a.paths.Client))
	f.PackageComment(packageDoc("Package tools has the agent's own skills as tools for language models.",
		"own, err := tools.New(srv)", "if err != nil {", "\treturn err", "}", "out, err := tool.Call(ctx, own, name, args)"))
	comment := doc("New returns the skills of the agent that srv serves as tools for a language model. A call is a task of srv, made in this process without a socket: " +
		"with the same checks of its input and output, limits and timeout as any other. With the context of a handler it is one of the handler's task, and of its caller.")
	inProcess := jen.Op("&").Qual("net/http", "Client").Values(jen.Id("Transport").Op(":").Qual(serverPath, "InProcess").Call(jen.Id("srv")))
	f.Add(comment).Func().Id("New").Params(jen.Id("srv").Op("*").Qual(serverPath, "Server"), callOptionsParam()).Params(jen.Index().Qual(toolPath, "Tool"), jen.Error()).Block(
		jen.List(jen.Id("c"), jen.Err()).Op(":=").Qual(a.paths.Client, "New").Call(
			jen.Qual("context", "Background").Call(), jen.Lit("http://localhost"), jen.Qual(clientPath, "HTTPClient").Call(inProcess),
			jen.Qual(clientPath, "Prefer").Call(lits(inProcessBindings(a.agent))...), jen.Qual(clientPath, "SendAnyway").Call(),
			jen.Qual(clientPath, "Name").Call(jen.Lit("itself")),
		),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Qual(a.paths.Client, "Tools").Call(jen.Id("c"), jen.Id("opts").Op("...")), jen.Nil()),
	)
	return render(f, pkgFile(a.paths.Tools, "tools.gen.go"))
}

func rawMessage(text jen.Code) jen.Code {
	return jen.Qual("encoding/json", "RawMessage").Call(text)
}

// inProcessBindings are those over which the agent is called without a socket: of its own, those that an http.Handler
// serves.
func inProcessBindings(a *ir.Agent) []string {
	return slices.DeleteFunc([]string{runtime.BindingJSONRPC, runtime.BindingHTTP}, func(name string) bool { return !slices.Contains(a.Bindings, name) })
}
