package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime"
)

// CredentialsFile is the name of the file that tests what the card demands of callers.
const CredentialsFile = "credentials.gen_test.go"

// credentials is the file of that name. What there is to try it finds out by itself when it runs.
func (a *agentPackage) credentials() (output.File, error) {
	f := a.newFile()
	f.ImportName(authtestPath, "authtest")
	cards := []jen.Code{jen.Id("CardJSON")}
	if a.agent.Extended != nil {
		cards = append(cards, jen.Id("ExtendedCardJSON"))
	}
	fields := members("Protocol", jen.Qual(a.paths.Protocol, "Protocol").Call())
	fields.set("Cards", jen.Index().String().Values(cards...))
	if scopes := a.agent.ExtendedScopes; len(scopes) > 0 {
		fields.set("ExtendedScopes", stringList(scopes))
	}
	fields.set("Verifiers", jen.Id("verifiers").Call())
	fields.set("NewServer", jen.Func().Params(jen.Id("opts").Op("...").Qual(serverPath, "Option")).Params(
		jen.Op("*").Qual(serverPath, "Server"), jen.Error(),
	).Block(jen.Return(jen.Id("NewServer").Call(jen.Nil(), jen.Id("opts").Op("...")))))
	if list := a.testedBindings(); len(list) > 0 {
		fields.set("Bindings", jen.Func().Params(jen.Id("c").Op("*").Qual("crypto/tls", "Config")).Index().Qual(clientPath, "Binding").Block(
			jen.Return(jen.Index().Qual(clientPath, "Binding").Values(list...)),
		))
	}
	f.Add(doc("TestCredentials tries every operation without credentials, with wrong ones, with somebody else's and with " +
		"the right ones, as the card demands them, over every binding. No handler is called, and a scheme with a verifier " +
		"of your own is checked by another one.")).Func().Id("TestCredentials").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
		jen.Qual(authtestPath, "Run").Call(jen.Id("t"), jen.Qual(authtestPath, "Agent").Values(fields.lines()...)),
	)
	return render(f, pkgFile(a.paths.Agent, CredentialsFile))
}

// testedBindings are the bindings that a client must be given, with the TLS settings c.
func (a *agentPackage) testedBindings() (list []jen.Code) {
	for _, b := range runtime.Bindings {
		if b.Client != "" && slices.Contains(a.agent.Bindings, b.Name) {
			pkg := modulePath + b.Client
			list = append(list, jen.Qual(pkg, "Binding").Call(jen.Qual(pkg, "TLS").Call(jen.Id("c"))))
		}
	}
	return list
}
