package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// openClients is the method by which NewServer finds out that handlers call other agents: it is theirs if they embed
// the clients. The linker leaves the clients out of an agent whose handlers do not.
const openClients = "openClients"

// takenByOpening are the names in [agentPackage.openMethod] that the package of a client may have.
var takenByOpening = []string{"c", "o", "observers", "err"}

// clients is clients.gen.go: the agents that handlers call, as a struct that the user's agent embeds.
func (a *agentPackage) clients() (output.File, error) {
	f := a.newFile()
	for _, r := range a.agent.Remotes {
		if name := pkgName(r.Import); slices.Contains(takenByOpening, name) {
			f.ImportAlias(r.Import, name+"client")
		} else {
			f.ImportName(r.Import, name)
		}
	}
	addAll(f, a.clientsType(), a.openMethod(), callsAgents())
	return render(f, pkgFile(a.paths.Agent, "clients.gen.go"))
}

// clientsType is the struct.
func (a *agentPackage) clientsType() jen.Code {
	name := a.agent.RemotesType
	fields := make([]jen.Code, 0, len(a.agent.Remotes))
	for _, r := range a.agent.Remotes {
		text := fmt.Sprintf("%s calls the agent %q. The environment variable %s is its URL, where it is not that of the card.", r.Go, r.Agent, rpc.EnvURL(r.Client))
		fields = append(fields, jen.Add(doc(text)).Id(r.Go).Op("*").Qual(r.Import, "Client"))
	}
	const options = "Options are those of the clients that NewServer makes, such as how often calls are tried: rpc.Policy(…)."
	fields = append(fields, jen.Line().Add(doc(options)).Id("Options").Index().Qual(clientPath, "Option"))
	text := name + " are the agents that handlers call. The type that has the handlers embeds them.\n\n" +
		"NewServer makes those that are nil, of the cards that a2agen.lock pins and without a request, gives them the observers of the server, and closes them when it has shut down. " +
		"What is set before is used as it is, such as the client of a fake in a test."
	return jen.Add(doc(text)).Type().Id(name).Struct(fields...).Line()
}

// openMethod is the method that makes the clients which are nil.
func (a *agentPackage) openMethod() jen.Code {
	body := []jen.Code{jen.Id("o").Op(":=").Qual(clientPath, "NewOpener").Call(jen.Id("observers"), jen.Id("c").Dot("Options").Op("..."))}
	for _, r := range a.agent.Remotes {
		body = append(body, openClient(r))
	}
	body = append(body, jen.Return(jen.Id("o").Dot("Opened").Call()))
	s := jen.Comment("// " + openClients + " makes the clients that are nil.").Line()
	return s.Func().Params(jen.Id("c").Op("*").Id(a.agent.RemotesType)).Id(openClients).Add(openSignature()).Block(body...).Line()
}

func openClient(r *ir.Remote) jen.Code {
	return jen.Qual(clientPath, "Open").Call(jen.Id("o"), jen.Op("&").Id("c").Dot(r.Go), jen.Lit(r.Client), jen.Lit(r.URL), jen.Qual(r.Import, "New"))
}

// openSignature is the signature of the method, without its name.
func openSignature() jen.Code {
	return jen.Params(jen.Id("observers").Index().Qual(observePath, "Observer")).Params(jen.Id("closeAll").Func().Params(), jen.Err().Error())
}

// callsAgents is the interface of handlers that embed the clients.
func callsAgents() jen.Code {
	return jen.Comment("// callsAgents are handlers that call other agents: those that embed the clients.").Line().
		Type().Id("callsAgents").Interface(jen.Id(openClients).Add(openSignature())).Line()
}

// withClients puts the option before those of the caller by which the server opens the clients.
func withClients() jen.Code {
	option := jen.Index().Qual(serverPath, "Option").Values(jen.Qual(serverPath, "WithClients").Call(jen.Id("c").Dot(openClients)))
	return jen.If(jen.List(jen.Id("c"), jen.Id("ok")).Op(":=").Id("s").Assert(jen.Id("callsAgents")), jen.Id("ok")).Block(
		jen.Id("opts").Op("=").Append(option, jen.Id("opts").Op("...")),
	)
}
